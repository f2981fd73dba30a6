"""The frontier of an order.

For every sensitive value it has the first row in no group yet, and the number of remaining rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.heap import push

Longs = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def find_frontier(value: npt.NDArray[np.int32], values: int) -> tuple[Longs, Longs, Longs, Longs, Longs, int, int]:
    """The frontier of rows in order that are in no group.

    Args:
        value: int32[n], sensitive codes, 0 to ``values`` - 1.
        values: codes there can be.

    Returns:
        following: int64[n], the next row of the same value, -1 after the last.
        head: int64[values], the first row of each value, or -1.
        count: int64[values], rows of each value.
        holders: int64[n + 1], how many values have so many rows; not kept for 0 rows.
        heap, size: the frontier, the first row on top.
        most: rows of the most frequent value.
    """
    n = len(value)
    following, head = np.full(n, -1, np.int64), np.full(values, -1, np.int64)
    count, holders = np.zeros(values, np.int64), np.zeros(n + 1, np.int64)
    for i in range(n - 1, -1, -1):
        v = value[i]
        following[i] = head[v]
        head[v] = i
        count[v] += 1
    heap, size, most = np.empty(values + 1, np.int64), np.int64(0), np.int64(0)
    for v in range(values):
        if count[v] > 0:
            size = push(heap, size, head[v])
            holders[count[v]] += 1
            most = max(most, count[v])
    return following, head, count, holders, heap, size, most


@njit(nogil=True, cache=True)
def take_row(count: Longs, holders: Longs, most: int, v: int) -> int:
    """Take a row of a value from the rest; returns the rows of the rest's most frequent value."""
    holders[count[v]] -= 1
    count[v] -= 1
    holders[count[v]] += 1
    if holders[most] == 0:
        return most - 1
    return most


@njit(nogil=True, cache=True)
def put_back(count: Longs, holders: Longs, most: int, v: int) -> int:
    """Give a row of a value back to the rest; returns the rows of the rest's most frequent value."""
    holders[count[v]] -= 1
    count[v] += 1
    holders[count[v]] += 1
    return max(most, count[v])
