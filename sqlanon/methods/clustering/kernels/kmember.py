"""Greedy k-member clustering (Byun, Kamra, Bertino & Li 2007).

It makes clusters one after the other, each around a row far from the previous cluster.
"""

from __future__ import annotations

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.requirements import Demands, make_counters, satisfied
from sqlanon.kernels.unions import Masks, Places, boxes_of
from sqlanon.methods.clustering.kernels.cluster import (
    Count,
    Flag,
    Longs,
    add,
    begin,
    find_widening,
    make_clusters,
    place_rest,
)


@njit(nogil=True, cache=True)
def _remove_at(free: Longs, left: int, index: int) -> int:
    """Remove the entry at a place from the first ``left``, in order; returns the number of entries left."""
    for later in range(index + 1, left):
        free[later - 1] = free[later]
    return left - 1


@njit(nogil=True, cache=True)
def cluster_k_members(
    places: Places,
    sets: Masks,
    geometry: Geometry,
    demands: Demands,
    numbers: Places,
    centred: bool,
    group: Places,
    stop: Flag,
    progress: Count,
) -> int:
    """Divide n rows into clusters that meet the requirements, if all of them together do.

    Args:
        places, sets: the rows, see `Rows`; of equally good rows the first counts.
        geometry: the attributes.
        demands, numbers: the requirements, and the number in them of every row.
        centred: a cluster takes the rows that are nearest to the first row, and else those that widen it least.
        group: int32[n], written: the cluster of each row, in the order of their first rows.
        stop: once another thread sets it, this ends early, and ``group`` is not written.
        progress: int64[1], written: how many rows are in a cluster.

    Returns:
        How many clusters there are; 0: it was stopped.

    A cluster begins with the row farthest from the first row of the cluster before it, the first cluster with that
    farthest from the first row of all. It grows until every requirement holds. The rows left when a cluster cannot be
    completed go to `place_rest`.

    Cost: O(n^2 d); with requirements beyond k also the size of a cluster for every row that it takes beyond k.
    """
    n, least, box = len(group), max(demands.k, 1), boxes_of(places)
    clusters = make_clusters(box, sets, geometry, n // least + 1)
    counters, rows, measure = make_counters(demands, n), np.empty(n, np.int64), clusters.measure
    free, remaining, classes, last = np.arange(n), n, 0, np.int64(0)
    while remaining >= least and not stop[0]:
        far, _ = find_widening(box, sets, last, box, sets, free, remaining, measure, True)
        last = free[far]
        rows[0] = last
        remaining = _remove_at(free, remaining, far)
        begin(clusters, classes, box, sets, last)
        count, lawful = 1, least == 1 and satisfied(demands, numbers, rows[:1], counters)
        while not lawful and remaining > 0 and not stop[0]:
            if centred:
                near, _ = find_widening(box, sets, last, box, sets, free, remaining, measure, False)
                total = measure_joint_width(clusters.box, clusters.mask, classes, box, sets, free[near], measure)
            else:
                near, total = find_widening(
                    clusters.box, clusters.mask, classes, box, sets, free, remaining, measure, False
                )
            i = free[near]
            add(clusters, classes, box, sets, i, total)
            remaining = _remove_at(free, remaining, near)
            rows[count] = i
            count += 1
            lawful = count >= least and satisfied(demands, numbers, rows[:count], counters)
        if lawful:
            classes, progress[0] = classes + 1, n - remaining
            continue
        clusters.size[classes], clusters.wide[classes], clusters.head[classes] = 0, 0, -1
        for index in range(count):
            free[remaining + index] = rows[index]
        remaining += count
        break
    if stop[0]:
        return np.int64(0)
    return place_rest(clusters, classes, np.sort(free[:remaining]), box, sets, demands, numbers, group, stop)
