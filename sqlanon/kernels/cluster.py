"""Clusters of rows in memory: their boxes, sizes and members, and where rows that are in none join them.

A `Clusters` has room for a fixed number of clusters, and two boxes behind them for trials.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.boxes import code_width, line_weights, set_width
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, take, widen, width
from sqlanon.kernels.requirements import Demands, new_counters, satisfied

Places = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]
Longs = npt.NDArray[np.int64]


class Clusters(NamedTuple):
    """Clusters that grow.

    Attributes:
        low, high: int32[room + 2, lanes], places of their boxes.
        mask: uint64[room + 2, words], sets of their boxes.
        size, wide: int64[room + 2], rows, and the weighted sum of extents.
        head, after: int64[room + 2] and int64[n], the rows of each as a list that ends with -1.
        weight: int32[lanes], see `line_weights`.
        seen: see `code_width`.
    """

    low: Places
    high: Places
    mask: Masks
    size: Longs
    wide: Longs
    head: Longs
    after: Longs
    weight: Places
    seen: Longs


@njit(nogil=True, cache=True)
def new_clusters(places: Places, sets: Masks, geometry: Geometry, room: int) -> Clusters:
    """No clusters, with room for ``room``."""
    n, lanes, words, slots = len(places), places.shape[1], sets.shape[1], room + 2
    return Clusters(
        np.zeros((slots, lanes), np.int32), np.zeros((slots, lanes), np.int32), np.zeros((slots, words), np.uint64),
        np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64), np.full(n, -1, np.int64),
        line_weights(geometry, lanes), np.full((len(geometry.facts), 3), -1, np.int64),
    )  # fmt: skip


@njit(nogil=True, cache=True, inline="always")
def width_with(
    made: Clusters, g: int, lows: Places, highs: Places, masks: Masks, other: int, trial: int, geometry: Geometry
) -> int:  # fmt: skip
    """How wide cluster ``g`` is with another box, which may be a row; the box is left in ``trial``."""
    total = np.int64(0)
    for b in range(0, lows.shape[1], WIDTH):
        take(made.low, trial, made.low, g, b)
        take(made.high, trial, made.high, g, b)
        widen(made.low, made.high, trial, lows, highs, other, b)
        total += width(made.low, made.high, trial, made.weight, b)
    for w in range(masks.shape[1]):
        made.mask[trial, w] = made.mask[g, w] | masks[other, w]
    total += set_width(geometry.facts, geometry.table, made.mask, trial)
    return total + code_width(geometry.facts, geometry.table, made.low, made.high, trial, made.seen)


@njit(nogil=True, cache=True)
def begin(made: Clusters, g: int, places: Places, sets: Masks, i: int) -> None:
    """Make cluster ``g`` of row ``i`` alone."""
    for b in range(0, places.shape[1], WIDTH):
        take(made.low, g, places, i, b)
        take(made.high, g, places, i, b)
    for w in range(sets.shape[1]):
        made.mask[g, w] = sets[i, w]
    made.size[g], made.wide[g] = 1, 0
    made.head[g], made.after[i] = i, -1


@njit(nogil=True, cache=True)
def add(made: Clusters, g: int, places: Places, sets: Masks, i: int, wide: int) -> None:
    """Add row ``i`` to cluster ``g``, which is ``wide`` then."""
    for b in range(0, places.shape[1], WIDTH):
        widen(made.low, made.high, g, places, places, i, b)
    for w in range(sets.shape[1]):
        made.mask[g, w] |= sets[i, w]
    made.size[g] += 1
    made.wide[g] = wide
    made.after[i], made.head[g] = made.head[g], i


@njit(nogil=True, cache=True)
def unite(made: Clusters, g: int, h: int, wide: int) -> None:
    """Add the rows of cluster ``h`` to cluster ``g``, which is ``wide`` then; ``h`` has none afterwards."""
    for b in range(0, made.low.shape[1], WIDTH):
        widen(made.low, made.high, g, made.low, made.high, h, b)
    for w in range(made.mask.shape[1]):
        made.mask[g, w] |= made.mask[h, w]
    last = made.head[h]
    while made.after[last] >= 0:
        last = made.after[last]
    made.after[last], made.head[g] = made.head[g], made.head[h]
    made.size[g] += made.size[h]
    made.wide[g] = wide
    made.size[h], made.wide[h], made.head[h] = 0, 0, -1


@njit(nogil=True, cache=True)
def listed(made: Clusters, g: int, rows: Longs) -> int:
    """Write the rows of cluster ``g``; how many they are."""
    i, count = made.head[g], 0
    while i >= 0:
        rows[count] = i
        count += 1
        i = made.after[i]
    return count


@njit(nogil=True, cache=True)
def place_rest(
    made: Clusters, classes: int, rest: Longs, places: Places, sets: Masks, geometry: Geometry, demands: Demands,
    numbers: Places, group: Places,
) -> int:  # fmt: skip
    """Put the rows that are in no cluster where they cost least, in rows x extents, and number the clusters.

    Args:
        made: the clusters, each of which meets the requirements; there is room for one more.
        classes: how many there are.
        rest: the rows that are in none, in order. Each joins the cluster that it costs least and that still meets the requirements.
            Those that find none are united with the cluster that this costs least, until all requirements hold.
        places, sets, geometry: n rows, see `Rows`, and the attributes.
        demands, numbers: the requirements, and the number in them of every row.
        group: int32[n], written: clusters numbered in the order of their first rows.

    Returns:
        How many clusters there are.

    Cost: O(rest classes d); requirements are looked at where a cluster costs less than those before it.
    """
    n, counters, rows = len(group), new_counters(demands, len(group)), np.empty(len(group), np.int64)
    trial, left = len(made.size) - 1, classes
    for at in range(len(rest)):
        i, best, least, wide = rest[at], -1, np.int64(0), np.int64(0)
        for g in range(classes):
            total = width_with(made, g, places, places, sets, i, trial, geometry)
            price = (made.size[g] + 1) * total - made.size[g] * made.wide[g]
            if best < 0 or price < least:
                if len(demands.add) > 0:
                    count = listed(made, g, rows)
                    rows[count] = i
                    if not satisfied(demands, numbers, rows[: count + 1], counters):
                        continue
                best, least, wide = g, price, total
        if best >= 0:
            add(made, best, places, sets, i, wide)
        elif made.size[left] == 0:
            begin(made, left, places, sets, i)
        else:
            add(made, left, places, sets, i, width_with(made, left, places, places, sets, i, trial, geometry))
    while made.size[left] > 0:
        count = listed(made, left, rows)
        if satisfied(demands, numbers, rows[:count], counters):
            break
        best, least, wide = -1, np.int64(0), np.int64(0)
        for g in range(classes):
            if made.size[g] > 0:
                total = width_with(made, left, made.low, made.high, made.mask, g, trial, geometry)
                price = (made.size[left] + made.size[g]) * total - made.size[g] * made.wide[g]
                if best < 0 or price < least:
                    best, least, wide = g, price, total
        if best < 0:
            break
        unite(made, left, best, wide)
    name, found = np.full(len(made.size), -1, np.int64), 0
    for g in range(classes + 1):
        i = made.head[g]
        while i >= 0:
            group[i] = g
            i = made.after[i]
    for i in range(n):
        if name[group[i]] < 0:
            name[group[i]] = found
            found += 1
        group[i] = name[group[i]]
    return found
