"""Division of an order into runs that end where a quasi value changes.

It is for requirements that a union of lawful runs may fail.

Rows that are equal in all columns are published alike, so they are one group to readers whatever runs divide them. A
run is closed at the first change of a value at which it meets the requirements; the rows left at the end join as many
runs before them as they need.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.requirements import Demands, forget, grow_count, make_counters, order_last_first

_BLOCKS = 8, 1024
"""Rows that are counted together, at least and at most: as many as the run has, so that few are counted again."""


@njit(nogil=True, cache=True)
def divide_bordered(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    number: npt.NDArray[np.int32],
    demands: Demands,
    first: npt.NDArray[np.bool_],
) -> None:
    """Divide rows into runs that meet the requirements and share no tuple of quasi values with the next run.

    All rows together meet the requirements.

    Args:
        places, sets, number: n rows in order, see `Rows`.
        demands: the requirements.
        first: bool[n], written: where runs begin.

    Cost: O(n (d + tallies)); memory O(n).
    """
    n, lanes, words = len(number), places.shape[1], sets.shape[1]
    changes = np.zeros(n + 1, np.bool_)
    changes[0] = True
    changes[n] = True
    for i in range(1, n):
        for b in range(lanes):
            changes[i] |= places[i, b] != places[i - 1, b]
        for w in range(words):
            changes[i] |= sets[i, w] != sets[i - 1, w]
    counters = make_counters(demands, 0)
    ends, holds = np.arange(1, _BLOCKS[1] + 1), np.empty(_BLOCKS[1], np.bool_)
    forward, of_forward = order_last_first(demands, number[::-1].copy())
    first[:] = False
    start = counted_to = 0
    while counted_to < n:
        past = min(counted_to + min(max(counted_to - start, _BLOCKS[0]), _BLOCKS[1]), n)
        grow_count(demands, forward, of_forward, counted_to, past, ends, counters, holds)
        closed = -1
        for i in range(counted_to + 1, past + 1):
            if changes[i] and i - start >= demands.k and holds[i - counted_to - 1]:
                closed = i
                break
        if closed < 0:
            counted_to = past
            continue
        forget(demands, forward, of_forward, start, past, counters)
        first[start] = True
        start = counted_to = closed
    if start == n:
        return
    forget(demands, forward, of_forward, start, n, counters)
    # The rest, from the last row back to the first run with which it meets the requirements, or to the first row of
    # all.
    backward, of_backward = order_last_first(demands, number)
    counted_to = n
    while counted_to > 0:
        before = max(counted_to - _BLOCKS[1], 0)
        grow_count(demands, backward, of_backward, n - counted_to, n - before, ends, counters, holds)
        for i in range(counted_to - 1, before - 1, -1):
            if i >= start or not first[i]:
                continue
            if n - i >= demands.k and holds[counted_to - 1 - i]:
                return
            first[i] = False
        counted_to = before
    first[0] = True
