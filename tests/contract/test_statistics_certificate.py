"""The certificate of counts: what it notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.statistics.protections import suppress as statistics
from tests.contract.counted import Made, stays
from tests.contract.tampering import tamper

pytest.importorskip("highspy")

TAMPERED: dict[str, tuple[str, Sequence[str]]] = {
    "a witness that changes a shown cell": (
        "shown cells that a witness changes|without witnesses",
        ["UPDATE {witness} SET change = change + 1 WHERE change > 0"],
    ),
    "a witness of fewer than no persons": (
        "changes|tables of too few rows",
        ["UPDATE {witness} SET change = change - 1000"],
    ),
    "no witness": ("without witnesses", ["DELETE FROM {witness}"]),
    "a witness of an unknown atom": ("changes of no cell", ["UPDATE {witness} SET atom = atom + 100000"]),
    "a witness that changes an atom twice": (
        "changes twice",
        ["INSERT INTO {witness} SELECT * FROM {witness}"],
    ),
    "a shown value": ("rows", ["UPDATE {physical} SET n = n + 1 WHERE status = 'shown'"]),
    "a hidden value that is shown": (
        "rows|small cells shown",
        ["UPDATE {physical} SET status = 'shown', n = n_high WHERE status = 'hidden'"],
    ),
    "a hidden cell that has its number": ("rows", ["UPDATE {physical} SET n = n_low WHERE status = 'hidden'"]),
    "a third status": ("rows", ["UPDATE {physical} SET status = 'primary' WHERE status = 'hidden'"]),
    "bounds that are too narrow": (
        "rows|bounds that a witness leaves",
        ["UPDATE {physical} SET n_high = n_low WHERE status = 'hidden'"],
    ),
    "bounds that are wider": (
        "bounds of hidden cells",
        ["UPDATE {physical} SET n_low = 1, n_high = n_high + 1 WHERE status = 'hidden'"],
    ),
    "tight bounds that are said not to be": (
        "bounds of hidden cells",
        ["UPDATE {physical} SET n_tight = NOT n_tight WHERE status = 'hidden'"],
    ),
    "bounds of shown cells that are said to be wide": (
        "rows",
        ["UPDATE {physical} SET n_tight = FALSE WHERE status = 'shown'"],
    ),
    "bounds of which it is not said": (
        "bounds of hidden cells",
        ["UPDATE {physical} SET n_tight = NULL WHERE n IS NULL"],
    ),
    "no bounds": ("bounds of hidden cells", ["DELETE FROM {bounds}"]),
    "an omitted margin": ("cells that are not published", ["DELETE FROM {physical} WHERE level_region = 1"]),
    "a cell twice": (
        "cells published twice",
        ["INSERT INTO {physical} SELECT * FROM {physical} WHERE level_region = 1 AND level_sex = 1"],
    ),
    "a cell that there is not": (
        "rows that are no cell",
        [
            (
                "INSERT INTO {physical} SELECT 'west', level_region, sex, level_sex, n, n_low, n_high, n_tight, "
                "status, as_of FROM {physical} WHERE level_region = 0 AND region = 'north'"
            )
        ],
    ),
    "cells that are not the source's": ("cells", ["UPDATE {cells} SET persons = persons + 1 WHERE l1 = 0"]),
    "an omitted cell": ("cells", ["DELETE FROM {cells} WHERE l1 = 0 AND l2 = 0"]),
    "atoms that are not the source's": ("finest cells", ["UPDATE {atoms} SET n = n + 1"]),
    "atoms that are there twice and once less than none": (
        "combinations that a table shows to be empty",
        [
            (
                "INSERT INTO {atoms} (atom, v1_0, v2_0, n, persons, owner) SELECT a.atom + s.more, a.v1_0, a.v2_0, "
                "a.n * s.times, a.persons, a.owner FROM {atoms} AS a CROSS JOIN "
                "(SELECT 1000 AS more, 1 AS times UNION ALL SELECT 2000 AS more, -1 AS times) AS s"
            )
        ],
    ),
    "a person who is nobody": ("finest cells", ["UPDATE {atoms} SET owner = -1"]),
    "persons who are one": ("owners of cells", ["UPDATE {atoms} SET owner = 1 WHERE owner > 0"]),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(
        shared_db,
        tmp_path,
        [*stays("tampered", 40), ("east", "F", 20, 40), ("east", "M", 20, 41)],
        columns="{region: {}, sex: {}}",
        tables="[{name: a, by: [region, sex]}]",
    )
    expected, texts = TAMPERED[what]
    tamper(monkeypatch, statistics, "verify_source", *texts)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        made.run()
    assert shared_db.releases(made.name) == ()


def test_atoms_of_persons_are_there_once(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no rows are published: each of two could lose all persons."""
    made = Made(
        shared_db,
        tmp_path,
        stays("persons twice", 40),
        columns="{region: {}, sex: {}}",
        tables="[{name: a, by: [region, sex]}]",
        measures="{people: persons}",
    )
    twice = (
        "INSERT INTO {atoms} (atom, v1_0, v2_0, n, persons, owner) SELECT a.atom + 1000, a.v1_0, a.v2_0, a.n, "
        "a.persons, a.owner FROM {atoms} AS a WHERE a.owner = -1"
    )
    tamper(monkeypatch, statistics, "verify_source", twice)
    with pytest.raises(PrivacyViolation, match="the certificate fails: sums"):
        made.run()
    monkeypatch.undo()
    made.run()
    assert len(shared_db.releases(made.name)) == 1


def test_an_audit_checks_the_certificate_again(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("audited"))
    made.run()
    report = shared_db.audit(f"release.{made.view}", spec=made.spec)
    assert report.satisfied
    hidden = sum(row["status"] == "hidden" for row in made.rows())
    assert (report.rows, report.hidden_cells) == (len(made.rows()), hidden)
    made.write(protect="{persons: 4, bounds: exact}")
    assert not shared_db.audit(f"release.{made.view}", spec=made.spec).satisfied
    with pytest.raises(PolicyError, match="name no columns"):
        shared_db.audit(f"release.{made.view}", quasi=["region"])
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    witness = entry.counts["witness"]
    shared_db.engine.execute(f'DELETE FROM "_sqlanon"."{witness.name}"')
    with pytest.raises(PrivacyViolation, match="without witnesses"):
        shared_db.audit(f"release.{made.view}")
