"""Solvers of the direct problem on rows in order.

They minimize the loss for a given privacy (Ghinita et al. 2009, sections 3 and 4).

k alone: the optimal division into runs. Frequency l of one sensitive attribute: the linear heuristic, for a whole
number or a fraction; the same dynamic programme then merges the groups until every class has k rows. Everything else:
runs that meet all, short ones by a dynamic programme, long ones by halving.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels import runs
from sqlanon.kernels.boxes import cover, measure_widths
from sqlanon.kernels.compiled import expect
from sqlanon.kernels.rows import Rows
from sqlanon.kernels.runs import NEVER
from sqlanon.methods.base import Context
from sqlanon.methods.onedim.kernels.bordered_runs import divide_bordered
from sqlanon.methods.onedim.kernels.constrained_runs import find_lawful_runs
from sqlanon.methods.onedim.kernels.diverse_groups import make_diverse_groups
from sqlanon.methods.onedim.kernels.fast_runs import find_best_row_runs
from sqlanon.methods.onedim.kernels.fractions import list_simpler, make_copies, make_fractional_groups
from sqlanon.methods.onedim.kernels.halved_runs import divide_halved, without_run
from sqlanon.methods.onedim.parallel_runs import find_requiring_runs, row_runs
from sqlanon.methods.onedim.row_orders import Order, OrderedRows, SortedRows
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernel_input import LoadedTable
from sqlanon.privacy.base import Requirement, Shape, least_rows, shapes_beyond_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Bits, Flags, Ints, Longs
    from sqlanon.kernels.requirements import Demands


OBJECTIVES = {"gcp": runs.GCP, "sum": runs.SUM, "max": runs.MOST}
"""The losses that the division into runs may minimize, by the option's value."""

SIMPLER = 3
"""Simpler fractions that are tried, at most."""
_FIRST_LOOK, _STEPS = 256, 1 << 25
"""Rows of a run that `find_lawful_runs` looks at, at first; and rows x rows to look at in all, a few seconds."""
_LOOKS = 256
"""Places of an order where the length of a run is tried."""


def whole_l(checks: Sequence[Shape]) -> int:
    """l, where all that is asked is frequency l-diversity of one attribute and a whole number; else 0."""
    if len(checks) == 1 and checks[0].kind == "frequency" and checks[0].q == 1:
        return checks[0].p
    return 0


def uses_groups(checks: Sequence[Shape]) -> bool:
    """Whether frequency l of one attribute is the only requirement: the case of the heuristic's groups."""
    return len(checks) == 1 and checks[0].kind == "frequency" and not checks[0].within


def kernel_for(requirements: Sequence[Requirement]) -> object:
    """The kernel that takes most of the time of `solve`."""
    checks = shapes_beyond_rows(requirements)
    if not checks:
        return find_best_row_runs
    if not uses_groups(checks):
        return find_lawful_runs
    return make_diverse_groups if whole_l(checks) else make_fractional_groups


def solve(
    context: Context, loaded: LoadedTable, sorted_rows: SortedRows, order: Order, *, fast: bool, minimize: str
) -> Ints:
    """Bring the rows fully into order; the class of every row, int32[n].

    With l, an order that rearranges rows is tried before and after that, and the lesser GCP counts. The heuristic
    takes the rows of a group from places far apart in the order, and rows that a tree's cuts separate can be close on
    the curve. Range NCP of 50,000 rows of OCC, l = 10: 0.16 along the curve, 0.25 along the tree. With taxonomies the
    tree is mostly better.

    Args:
        context: the run.
        loaded: the work table.
        sorted_rows: the rows by the order's keys; in the end, in order.
        order: the order of these keys.
        fast: extents on the line instead of boxes.
        minimize: one of `OBJECTIVES`.
    """
    bare, geometry, checks = sorted_rows.bare, loaded.geometry, shapes_beyond_rows(context.requirements)
    if not checks:
        order.within(context, bare, geometry)
        arranged, least = (
            sorted_rows.arrange(geometry, context.threads, codes=False),
            least_rows(context.requirements),
        )
        return _runs(loaded, arranged, least, fast, OBJECTIVES[minimize], context.threads)
    arranged = sorted_rows.arrange(geometry, context.threads, codes=False)
    group = _group_diverse(context, loaded, arranged, checks, fast)
    if not order.rearranges:
        return group
    loss, before = _gcp(arranged.rows, loaded, group), np.empty_like(group)
    before[bare.number] = group
    order.within(context, bare, geometry)
    arranged = sorted_rows.arrange(geometry, context.threads, codes=False)
    group = _group_diverse(context, loaded, arranged, checks, fast)
    return group if _gcp(arranged.rows, loaded, group) < loss else before[bare.number]


def _group_diverse(
    context: Context, loaded: LoadedTable, arranged: OrderedRows, checks: Sequence[Shape], fast: bool
) -> Ints:
    if not uses_groups(checks):
        return _lawful(context, loaded, arranged)
    value, l = loaded.sensitive[checks[0].value][arranged.rows.number], Fraction(checks[0].p, checks[0].q)  # noqa: E741
    least, most = least_rows(context.requirements), int(np.bincount(value).max(initial=0))
    # Groups of a fraction of large numbers are large at the end, and those of a stricter, simpler one may lose less.
    simpler = [s for s in list_simpler(l) if most * s.numerator <= len(value) * s.denominator][:SIMPLER]
    groups = [
        group_diverse(loaded, arranged, value, each, least, fast, copies)
        for each, copies in [*((s, s.denominator) for s in simpler), (l, 0)]
    ]
    return groups[0] if len(groups) == 1 else min(groups, key=lambda group: _gcp(arranged.rows, loaded, group))


