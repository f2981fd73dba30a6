"""Rows dealt out to clusters, the start of `sequential`.

Sizes, and the rows of each sensitive value, differ by at most one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.random import shuffle
from sqlanon.kernels.requirements import Counters, Demands
from sqlanon.methods.clustering.kernels.class_costs import (
    ClusterSlots,
    Codes,
    Longs,
    Objective,
    may_exchange,
    price_slot,
)
from sqlanon.methods.clustering.kernels.cluster import Flag


@njit(nogil=True, cache=True)
def deal(rows: Longs, key: Longs, t: int, part: Longs) -> None:
    """Deal rows out to ``t`` clusters: their sizes differ by at most one, and so do the counts of every key.

    Args:
        rows: int64[n], in an order; sorted by ``key`` on return.
        key: of every row.
        t: clusters.
        part: int64[n], written: the cluster of each of ``rows``. Each takes as many of a key as it would get if rows
            sorted by key were dealt in turn, and those that follow each other.
    """
    n = len(rows)
    for p in range(n):
        part[p] = key[rows[p]] * n + p
    order, ordered_rows = np.sort(part), rows.copy()
    for p in range(n):
        rows[p] = ordered_rows[order[p] % n]
        order[p] = order[p] // n * t + p % t
    order = np.sort(order)
    for p in range(n):
        part[p] = order[p] % t


@njit(nogil=True, cache=True)
def link_rows(clusters: ClusterSlots, rows: Longs, part: Longs, slot: Longs) -> None:
    """Make the rows of part p the rows of cluster ``slot[p]``; sizes and costs stay as they are."""
    for s in range(len(slot)):
        clusters.head[slot[s]] = -1
    for p in range(len(rows)):
        i, g = rows[p], slot[part[p]]
        clusters.after[i], clusters.head[g], clusters.cluster[i] = clusters.head[g], i, g


@njit(nogil=True, cache=True)
def _deal_rows(
    clusters: ClusterSlots,
    rows: Longs,
    key: Longs,
    t: int,
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    room: Longs,
    stop: Flag,
) -> bool:
    """Deal all rows out to ``t`` clusters; whether these meet ``demands``, or are one, or it was stopped."""
    n = len(rows)
    dealt, part = rows.copy(), np.empty(n, np.int64)
    deal(dealt, key, t, part)
    link_rows(clusters, dealt, part, np.arange(t))
    clusters.size[:] = 0
    for p in range(n):
        clusters.size[part[p]] += 1
    if t > 1:
        for g in range(t):
            if stop[0]:
                return True
            if not may_exchange(clusters, g, -1, -1, demands, numbers, counters, room):
                return False
    return True


@njit(nogil=True, cache=True)
def start(
    clusters: ClusterSlots,
    objective: Objective,
    codes: Codes,
    value: Longs,
    key: Longs,
    t: int,
    at_random: bool,
    state: npt.NDArray[np.uint64],
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    room: Longs,
    stop: Flag,
) -> int:
    """Deal all rows out to ``t`` clusters, or to half as many until they meet ``demands``; how many.

    Where halving ends with one cluster, the greatest of ceil(c / m) clusters that meet ``demands`` are taken, c the
    rows of the most frequent key, m = 1, 2, ...: with so many, clusters are as large as they can be while none has more
    than m of these rows. These are at most 2 sqrt(n) tries.
    """
    rows, most = np.arange(len(codes)), t
    if at_random:
        shuffle(state, rows)
    while not _deal_rows(clusters, rows, key, t, demands, numbers, counters, room, stop):
        t //= 2
    if t == 1 and most > 1:
        frequent, t, lawful = np.bincount(key).max(), most + 1, False
        while not lawful:
            share = -(-frequent // (t - 1))
            t = -(-frequent // share)
            lawful = _deal_rows(clusters, rows, key, t, demands, numbers, counters, room, stop)
    for g in range(t):
        if stop[0]:
            break
        price_slot(clusters, objective, codes, value, g, -1, g)
    return t
