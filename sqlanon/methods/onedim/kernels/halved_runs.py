"""Division of an order into runs by halving.

It is for requirements that only long runs meet, such as closeness to the whole table.

A run is divided where both parts meet the requirements, at the cut in the middle half that loses least, or else at the
cut nearest to the middle; parts are divided in turn. Where unions of runs that meet the requirements meet them, a run
without such a cut cannot be divided into any number of runs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.boxes import measure_codes, measure_set, weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen
from sqlanon.kernels.requirements import Demands, forget, grow_count, make_counters, order_last_first

_LOOKS = 64
"""Looks at a row, at most, on average: cuts that only take rows off one end would cost the square of the rows."""


@njit(nogil=True, cache=True)
def without_run(number: npt.NDArray[np.int32], demands: Demands, most: int, looks: int) -> int:
    """At how many of ``looks`` places of the order no short run before the place meets the requirements.

    The places are evenly apart; a short run has at most ``most`` rows.

    Cost: O(n tallies) to arrange the counts, and looks x ``most`` rows.
    """
    n, failing = len(number), 0
    backward, of_backward = order_last_first(demands, number)
    counters = make_counters(demands, 0)
    ends, holds = np.arange(1, most + 1), np.empty(most, np.bool_)
    for look in range(looks):
        past = most + (n - most) * look // looks
        grow_count(demands, backward, of_backward, n - past, n - past + most, ends, counters, holds)
        forget(demands, backward, of_backward, n - past, n - past + most, counters)
        failing += not holds[demands.k - 1 :].any()
    return failing


@njit(nogil=True, cache=True)
def _one_side(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    geometry: Geometry,
    weight: npt.NDArray[np.int32],
    start: int,
    step: int,
    wide: npt.NDArray[np.int64],
) -> None:
    """The widths of the boxes of 1, 2, .. rows that begin at row ``start``, into ``wide``.

    ``step`` is 1 or -1.
    """
    facts, table = geometry.facts, geometry.table
    lanes, words = places.shape[1], sets.shape[1]
    seen = np.full((len(facts), 3), -1, np.int64)
    low, high = np.empty((1, lanes), np.int32), np.empty((1, lanes), np.int32)
    mask = np.zeros((1, words), np.uint64)
    for b in range(0, lanes, WIDTH):
        take(low, 0, places, start, b)
        take(high, 0, places, start, b)
    for s in range(len(wide)):
        index = start + step * s
        for b in range(0, lanes, WIDTH):
            widen(low, high, 0, places, places, index, b)
        for w in range(words):
            mask[0, w] |= sets[index, w]
        total = measure_set(facts, table, mask, 0) + measure_codes(facts, table, low, high, 0, seen)
        for b in range(0, lanes, WIDTH):
            total += measure_width(low, high, 0, weight, b)
        wide[s] = total


@njit(nogil=True, cache=True)
def divide_halved(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    number: npt.NDArray[np.int32],
    geometry: Geometry,
    demands: Demands,
    first: npt.NDArray[np.bool_],
) -> None:
    """Divide rows that together meet the requirements into runs that meet them.

    Args:
        places, sets, number: n rows in order, see `Rows`.
        geometry: the attributes.
        demands: the requirements.
        first: bool[n], written: where runs begin.

    Cost: O(n (d + tallies) log n) where cuts are found near the middle, and `_LOOKS` times n (d + tallies) at most;
    memory O(n).
    """
    n, lanes = len(number), places.shape[1]
    weight = weigh_lines(geometry, lanes)
    backward, of_backward = order_last_first(demands, number)
    forward, of_forward = order_last_first(demands, number[::-1].copy())
    counters = make_counters(demands, 0)
    ends = np.arange(1, n + 1)
    is_left, right = np.empty(n, np.bool_), np.empty(n, np.bool_)
    left_wide, right_wide = np.empty(n, np.int64), np.empty(n, np.int64)
    first[:] = False
    first[0] = True
    budget = np.int64(_LOOKS) * n
    starts, pasts = [np.int64(0)], [np.int64(n)]
    while len(starts) > 0:
        start, past = starts.pop(), pasts.pop()
        rows = past - start
        if rows < 2 * demands.k or budget < rows:
            continue
        budget -= rows
        # Row s ends the left part: so many rows from the front, and the others from the back.
        grow_count(demands, forward, of_forward, start, past - 1, ends, counters, is_left)
        forget(demands, forward, of_forward, start, past - 1, counters)
        grow_count(demands, backward, of_backward, n - past, n - start - 1, ends, counters, right)
        forget(demands, backward, of_backward, n - past, n - start - 1, counters)
        cut = _find_nearest_cut(is_left, right, rows, demands.k)
        if cut < 0:
            continue
        low, high = rows // 4, rows - rows // 4
        if low <= cut < high:
            _one_side(places, sets, geometry, weight, start, 1, left_wide[:high])
            _one_side(places, sets, geometry, weight, past - 1, -1, right_wide[: rows - low])
            least = np.int64(-1)
            for s in range(low, high):
                if demands.k <= s <= rows - demands.k and is_left[s - 1] and right[rows - s - 1]:
                    loss = s * left_wide[s - 1] + (rows - s) * right_wide[rows - s - 1]
                    if least < 0 or loss < least:
                        least, cut = loss, np.int64(s)
        first[start + cut] = True
        starts.append(start)
        pasts.append(start + cut)
        starts.append(start + cut)
        pasts.append(past)


@njit(nogil=True, cache=True)
def _find_nearest_cut(left: npt.NDArray[np.bool_], right: npt.NDArray[np.bool_], rows: int, k: int) -> int:
    """Rows of the left part at the allowed cut nearest to the middle; -1: there is none."""
    middle = rows // 2
    for away in range(middle + 1):
        for s in (middle - away, middle + away):
            if k <= s <= rows - k and left[s - 1] and right[rows - s - 1]:
                return s
    return -1
