"""Versions of counts with bounds of hidden numbers, and with margins that must be shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.release.versions import statistics
from tests.contract.tampering import tamper
from tests.contract.test_statistics_versions import FOLLOWED, Nights, compare

pytest.importorskip("highspy")

NIGHTS = ([("north", "F")] * 7 + [("south", "M")] * 5 + [("north", "M"), ("it's", "F")], [("north", "M")] * 9)


class Bounded(Nights):
    """Counts with bounds."""

    def __init__(self, db: Any, folder: Path, seed: object, persons: int = 60) -> None:
        super().__init__(db, folder, seed, persons)
        self.write(**{**FOLLOWED, "protect": "{persons: 3, bounds: exact}"})


def cell_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["level_region"], row["level_sex"], row["region"], row["sex"]


def check_bounds(made: Bounded, seen: list[list[dict[str, Any]]]) -> int:
    """Bounds hold of the last version, and of no few newcomers between two; returns how many windows of few."""
    few = 0
    for end, view in enumerate(seen):
        for row in view:
            now = made.count(made.versions[end], row)
            assert row["n_low"] <= now
            assert row["n_tight"] or row["status"] == "hidden" or row["as_of"] <= end
            assert row["n_high"] is None or now <= row["n_high"]
            assert (row["status"] == "shown" and row["as_of"] == end + 1) <= (row["n_low"] == now == row["n_high"])
            for start in range(end):
                before = {cell_of(one): one for one in seen[start]}.get(cell_of(row))
                came = now - made.count(made.versions[start], row)
                if 0 < came < 3:
                    few += 1
                    assert row["n_low"] - (before["n_low"] if before else 0) <= came
                    high = before["n_high"] if before else 0
                    assert row["n_high"] is None or row["n_high"] - high >= 3
    return few


def test_bounds_are_of_the_last_version(shared_db: Any, tmp_path: Path) -> None:
    made = Bounded(shared_db, tmp_path, "follow")
    seen = [made.publish()]
    made.come(*NIGHTS[0])
    seen.append(made.publish())
    assert check_bounds(made, seen)
    assert any(row["as_of"] == 1 and row["n"] < row["n_low"] for row in seen[-1] if row["n"] is not None)
    assert shared_db.audit(f"release.{made.view}").satisfied
    answers = shared_db.query(
        f"SELECT region, sex, count(*) AS c FROM {made.source} GROUP BY region, sex", release=made.name
    )
    found = {(row["region"], row["sex"]): row["c"] for row in answers.rows}
    for row in seen[-1]:
        if (row["level_region"], row["level_sex"]) == (0, 0):
            answer = found[row["region"], row["sex"]]
            assert (answer.low, answer.high) == (row["n_low"], row["n_high"])
    assert shared_db.audit_statistics([f"release.{made.view}"], persons=3).satisfied


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_three_versions(seed: int, shared_db: Any, tmp_path: Path) -> None:
    made = Bounded(shared_db, tmp_path, ("three", seed), 40)
    seen = [made.publish()]
    for rows in NIGHTS:
        made.come(*rows)
        seen.append(made.publish())
    assert check_bounds(made, seen)
    compare(seen)
    assert shared_db.audit(f"release.{made.view}").satisfied
    assert shared_db.audit_statistics([f"release.{made.view}"], persons=3).satisfied
    assert shared_db.attack(made.name).held
    shared_db.rollback(made.name, 2)
    assert made.rows() == seen[1]
    assert shared_db.audit(f"release.{made.view}").satisfied


@pytest.mark.thorough
def test_bounds_of_sums_of_two_versions(shared_db: Any, tmp_path: Path) -> None:
    made = Bounded(shared_db, tmp_path, "sums")
    measures = "{n: count, years: {sum: age, range: [0, 100], p_percent: 10}}"
    made.write(**{**FOLLOWED, "protect": "{persons: 3, bounds: exact}"}, measures=measures)
    made.publish()
    made.come(*NIGHTS[0])
    view = made.publish()
    for row in view:
        now = 20 * made.count(made.made, row)
        assert row["years_low"] is None or row["years_low"] <= now
        assert row["years_high"] is None or now <= row["years_high"]
    assert any(row["as_of"] == 1 and row["years"] < row["years_high"] for row in view if row["years"] is not None)
    assert shared_db.audit(f"release.{made.view}").satisfied


TAMPERED = {
    "a bound of the view": "UPDATE {physical} SET n_low = n_low - 1 WHERE n_low > 1",
    "no bound of the view": "UPDATE {physical} SET n_low = NULL",
    "an upper bound of the view": "UPDATE {physical} SET n_high = n_high + 1",
    "tight bounds of the view that are said not to be": "UPDATE {physical} SET n_tight = NOT n_tight",
    "tight bounds of a version that are said not to be": "UPDATE {cells} SET tight = 1 - tight WHERE hidden = 1",
    "a bound of a version": "UPDATE {cells} SET low = low + 1 WHERE batch = 2",
    "a bound of a version that a witness leaves": "UPDATE {cells} SET high = n WHERE hidden = 1",
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses_other_bounds(
    what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Bounded(shared_db, tmp_path, "tampered", 30)
    before = made.publish()
    made.come(*[("north", "F")] * 9, *[("south", "M")] * 9, ("it's", "M"))
    tamper(monkeypatch, statistics, "batch_of", TAMPERED[what])
    with pytest.raises(PrivacyViolation, match="the certificate fails"):
        made.run()
    assert made.rows() == before


def test_margins_are_shown_in_every_version(shared_db: Any, tmp_path: Path) -> None:
    made = Nights(shared_db, tmp_path, "shown")
    made.write(**{**FOLLOWED, "protect": "{persons: 3, show: [{region: 0}, total]}"})
    seen = [made.publish()]
    made.come(*[("north", "F")] * 7, *[("north", "M")] * 5, *[("south", "M")] * 2)
    with pytest.raises(InfeasibleError, match=r"a cell of region must be hidden.*the new rows wait") as raised:
        made.run()
    assert "south" not in str(raised.value)
    assert made.rows() == seen[0]
    made.come(*[("south", "F")] * 4)
    seen.append(made.publish())
    assert {row["as_of"] for row in seen[1] if row["level_sex"] == 1} == {2}
    assert any(row["as_of"] == 1 for row in seen[1])
    compare(seen)
    assert shared_db.audit(f"release.{made.view}").satisfied
    assert shared_db.attack(made.name).held
