"""Witnesses of sums that move no cell, in tables without all columns: the certificate refuses each that is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PrivacyViolation
from sqlanon.statistics import choose
from sqlanon.statistics.exchanges import ServedContributors
from sqlanon.statistics.protections import suppress
from tests.contract.summed import COST, Summed, stays
from tests.contract.tampering import tamper

pytest.importorskip("highspy")

TABLES = "[{name: by_region, by: [region]}, {name: by_sex, by: [sex]}]"
KINDS = {
    "rows": ("witness", f"{{n: count, cost: {COST}}}"),
    "persons": ("paid", f"{{n: count, persons: persons, cost: {COST}}}"),
}
"""Where the changes of sums are: with rows alone, and next to persons."""
LAST = "witness = (SELECT MAX(witness) FROM {table})"
"""The last witness is one that changes sums alone, and moves no cell."""
WITHIN = "witness > (SELECT MAX(witness) - {many} FROM {table})"
"""So are all of these."""
FIRST_ATOM = "atom = (SELECT MIN(atom) FROM {table} WHERE " + LAST + ")"
TAMPERED: dict[str, tuple[str, tuple[str, ...]]] = {
    "fractions": (
        "changes",
        (
            "ALTER TABLE {table} ALTER COLUMN s1 TYPE DOUBLE PRECISION",
            "UPDATE {table} SET s1 = s1 + 0.25 WHERE " + LAST,
        ),
    ),
    "a negative sum": ("changes", ("UPDATE {table} SET s1 = -1000000000 WHERE " + LAST,)),
    "a sum out of the range": ("changes", ("UPDATE {table} SET s1 = 1000000000 WHERE " + LAST,)),
    "no number": ("changes", ("UPDATE {table} SET s1 = NULL WHERE " + LAST,)),
    "a shown sum that changes": (
        "shown cells that a witness changes",
        (f"UPDATE {{table}} SET s1 = s1 + CASE WHEN s1 < 0 THEN 1 ELSE -1 END WHERE {LAST} AND {FIRST_ATOM}",),
    ),
    "contributors less": ("contributors without witnesses", ("DELETE FROM {table} WHERE " + WITHIN,)),
    "contributors who change too little": (
        "contributors without witnesses",
        ("UPDATE {table} SET s1 = 0 WHERE " + WITHIN,),
    ),
    "a combination twice": ("changes twice", ("INSERT INTO {table} SELECT * FROM {table} WHERE " + LAST,)),
}


def publish(kind: str, db: Any, folder: Path, patch: pytest.MonkeyPatch) -> tuple[Summed, list[ServedContributors]]:
    """A release of two tables, and what is served without a linear program when it runs."""
    served: list[ServedContributors] = []
    serve = choose.serve_within_cells

    def keep(*arguments: Any) -> ServedContributors:
        served.append(serve(*arguments))
        return served[-1]

    patch.setattr(choose, "serve_within_cells", keep)
    release = Summed(db, folder, stays("exchanged", 70), measures=KINDS[kind][1], tables=TABLES)
    return release, served


@pytest.mark.every_engine
@pytest.mark.parametrize("kind", KINDS)
def test_contributors_are_served_by_changes_that_move_no_cell(
    kind: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, served = publish(kind, shared_db, tmp_path, monkeypatch)
    release.run()
    assert served
    assert served[-1].changes.many
    assert shared_db.audit(f"release.{release.view}").satisfied


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(
    what: str, kind: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, served = publish(kind, shared_db, tmp_path, monkeypatch)
    expected, texts = TAMPERED[what]
    statements = [text.replace("{table}", f"{{{KINDS[kind][0]}}}") for text in texts]
    tamper(monkeypatch, suppress, "verify_source", *statements, more=lambda: {"many": served[-1].changes.many})
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        release.run()
    assert served[-1].changes.many
    assert shared_db.releases(release.name) == ()