def _gcp(rows: Rows, loaded: LoadedTable, group: Ints) -> int:
    """The sum of rows x width over the classes."""
    low, high, mask, size = _boxes(rows.places, rows.sets, group, int(group.max()) + 1)
    width = np.empty(len(size), np.int64)
    measure_widths(low, high, mask, loaded.geometry, width)
    return int(np.dot(size, width))


def _runs(loaded: LoadedTable, arranged: OrderedRows, k: int, fast: bool, objective: int, threads: int) -> Ints:
    rows, n = arranged.rows, len(arranged.rows.number)
    if fast and arranged.line is not None:
        first = runs.find_line_runs(runs.shorten_keys(arranged.line, arranged.span, k), k, objective)
    elif objective == runs.GCP:
        first, _ = row_runs(rows, loaded.geometry, k, threads)
    else:
        single = np.ones(n, np.int64)
        first, _ = runs.find_exact_runs(rows.places, rows.places, rows.sets, single, loaded.geometry, k, objective)
    return _number_groups(first)


def group_diverse(
    loaded: LoadedTable,
    arranged: OrderedRows,
    value: Ints,
    l: Fraction,  # noqa: E741
    k: int,
    fast: bool,
    copies: int = 0,
) -> Ints:
    """Ints of the l-diversity heuristic, merged until each has ``k`` rows.

    ``value`` is the sensitive code of each row in order; ``copies``: of a value in a group with a fraction, 0: as
    `make_copies` has it.
    """
    rows, n = arranged.rows, len(value)
    group = np.zeros(n, np.int32)
    values, p, q = int(value.max(initial=0)) + 1, l.numerator, l.denominator
    if q == 1:
        line = arranged.line if fast and arranged.line is not None else np.zeros(0, np.int64)
        groups = make_diverse_groups(value, values, p, line, rows.places, rows.sets, loaded.geometry, group)
    else:
        groups = make_fractional_groups(value, values, p, q, copies or make_copies(p, q), group)
    if groups == 0:
        raise AssertionError("feasibility is decided before a method runs")
    if k <= l:
        return group
    low, high, mask, size = _boxes(rows.places, rows.sets, group, groups)
    first, _ = runs.find_exact_runs(low, high, mask, size, loaded.geometry, k)
    return _number_groups(first)[group]


def _boxes(places: Ints, sets: Bits, group: Ints, classes: int) -> tuple[Ints, Ints, Bits, Longs]:
    low, high = np.zeros((classes, places.shape[1]), np.int32), np.zeros((classes, places.shape[1]), np.int32)
    mask, size = np.zeros((classes, sets.shape[1]), np.uint64), np.zeros(classes, np.int64)
    cover(places, sets, group, low, high, mask, size)
    return low, high, mask, size


def _lawful(context: Context, loaded: LoadedTable, arranged: OrderedRows) -> Ints:
    """Runs that meet every requirement, by `find_lawful_runs` or `divide_halved`.

    The time of `find_lawful_runs` is bounded by the length of the tried runs; `divide_halved` makes longer runs.

    Where unions may fail, `divide_bordered` is tried beside the first: boxes that are published alike are one group,
    which the others do not look at, and many equal rows are more than the longest run that is tried.
    """
    rows, n = arranged.rows, len(arranged.rows.number)
    demands = kernel_input.demands(context, loaded.sensitive, n, kernel_input.whole_table(context))
    most = max(_FIRST_LOOK, 8 * demands.k)
    longest = max(most, _STEPS // n)
    halves = all(requirement.monotone for requirement in context.requirements)
    first = np.zeros(n, np.bool_)
    if not halves:
        expect(divide_bordered)
        divide_bordered(rows.places, rows.sets, rows.number, demands, first)
    elif n <= most or not without_run(rows.number, demands, most, _LOOKS):
        return _short_runs(loaded, rows, demands, most, longest, context.threads)
    else:
        expect(divide_halved)
        divide_halved(rows.places, rows.sets, rows.number, loaded.geometry, demands, first)
        if longest <= most:
            return _number_groups(first)
    group, short = _number_groups(first), _short_runs(loaded, rows, demands, most, longest, context.threads)
    return short if _gcp(rows, loaded, short) <= _gcp(rows, loaded, group) else group


def _short_runs(loaded: LoadedTable, rows: Rows, demands: Demands, most: int, longest: int, threads: int) -> Ints:
    """`find_lawful_runs` with at most ``most`` rows a run, then up to ``longest``, while the last run has more."""
    n = len(rows.number)
    while True:
        first, loss = find_requiring_runs(rows, loaded.geometry, demands, most, threads)
        if loss >= NEVER:
            raise AssertionError("feasibility is decided before a method runs")
        # A last run beyond ``most`` rows may have swallowed rows that a longer look would have divided.
        if most >= min(n, longest) or n - int(np.flatnonzero(first)[-1]) <= most:
            return _number_groups(first)
        most = min(most * 4, longest)


def _number_groups(first: Flags) -> Ints:
    group: Ints = np.cumsum(first, dtype=np.int32)
    group -= np.int32(1)
    return group
