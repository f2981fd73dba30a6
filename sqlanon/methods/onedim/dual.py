"""Solvers of the dual problem on rows in order.

They maximize the privacy for a bounded loss (Ghinita et al. 2009, sections 5 and 6.3).

k: the optimal division into runs. l of one sensitive column: the accuracy-constrained heuristic, repaired (ours) or as
in the paper (``ac``); ``ipcsd``, which searches l with the direct heuristic (Figure 3); or ``optimal``, the best of all
partitions of one column. Also here, because the option ``solver`` names them: the optimal solver of the direct problem,
and the direct problem solved through the dual (section 5.2).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.bounds import Bounds, find_most_anonymous, find_reach, measure_widest
from sqlanon.kernels.extent import SCALE
from sqlanon.kernels.runs import NEVER
from sqlanon.methods.base import Context
from sqlanon.methods.onedim import direct
from sqlanon.methods.onedim.ipcsd import IpcsdResult, least_bound, search_l
from sqlanon.methods.onedim.kernels import optimal_diverse
from sqlanon.methods.onedim.kernels.bounded_groups import find_least_privacy, make_accurate_groups
from sqlanon.methods.onedim.kernels.bounded_repair import repair
from sqlanon.methods.onedim.kernels.diverse_groups import make_diverse_groups
from sqlanon.methods.onedim.row_orders import OrderedRows
from sqlanon.methods.shared import loss_bound
from sqlanon.methods.shared.kernel_input import LoadedTable
from sqlanon.privacy.base import least_rows, shapes_beyond_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs


Solved = tuple["Ints", tuple[str, ...]]
"""The class of every row in order, int32[n], and notes."""


def kernel_for(context: Context, solver: str) -> object:
    """The kernel that takes most of the time of `solve`."""
    if solver == "optimal":
        if context.accuracy is not None:
            return optimal_diverse.find_best_accurate
        whole = direct.whole_l(shapes_beyond_rows(context.requirements))
        return optimal_diverse.find_best_diverse if whole else optimal_diverse.find_best_fractional
    if context.accuracy is not None and context.accuracy.maximize == "k":
        return find_reach
    if solver == "ipcsd":
        return make_diverse_groups
    return repair if solver == "auto" else make_accurate_groups


def solve(context: Context, loaded: LoadedTable, arranged: OrderedRows, solver: str, minimize: str) -> Solved:
    """Solve the problems that the direct problem's own solvers cannot.

    `sqlanon.methods.onedim.declaration` and `applicable` have checked the request.
    """
    if context.accuracy is None:
        if solver == "optimal":
            return _best_diverse(context, loaded, arranged, minimize), ()
        return _through_dual(context, loaded, arranged)
    if context.accuracy.maximize == "k":
        return _runs(context, loaded, arranged), ()
    if solver == "optimal":
        return _best_accurate(context, loaded, arranged), ()
    if solver == "ipcsd":
        return _search_heuristic(context, loaded, arranged)
    return _accurate(loaded, arranged, loss_bound.bounds_of(context), repaired=solver == "auto")[0], ()


def _value(loaded: LoadedTable, arranged: OrderedRows) -> Ints:
    return loaded.sensitive[0][arranged.rows.number]


def _runs(context: Context, loaded: LoadedTable, arranged: OrderedRows) -> Ints:
    """Dual k-anonymity (section 5). Cost: O(n (d + log n))."""
    n = len(arranged.rows.number)
    start, first = np.empty(n, np.int64), np.empty(n, np.bool_)
    find_reach(arranged.rows.codes, loaded.geometry, loss_bound.bounds_of(context), start)
    find_most_anonymous(start, first)
    return (np.cumsum(first) - 1).astype(np.int32)


def _accurate(
    loaded: LoadedTable, arranged: OrderedRows, bounds: Bounds, *, repaired: bool = False
) -> tuple[Ints, Fraction]:
    """The heuristic's groups and their PM."""
    value = _value(loaded, arranged)
    values, group = int(value.max()) + 1, np.empty(len(value), np.int32)
    groups = make_accurate_groups(arranged.rows.codes, value, values, loaded.geometry, bounds, True, group)
    if repaired:
        groups = repair(arranged.rows.codes, value, values, loaded.geometry, bounds, group, groups)
    return group, Fraction(*find_least_privacy(value, values, group, groups))


