"""Costs of clusters of rows under an objective.

They decide which cluster a row or another cluster joins at the least cost.

A class of n rows, n_s of them with sensitive value s, costs the sum over columns of n A - sum_s n_s B(s). A is the
weighted extent of the cell and B is 0, or both are of counts: A = whole x weight x log F(R), B(s) = part x weight x
log F(R, s) (Goldberger & Tassa 2010, equations 10 and 14, without terms that are the same for all divisions).
Logarithms come from one table, so that costs are integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import (
    KIND,
    LEVELS,
    NULLS,
    SCALE,
    SET,
    SIZE,
    START,
    TREE,
    WEIGHT,
    count_bits,
    measure_extent,
)
from sqlanon.kernels.requirements import Counters, Demands, satisfied

Codes = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Objective(NamedTuple):
    """Costs of classes.

    Attributes:
        facts, table: the geometry.
        whole, part: weights of log F(R) and log F(R, s); 0 and 0: extents are summed.
        logs: int32[rows + 1], round(2^20 log2 n); 0 for 0.
        counts: int32[codes + d, values + 1], of every column one after the other the rows of codes below 0, 1 ... and
            of all codes, by sensitive value, and last of all values.
        first: int64[d], where each column begins there.
    """

    facts: Longs
    table: Longs
    whole: int
    part: int
    logs: Codes
    counts: Codes
    first: Longs


class ClusterSlots(NamedTuple):
    """Clusters, in slots; a slot without rows is free.

    Attributes:
        low, high: int32[slots, d], the least and greatest codes of each.
        begin, end: int32[slots, d], the codes that their cells cover; of sets of a nominal column none, but see
            ``mask``.
        mask: uint64[slots, d, words], the codes of nominal columns.
        size, cost: int64[slots].
        of: int64[slots, values], rows of each sensitive value.
        unit, own: int64[slots, d], A and the cost of the column.
        seen: int32[slots, d, values + 1], F(R, s) and F(R), where the objective counts.
        base: int64[slots, values], the cost of a further row of that value with codes in all cells.
        head, after: int64[slots] and int64[n], the rows of each as a list that ends with -1.
        cluster: int64[n], the slot of each row.
        when: int64[slots + 1], the last pricing of each, on a clock that counts pricings; last the clock.
    """

    low: Codes
    high: Codes
    begin: Codes
    end: Codes
    mask: npt.NDArray[np.uint64]
    size: Longs
    cost: Longs
    of: Longs
    unit: Longs
    own: Longs
    seen: Codes
    base: Longs
    head: Longs
    after: Longs
    cluster: Longs
    when: Longs


@njit(nogil=True, cache=True)
def make_priced(objective: Objective, n: int, slots: int) -> ClusterSlots:
    """No clusters of ``n`` rows, in so many slots; the last slot stays without rows."""
    facts, d, values = objective.facts, len(objective.facts), objective.counts.shape[1] - 1
    words = np.int64(1)
    for a in range(d):
        if facts[a, KIND] == SET:
            words = max(words, (facts[a, SIZE] + facts[a, NULLS] + 63) // 64)
    return ClusterSlots(
        np.zeros((slots, d), np.int32),
        np.zeros((slots, d), np.int32),
        np.zeros((slots, d), np.int32),
        np.zeros((slots, d), np.int32),
        np.zeros((slots, d, words), np.uint64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros((slots, values), np.int64),
        np.zeros((slots, d), np.int64),
        np.zeros((slots, d), np.int64),
        np.zeros((slots, d if objective.whole > 0 else 0, values + 1), np.int32),
        np.zeros((slots, values), np.int64),
        np.full(slots, -1, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros(slots + 1, np.int64),
    )


@njit(nogil=True, cache=True)
def _region(objective: Objective, a: int, low: int, high: int) -> tuple[int, int]:
    """The codes that the cell of codes ``low`` to ``high`` covers; (-1, -1) for the set of a nominal column."""
    facts, table = objective.facts, objective.table
    size, null = facts[a, SIZE], facts[a, NULLS]
    if null == 1 and low == 0 and high > 0:
        return np.int64(0), size
    if facts[a, KIND] == SET:
        return np.int64(-1), np.int64(-1)
    if facts[a, KIND] == TREE and low < high:
        for level in range(facts[a, LEVELS]):
            offset = facts[a, START] + 2 * level * size
            node = table[offset + low - null]
            if node == table[offset + high - null]:
                leaves = -(-table[offset + size + low - null] * size // SCALE)
                return node + null, node + null + leaves - 1
        return null, size + null - 1
    return low, high


@njit(nogil=True, cache=True, inline="always")
def _rows_in(
    clusters: ClusterSlots, objective: Objective, g: int, other: int, a: int, low: int, high: int, s: int
) -> int:
    """F(R, s), or F(R) for the last ``s``, of the united clusters ``g`` and ``other`` in a given region."""
    counts, first = objective.counts, objective.first[a]
    if low >= 0:
        return np.int64(counts[first + high + 1, s] - counts[first + low, s])
    total = np.int64(clusters.seen[g, a, s])
    for w in range(clusters.mask.shape[2]):
        more = clusters.mask[other, a, w] & ~clusters.mask[g, a, w]
        while more:
            bit = more & (~more + np.uint64(1))
            code = first + 64 * w + count_bits(bit - np.uint64(1))
            total += counts[code + 1, s] - counts[code, s]
            more ^= bit
    return total


@njit(nogil=True, cache=True, inline="always")
def _members(clusters: ClusterSlots, g: int, other: int, a: int) -> int:
    """Codes of a nominal column in two clusters."""
    members = np.int64(0)
    for w in range(clusters.mask.shape[2]):
        members += count_bits(clusters.mask[g, a, w] | clusters.mask[other, a, w])
    return members


@njit(nogil=True, cache=True, inline="always")
def measure_unit(clusters: ClusterSlots, objective: Objective, g: int, other: int, a: int, low: int, high: int) -> int:
    """A of the cell of two clusters together that has codes ``low`` to ``high``."""
    facts = objective.facts
    if objective.whole > 0:
        begin, end = _region(objective, a, low, high)
        rows = _rows_in(clusters, objective, g, other, a, begin, end, objective.counts.shape[1] - 1)
        return objective.whole * facts[a, WEIGHT] * objective.logs[rows]
    members = _members(clusters, g, other, a) if facts[a, KIND] == SET else np.int64(0)
    return facts[a, WEIGHT] * measure_extent(
        facts[a, KIND],
        facts[a, SIZE],
        facts[a, NULLS],
        facts[a, LEVELS],
        facts[a, START],
        objective.table,
        low,
        high,
        members,
    )


@njit(nogil=True, cache=True)
def _take(clusters: ClusterSlots, objective: Objective, codes: Codes, value: Longs, i: int, g: int) -> None:
    """Widen the cells of slot ``g`` to row ``i``, and count it."""
    for a in range(clusters.low.shape[1]):
        code = codes[i, a]
        clusters.low[g, a] = min(clusters.low[g, a], code) if clusters.size[g] > 0 else code
        clusters.high[g, a] = max(clusters.high[g, a], code) if clusters.size[g] > 0 else code
        if objective.facts[a, KIND] == SET:
            clusters.mask[g, a, code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    clusters.size[g] += 1
    clusters.of[g, value[i]] += 1


@njit(nogil=True, cache=True)
def make_lone_slot(clusters: ClusterSlots, objective: Objective, codes: Codes, value: Longs, i: int, g: int) -> None:
    """Make slot ``g`` of row ``i`` alone, without a price."""
    clusters.size[g], clusters.of[g], clusters.mask[g] = 0, 0, 0
    _take(clusters, objective, codes, value, i, g)


@njit(nogil=True, cache=True)
def price_slot(
    clusters: ClusterSlots, objective: Objective, codes: Codes, value: Longs, g: int, left: int, to: int
) -> None:
    """Make slot ``to`` of the rows of cluster ``g`` without row ``left`` (-1: all), and price it.

    Cost: O((rows + values) d).
    """
    clusters.when[-1] += 1
    clusters.when[to] = clusters.when[-1]
    part, empty, last = objective.part, len(clusters.size) - 1, objective.counts.shape[1] - 1
    clusters.size[to], clusters.of[to], clusters.mask[to], clusters.cost[to], clusters.base[to] = 0, 0, 0, 0, 0
    i = clusters.head[g]
    while i >= 0:
        if i != left:
            _take(clusters, objective, codes, value, i, to)
        i = clusters.after[i]
    n = clusters.size[to]
    if n == 0:
        return
    for a in range(clusters.low.shape[1]):
        low, high = np.int64(clusters.low[to, a]), np.int64(clusters.high[to, a])
        unit = measure_unit(clusters, objective, empty, to, a, low, high)
        cost, weight = n * unit, part * objective.facts[a, WEIGHT]
        clusters.base[to] += unit
        begin, end = _region(objective, a, low, high)
        clusters.begin[to, a], clusters.end[to, a] = begin, end
        if objective.whole > 0:
            for s in range(last + 1):
                clusters.seen[to, a, s] = _rows_in(clusters, objective, empty, to, a, begin, end, s)
                if part > 0 and s < last:
                    entropy = weight * objective.logs[clusters.seen[to, a, s]]
                    clusters.base[to, s] -= entropy
                    cost -= clusters.of[to, s] * entropy
        clusters.unit[to, a], clusters.own[to, a] = unit, cost
        clusters.cost[to] += cost


@njit(nogil=True, cache=True)
def move_row(clusters: ClusterSlots, i: int, h: int) -> None:
    """Move row ``i`` to the rows of cluster ``h``; sizes and costs stay as they are."""
    g = clusters.cluster[i]
    if clusters.head[g] == i:
        clusters.head[g] = clusters.after[i]
    else:
        before = clusters.head[g]
        while clusters.after[before] != i:
            before = clusters.after[before]
        clusters.after[before] = clusters.after[i]
    clusters.after[i], clusters.head[h], clusters.cluster[i] = clusters.head[h], i, h


@njit(nogil=True, cache=True)
def may_exchange(
    clusters: ClusterSlots,
    g: int,
    left: int,
    entered: int,
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    rows: Longs,
) -> bool:
    """Whether cluster ``g`` without row ``left`` and with row ``entered`` (-1: none) meets the requirements."""
    if clusters.size[g] - (left >= 0) + (entered >= 0) < demands.k:
        return False
    if len(demands.add) == 0:
        return True
    i, count = clusters.head[g], 0
    while i >= 0:
        if i != left:
            rows[count] = i
            count += 1
        i = clusters.after[i]
    if entered >= 0:
        rows[count] = entered
        count += 1
    return satisfied(demands, numbers, rows[:count], counters)


@njit(nogil=True, cache=True)
def find_cheapest_cluster(
    clusters: ClusterSlots,
    objective: Objective,
    x: int,
    i: int,
    but: int,
    first: int,
    past: int,
    since: int,
    most: int,
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    rows: Longs,
) -> tuple[int, int]:
    """The cluster that gets dearer least, and by less than ``most``, by the rows of slot ``x``.

    Args:
        clusters, objective: the clusters.
        x: the slot that joins; only cells and counts are read.
        i: the row of that slot, where the cluster must meet the requirements with it; -1: no requirements.
        but: a cluster to leave out.
        first, past: the clusters to look at.
        since: only clusters that were priced later.
        most: the increase must be less than this.
        demands, numbers, counters, rows: the requirements.

    Returns:
        The cluster, of several the first; -1: none. And the increase of the cost.
    """
    facts, d, values, part = objective.facts, clusters.low.shape[1], clusters.of.shape[1], objective.part
    into, more, entered = -1, clusters.size[x], np.int64(0)
    while more == 1 and clusters.of[x, entered] == 0:
        entered += 1
    for h in range(first, past):
        n = clusters.size[h]
        if n == 0 or h == but or clusters.when[h] <= since:
            continue
        total = np.int64(0)
        if more == 1:
            total = clusters.base[h, entered]
        else:
            for s in range(values):
                total += clusters.of[x, s] * clusters.base[h, s]
        for a in range(d):
            if part == 0 and total >= most:  # each cell that widens costs more
                break
            if clusters.begin[h, a] <= clusters.low[x, a] and clusters.high[x, a] <= clusters.end[h, a]:
                continue
            if facts[a, KIND] == SET:
                inside = True
                for w in range(clusters.mask.shape[2]):
                    inside &= clusters.mask[x, a, w] & ~clusters.mask[h, a, w] == np.uint64(0)
                if inside:
                    continue
            low, high = min(clusters.low[h, a], clusters.low[x, a]), max(clusters.high[h, a], clusters.high[x, a])
            unit = measure_unit(clusters, objective, h, x, a, np.int64(low), np.int64(high))
            total += (n + more) * unit - more * clusters.unit[h, a]
            if part == 0:
                total -= n * clusters.unit[h, a]
                continue
            total -= clusters.own[h, a]
            begin, end = _region(objective, a, np.int64(low), np.int64(high))
            weight, entropy = part * facts[a, WEIGHT], np.int64(0)
            for s in range(values):
                both = clusters.of[h, s] + clusters.of[x, s]
                if both > 0:
                    seen = _rows_in(clusters, objective, h, x, a, begin, end, s)
                    entropy += both * objective.logs[seen] - clusters.of[x, s] * objective.logs[clusters.seen[h, a, s]]
            total -= weight * entropy
        if total < most and (i < 0 or may_exchange(clusters, h, -1, i, demands, numbers, counters, rows)):
            into, most = h, total
    return into, most
