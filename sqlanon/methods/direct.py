"""Solvers of the direct problem on rows in order: least loss for a given privacy (Ghinita et al. 2009, sections 3 and 4).

k alone: the optimal division into runs. Frequency l of one sensitive attribute, a whole number: the linear heuristic, whose
groups are then merged by the same dynamic programme until every class has k rows. Everything else: runs that meet all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels import runs
from sqlanon.kernels.boxes import cover
from sqlanon.kernels.frontier import diverse_groups
from sqlanon.kernels.lawful import lawful_runs
from sqlanon.kernels.window import best_row_runs
from sqlanon.methods import arrays
from sqlanon.methods.arrays import Loaded
from sqlanon.methods.base import Context
from sqlanon.methods.orders import Arranged
from sqlanon.methods.pieces import row_runs
from sqlanon.privacy.base import Check, Requirement

if TYPE_CHECKING:
    import numpy.typing as npt

    Groups = npt.NDArray[np.int32]

OBJECTIVES = {"gcp": runs.GCP, "sum": runs.SUM, "max": runs.MOST}
"""What the division into runs may minimize, by the option's value."""

_FIRST_LOOK = 256


def asking(requirements: Sequence[Requirement]) -> list[Check]:
    """The checks on sensitive attributes that a single row would not meet."""
    checks = [item.check() for item in requirements]
    return [check for check in checks if check.kind != "rows" and check.p > check.q]


def whole_l(checks: Sequence[Check]) -> int:
    """l, where all that is asked is frequency l-diversity of one attribute and a whole number; else 0."""
    if len(checks) == 1 and checks[0].kind == "frequency" and checks[0].q == 1:
        return checks[0].p
    return 0


def kernel_for(requirements: Sequence[Requirement]) -> object:
    """The kernel that `solve` will spend its time in."""
    checks = asking(requirements)
    return best_row_runs if not checks else diverse_groups if whole_l(checks) else lawful_runs


def solve(context: Context, loaded: Loaded, arranged: Arranged, *, fast: bool, minimize: str) -> Groups:
    """The class of every row in order, int32[n]; classes are numbered along the order.

    Args:
        context: the run.
        loaded: the work table.
        arranged: its rows in order.
        fast: extents on the line instead of boxes.
        minimize: one of `OBJECTIVES`.
    """
    k, checks = arrays.least_rows(context), asking(context.requirements)
    l = whole_l(checks)  # noqa: E741 - the papers' symbol
    if not checks:
        return _runs(loaded, arranged, k, fast, OBJECTIVES[minimize], context.threads)
    if l:
        value = loaded.sensitive[checks[0].value][arranged.rows.number]
        return diverse(loaded, arranged, value, l, k, fast)
    return _lawful(context, loaded, arranged)


def _runs(
    loaded: Loaded, arranged: Arranged, k: int, fast: bool, objective: int, threads: int
) -> Groups:  # fmt: skip
    rows, n = arranged.rows, len(arranged.rows.number)
    if fast and arranged.line is not None:
        first = runs.line_runs(runs.shortened(arranged.line, arranged.span, k), k, objective)
    elif objective == runs.GCP:
        first, _ = row_runs(rows, loaded.geometry, k, threads)
    else:
        single = np.ones(n, np.int64)
        first, _ = runs.exact_runs(rows.places, rows.places, rows.sets, single, loaded.geometry, k, objective)
    return _numbered(first)


def diverse(
    loaded: Loaded, arranged: Arranged, value: npt.NDArray[np.int32], l: int, k: int, fast: bool  # noqa: E741
) -> Groups:  # fmt: skip
    """Groups of the l-diversity heuristic, merged until each has ``k`` rows; ``value`` is the sensitive code by row in order."""
    rows, n = arranged.rows, len(value)
    group = np.zeros(n, np.int32)
    line = arranged.line if fast and arranged.line is not None else np.zeros(0, np.int64)
    values = int(value.max(initial=0)) + 1
    made = diverse_groups(value, values, l, line, rows.places, rows.sets, loaded.geometry, group)
    if made == 0:
        raise AssertionError("feasibility is decided before a method runs")
    if k <= l:
        return group
    low, high, mask, size = _boxes(rows.places, rows.sets, group, made)
    first, _ = runs.exact_runs(low, high, mask, size, loaded.geometry, k)
    return _numbered(first)[group]


def _boxes(
    places: npt.NDArray[np.int32], sets: npt.NDArray[np.uint64], group: Groups, made: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    low, high = np.zeros((made, places.shape[1]), np.int32), np.zeros((made, places.shape[1]), np.int32)
    mask, size = np.zeros((made, sets.shape[1]), np.uint64), np.zeros(made, np.int64)
    cover(places, sets, group, low, high, mask, size)
    return low, high, mask, size


def _lawful(context: Context, loaded: Loaded, arranged: Arranged) -> Groups:
    rows, n = arranged.rows, len(arranged.rows.number)
    demands = arrays.demands(context, loaded.sensitive, n)
    first, most = np.zeros(n, np.bool_), max(_FIRST_LOOK, 8 * demands.k)
    while True:
        lawful_runs(rows.places, rows.sets, rows.number, loaded.geometry, demands, most, first)
        # A last run beyond ``most`` rows may have swallowed what a longer look would have divided.
        if most >= n or n - int(np.flatnonzero(first)[-1]) <= most:
            return _numbered(first)
        most *= 4


def _numbered(first: npt.NDArray[np.bool_]) -> Groups:
    return (np.cumsum(first) - 1).astype(np.int32)
