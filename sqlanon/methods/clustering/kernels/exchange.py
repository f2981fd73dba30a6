"""Exchange of two rows between clusters of `sequential`.

If no cluster has a row to spare under the requirements, no single move is allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import WEIGHT
from sqlanon.kernels.requirements import Counters, Demands
from sqlanon.methods.clustering.kernels.class_costs import (
    ClusterSlots,
    Codes,
    Longs,
    Objective,
    find_cheapest_cluster,
    make_lone_slot,
    may_exchange,
    measure_unit,
    move_row,
    price_slot,
)
from sqlanon.methods.clustering.kernels.costs_without_row import price_without_each

_ANY = np.int64(2**62)


class Partners(NamedTuple):
    """Facts about rows and clusters for exchanges.

    Attributes:
        key: int64[n], rows of the same key are exchanged: their sensitive values are the same, and so are those of
            their clusters afterwards.
        rows: int64[n], the rows sorted by key.
        first, past: int64[n], where the rows of each row's key begin and end there.
        tried: int64[n], the last time without an exchange of each row, on the clock of the clusters.
        saved: int64[n], the most that is saved where each row leaves its cluster and another row comes.
        at: int64[slots], the time of that count for the rows of each cluster.
        wider: int64[slots], the extra cost of the rows of each cluster beside the row that is exchanged now.
    """

    key: Longs
    rows: Longs
    first: Longs
    past: Longs
    tried: Longs
    saved: Longs
    at: Longs
    wider: Longs


@njit(nogil=True, cache=True)
def make_partners(key: Longs, slots: int) -> Partners:
    """No row has been looked at, of clusters in so many slots."""
    n = len(key)
    rows = np.argsort(key, kind="mergesort")
    ordered = key[rows]
    return Partners(
        key,
        rows,
        np.searchsorted(ordered, key),
        np.searchsorted(ordered, key, side="right"),
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.full(slots, -1, np.int64),
        np.zeros(slots, np.int64),
    )


@njit(nogil=True, cache=True)
def _leave(clusters: ClusterSlots, objective: Objective, codes: Codes, partners: Partners, g: int, to: int) -> None:
    """Count the saving by the leaving of each row of cluster ``g``; slot ``to`` is overwritten."""
    partners.at[g] = clusters.when[g]
    price_without_each(clusters, objective, codes, g, to, partners.saved)
    i, rest = clusters.head[g], clusters.size[g] - 1
    while i >= 0:
        without = partners.saved[i]
        # A row that comes costs at least as much as each of the others.
        partners.saved[i] = clusters.cost[g] - without - without // rest
        i = clusters.after[i]


@njit(nogil=True, cache=True)
def _widen(clusters: ClusterSlots, objective: Objective, single: int, since: int, wider: Longs) -> None:
    """Compute the added cost of rows beside the row of slot ``single``, for clusters priced after ``since``.

    The cost of the single row itself is left out.
    """
    for h in range(len(wider) - 4):
        if clusters.size[h] == 0 or clusters.when[h] <= since:
            continue
        more = np.int64(0)
        for a in range(clusters.low.shape[1]):
            low, high = np.int64(clusters.low[single, a]), np.int64(clusters.high[single, a])
            if clusters.begin[h, a] <= low and high <= clusters.end[h, a]:
                continue
            low, high = min(low, np.int64(clusters.low[h, a])), max(high, np.int64(clusters.high[h, a]))
            more += measure_unit(clusters, objective, h, single, a, low, high) - clusters.unit[h, a]
        wider[h] = clusters.size[h] * more


@njit(nogil=True, cache=True)
def exchange(
    clusters: ClusterSlots,
    objective: Objective,
    codes: Codes,
    value: Longs,
    partners: Partners,
    i: int,
    demands: Demands,
    numbers: Codes,
    counters: Counters,
    room: Longs,
) -> None:
    """Exchange row ``i`` for the row of the same key in another cluster that lowers the cost most, if any does.

    Of several equal rows the first is taken.

    Clusters of one row are left as they are. Cells of the objective must cost no less when they widen: ``part`` is 0.

    Clusters that ``i`` would widen by more than a row's leaving saves are passed over. Extents, and logarithms of
    counts, grow no more by a row the more rows there are, but for rounding in a cell. So a cluster with ``i`` and
    without row j is no narrower than the cluster with both, less the widening by j.

    Cost: O(d) for each cluster that has a row of the key, O(1) for each such row; if the cluster of a row, or that of
    ``i``, was priced again since the last look, O(d) where the two that leave may save more than the two that come
    cost, and O(rows of the cluster x d) where ``i``'s cluster alone does not lose too much. Savings by leaving are
    counted once for all rows of a cluster that was priced again.
    """
    single, rest, other = len(clusters.size) - 2, len(clusters.size) - 3, len(clusters.size) - 4
    g, clock = clusters.cluster[i], len(clusters.when) - 1
    since = partners.tried[i] if clusters.when[g] <= partners.tried[i] else np.int64(-1)
    best, partner = np.int64(0), -1
    rounded = 2 * max(objective.whole, 1) * objective.facts[:, WEIGHT].sum()
    if partners.at[g] < clusters.when[g]:
        _leave(clusters, objective, codes, partners, g, other)
    ready = is_counted = False
    make_lone_slot(clusters, objective, codes, value, i, single)
    for p in range(partners.first[i], partners.past[i]):
        j = partners.rows[p]
        h = clusters.cluster[j]
        m = clusters.size[h]
        if h == g or m < 2 or clusters.when[h] <= since:
            continue
        if partners.at[h] < clusters.when[h]:
            _leave(clusters, objective, codes, partners, h, other)
        saved = partners.saved[i] + partners.saved[j]
        if saved <= best:
            continue
        if not is_counted:
            _widen(clusters, objective, single, since, partners.wider)
            is_counted = True
        if saved - partners.wider[h] + m * rounded <= best:
            continue
        if not ready:
            price_slot(clusters, objective, codes, value, g, i, rest)
            ready = True
        make_lone_slot(clusters, objective, codes, value, j, other)
        here = clusters.cost[g] - clusters.cost[rest]
        here -= find_cheapest_cluster(
            clusters, objective, other, -1, -1, rest, rest + 1, -1, _ANY, demands, numbers, counters, room
        )[1]
        if here + partners.saved[j] <= best:
            continue
        price_slot(clusters, objective, codes, value, h, j, other)
        there = clusters.cost[h] - clusters.cost[other]
        there -= find_cheapest_cluster(
            clusters, objective, single, -1, -1, other, other + 1, -1, _ANY, demands, numbers, counters, room
        )[1]
        if (
            here + there > best
            and may_exchange(clusters, g, i, j, demands, numbers, counters, room)
            and may_exchange(clusters, h, j, i, demands, numbers, counters, room)
        ):
            best, partner = here + there, j
    partners.tried[i] = clusters.when[clock]
    if partner < 0:
        return
    h = clusters.cluster[partner]
    move_row(clusters, i, h)
    move_row(clusters, partner, g)
    price_slot(clusters, objective, codes, value, g, -1, g)
    price_slot(clusters, objective, codes, value, h, -1, h)
