"""Agglomerative clustering (Gionis & Tassa 2007; Goldberger & Tassa 2010, section 6.2.1).

It unites the two nearest clusters first.
"""

from __future__ import annotations

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.requirements import Demands, make_counters, satisfied
from sqlanon.kernels.unions import (
    Masks,
    Places,
    boxes_of,
    copy_box,
    measure_coded,
    measure_lines,
    measure_sets,
)
from sqlanon.methods.clustering.kernels.cluster import (
    Clusters,
    Count,
    Flag,
    Longs,
    begin,
    list_rows,
    make_clusters,
    place_rest,
    unite,
)


@njit(nogil=True, cache=True)
def _find_nearest(clusters: Clusters, g: int, later: Longs, near: Longs, price: Longs) -> None:
    """Find the open cluster after ``g`` with the cheapest union with it, in rows x extents; of several the first."""
    box, mask, size, wide, measure = clusters.box, clusters.mask, clusters.size, clusters.wide, clusters.measure
    facts, table, weight, codes, sets = (
        measure.facts,
        measure.table,
        measure.weight,
        measure.codes,
        measure.sets,
    )
    coded, nearest, least, h = len(codes) > 0, -1, np.int64(0), later[g]
    while h >= 0:
        total = measure_lines(box, g, box, h, weight)
        total += measure_sets(mask, g, mask, h, sets, table)
        if coded:
            total += measure_coded(box, g, box, h, facts, table, codes)
        cost = (size[g] + size[h]) * total - size[g] * wide[g] - size[h] * wide[h]
        if nearest < 0 or cost < least:
            nearest, least = h, cost
        h = later[h]
    near[g], price[g] = nearest, least


@njit(nogil=True, cache=True)
def _offer(
    clusters: Clusters,
    g: int,
    h: int,
    kept_nearest: bool,
    first: int,
    later: Longs,
    near: Longs,
    price: Longs,
    stop: Flag,
) -> None:
    """Find new nearest clusters after ``h`` became a part of ``g``.

    They are found for the clusters with a nearest cluster that is gone. ``g``, if open, is offered to the clusters
    before it.
    """
    box, mask, size, wide, measure = clusters.box, clusters.mask, clusters.size, clusters.wide, clusters.measure
    facts, table, weight, codes, sets = (
        measure.facts,
        measure.table,
        measure.weight,
        measure.codes,
        measure.sets,
    )
    coded, i = len(codes) > 0, first
    while i >= 0 and not stop[0]:
        if i == g or near[i] == g or near[i] == h:
            _find_nearest(clusters, i, later, near, price)
        elif not kept_nearest and i < g:
            total = measure_lines(box, i, box, g, weight)
            total += measure_sets(mask, i, mask, g, sets, table)
            if coded:
                total += measure_coded(box, i, box, g, facts, table, codes)
            cost = (size[i] + size[g]) * total - size[i] * wide[i] - size[g] * wide[g]
            if near[i] < 0 or cost < price[i] or (cost == price[i] and g < near[i]):
                near[i], price[i] = g, cost
        i = later[i]


@njit(nogil=True, cache=True)
def _close(g: int, earlier: Longs, later: Longs, first: int) -> int:
    """Take a cluster out of the list of open clusters; returns the first of these."""
    if earlier[g] >= 0:
        later[earlier[g]] = later[g]
    else:
        first = later[g]
    if later[g] >= 0:
        earlier[later[g]] = earlier[g]
    return first


@njit(nogil=True, cache=True)
def cluster_by_unions(
    places: Places,
    sets: Masks,
    geometry: Geometry,
    demands: Demands,
    numbers: Places,
    group: Places,
    stop: Flag,
    progress: Count,
) -> int:
    """Divide n rows into clusters that meet the requirements, if all of them together do.

    Args:
        places, sets: the rows, see `Rows`; of equally near pairs the first counts.
        geometry: the attributes.
        demands, numbers: the requirements, and the number in them of every row.
        group: int32[n], written: the cluster of each row, in the order of their first rows.
        stop: once another thread sets it, this ends early, and ``group`` is not written.
        progress: int64[1], written: the number of rows with a known nearest row, and of united or closed clusters.

    Returns:
        The number of clusters; 0: it was stopped.

    Every row is an open cluster. The two open clusters with the cheapest union unite, at the place of the first; a
    cluster that meets the requirements is closed. The last open cluster is united with the closed cluster that this
    costs least, until it meets them.

    Cost: O(n^2 d) for the nearest clusters at first, and about as much again as they unite: a cluster looks for a
    nearest cluster anew where the old one is gone.
    """
    n, box = len(group), boxes_of(places)
    clusters = make_clusters(box, sets, geometry, n + 1)
    counters, rows = make_counters(demands, n), np.empty(n, np.int64)
    earlier, later = np.arange(n) - 1, np.arange(n) + 1
    later[n - 1] = -1
    near, price, first = np.full(n, -1, np.int64), np.zeros(n, np.int64), 0
    for i in range(n):
        begin(clusters, i, box, sets, i)
    if demands.k <= 1:
        for i in range(n):
            rows[0] = i
            if satisfied(demands, numbers, rows[:1], counters):
                first = _close(i, earlier, later, first)
    i = first
    while i >= 0 and not stop[0]:
        _find_nearest(clusters, i, later, near, price)
        progress[0] += 1
        i = later[i]
    while first >= 0 and later[first] >= 0 and not stop[0]:
        g, i = first, later[first]
        while i >= 0:
            if near[i] >= 0 and price[i] < price[g]:
                g = i
            i = later[i]
        h = near[g]
        unite(
            clusters,
            g,
            h,
            measure_joint_width(clusters.box, clusters.mask, g, clusters.box, clusters.mask, h, clusters.measure),
        )
        first = _close(h, earlier, later, first)
        progress[0] += 1
        lawful = False
        if clusters.size[g] >= demands.k:
            count = list_rows(clusters, g, rows)
            lawful = satisfied(demands, numbers, rows[:count], counters)
        if lawful:
            first = _close(g, earlier, later, first)
            progress[0] += 1
        _offer(clusters, g, h, lawful, first, later, near, price, stop)
    if first >= 0:  # the last open cluster goes behind all others, where `place_rest` looks for it
        copy_box(clusters.box, clusters.mask, n, clusters.box, clusters.mask, first)
        clusters.size[n], clusters.wide[n], clusters.head[n] = (
            clusters.size[first],
            clusters.wide[first],
            clusters.head[first],
        )
        clusters.size[first], clusters.wide[first], clusters.head[first] = 0, 0, -1
    return place_rest(clusters, n, rows[:0].copy(), box, sets, demands, numbers, group, stop)
