"""Greedy k-member clustering (Byun, Kamra, Bertino & Li 2007): clusters one after the other, each around a row far from the last."""

from __future__ import annotations

import numpy as np
from numba import njit

from sqlanon.kernels.cluster import Longs, Masks, Places, add, begin, new_clusters, place_rest, width_with
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.requirements import Demands, new_counters, satisfied


@njit(nogil=True, cache=True)
def _without(free: Longs, left: int, at: int) -> int:
    """Take what is at a place out of the first ``left``, and keep the order of the others; how many are left."""
    for later in range(at + 1, left):
        free[later - 1] = free[later]
    return left - 1


@njit(nogil=True, cache=True)
def kmember(
    places: Places, sets: Masks, geometry: Geometry, demands: Demands, numbers: Places, centred: bool, group: Places
) -> int:  # fmt: skip
    """Divide n rows into clusters that meet the requirements, if all of them together do.

    Args:
        places, sets: the rows, see `Rows`; of equally good ones the first counts.
        geometry: the attributes.
        demands, numbers: the requirements, and the number in them of every row.
        centred: a cluster takes the rows that are nearest to its first one, and else those that widen it least.
        group: int32[n], written: the cluster of each row, in the order of their first rows.

    Returns:
        How many clusters there are.

    A cluster begins with the row that is farthest from the first row of the one before it, the first cluster with the one farthest
    from the first row. It grows until every requirement holds. What is left when a cluster cannot be completed goes to
    `place_rest`.

    Cost: O(n^2 d); with requirements beyond k also the size of a cluster for every row that it takes beyond k.
    """
    n, least = len(group), max(demands.k, 1)
    made = new_clusters(places, sets, geometry, n // least + 1)
    trial, single = len(made.size) - 1, len(made.size) - 2  # no cluster gets these numbers
    counters, rows = new_counters(demands, n), np.empty(n, np.int64)
    free, left, classes, last = np.arange(n), n, 0, np.int64(0)
    while left >= least:
        begin(made, single, places, sets, last)
        far, most = 0, np.int64(-1)
        for at in range(left):
            apart = width_with(made, single, places, places, sets, free[at], trial, geometry)
            if apart > most:
                far, most = at, apart
        last = free[far]
        rows[0] = last
        left = _without(free, left, far)
        begin(made, classes, places, sets, last)
        begin(made, single, places, sets, last)
        count, held = 1, least == 1 and satisfied(demands, numbers, rows[:1], counters)
        while not held and left > 0:
            source = single if centred else classes
            near, total = -1, np.int64(0)
            for at in range(left):
                wide = width_with(made, source, places, places, sets, free[at], trial, geometry)
                if near < 0 or wide < total:
                    near, total = at, wide
            i = free[near]
            if centred:
                total = width_with(made, classes, places, places, sets, i, trial, geometry)
            add(made, classes, places, sets, i, total)
            left = _without(free, left, near)
            rows[count] = i
            count += 1
            held = count >= least and satisfied(demands, numbers, rows[:count], counters)
        if held:
            classes += 1
            continue
        made.size[classes], made.wide[classes], made.head[classes] = 0, 0, -1
        for at in range(count):
            free[left + at] = rows[at]
        left += count
        break
    made.size[single], made.head[single] = 0, -1
    rest = np.sort(free[:left])
    return place_rest(made, classes, rest, places, sets, geometry, demands, numbers, group)
