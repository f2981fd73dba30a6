"""Requirements on arrays: does a set of rows meet them all, do all prefixes and suffixes of an order? See `Tally`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, Tally, call_add, call_clear


class Demands(NamedTuple):
    """Requirements of every class, for kernels.

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
        _concatenate([t.items for t in tallies], np.int32),
        _concatenate([t.bounds for t in tallies], np.int64),
        _concatenate([t.weights for t in tallies], np.float64),
        start,
        np.array([t.width for t in tallies], np.int64),
    )


def _concatenate(parts: Sequence[npt.NDArray[Any]], dtype: type[np.generic]) -> npt.NDArray[Any]:
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], dtype)
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)


class Counters(NamedTuple):
    """Counters of all tallies and scratch arrays for items of rows, ends of slots and results.

    The counters are zero between uses.
    """

    counts: Longs
    sums: Reals
    held: Ints
    ends: Longs
    holds: Flags


@njit(nogil=True, cache=True)
def make_counters(demands: Demands, rows: int) -> Counters:
    """Zeroed counters for every tally; at most ``rows`` rows are looked at together."""
    tallies, most = len(demands.add), np.int64(0)
    for c in range(tallies):
        most = max(most, demands.width[c])
    slots = rows + 1 if tallies > 0 else 1
    return Counters(
        np.zeros(demands.start[tallies, COUNTS], np.int64),
        np.zeros(demands.start[tallies, SUMS], np.float64),
        np.empty(2 * rows * most, np.int32),
        np.empty(slots, np.int64),
        np.empty(slots, np.bool_),
    )


@njit(nogil=True, cache=True, inline="always")
def _add(
    demands: Demands,
    c: int,
    items: Ints,
    begin: int,
    past: int,
    ends: Longs,
    slots: int,
    holds: Flags,
    counters: Counters,
) -> None:
    """Count the rows of ``items[begin:past]`` with tally ``c``."""
    start = demands.start
    call_add(
        demands.add[c],
        items,
        begin,
        past,
        ends,
        0,
        slots,
        demands.bounds,
        start[c, BOUNDS],
        start[c + 1, BOUNDS],
        demands.weights,
        start[c, WEIGHTS],
        start[c + 1, WEIGHTS],
        counters.counts,
        start[c, COUNTS],
        start[c + 1, COUNTS],
        counters.sums,
        start[c, SUMS],
        start[c + 1, SUMS],
        holds,
        0,
        slots,
    )


@njit(nogil=True, cache=True, inline="always")
def _clear(demands: Demands, c: int, items: Ints, begin: int, past: int, counters: Counters) -> None:
    """Bring the counters of tally ``c`` back to zero after these rows."""
    start = demands.start
    call_clear(
        demands.clear[c],
        items,
        begin,
        past,
        demands.bounds,
        start[c, BOUNDS],
        start[c + 1, BOUNDS],
        demands.weights,
        start[c, WEIGHTS],
        start[c + 1, WEIGHTS],
        counters.counts,
        start[c, COUNTS],
        start[c + 1, COUNTS],
        counters.sums,
        start[c, SUMS],
        start[c + 1, SUMS],
    )


@njit(nogil=True, cache=True)
def order_last_first(demands: Demands, number: Ints) -> tuple[Ints, Longs]:
    """The items of all rows, from the last row back to the first.

    Each tally has a part; the second array has the begins of the parts (int64[c + 1]).
    """
    tallies, n = len(demands.add), len(number)
    begin = np.zeros(tallies + 1, np.int64)
    for c in range(tallies):
        begin[c + 1] = begin[c] + n * demands.width[c]
    reversed_items = np.empty(begin[tallies], np.int32)
    for c in range(tallies):
        width = demands.width[c]
        for index in range(n):
            row = demands.start[c, ITEMS] + number[n - 1 - index] * width
            for w in range(width):
                reversed_items[begin[c] + index * width + w] = demands.items[row + w]
    return reversed_items, begin


@njit(nogil=True, cache=True)
def grow_count(
    demands: Demands, items: Ints, begin: Longs, first: int, past: int, ends: Longs, counters: Counters, holds: Flags
) -> None:
    """Continue the count with rows ``first`` to ``past`` of the result of `order_last_first`.

    ``holds`` gets for each row whether all requirements are met after it.
    """
    for s in range(past - first):
        holds[s] = True
    for c in range(len(demands.add)):
        width = demands.width[c]
        _add(demands, c, items, begin[c] + first * width, begin[c] + past * width, ends, past - first, holds, counters)


@njit(nogil=True, cache=True)
def forget(demands: Demands, items: Ints, begin: Longs, first: int, past: int, counters: Counters) -> None:
    """Bring the counters back to zero after `grow_count` counted rows ``first`` to ``past``."""
    for c in range(len(demands.add)):
        width = demands.width[c]
        _clear(demands, c, items, begin[c] + first * width, begin[c] + past * width, counters)


@njit(nogil=True, cache=True)
def satisfied(demands: Demands, rows: Ints, positions: Longs, counters: Counters) -> bool:
    """Whether the rows at ``positions`` meet every requirement. Cost: linear in positions x tallies."""
    n, items, tally_items = len(positions), demands.items, counters.held
    if n < demands.k:
        return False
    counters.ends[0] = n
    counters.holds[0] = True
    for c in range(len(demands.add)):
        width, begin = demands.width[c], demands.start[c, ITEMS]
        for index in range(n):
            row = begin + rows[positions[index]] * width
            for w in range(width):
                tally_items[index * width + w] = items[row + w]
        _add(demands, c, tally_items, 0, n * width, counters.ends, 1, counters.holds, counters)
        _clear(demands, c, tally_items, 0, n * width, counters)
        if not counters.holds[0]:
            return False
    return True


@njit(nogil=True, cache=True)
def mark_allowed(
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
    n, cuts = len(order), slots - 1
    for s in range(slots):
        allowed[s] = True
    if cuts < 1:
        return
    items, tally_items, back_ends, back_holds = demands.items, counters.held, counters.ends, counters.holds
    for s in range(cuts):
        back_ends[s] = n - ends[cuts - 1 - s]
        back_holds[s] = True
    for c in range(len(demands.add)):
        width, begin = demands.width[c], demands.start[c, ITEMS]
        # Once in order, and once from the last row back, for the halves on the right of each slot.
        left, right = ends[cuts - 1] * width, back_ends[cuts - 1] * width
        if width == 1:
            for index in range(n):
                tally_items[index] = items[begin + rows[order[index]]]
            for index in range(right):
                tally_items[n + index] = tally_items[n - 1 - index]
        else:
            for index in range(n):
                row = begin + rows[order[index]] * width
                for w in range(width):
                    tally_items[index * width + w] = items[row + w]
                    tally_items[(2 * n - 1 - index) * width + w] = items[row + w]
        _add(demands, c, tally_items, 0, left, ends, cuts, allowed, counters)
        _clear(demands, c, tally_items, 0, left, counters)
        _add(demands, c, tally_items, n * width, n * width + right, back_ends, cuts, back_holds, counters)
        _clear(demands, c, tally_items, n * width, n * width + right, counters)
    for s in range(cuts):
        allowed[s] &= back_holds[cuts - 1 - s]
