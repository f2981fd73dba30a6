"""Costs of a cluster of `class_costs` without each of the rows, counted for all rows at once."""

from __future__ import annotations

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import KIND, SET
from sqlanon.methods.clustering.kernels.class_costs import ClusterSlots, Codes, Longs, Objective, measure_unit


@njit(nogil=True, cache=True)
def price_without_each(
    clusters: ClusterSlots, objective: Objective, codes: Codes, g: int, to: int, cost: Longs
) -> None:
    """Write the costs of cluster ``g`` without each of the rows.

    Args:
        clusters, objective, codes: the clusters. The objective's ``part`` is 0.
        g: a priced cluster of two rows or more.
        to: a slot that may be overwritten.
        cost: int64[n], written where the cluster's rows are.

    A cell changes only without a row that alone has an end of the range, or a code of a set.

    Cost: O(rows d), and O(1) for each such row and column, or O(values) where a set is counted.
    """
    rest, empty = clusters.size[g] - 1, len(clusters.size) - 1
    total = clusters.unit[g].sum()
    i = clusters.head[g]
    while i >= 0:
        cost[i] = rest * total
        i = clusters.after[i]
    words = clusters.mask.shape[2]
    seen, shared = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for a in range(clusters.low.shape[1]):
        if clusters.unit[g, a] == 0:  # no cell costs less
            continue
        sets, low, high = objective.facts[a, KIND] == SET, np.int64(clusters.low[g, a]), np.int64(clusters.high[g, a])
        seen[:], shared[:] = 0, 0
        lows, highs, above, below = 0, 0, high, low  # ``above`` is the least code but ``low``
        i = clusters.head[g]
        while i >= 0:
            code = np.int64(codes[i, a])
            lows += code == low
            highs += code == high
            if code != low:
                above = min(above, code)
            if code != high:
                below = max(below, code)
            if sets:
                bit = np.uint64(1) << np.uint64(code & 63)
                shared[code >> 6] |= seen[code >> 6] & bit
                seen[code >> 6] |= bit
            i = clusters.after[i]
        if not sets and lows > 1 and highs > 1:
            continue
        i = clusters.head[g]
        while i >= 0:
            code = np.int64(codes[i, a])
            first = above if code == low and lows == 1 else low
            last = below if code == high and highs == 1 else high
            changed = first > low or last < high
            if sets:
                bit = np.uint64(1) << np.uint64(code & 63)
                changed = shared[code >> 6] & bit == np.uint64(0)
                if changed:
                    clusters.mask[to, a] = seen
                    clusters.mask[to, a, code >> 6] ^= bit
            if changed:
                unit = measure_unit(clusters, objective, empty, to, a, first, last)
                cost[i] += rest * (unit - clusters.unit[g, a])
            i = clusters.after[i]
