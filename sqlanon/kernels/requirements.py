"""Requirements on arrays: does a set of rows meet them all, do all prefixes and suffixes of an order? See `Tally`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, Tally, call_add, call_clear


class Demands(NamedTuple):
    """What every class must meet, for kernels.

    Attributes:
        k: rows, at least.
        add, clear: int64[c], addresses of the tallies' functions.
        items: int32[*], the tallies' items one after the other.
        bounds, weights: their parameters, one after the other.
        start: int64[c + 1, 5], where each tally's items, bounds, weights, counts and sums begin.
        width: int64[c], numbers of a row.
    """

    k: int
    add: Longs
    clear: Longs
    items: Ints
    bounds: Longs
    weights: Reals
    start: Longs
    width: Longs


ITEMS, BOUNDS, WEIGHTS, COUNTS, SUMS = 0, 1, 2, 3, 4
"""Columns of `Demands.start`."""


def demands_of(k: int, tallies: Sequence[Tally]) -> Demands:
    """The demands of a number of rows and of tallies over the same rows."""
    sizes = [(len(t.items), len(t.bounds), len(t.weights), t.counts, t.sums) for t in tallies]
    start = np.zeros((len(tallies) + 1, 5), np.int64)
    start[1:] = np.cumsum(np.array(sizes, np.int64).reshape(-1, 5), axis=0)
    return Demands(
        k,
        np.array([t.add.address for t in tallies], np.int64),
        np.array([t.clear.address for t in tallies], np.int64),
        _joined([t.items for t in tallies], np.int32),
        _joined([t.bounds for t in tallies], np.int64),
        _joined([t.weights for t in tallies], np.float64),
        start,
        np.array([t.width for t in tallies], np.int64),
    )


def _joined(parts: Sequence[npt.NDArray[Any]], dtype: type[np.generic]) -> npt.NDArray[Any]:
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], dtype)
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)


class Counters(NamedTuple):
    """Counters of all tallies, zero between uses, and room for the items of rows."""

    counts: Longs
    sums: Reals
    held: Ints
    ends: Longs
    holds: Flags


@njit(nogil=True, cache=True)
def new_counters(demands: Demands, rows: int) -> Counters:
    """Zeroed counters for every tally; at most ``rows`` rows are looked at together."""
    tallies, most = len(demands.add), np.int64(0)
    for c in range(tallies):
        most = max(most, demands.width[c])
    return Counters(
        np.zeros(demands.start[tallies, COUNTS], np.int64),
        np.zeros(demands.start[tallies, SUMS], np.float64),
        np.empty(2 * rows * most, np.int32),
        np.empty(1, np.int64),
        np.empty(1, np.bool_),
    )


@njit(nogil=True, cache=True)
def _hold(demands: Demands, c: int, rows: Ints, positions: Longs, held: Ints, backward: bool) -> None:
    """The items of the rows at ``positions`` in order; with ``backward`` once more, from the last one back, behind them."""
    items, n, width = demands.items, len(positions), demands.width[c]
    begin = demands.start[c, ITEMS]
    if width == 1:
        for at in range(n):
            held[at] = items[begin + rows[positions[at]]]
        if backward:
            for at in range(n):
                held[2 * n - 1 - at] = held[at]
        return
    for at in range(n):
        row = begin + rows[positions[at]] * width
        for w in range(width):
            held[at * width + w] = items[row + w]
            if backward:
                held[(2 * n - 1 - at) * width + w] = items[row + w]


@njit(nogil=True, cache=True)
def last_first(demands: Demands, number: Ints) -> tuple[Ints, Longs]:
    """The items of all rows in order, from the last one back: per tally one part, and where the parts begin (int64[c + 1])."""
    tallies, n = len(demands.add), len(number)
    begin = np.zeros(tallies + 1, np.int64)
    for c in range(tallies):
        begin[c + 1] = begin[c] + n * demands.width[c]
    held = np.empty(begin[tallies], np.int32)
    for c in range(tallies):
        width = demands.width[c]
        for at in range(n):
            row = demands.start[c, ITEMS] + number[n - 1 - at] * width
            for w in range(width):
                held[begin[c] + at * width + w] = demands.items[row + w]
    return held, begin


@njit(nogil=True, cache=True)
def grown(
    demands: Demands, held: Ints, begin: Longs, first: int, past: int, ends: Longs, counters: Counters, holds: Flags
) -> None:  # fmt: skip
    """Go on counting rows ``first`` to ``past`` of what `last_first` made; ``holds`` says after each whether all are met."""
    start, rows = demands.start, past - first
    for s in range(rows):
        holds[s] = True
    for c in range(len(demands.add)):
        width = demands.width[c]
        call_add(
            demands.add[c],
            held[begin[c] + first * width : begin[c] + past * width],
            ends[:rows],
            demands.bounds[start[c, BOUNDS] : start[c + 1, BOUNDS]],
            demands.weights[start[c, WEIGHTS] : start[c + 1, WEIGHTS]],
            counters.counts[start[c, COUNTS] : start[c + 1, COUNTS]],
            counters.sums[start[c, SUMS] : start[c + 1, SUMS]],
            holds[:rows],
        )


@njit(nogil=True, cache=True)
def forget(demands: Demands, held: Ints, begin: Longs, first: int, past: int, counters: Counters) -> None:
    """Bring the counters back to zero after `grown` counted rows ``first`` to ``past``."""
    start = demands.start
    for c in range(len(demands.add)):
        width = demands.width[c]
        call_clear(
            demands.clear[c],
            held[begin[c] + first * width : begin[c] + past * width],
            demands.bounds[start[c, BOUNDS] : start[c + 1, BOUNDS]],
            demands.weights[start[c, WEIGHTS] : start[c + 1, WEIGHTS]],
            counters.counts[start[c, COUNTS] : start[c + 1, COUNTS]],
            counters.sums[start[c, SUMS] : start[c + 1, SUMS]],
        )


@njit(nogil=True, cache=True)
def satisfied(demands: Demands, rows: Ints, positions: Longs, counters: Counters) -> bool:
    """Whether the rows at ``positions`` meet every requirement. Cost: linear in positions x tallies."""
    n = len(positions)
    if n < demands.k:
        return False
    start = demands.start
    counters.ends[0] = n
    counters.holds[0] = True
    for c in range(len(demands.add)):
        _hold(demands, c, rows, positions, counters.held, False)
        held = counters.held[: n * demands.width[c]]
        bounds = demands.bounds[start[c, BOUNDS] : start[c + 1, BOUNDS]]
        weights = demands.weights[start[c, WEIGHTS] : start[c + 1, WEIGHTS]]
        counts = counters.counts[start[c, COUNTS] : start[c + 1, COUNTS]]
        sums = counters.sums[start[c, SUMS] : start[c + 1, SUMS]]
        call_add(demands.add[c], held, counters.ends, bounds, weights, counts, sums, counters.holds)
        call_clear(demands.clear[c], held, bounds, weights, counts, sums)
        if not counters.holds[0]:
            return False
    return True


@njit(nogil=True, cache=True)
def allowed_slots(
    demands: Demands,
    rows: Ints,
    order: Longs,
    ends: Longs,
    slots: int,
    counters: Counters,
    allowed: Flags,
) -> None:
    """For every slot, whether a cut after it leaves two halves that meet the tallies (k is not looked at here).

    Args:
        demands: the requirements.
        rows: row numbers by position.
        order: the positions in the order that is cut.
        ends: int64[slots], rows up to and including each slot.
        slots: how many slots there are.
        counters: zeroed.
        allowed: bool[>= slots], written.
    """
    n, cuts, start = len(order), slots - 1, demands.start
    for s in range(slots):
        allowed[s] = True
    if cuts < 1:
        return
    back_ends, back_allowed = np.empty(cuts, np.int64), np.ones(cuts, np.bool_)
    for s in range(cuts):
        back_ends[s] = n - ends[cuts - 1 - s]
    for c in range(len(demands.add)):
        _hold(demands, c, rows, order, counters.held, True)
        width = demands.width[c]
        bounds = demands.bounds[start[c, BOUNDS] : start[c + 1, BOUNDS]]
        weights = demands.weights[start[c, WEIGHTS] : start[c + 1, WEIGHTS]]
        counts = counters.counts[start[c, COUNTS] : start[c + 1, COUNTS]]
        sums = counters.sums[start[c, SUMS] : start[c + 1, SUMS]]
        held = counters.held[: ends[cuts - 1] * width]
        call_add(demands.add[c], held, ends[:cuts], bounds, weights, counts, sums, allowed[:cuts])
        call_clear(demands.clear[c], held, bounds, weights, counts, sums)
        # The halves on the right of each slot, from the last one back.
        held = counters.held[n * width : (n + back_ends[cuts - 1]) * width]
        call_add(demands.add[c], held, back_ends, bounds, weights, counts, sums, back_allowed)
        call_clear(demands.clear[c], held, bounds, weights, counts, sums)
    for s in range(cuts):
        allowed[s] &= back_allowed[cuts - 1 - s]
