"""Anatomy: l-diverse groups without regard to the quasi-identifier (Xiao & Tao 2006, Figure 3).

Which values make a group depends on the counts of values alone (`find_slot_groups`); which row has a value is drawn
before, by a random order of all rows. So a database can bring rows into their places itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.heap import drop, push
from sqlanon.kernels.random import draw_below, shuffle


@njit(nogil=True, cache=True)
def find_slot_groups(
    count: npt.NDArray[np.int64],
    l: int,  # noqa: E741
    state: npt.NDArray[np.uint64],
    group: npt.NDArray[np.int32],
) -> int:
    """Divide the places of rows that are sorted by sensitive value into groups.

    Args:
        count: int64[values], rows of each value: the buckets.
        l: rows of a group, at least.
        state: the generator, see `chance`.
        group: int32[n], written: the number of each place's group; the numbers are a random permutation.

    Returns:
        How many groups; 0 if a value is more than n / l of the rows.

    While at least ``l`` buckets hold rows, a group takes a row from each of the ``l`` largest (ties: the lower code). A
    row that is left joins a random group that lacks the row's value.

    Cost: O(n log m) for m values; a left-over row, of which there are fewer than ``l``, costs O(groups).
    """
    values, n = len(count), len(group)
    start = np.zeros(values + 1, np.int64)
    for v in range(values):
        if count[v] * l > n:
            return 0
        start[v + 1] = start[v] + count[v]
    # Buckets, the largest on top.
    remaining = count.copy()
    heap, size = np.empty(values, np.int64), 0
    for v in range(values):
        if remaining[v] > 0:
            size = push(heap, size, ((n - remaining[v]) << 32) | v)
    groups = 0
    values_used = np.empty(l, np.int64)
    while size >= l:
        for index in range(l):
            values_used[index] = heap[0] & 0xFFFFFFFF
            size = drop(heap, size)
        for v in values_used:
            remaining[v] -= 1
            group[start[v] + remaining[v]] = groups
            if remaining[v] > 0:
                size = push(heap, size, ((n - remaining[v]) << 32) | v)
        groups += 1
    holds = np.full(groups, -1, np.int64)
    for index in range(size):
        v = heap[index] & 0xFFFFFFFF
        for i in range(start[v] + remaining[v], start[v + 1]):
            holds[group[i]] = v
        for i in range(start[v], start[v] + remaining[v]):
            lacking = np.int64(0)
            for g in range(groups):
                lacking += holds[g] != v
            drawn_value = draw_below(state, lacking)
            for g in range(groups):
                if holds[g] != v:
                    if drawn_value == 0:
                        group[i] = g
                        holds[g] = v
                        break
                    drawn_value -= 1
    names = np.arange(groups)
    shuffle(state, names)
    for i in range(n):
        group[i] = names[group[i]]
    return groups


@njit(nogil=True, cache=True)
def make_anatomy_groups(
    value: npt.NDArray[np.int32],
    values: int,
    l: int,  # noqa: E741
    state: npt.NDArray[np.uint64],
    group: npt.NDArray[np.int32],
) -> int:
    """Divide n rows into groups of ``l`` rows, and some of more, that all differ in their sensitive value.

    Args:
        value: int32[n], sensitive codes, 0 to ``values`` - 1.
        values: codes there can be.
        l: rows of a group, at least.
        state: the generator, see `chance`.
        group: int32[n], written: the number of each row's group.

    Returns:
        How many groups, see `find_slot_groups`.
    """
    n = len(value)
    # Rows of a bucket in random order: taking the next is taking a random one.
    order = np.arange(n)
    shuffle(state, order)
    count = np.zeros(values, np.int64)
    for v in value:
        count[v] += 1
    place = np.empty(n, np.int32)
    groups_made = find_slot_groups(count, l, state, place)
    if groups_made == 0:
        return 0
    fill = np.zeros(values, np.int64)
    for v in range(1, values):
        fill[v] = fill[v - 1] + count[v - 1]
    for i in order:
        group[i] = place[fill[value[i]]]
        fill[value[i]] += 1
    return groups_made
