"""Solvers that reach a bound by the other problem: the direct one by extents, the dual one by a search over l."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import QI, Case
from tests.contract.dual import classes_of, line, numbered, privacy
from tests.covering import seeds
from tests.oracle import dual as oracle
from tests.oracle.losses import losses as loss_of
from tests.oracle.mondrian import mondrian
from tests.oracle.requirements import Privacy


@pytest.mark.cover
@pytest.mark.parametrize("seed", seeds(5, 2))
def test_optimal_direct_is_the_least_extent(shared_db: Any, seed: int, tmp_path: Path) -> None:
    case = line(seed, 8)
    values, xs = case.values("s"), case.values("x")

    def extents(classes: Any) -> list[int]:
        return [max(xs[i] for i in rows) - min(xs[i] for i in rows) for rows in classes]

    every = list(oracle.partitions(range(8), lambda rows: oracle.privacy(values, rows) >= 2))
    once = [classes for classes in every if all(len({values[i] for i in rows}) == len(rows) for rows in classes)]
    for minimize, best in (
        ("max", min(max(extents(classes)) for classes in every)),
        ("sum", min(sum(extents(classes)) for classes in once)),
    ):
        method = {"name": "hilbert", "solver": "optimal", "minimize": minimize}
        classes, report = classes_of(shared_db, case, tmp_path, method=method, k=2, l=2)
        assert privacy(case, classes) >= 2
        measured = (max if minimize == "max" else sum)(extents(classes))
        assert measured <= best if minimize == "sum" else measured == best  # equal boxes are one class
        through = {"name": "hilbert", "solver": "dual", "minimize": "max"}
        classes, report = classes_of(shared_db, case, tmp_path, method=through, k=2, l=2)
        assert privacy(case, classes) >= 2
        assert max(extents(classes)) >= min(max(extents(each)) for each in every)
        assert report.notes[0].startswith("solver dual: every class has NCP ")


def test_optimal_direct_takes_a_fraction(shared_db: Any, tmp_path: Path) -> None:
    """a,a,b twice with l = 3/2.

    Each three rows are a class, and the most that a class loses is the least there can be.
    """
    rows = tuple(zip((0, 1, 2, 7, 8, 9), "aabaab", strict=True))
    case = numbered(Case("fraction", {"x": "INTEGER", "s": "TEXT"}, rows, {"x": QI()}, ("s",)))
    for minimize in ("max", "sum"):
        method = {"name": "hilbert", "solver": "optimal", "minimize": minimize}
        classes, _ = classes_of(shared_db, case, tmp_path, method=method, k=1, l="3/2")
        assert sorted(sorted(each) for each in classes) == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.cover("engine method")
@pytest.mark.parametrize(("method", "seed"), [("hilbert", 0), ("hilbert", 1), ("hilbert", 2), ("mondrian", 0)])
def test_ipcsd_is_the_exhaustive_search(shared_db: Any, seed: int, method: str, tmp_path: Path) -> None:
    """Over every l the table admits; where the method's loss grows with l, both end at the same."""
    case, limit = line(seed + 20, 16, values=4), Fraction(1, 2)
    values = case.values("s")
    top = Fraction(len(values), max(values.count(v) for v in values))
    asked = [Fraction(l, 1 if method == "hilbert" else 20) for l in range(1, 100)]  # noqa: E741 - the papers' symbol
    grid = [l for l in asked if 1 <= l <= top]  # noqa: E741
    losses = {}
    for l in grid:  # noqa: E741
        if method == "mondrian":  # a fine grid: the oracle's classes, which are those of a run
            losses[l] = loss_of(case.table, mondrian(case.table, Privacy(k=1, l=l), "strict", "loss"), 1).il_inf
        else:
            _, report = classes_of(shared_db, case, tmp_path, method=method, k=1, l=str(l))
            losses[l] = report.loss.il_inf
    solver = {} if method == "mondrian" else {"solver": "ipcsd"}
    classes, report = classes_of(
        shared_db,
        case,
        tmp_path,
        method={"name": method, **solver},
        maximize="l",
        at_least={"l": 1},
        max_loss=str(limit),
    )
    monotone = all(losses[a] <= losses[b] for a, b in pairwise(grid))
    kept = [l for l in grid if losses[l] <= limit]  # noqa: E741
    assert any("probes of l" in note for note in report.notes)
    if monotone:
        assert not any("lost less" in note for note in report.notes)
        assert privacy(case, classes) >= max(kept) - (0 if method == "hilbert" else Fraction(1, 10))
    elif not any("lost less" in note for note in report.notes):
        assert privacy(case, classes) >= 1
