"""Division of an order into runs that meet any requirements: distinct l, several or joint sensitive attributes.

As in `runs`, the last run is chosen for every prefix. Which runs are allowed there is tried by growing them backwards;
once the prefix is divided at all, a run is not grown beyond the point where it could be divided into the shortest run
that ends with it and another run. For k and distinct l, which a longer run never loses, this is the optimum over all
divisions; for others it is a heuristic.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.boxes import measure_codes, measure_set, weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen
from sqlanon.kernels.requirements import Demands, forget, grow_count, make_counters, order_last_first
from sqlanon.kernels.runs import NEVER

_BLOCK = 8
"""Rows that are counted together, at least."""


@njit(nogil=True, cache=True)
def find_lawful_runs(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    number: npt.NDArray[np.int32],
    geometry: Geometry,
    demands: Demands,
    most: int,
    solved: int,
    last: bool,
    opt: npt.NDArray[np.int64],
    need: npt.NDArray[np.int64],
    back: npt.NDArray[np.int32],
) -> None:
    """Divide prefixes of n rows, in order, into runs that meet the requirements, with little rows x extents.

    Args:
        places, sets, number: the rows, see `Rows`.
        geometry: the attributes.
        demands: the requirements.
        most: rows of a run, at most.
        solved: the prefixes of up to so many rows are solved already.
        last: whether the last run of all rows is grown as far as it must be, where runs of at most ``most`` rows do not
            divide them.
        opt: int64[n + 1], the loss of each prefix, written beyond ``solved``; `NEVER` where no runs divide it.
        need: int64[n + 1], rows of the shortest run that ends each prefix, likewise.
        back: int32[n + 1], rows of the last run, likewise.

    Cost: O(n w (d + tallies)) where w is the length of two shortest runs, at most ``most``; memory O(n).
    """
    facts, table = geometry.facts, geometry.table
    n, lanes, words = len(number), places.shape[1], sets.shape[1]
    weight = weigh_lines(geometry, lanes)
    seen = np.full((len(facts), 3), -1, np.int64)
    low, high = np.empty((1, lanes), np.int32), np.empty((1, lanes), np.int32)
    mask = np.zeros((1, words), np.uint64)
    # Rows are counted some at a time: a call for each would cost more than its work.
    block = np.int64(max(demands.k, _BLOCK))  # fewer than k rows are no run
    ends, holds = np.arange(1, block + 1), np.empty(block, np.bool_)
    last_place, begin = order_last_first(demands, number)
    counters = make_counters(demands, 0)
    opt[solved + 1 :] = NEVER
    need[solved + 1 :] = NEVER
    for end in range(solved + 1, n + 2):
        i = min(end, n)
        final = end == n + 1
        if final and (not last or opt[n] < NEVER):
            break
        j, counted_to, grouped = i, i, i
        shortest = np.int64(NEVER)
        for b in range(0, lanes, WIDTH):
            take(low, 0, places, i - 1, b)
            take(high, 0, places, i - 1, b)
        for w in range(words):
            mask[0, w] = 0
        while j > 0 and (final or i - j < most):
            j -= 1
            for b in range(0, lanes, WIDTH):
                widen(low, high, 0, places, places, j, b)
            for w in range(words):
                mask[0, w] |= sets[j, w]
            if j < counted_to:
                grouped = counted_to
                counted_to = max(grouped - (block if grouped == i else _BLOCK), 0)
                grow_count(demands, last_place, begin, n - grouped, n - counted_to, ends, counters, holds)
            if not holds[grouped - 1 - j] or i - j < demands.k:
                continue
            if shortest == NEVER:
                shortest = np.int64(i - j)
            if opt[j] < NEVER:
                wide = measure_set(facts, table, mask, 0) + measure_codes(facts, table, low, high, 0, seen)
                for b in range(0, lanes, WIDTH):
                    wide += measure_width(low, high, 0, weight, b)
                loss = opt[j] + (i - j) * wide
                if loss < opt[i]:
                    opt[i], back[i] = loss, i - j
            # Where a longer run can fail, the rows before the shortest run need not be divisible.
            if not final and opt[i] < NEVER and i - j - shortest >= need[i - shortest]:
                break
        forget(demands, last_place, begin, n - i, n - counted_to, counters)
        need[i] = min(need[i], shortest)
