"""The cost of `persons: whole` against `rows`: the figures are those of a release with each.

Of a large table whole persons are measured.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from sqlanon.policy import release
from sqlanon.release.trials import persons_cost
from tests.contract.test_person_rows import ASKED, place, visits

WHOLE: dict[str, Any] = {**ASKED, "persons": "whole"}


def noted(notes: Sequence[str]) -> str:
    (found,) = (note for note in notes if "persons: rows would lose" in note)
    return found


@pytest.mark.parametrize("method", ["tree", pytest.param("mondrian", marks=pytest.mark.thorough)])
def test_the_figures_are_those_of_two_releases(shared_db: Any, method: str) -> None:
    source = place(shared_db, visits(3))
    asked = {"method": method, "l": None, "sensitive": ()}
    whole = shared_db.anonymize(source, **WHOLE | asked | {"insensitive": ["mark", "s"]}).report
    rows = shared_db.anonymize(source, **ASKED | asked | {"insensitive": ["mark", "s"]}, allow_weaker=True).report
    assert whole.loss.gcp > rows.loss.gcp
    expected = (
        f"whole loses gcp {whole.loss.gcp:.4f}, and persons: rows would lose {rows.loss.gcp:.4f}; measured on all rows"
    )
    assert noted(whole.notes) == f"persons: {expected}"
    assert not any("would lose" in note for note in rows.notes)


def test_plan_says_it_before_a_run(shared_db: Any) -> None:
    source = place(shared_db, visits(4))
    planned = shared_db.plan(release(source=source, **WHOLE, refine=True))
    assert "both without the trials of refine" in noted(planned.notes)
    assert noted(planned.notes) == noted(shared_db.anonymize(source, **WHOLE, refine=True).report.notes)


def test_of_a_large_table_all_rows_of_some_persons_are_measured(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty persons of three rows each, of whom one in three is measured."""
    monkeypatch.setattr(persons_cost, "MOST_MEASURED", 40)
    drawn = random.Random(5)
    rows = [(i, drawn.randrange(12), drawn.choice("pqr"), "abcd"[i % 4], f"z{i // 3}", 0) for i in range(120)]
    report = shared_db.anonymize(place(shared_db, rows), **WHOLE).report
    assert noted(report.notes).endswith("measured on 39 of 120 rows, an estimate")


def test_nothing_is_said_where_the_measured_rows_do_not_meet_what_is_asked(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(persons_cost, "MOST_MEASURED", 10)
    report = shared_db.anonymize(place(shared_db, visits(6)), **WHOLE).report
    assert report.verified
    assert not any("would lose" in note for note in report.notes)
