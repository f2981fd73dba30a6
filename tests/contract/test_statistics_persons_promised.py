"""Counts of persons with several rows next to rows that promise more than numbers of persons, on every engine."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PrivacyViolation
from sqlanon.statistics.protections import suppress
from tests.contract.counted import Rows
from tests.contract.test_statistics_persons_together import ROLES, PersonsPair

pytest.importorskip("highspy")

OF_SEX = f"{ROLES}, sex: {{role: sensitive}}"
"""The sensitive column of the rows is a column of the counts."""
OF_AGE = "pid: {role: identifier}, region: {role: quasi}, age: {role: sensitive}"
"""It is none."""


def persons(seed: object, many: int = 120) -> Rows:
    """Rows of persons: a region each, of which two are rare, and any sex of each row."""
    draw = random.Random(str(seed))
    rows = []
    for pid in range(many):
        region = ("it's", None)[pid % 2] if pid < 7 else draw.choice(["north", "south"])
        rows += [(region, draw.choice("FM"), draw.randrange(20, 60), pid) for _ in range(1 + draw.randrange(3))]
    return rows


PROMISES = {
    "l": ("    person: pid\n", "{k: 8, l: 1.2}", OF_SEX),
    "l of a column that is not counted": ("    person: pid\n    persons: rows\n", "{k: 10, l: 3}", OF_AGE),
    "t": ("    person: pid\n", "{k: 10, t: 0.4}", OF_SEX),
    "other persons": ("    person: sex\n", "{k: 2}", ROLES.replace("region:", "sex: {role: identifier}, region:")),
    "alpha and entropy": ("    person: pid\n", "{k: 10, alpha: 0.8, entropy_l: 1.2}", OF_SEX),
}


@pytest.mark.parametrize("what", ["l", *(pytest.param(of, marks=pytest.mark.thorough) for of in PROMISES if of != "l")])
def test_counts_are_published_next_to_rows_that_promise_more_of_persons(
    what: str, shared_db: Any, tmp_path: Path
) -> None:
    of_rows, privacy, roles = PROMISES[what]
    rows, protect = persons("promised"), "{persons: 5, bounds: exact}"
    pair = PersonsPair(shared_db, tmp_path, rows, protect=protect, of_rows=of_rows, privacy=privacy, roles=roles)
    report = pair.run()
    assert report.statistics.patterns
    neighbour = report.statistics.neighbour
    assert neighbour.alike == ("" if what == "l" else "persons" if what in ("t", "other persons") else "classes")
    assert neighbour.weighed == (((2, 6, 5),) if what == "l" else ())
    assert {"shown", "hidden"} == {row["status"] for row in pair.rows()}
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held


TAMPERED: dict[str, tuple[str, str, str]] = {
    "patterns of other rows": ("t", "unlike rows", "UPDATE {patterns} SET alike = 0"),
    "patterns of no number": ("t", "unlike rows", "UPDATE {patterns} SET alike = NULL"),
    "persons of other rows": ("t", "persons of classes .* changes", "UPDATE {patterns} SET alike = pattern"),
    "values of other weights": ("l", "weights of values", "UPDATE {atoms} SET weight = weight - 1 WHERE weight > 0"),
    "values of no weight": ("l", "weights of values", "UPDATE {atoms} SET weight = NULL"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promise, expected, text = TAMPERED[what]
    of_rows, privacy, roles = PROMISES[promise]
    rows, protect = persons("promised"), "{persons: 5}"
    pair = PersonsPair(shared_db, tmp_path, rows, protect=protect, of_rows=of_rows, privacy=privacy, roles=roles)
    verify = suppress.verify_source

    def tampered(scratch: Any, shape: Any, stage: Any, kept: Any, release: str) -> None:
        names = {part: f'"_sqlanon"."{getattr(kept, part).name}"' for part in ("patterns", "atoms")}
        scratch.engine.execute(text.format(**names))
        verify(scratch, shape, stage, kept, release)

    monkeypatch.setattr(suppress, "verify_source", tampered)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        pair.run()
    assert shared_db.releases(pair.name) == ()


@pytest.mark.thorough
def test_a_witness_of_less_l_is_refused(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_rows, privacy, roles = PROMISES["l"]
    rows, protect = persons("promised"), "{persons: 5}"
    pair = PersonsPair(shared_db, tmp_path, rows, protect=protect, of_rows=of_rows, privacy=privacy, roles=roles)
    verify = suppress.verify_published

    def asked_for_more(scratch: Any, shape: Any, *others: Any) -> Any:
        promised = replace(shape.neighbour.persons, weighed=((2, 3, 1),))
        return verify(scratch, replace(shape, neighbour=replace(shape.neighbour, persons=promised)), *others)

    monkeypatch.setattr(suppress, "verify_published", asked_for_more)
    with pytest.raises(PrivacyViolation, match=r"the certificate fails: .*weigh too much"):
        pair.run()
