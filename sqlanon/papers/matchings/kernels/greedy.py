"""Greedy matchings of rows with boxes (Doka et al. 2015, sections 5 and 6): row by row, or edge by edge.

Every round adds a matching. An edge's cost is how much the box grows by the row; it is the same for a whole round, as
a box gets one row in each.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.heap import drop, push
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.papers.matchings.kernels.cost import Coordinates, grow

Longs = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]

CANDIDATES = 24
"""Cheapest boxes that are remembered of a row before it looks at all free ones again."""

_LOW = np.int64((1 << 32) - 1)


@njit(nogil=True, cache=True)
def _has(targets: Longs, t: int, i: int, j: int) -> bool:
    """Whether row ``i`` has box ``j`` in a matching before ``t``."""
    for s in range(t):
        if targets[s, i] == j:
            return True
    return False


@njit(nogil=True, cache=True)
def _exchange(
    c: Coordinates,
    box: Places,
    mask: Masks,
    wide: Longs,
    targets: Longs,
    t: int,
    i: int,
    y: int,
    free: Longs,
    left: int,
) -> int:
    """Give row ``i`` the box of row ``y``, and ``y`` the cheapest free box that it may have.

    Returns:
        The place of that box in ``free``; -1: the exchange is not possible, and nothing is changed.
    """
    j = targets[t, y]
    if _has(targets, t, i, j):
        return -1
    best, least = -1, np.int64(0)
    for f in range(left):
        m = free[f]
        if not _has(targets, t, y, m):
            cost = measure_joint_width(box, mask, m, c.box, c.mask, y, c.measure) - wide[m]
            if best < 0 or cost < least or (cost == least and m < free[best]):
                best, least = f, cost
    if best >= 0:
        targets[t, i], targets[t, y] = j, free[best]
    return best


@njit(nogil=True, cache=True)
def _widen(c: Coordinates, box: Places, mask: Masks, wide: Longs, target: Longs) -> None:
    """Let every box grow by the row that a matching sends to it."""
    for i in range(len(target)):
        j = target[i]
        grow(box, mask, j, c.box, c.mask, i)
        wide[j] = measure_joint_width(box, mask, j, box, mask, j, c.measure)


@njit(nogil=True, cache=True)
def match_greedily(c: Coordinates, targets: Longs) -> bool:
    """Every row in turn takes the cheapest free box; of equally cheap boxes the first.

    A row that may take none of the free boxes gets that of the nearest row before it which may take one of them
    instead.

    Args:
        c: n rows, in the order in which they choose.
        targets: int64[k, n], written: the box of each row in each matching; the first matching is the identity.

    Returns:
        Whether there are k matchings; always for k < (n + 3) / 2 (Theorem 5.2).

    Cost: O(k n^2 d), memory O(n (k + d)).
    """
    k, n = targets.shape
    box, mask, wide, free, barred = (
        c.box.copy(),
        c.mask.copy(),
        np.zeros(n, np.int64),
        np.arange(n),
        np.full(n, -1),
    )
    targets[0] = np.arange(n)
    for t in range(1, k):
        remaining = n
        for j in range(n):
            free[j] = j
        for i in range(n):
            stamp = t * n + i
            for s in range(t):
                barred[targets[s, i]] = stamp
            best, least = -1, np.int64(0)
            for f in range(remaining):
                j = free[f]
                if barred[j] != stamp:
                    cost = measure_joint_width(box, mask, j, c.box, c.mask, i, c.measure) - wide[j]
                    if best < 0 or cost < least:
                        best, least = f, cost
            if best >= 0:
                targets[t, i] = free[best]
            y = i - 1
            while best < 0 and y >= 0:
                best = _exchange(c, box, mask, wide, targets, t, i, y, free, remaining)
                y -= 1
            if best < 0:
                return False
            remaining -= 1
            for f in range(best, remaining):
                free[f] = free[f + 1]
        _widen(c, box, mask, wide, targets[t])
    return True


@njit(nogil=True, cache=True)
def _look(
    c: Coordinates,
    box: Places,
    mask: Masks,
    wide: Longs,
    targets: Longs,
    t: int,
    i: int,
    free: Longs,
    left: int,
    near: Longs,
) -> int:
    """Write the cheapest free boxes of row ``i`` as cost x 2^32 + box, ascending; how many there are."""
    count, room = 0, len(near)
    for f in range(left):
        j = free[f]
        key = ((measure_joint_width(box, mask, j, c.box, c.mask, i, c.measure) - wide[j]) << 32) | j
        if count == room and key >= near[room - 1]:
            continue
        if _has(targets, t, i, j):
            continue
        place = min(count, room - 1)
        while place > 0 and near[place - 1] > key:
            near[place] = near[place - 1]
            place -= 1
        near[place] = key
        count = min(count + 1, room)
    return count


@njit(nogil=True, cache=True)
def sort_greedy(c: Coordinates, targets: Longs) -> bool:
    """Take the cheapest edge between a free row and a free box, until none is left.

    Of equally cheap edges the first row's comes first, then the first box's.

    This is one scan over all edges in the order of their costs. They are not sorted: a heap has the cheapest free box
    of every row, which is looked for again where another row took it. Rows that may take none of the boxes that are
    left exchange with the nearest row before or after them, as in `match_greedily`.

    Args:
        c: n rows; ``targets`` is as in `match_greedily`.

    Returns:
        Whether there are k matchings; always for k < (n + 3) / 2.

    Cost: O(k n^2 d) where rows look at all free boxes a bounded number of times, memory O(n (k + d)).
    """
    k, n = targets.shape
    box, mask, wide, free, where = (
        c.box.copy(),
        c.mask.copy(),
        np.zeros(n, np.int64),
        np.arange(n),
        np.arange(n),
    )
    near, counts, places = np.empty((n, CANDIDATES), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    heap = np.empty(n + 1, np.int64)
    targets[0] = np.arange(n)
    for t in range(1, k):
        remaining, size = n, 0
        for j in range(n):
            free[j], where[j], targets[t, j] = j, j, -1
        for i in range(n):
            counts[i], places[i] = _look(c, box, mask, wide, targets, t, i, free, remaining, near[i]), 0
            size = push(heap, size, (near[i, 0] >> 32) << 32 | i)
        while size > 0:
            i = heap[0] & _LOW
            size = drop(heap, size)
            j = near[i, places[i]] & _LOW
            if where[j] < remaining:
                targets[t, i] = j
                remaining -= 1
                last, place = free[remaining], where[j]
                free[place], free[remaining], where[last], where[j] = last, j, place, remaining
                continue
            while places[i] < counts[i] and where[near[i, places[i]] & _LOW] >= remaining:
                places[i] += 1
            if places[i] == counts[i] and counts[i] == CANDIDATES:
                counts[i], places[i] = _look(c, box, mask, wide, targets, t, i, free, remaining, near[i]), 0
            if places[i] < counts[i]:
                size = push(heap, size, (near[i, places[i]] >> 32) << 32 | i)
        for i in range(n):
            if targets[t, i] >= 0:
                continue
            best, apart = -1, 1
            while best < 0 and apart < n:
                for y in (i - apart, i + apart):
                    if best < 0 and 0 <= y < n and targets[t, y] >= 0:
                        best = _exchange(c, box, mask, wide, targets, t, i, y, free, remaining)
                apart += 1
            if best < 0:
                return False
            remaining -= 1
            free[best] = free[remaining]
        _widen(c, box, mask, wide, targets[t])
    return True
