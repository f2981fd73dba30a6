"""Clusters of rows in memory: their boxes, sizes and members, and where rows that are in none join them.

Boxes are those of `kernels.unions`; a row is the box of itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.requirements import Demands, make_counters, satisfied
from sqlanon.kernels.unions import (
    Masks,
    Measure,
    Places,
    copy_box,
    join_box,
    measure_coded,
    measure_lines,
    measure_of,
    measure_sets,
)

Longs = npt.NDArray[np.int64]
Flag = npt.NDArray[np.int8]
"""int8[1], which another thread sets so that a kernel ends early."""
Count = npt.NDArray[np.int64]
"""int64[1], the work done by a kernel, for another thread that reports it."""


class Clusters(NamedTuple):
    """Clusters that grow.

    Attributes:
        box: int32[room, 2 * lanes], their boxes.
        mask: uint64[room, words], sets of their boxes.
        size, wide: int64[room], rows, and the weighted sum of extents.
        head, after: int64[room] and int64[n], the rows of each as a list that ends with -1.
        measure: of widths.
    """

    box: Places
    mask: Masks
    size: Longs
    wide: Longs
    head: Longs
    after: Longs
    measure: Measure


@njit(nogil=True, cache=True)
def make_clusters(box: Places, sets: Masks, geometry: Geometry, room: int) -> Clusters:
    """No clusters of the rows with these boxes, with room for ``room``."""
    return Clusters(
        np.zeros((room, box.shape[1]), np.int32),
        np.zeros((room, sets.shape[1]), np.uint64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.full(room, -1, np.int64),
        np.full(len(box), -1, np.int64),
        measure_of(geometry, box.shape[1] // 2),
    )


@njit(nogil=True, cache=True)
def find_widening(
    box: Places,
    mask: Masks,
    target: int,
    boxes: Places,
    sets: Masks,
    free: Longs,
    left: int,
    measure: Measure,
    far: bool,
) -> tuple[int, int]:
    """Which of the first ``left`` rows widens a box least, or most where ``far``; of several the first.

    Returns:
        Where in ``free`` it is, and how wide they are together. Cost: O(left d).
    """
    facts, table, weight, codes, words = (
        measure.facts,
        measure.table,
        measure.weight,
        measure.codes,
        measure.sets,
    )
    best_place, sign, coded = 0, -1 if far else 1, len(codes) > 0
    best = np.int64(2**62)
    for f in range(left):
        wide = measure_lines(box, target, boxes, free[f], weight)
        wide += measure_sets(mask, target, sets, free[f], words, table)
        if coded:
            wide += measure_coded(box, target, boxes, free[f], facts, table, codes)
        wide *= sign
        if wide < best:
            best_place, best = f, wide
    return best_place, sign * best


@njit(nogil=True, cache=True)
def begin(clusters: Clusters, g: int, box: Places, sets: Masks, i: int) -> None:
    """Make cluster ``g`` of row ``i`` alone."""
    copy_box(clusters.box, clusters.mask, g, box, sets, i)
    clusters.size[g], clusters.wide[g] = 1, 0
    clusters.head[g], clusters.after[i] = i, -1


@njit(nogil=True, cache=True)
def add(clusters: Clusters, g: int, box: Places, sets: Masks, i: int, wide: int) -> None:
    """Add row ``i`` to cluster ``g``, which is ``wide`` then."""
    join_box(clusters.box, clusters.mask, g, clusters.box, clusters.mask, g, box, sets, i)
    clusters.size[g] += 1
    clusters.wide[g] = wide
    clusters.after[i], clusters.head[g] = clusters.head[g], i


@njit(nogil=True, cache=True)
def unite(clusters: Clusters, g: int, h: int, wide: int) -> None:
    """Add the rows of cluster ``h`` to cluster ``g``, which is ``wide`` then; ``h`` has none afterwards."""
    join_box(clusters.box, clusters.mask, g, clusters.box, clusters.mask, g, clusters.box, clusters.mask, h)
    last = clusters.head[h]
    while clusters.after[last] >= 0:
        last = clusters.after[last]
    clusters.after[last], clusters.head[g] = clusters.head[g], clusters.head[h]
    clusters.size[g] += clusters.size[h]
    clusters.wide[g] = wide
    clusters.size[h], clusters.wide[h], clusters.head[h] = 0, 0, -1


@njit(nogil=True, cache=True)
def list_rows(clusters: Clusters, g: int, rows: Longs) -> int:
    """Write the rows of cluster ``g``; how many they are."""
    i, count = clusters.head[g], 0
    while i >= 0:
        rows[count] = i
        count += 1
        i = clusters.after[i]
    return count


@njit(nogil=True, cache=True)
def place_rest(
    full_clusters: Clusters,
    classes: int,
    rest: Longs,
    box: Places,
    sets: Masks,
    demands: Demands,
    numbers: Places,
    group: Places,
    stop: Flag,
) -> int:
    """Put the rows that are in no cluster where they cost least, in rows x extents, and number the clusters.

    Args:
        full_clusters: clusters, each of which meets the requirements; there is room for another.
        classes: how many there are.
        rest: the rows that are in none, in order. Each joins the cluster that it costs least and that still meets the
            requirements. Those that find none are united with the cluster that this costs least, until all requirements
            hold.
        box, sets: of n rows.
        demands, numbers: the requirements, and the number in them of every row.
        group: int32[n], written: clusters numbered in the order of their first rows.
        stop: once it is set, this ends early, and ``group`` is not written.

    Returns:
        How many clusters there are; 0: it was stopped.

    Cost: O(rest classes d); requirements are looked at where a cluster costs less than those before it.
    """
    n, counters, rows = len(group), make_counters(demands, len(group)), np.empty(len(group), np.int64)
    remaining, measure = classes, full_clusters.measure
    boxes, masks, size, wides = full_clusters.box, full_clusters.mask, full_clusters.size, full_clusters.wide
    facts, table, weight, codes, words = (
        measure.facts,
        measure.table,
        measure.weight,
        measure.codes,
        measure.sets,
    )
    coded, checks = len(codes) > 0, len(demands.add) > 0
    for index in range(len(rest)):
        if stop[0]:
            return np.int64(0)
        i, best, least, wide = rest[index], -1, np.int64(0), np.int64(0)
        for g in range(classes):
            total = measure_lines(boxes, g, box, i, weight)
            total += measure_sets(masks, g, sets, i, words, table)
            if coded:
                total += measure_coded(boxes, g, box, i, facts, table, codes)
            price = (size[g] + 1) * total - size[g] * wides[g]
            if best < 0 or price < least:
                if checks:
                    count = list_rows(full_clusters, g, rows)
                    rows[count] = i
                    if not satisfied(demands, numbers, rows[: count + 1], counters):
                        continue
                best, least, wide = g, price, total
        if best >= 0:
            add(full_clusters, best, box, sets, i, wide)
        elif full_clusters.size[remaining] == 0:
            begin(full_clusters, remaining, box, sets, i)
        else:
            add(
                full_clusters,
                remaining,
                box,
                sets,
                i,
                measure_joint_width(full_clusters.box, full_clusters.mask, remaining, box, sets, i, measure),
            )
    while full_clusters.size[remaining] > 0:
        count = list_rows(full_clusters, remaining, rows)
        if satisfied(demands, numbers, rows[:count], counters):
            break
        best, least, wide = -1, np.int64(0), np.int64(0)
        for g in range(classes):
            if full_clusters.size[g] > 0:
                total = measure_joint_width(boxes, masks, remaining, boxes, masks, g, measure)
                price = (size[remaining] + size[g]) * total - size[g] * wides[g]
                if best < 0 or price < least:
                    best, least, wide = g, price, total
        if best < 0:
            break
        unite(full_clusters, remaining, best, wide)
        if stop[0]:
            break
    if stop[0]:
        return np.int64(0)
    name, clusters = np.full(len(full_clusters.size), -1, np.int64), 0
    for g in range(classes + 1):
        i = full_clusters.head[g]
        while i >= 0:
            group[i] = g
            i = full_clusters.after[i]
    for i in range(n):
        if name[group[i]] < 0:
            name[group[i]] = clusters
            clusters += 1
        group[i] = name[group[i]]
    return clusters
