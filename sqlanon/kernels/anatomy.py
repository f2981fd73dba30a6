"""Anatomy: l-diverse groups without regard to the quasi-identifier (Xiao & Tao 2006, Figure 3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.chance import below, shuffle
from sqlanon.kernels.heap import drop, push


@njit(nogil=True, cache=True)
def anatomy_groups(
    value: npt.NDArray[np.int32], values: int, l: int, state: npt.NDArray[np.uint64],  # noqa: E741
    group: npt.NDArray[np.int32],
) -> int:  # fmt: skip
    """Divide n rows into groups of ``l`` rows, and some of more, that all differ in their sensitive value.

    Args:
        value: int32[n], sensitive codes, 0 to ``values`` - 1: the buckets.
        values: codes there can be.
        l: rows of a group, at least.
        state: the generator, see `chance`.
        group: int32[n], written: the number of each row's group; the numbers are a random permutation.

    Returns:
        How many groups; 0 if a value is more than n / l of the rows.

    While at least ``l`` buckets hold rows, a group takes a random row from each of the ``l`` largest (ties: the lower
    code). A row that is left joins a random group that lacks its value.

    Cost: O(n log m) for m values; a left-over row, of which there are fewer than ``l``, costs O(groups).
    """
    n = len(value)
    # Rows of a bucket in random order: taking the next is taking a random one.
    order = np.arange(n)
    shuffle(state, order)
    start = np.zeros(values + 1, np.int64)
    for v in value:
        start[v + 1] += 1
    most = start.max()
    if most * l > n or n == 0:
        return 0
    for v in range(values):
        start[v + 1] += start[v]
    fill, rows = start.copy(), np.empty(n, np.int64)
    for i in order:
        rows[fill[value[i]]] = i
        fill[value[i]] += 1
    # Buckets, the largest on top.
    left = np.empty(values, np.int64)
    heap, size = np.empty(values, np.int64), 0
    for v in range(values):
        left[v] = start[v + 1] - start[v]
        if left[v] > 0:
            size = push(heap, size, ((n - left[v]) << 32) | v)
    made = 0
    taken = np.empty(l, np.int64)
    while size >= l:
        for at in range(l):
            taken[at] = heap[0] & 0xFFFFFFFF
            size = drop(heap, size)
        for v in taken:
            left[v] -= 1
            group[rows[start[v] + left[v]]] = made
            if left[v] > 0:
                size = push(heap, size, ((n - left[v]) << 32) | v)
        made += 1
    holds = np.full(made, -1, np.int64)
    for at in range(size):
        v = heap[at] & 0xFFFFFFFF
        for i in range(start[v] + left[v], start[v + 1]):
            holds[group[rows[i]]] = v
        for i in range(start[v], start[v] + left[v]):
            lacking = np.int64(0)
            for g in range(made):
                lacking += holds[g] != v
            chosen = below(state, lacking)
            for g in range(made):
                if holds[g] != v:
                    if chosen == 0:
                        group[rows[i]] = g
                        holds[g] = v
                        break
                    chosen -= 1
    names = np.arange(made)
    shuffle(state, names)
    for i in range(n):
        group[i] = names[group[i]]
    return made
