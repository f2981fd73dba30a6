"""Regroup: a new division of the rows of a few classes, from random seeds, improved by moves and swaps.

It is ours, not a paper's.

A cluster begins with a random row or the row farthest from the last cluster and takes the row that widens it least
until every requirement holds (as in k-member clustering, Byun et al. 2007); the rows that are left go where they cost
least. Then rows move to other clusters, or change places with rows there, while rows x extents falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.random import draw_below
from sqlanon.kernels.requirements import Counters, Demands, make_counters, satisfied
from sqlanon.kernels.unions import (
    Masks,
    Measure,
    Places,
    copy_box,
    empty_box,
    join_box,
    measure_coded,
    measure_lines,
    measure_sets,
)

Longs = npt.NDArray[np.int64]

_ANY = np.int64(2**62)


class Pool(NamedTuple):
    """Rows that are divided, and room for their clusters; made once for many pools.

    Attributes:
        box, mask: boxes (see `unions`) of the rows, of each row's cluster without it, of the ends of a cluster, of its
            beginning, of no rows, and of the clusters.
        number: int32[most], row numbers, which index the arrays of `Demands`.
        cluster, lost: int64[most], cluster of each row, and the width of that without it.
        size, wide: int64[clusters], rows of each cluster and the width of the box.
        members: int64[clusters, most], rows of each cluster.
        free, held: int64[most], room for lists of rows.
        bound: int64[most], a width that the cluster which grows has at least, with each of the rows that are free.
        counters: of the requirements.
    """

    box: Places
    mask: Masks
    number: npt.NDArray[np.int32]
    cluster: Longs
    lost: Longs
    size: Longs
    wide: Longs
    members: Longs
    free: Longs
    held: Longs
    bound: Longs
    counters: Counters


@njit(nogil=True, cache=True)
def make_pool(most: int, clusters: int, lanes: int, words: int, demands: Demands) -> Pool:
    """Room for ``most`` rows and so many clusters."""
    boxes = 3 * most + 3 + clusters
    return Pool(
        np.empty((boxes, 2 * lanes), np.int32),
        np.zeros((boxes, words), np.uint64),
        np.empty(most, np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.zeros(clusters, np.int64),
        np.zeros(clusters, np.int64),
        np.empty((clusters, most), np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        make_counters(demands, most),
    )


@njit(nogil=True, cache=True, inline="always")
def find_box_of_cluster(most: int, c: int) -> int:
    """Where the box of a cluster is."""
    return 3 * most + 3 + c


@njit(nogil=True, cache=True)
def _lawful(pool: Pool, demands: Demands, c: int, left: int, entered: int) -> bool:
    """Whether a cluster without row ``left`` and with row ``entered`` (-1: none) meets every requirement."""
    members, trial_rows, rows = pool.members, pool.held, 0
    for t in range(pool.size[c]):
        i = members[c, t]
        if i != left:
            trial_rows[rows] = i
            rows += 1
    if entered >= 0:
        trial_rows[rows] = entered
        rows += 1
    return satisfied(demands, pool.number, trial_rows[:rows], pool.counters)


@njit(nogil=True, cache=True)
def _build(
    pool: Pool, n: int, clusters: int, least: int, demands: Demands, measure: Measure, state: npt.NDArray[np.uint64]
) -> int:
    """Divide ``n`` rows into clusters that meet every requirement.

    Returns the sum of rows x extents, or -1 if the rows do not suffice.
    """
    box, mask, members, size, wide, free, bound = (
        pool.box,
        pool.mask,
        pool.members,
        pool.size,
        pool.wide,
        pool.free,
        pool.bound,
    )
    facts, table, weight, codes, sets = (
        measure.facts,
        measure.table,
        measure.weight,
        measure.codes,
        measure.sets,
    )
    coded, checks, most = len(codes) > 0, len(demands.add) > 0, len(free)
    unassigned = n
    for i in range(n):
        free[i] = i
    for c in range(clusters):
        size[c], wide[c] = 0, 0
        if unassigned < (clusters - c) * least:
            return -1
        box_index = find_box_of_cluster(most, c)
        empty_box(box, mask, box_index)
        far = c > 0 and draw_below(state, 2) == 0
        pick = draw_below(state, unassigned)
        for t in range(unassigned):
            bound[t] = -1
        while True:
            # The first row may be the one farthest from the last cluster, the others are the nearest; from ``least``
            # rows on the nearest of those with which the requirements hold, if there are any.
            if far or size[c] > 0:
                seed, sign = (box_index - 1, -1) if far else (box_index, 1)
                least_width, closed = _ANY, -1
                closing = checks and not far and size[c] + 1 >= least
                for t in range(unassigned):
                    # A box only grows, so that an earlier width with a row is a lower bound of the width now: most rows
                    # are passed over.
                    if not far and bound[t] >= least_width and (not closing or closed >= 0):
                        continue
                    w = measure_lines(box, seed, box, free[t], weight)
                    w += measure_sets(mask, seed, mask, free[t], sets, table)
                    if coded:
                        w += measure_coded(box, seed, box, free[t], facts, table, codes)
                    if not far:
                        bound[t] = w
                    w *= sign
                    if closing and closed >= 0 and w >= least_width:
                        continue
                    if closing and _lawful(pool, demands, c, -1, free[t]):
                        least_width, pick, closed = w, t, t
                    elif closed < 0 and w < least_width:
                        least_width, pick = w, t
                if not far:
                    wide[c] = least_width
                far = False
            i = free[pick]
            join_box(box, mask, box_index, box, mask, box_index, box, mask, i)
            members[c, size[c]] = i
            size[c] += 1
            unassigned -= 1
            free[pick], bound[pick] = free[unassigned], bound[unassigned]
            if size[c] >= least and (not checks or _lawful(pool, demands, c, -1, -1)):
                break
            if unassigned == 0:
                return -1
    for t in range(unassigned):
        i, into = free[t], -1
        price, width = np.int64(0), np.int64(0)
        for c in range(clusters):
            box_index = find_box_of_cluster(most, c)
            w = measure_lines(box, box_index, box, i, weight)
            w += measure_sets(mask, box_index, mask, i, sets, table)
            if coded:
                w += measure_coded(box, box_index, box, i, facts, table, codes)
            cost = (size[c] + 1) * w - size[c] * wide[c]
            # A class that meets a requirement such as l may not with one row more.
            if (into < 0 or cost < price) and (not checks or _lawful(pool, demands, c, -1, i)):
                into, price, width = c, cost, w
        if into < 0:
            return -1
        box_index = find_box_of_cluster(most, into)
        join_box(box, mask, box_index, box, mask, box_index, box, mask, i)
        members[into, size[into]] = i
        size[into] += 1
        wide[into] = width
    total = np.int64(0)
    for c in range(clusters):
        total += size[c] * wide[c]
    return total


@njit(nogil=True, cache=True)
def regroup(
    pool: Pool,
    n: int,
    clusters: int,
    least: int,
    cost: int,
    demands: Demands,
    measure: Measure,
    state: npt.NDArray[np.uint64],
) -> int:
    """Divide the first ``n`` rows of a pool into clusters that meet every requirement.

    Args:
        pool: the rows; the clusters are written.
        n: rows.
        clusters: the number to make.
        least: rows of a cluster, at least.
        cost: the present loss of the rows. A division that begins far above it is not improved.
        demands: the requirements.
        measure: of widths.
        state: of the random numbers.

    Returns:
        The sum of rows x extents, or -1 where the trial was given up.

    Cost: O(n^2 d) for the first division, and O(n k d) for each pass over the rows that follows.
    """
    begun = _build(pool, n, clusters, least, demands, measure, state)
    if begun < 0 or (5 * begun > 6 * cost and len(demands.add) == 0):
        return -1
    box, mask, members, size, wide, cluster, lost = (
        pool.box,
        pool.mask,
        pool.members,
        pool.size,
        pool.wide,
        pool.cluster,
        pool.lost,
    )
    facts, table, weight, codes, sets = (
        measure.facts,
        measure.table,
        measure.weight,
        measure.codes,
        measure.sets,
    )
    coded, checks, most = len(codes) > 0, len(demands.add) > 0, len(cluster)
    rest, suffix, prefix, empty = most, 2 * most, 3 * most + 1, 3 * most + 2
    empty_box(box, mask, empty)
    for c in range(clusters):
        for t in range(size[c]):
            cluster[members[c, t]] = c
    idle, i, first, second, stride = 0, 0, 0, clusters, 1
    while idle < n:
        # Clusters that have changed: first, first + stride ... up to second.
        for c in range(first, second, stride):
            rows = size[c]
            copy_box(box, mask, suffix + rows, box, mask, empty)
            for t in range(rows - 1, -1, -1):
                join_box(box, mask, suffix + t, box, mask, suffix + t + 1, box, mask, members[c, t])
            copy_box(box, mask, find_box_of_cluster(most, c), box, mask, suffix)
            copy_box(box, mask, prefix, box, mask, empty)
            for t in range(rows):
                j = members[c, t]
                join_box(box, mask, rest + j, box, mask, prefix, box, mask, suffix + t + 1)
                join_box(box, mask, prefix, box, mask, prefix, box, mask, j)
                lost[j] = 0
                if rows > 1:
                    w = measure_lines(box, rest + j, box, rest + j, weight)
                    w += measure_sets(mask, rest + j, mask, rest + j, sets, table)
                    if coded:
                        w += measure_coded(box, rest + j, box, rest + j, facts, table, codes)
                    lost[j] = w
            box_index = find_box_of_cluster(most, c)
            wide[c] = measure_lines(box, box_index, box, box_index, weight)
            wide[c] += measure_sets(mask, box_index, mask, box_index, sets, table)
            if coded:
                wide[c] += measure_coded(box, box_index, box, box_index, facts, table, codes)
        # The step of row i that gains most: into another cluster, or into the place of a partner there.
        a = cluster[i]
        best, into, partner = np.int64(0), -1, -1
        for b in range(clusters):
            if b == a:
                continue
            now = size[a] * wide[a] + size[b] * wide[b]
            # No cluster is narrower with a row more: most moves are ruled out here.
            if size[a] > least and now - (size[a] - 1) * lost[i] - (size[b] + 1) * wide[b] > best:
                box_index = find_box_of_cluster(most, b)
                w = measure_lines(box, box_index, box, i, weight)
                w += measure_sets(mask, box_index, mask, i, sets, table)
                if coded:
                    w += measure_coded(box, box_index, box, i, facts, table, codes)
                gain = now - (size[a] - 1) * lost[i] - (size[b] + 1) * w
                if gain > best and (
                    not checks or (_lawful(pool, demands, a, i, -1) and _lawful(pool, demands, b, -1, i))
                ):
                    best, into, partner = gain, b, -1
            # No cluster is narrower than it is without the row that leaves it: most swaps are ruled out here.
            spare = now - size[a] * lost[i]
            for t in range(size[b]):
                j = members[b, t]
                if spare - size[b] * lost[j] <= best:
                    continue
                here = measure_lines(box, rest + i, box, j, weight)
                here += measure_sets(mask, rest + i, mask, j, sets, table)
                if coded:
                    here += measure_coded(box, rest + i, box, j, facts, table, codes)
                if now - size[a] * here - size[b] * lost[j] <= best:
                    continue
                there = measure_lines(box, rest + j, box, i, weight)
                there += measure_sets(mask, rest + j, mask, i, sets, table)
                if coded:
                    there += measure_coded(box, rest + j, box, i, facts, table, codes)
                gain = now - size[a] * here - size[b] * there
                if gain > best and (
                    not checks or (_lawful(pool, demands, a, i, j) and _lawful(pool, demands, b, j, i))
                ):
                    best, into, partner = gain, b, j
        if into < 0:
            idle += 1
            first, second, stride = 0, 0, 1
        else:
            idle = 0
            first, second, stride = min(a, into), max(a, into) + 1, abs(into - a)
            t = 0
            while members[a, t] != i:
                t += 1
            if partner < 0:
                size[a] -= 1
                members[a, t] = members[a, size[a]]
                t = size[into]
                size[into] += 1
            else:
                members[a, t] = partner
                cluster[partner] = a
                t = 0
                while members[into, t] != partner:
                    t += 1
            members[into, t] = i
            cluster[i] = into
        i = i + 1 if i + 1 < n else 0
    total = np.int64(0)
    for c in range(clusters):
        total += size[c] * wide[c]
    return total
