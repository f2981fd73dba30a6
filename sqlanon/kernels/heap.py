"""A binary heap of 64-bit integers in an array, the least on top; numba writes the functions into their callers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit


@njit(nogil=True, cache=True, inline="always")
def push(heap: npt.NDArray[np.int64], size: int, item: int) -> int:
    """Add an item to a heap of ``size``; returns the new size. Cost: O(log size)."""
    position = size
    while position > 0:
        above = (position - 1) // 2
        if heap[above] <= item:
            break
        heap[position] = heap[above]
        position = above
    heap[position] = item
    return size + 1


@njit(nogil=True, cache=True, inline="always")
def drop(heap: npt.NDArray[np.int64], size: int) -> int:
    """Remove the top, ``heap[0]``; returns the new size. Cost: O(log size)."""
    size -= 1
    item = heap[size]
    position = 0
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= item:
            break
        heap[position] = heap[child]
        position = child
    heap[position] = item
    return size
