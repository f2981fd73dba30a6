"""Agglomerative clustering (Gionis & Tassa 2007; Goldberger & Tassa 2010, section 6.2.1): the two nearest clusters unite first."""

from __future__ import annotations

import numpy as np
from numba import njit

from sqlanon.kernels.cluster import (
    Clusters,
    Longs,
    Masks,
    Places,
    begin,
    listed,
    new_clusters,
    place_rest,
    unite,
    width_with,
)
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, take
from sqlanon.kernels.requirements import Demands, new_counters, satisfied


@njit(nogil=True, cache=True)
def _nearest(made: Clusters, g: int, later: Longs, near: Longs, price: Longs, geometry: Geometry) -> None:
    """Find the open cluster after ``g`` whose union with it costs least, in rows x extents; of several the first."""
    trial, h = len(made.size) - 1, later[g]
    near[g] = -1
    while h >= 0:
        total = width_with(made, g, made.low, made.high, made.mask, h, trial, geometry)
        cost = (
            (made.size[g] + made.size[h]) * total - made.size[g] * made.wide[g] - made.size[h] * made.wide[h]
        )
        if near[g] < 0 or cost < price[g]:
            near[g], price[g] = h, cost
        h = later[h]


@njit(nogil=True, cache=True)
def _close(g: int, earlier: Longs, later: Longs, first: int) -> int:
    """Take a cluster out of the list of open ones; the first of these."""
    if earlier[g] >= 0:
        later[earlier[g]] = later[g]
    else:
        first = later[g]
    if later[g] >= 0:
        earlier[later[g]] = earlier[g]
    return first


@njit(nogil=True, cache=True)
def agglomerative(
    places: Places, sets: Masks, geometry: Geometry, demands: Demands, numbers: Places, group: Places
) -> int:  # fmt: skip
    """Divide n rows into clusters that meet the requirements, if all of them together do.

    Args:
        places, sets: the rows, see `Rows`; of equally near pairs the first counts.
        geometry: the attributes.
        demands, numbers: the requirements, and the number in them of every row.
        group: int32[n], written: the cluster of each row, in the order of their first rows.

    Returns:
        How many clusters there are.

    Every row is an open cluster. The two open clusters whose union costs least unite, at the place of the first; a cluster that meets
    the requirements is closed. The last open one is united with the closed one that this costs least, until it meets them.

    Cost: O(n^2 d) for the nearest clusters at first, and about as much again as they unite: a cluster looks for a nearest one anew where
    its own is gone.
    """
    n = len(group)
    made = new_clusters(places, sets, geometry, n)
    trial, counters, rows = n + 1, new_counters(demands, n), np.empty(n, np.int64)
    earlier, later = np.arange(n) - 1, np.arange(n) + 1
    later[n - 1] = -1
    near, price, first = np.full(n, -1, np.int64), np.zeros(n, np.int64), 0
    for i in range(n):
        begin(made, i, places, sets, i)
    if demands.k <= 1:
        for i in range(n):
            rows[0] = i
            if satisfied(demands, numbers, rows[:1], counters):
                first = _close(i, earlier, later, first)
    i = first
    while i >= 0:
        _nearest(made, i, later, near, price, geometry)
        i = later[i]
    while first >= 0 and later[first] >= 0:
        g, i = first, later[first]
        while i >= 0:
            if near[i] >= 0 and price[i] < price[g]:
                g = i
            i = later[i]
        h = near[g]
        unite(made, g, h, width_with(made, g, made.low, made.high, made.mask, h, trial, geometry))
        first = _close(h, earlier, later, first)
        held = False
        if made.size[g] >= demands.k:
            count = listed(made, g, rows)
            held = satisfied(demands, numbers, rows[:count], counters)
        if held:
            first = _close(g, earlier, later, first)
        i = first
        while i >= 0:
            if i == g or near[i] == g or near[i] == h:
                _nearest(made, i, later, near, price, geometry)
            elif not held and i < g:
                total = width_with(made, i, made.low, made.high, made.mask, g, trial, geometry)
                cost = (
                    (made.size[i] + made.size[g]) * total
                    - made.size[i] * made.wide[i]
                    - made.size[g] * made.wide[g]
                )
                if near[i] < 0 or cost < price[i] or (cost == price[i] and g < near[i]):
                    near[i], price[i] = g, cost
            i = later[i]
    if first >= 0:  # the last open one goes behind all others, where `place_rest` looks for it
        for b in range(0, places.shape[1], WIDTH):
            take(made.low, n, made.low, first, b)
            take(made.high, n, made.high, first, b)
        for w in range(sets.shape[1]):
            made.mask[n, w] = made.mask[first, w]
        made.size[n], made.wide[n], made.head[n] = made.size[first], made.wide[first], made.head[first]
        made.size[first], made.wide[first], made.head[first] = 0, 0, -1
    return place_rest(made, n, rows[:0].copy(), places, sets, geometry, demands, numbers, group)