def _search_heuristic(context: Context, loaded: LoadedTable, arranged: OrderedRows) -> Solved:
    """IPCSD on the direct heuristic, which knows whole l only: a probe between two counts as the lower."""
    value, bounds, k = (_value(loaded, arranged), loss_bound.bounds_of(context), least_rows(context.requirements))
    probes: dict[int, tuple[int, Ints]] = {}

    def probe(level: Fraction) -> int:
        l = math.floor(level)  # noqa: E741 - the papers' symbol
        if l not in probes:
            group = direct.group_diverse(loaded, arranged, value, Fraction(l), k, fast=False)
            probes[l] = (
                measure_widest(arranged.rows.codes, group, int(group.max()) + 1, loaded.geometry, bounds),
                group,
            )
        return probes[l][0]

    # The last whole l covers all of [l, l + 1): a search that ends below it would never probe it.
    best_l = search_l(probe, Fraction(len(value) // int(np.bincount(value).max()) + 1), bounds.total)
    if best_l.l is None:
        # Not even l = 1: groups of equal rows at least keep to the bound.
        return _accurate(loaded, arranged, bounds)[0], format_notes(best_l)
    rounded = "ipcsd: as in the paper l is searched among whole numbers; a required between two was rounded down"
    return probes[math.floor(best_l.l)][1], (*format_notes(best_l), rounded)


def format_notes(result: IpcsdResult, name: str = "l") -> tuple[str, ...]:
    """Notes on a search for the owner."""
    lines = [f"ipcsd: {len(result.probes)} probes of {name}"]
    if result.l is None:
        lines[0] += "; none keeps to the bound"
    if result.broken:
        shown = ", ".join(f"{float(a.l):g} and {float(b.l):g}" for a, b in result.broken)
        lines.append(
            f"ipcsd: the higher {name} lost less than the lower one for {shown}; the search assumes that it loses "
            f"more, so that a larger {name} may exist"
        )
    return tuple(lines)


def _best_accurate(context: Context, loaded: LoadedTable, arranged: OrderedRows) -> Ints:
    places, bound, _ = loss_bound.on_line(context)
    line, value = _line(places, arranged), _value(loaded, arranged)
    group = np.empty(len(value), np.int32)
    optimal_diverse.find_best_accurate(line, value, int(value.max()) + 1, bound, group)
    return group


def _best_diverse(context: Context, loaded: LoadedTable, arranged: OrderedRows, minimize: str) -> Ints:
    places, _, _ = loss_bound.on_line(context)
    line, value = _line(places, arranged), _value(loaded, arranged)
    (check,) = shapes_beyond_rows(context.requirements)
    group, values = np.empty(len(value), np.int32), int(value.max()) + 1
    objective = direct.OBJECTIVES[minimize]
    if check.q == 1:
        loss = optimal_diverse.find_best_diverse(line, value, values, check.p, objective, group)
    else:
        loss = optimal_diverse.find_best_fractional(line, value, values, check.p, check.q, objective, group)
    if loss >= NEVER:
        raise AssertionError("feasibility is decided before a method runs")
    return group


def _line(places: Longs, arranged: OrderedRows) -> Longs:
    """Where the rows, in order, lie."""
    return places[arranged.rows.codes[:, 0]]


def _through_dual(context: Context, loaded: LoadedTable, arranged: OrderedRows) -> Solved:
    """The least bound under which the heuristic is private enough (section 5.2).

    Cost: about 20 times the heuristic's.
    """
    (check,) = shapes_beyond_rows(context.requirements)
    required = Fraction(check.p, check.q)
    weights = sum(domain.reading.spec.weight for domain in context.encoded.quasi)
    codes = [domain.codes for domain in context.encoded.quasi]
    best: dict[int, Ints] = {}

    def reaches(total: int) -> Fraction:
        group, privacy = _accurate(loaded, arranged, loss_bound.pack_bounds(total, [None] * len(codes), codes))
        if privacy >= required:
            best.clear()
            best[total] = group
        return privacy

    bound = least_bound(reaches, required, weights * SCALE)
    if bound is None:
        raise AssertionError("feasibility is decided before a method runs")
    return best[bound], (f"solver dual: every class has NCP {bound / (weights * SCALE):.4f} at most",)
