"""Boxes of their own: what a policy cannot ask of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, InfeasibleError, PolicyError, UnsupportedError
from sqlanon.papers.matchings import blocks
from sqlanon.papers.matchings import method as code
from sqlanon.papers.matchings.solvers import UnsolvedError
from tests.contract.own_boxes import OWN, SMALL, run


@pytest.mark.cover("asked")
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"boxes": None}, "say privacy: {boxes: own} to accept that, or use tree"),
        ({"method": "tree"}, "tree makes classes, not boxes of their own; leave boxes out, or use freeform"),
        ({"l": 2}, "freeform is for k alone: they are about classes"),
        ({"distinct_l": 2}, "freeform is for k alone"),
        ({"k": None, "maximize": "k", "max_loss": 0.5, "at_least": {"k": 2}}, "freeform does not maximize k"),
        ({"refine": True}, "refine moves rows between classes"),
        ({"mean": ["x"], "k": 5}, "overlapping sums can be solved"),
        (
            {"format": "points"},
            (
                "cannot be published in the format points: its boxes are published as ends and sets; freeform goes "
                "with ranges or labels"
            ),
        ),
        ({"format": "suppressed"}, "cannot be published in the format suppressed"),
        ({"format": "anatomy", "presence": "disclosed"}, "cannot be published in the format anatomy"),
        ({"suppression": {"limit": 0.1}}, "freeform suppresses no rows"),
        ({"metrics": ["all"]}, "metrics are about classes"),
        ({"method": "freeform:block=5"}, "[block]: blocks of 5 rows have fewer than 2 k = 6; say 6 or more"),
        ({"method": "freeform:block=5000"}, "a whole number from 0 to 4096"),
        ({"rows_are": "events"}, "may be of one person"),
    ],
)
def test_what_is_about_classes_is_refused(shared_db: Any, asked: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as refused:
        run(shared_db, SMALL, tmp_path, **asked)
    assert words in str(refused.value)


@pytest.mark.parametrize("asked", [{"l": 1}, {"distinct_l": 1}])
def test_what_every_row_meets_is_not_measured(shared_db: Any, asked: dict[str, Any], tmp_path: Path) -> None:
    """No table has groups of rows in which values could be counted."""
    rows, report = run(shared_db, SMALL, tmp_path, **asked)
    assert len(rows) == 30
    assert [one.name for one in report.requirements] == ["k"]


def test_more_candidates_than_rows_are_refused(shared_db: Any, tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match="the largest feasible value is 30"):
        run(shared_db, SMALL, tmp_path, k=31)


def test_a_solver_that_finds_nothing_is_one_error(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without SciPy, which plan finds as well; and after too long."""
    asked = {"method": "matchings:solver=mip,block=6"}
    with monkeypatch.context() as without:
        without.setattr(code, "find_spec", lambda _: None)
        with pytest.raises(PolicyError, match=r"needs SciPy: install sqlanon\[mip\], or use method freeform"):
            run(shared_db, SMALL, tmp_path, **asked)

    def late(*_: Any) -> Any:
        raise UnsolvedError("solver mip has no optimum after 600 s; use method freeform")

    monkeypatch.setattr(code, "find_spec", lambda _: True)
    monkeypatch.setattr(blocks, "solve_in_blocks", late)
    with pytest.raises(UnsupportedError, match="method matchings: solver mip has no optimum after 600 s"):
        run(shared_db, SMALL, tmp_path, **asked)


def test_a_release_that_changes_to_boxes_of_their_own_is_weaker(shared_db: Any, tmp_path: Path) -> None:
    source = SMALL.create(shared_db)
    shared_db.anonymize(source, **SMALL.arguments(tmp_path))
    with pytest.raises(GuardError, match=r"boxes of their own no -> yes \(weaker\)"):
        shared_db.anonymize(source, **{**SMALL.arguments(tmp_path), **OWN})
