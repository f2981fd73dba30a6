"""Search: regroups the rows of a few near classes many times, and keeps the least loss. Ours, not a paper's.

Moves and swaps between classes that exist (`kernels.refine`) end in a division that no single step improves. Here
classes appear and vanish, and near rows are found by the widths of unions, not by the order of the classes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.random import draw_below
from sqlanon.kernels.requirements import Demands
from sqlanon.kernels.unions import (
    Masks,
    Measure,
    Places,
    boxes_of,
    copy_box,
    join_box,
    measure_coded,
    measure_lines,
    measure_of,
    measure_sets,
)
from sqlanon.methods.shared.kernels.insert_near import insert_near
from sqlanon.methods.shared.kernels.regroup import Longs, Pool, find_box_of_cluster, make_pool, regroup

NEAR = 8
"""Near classes that are known of each."""
MOST_CLASSES = 5
"""Classes that are pooled, at most."""


@njit(nogil=True, cache=True)
def _find_nearest(
    box: Places,
    mask: Masks,
    size: Longs,
    wide: Longs,
    g: int,
    used: int,
    most: int,
    measure: Measure,
    near: Longs,
    price: Longs,
) -> int:
    """The classes that a union with class ``g`` widens least, into ``near[g]``; how many there are."""
    facts, table, weight, codes, sets = (
        measure.facts,
        measure.table,
        measure.weight,
        measure.codes,
        measure.sets,
    )
    coded, near_count = len(codes) > 0, 0
    for h in range(used):
        if h == g or size[h] == 0 or size[h] > most:
            continue
        more = measure_lines(box, g, box, h, weight) - wide[h]
        more += measure_sets(mask, g, mask, h, sets, table)
        if coded:
            more += measure_coded(box, g, box, h, facts, table, codes)
        near_count = insert_near(near, g, price, near_count, NEAR, h, more)
    return near_count


@njit(nogil=True, cache=True)
def _pool(
    g: int, near: Longs, near_count: Longs, size: Longs, most: int, pooled: Longs, state: npt.NDArray[np.uint64]
) -> int:
    """Class ``g`` and up to `MOST_CLASSES` - 1 near classes, the nearer more often, into ``pooled``; their number."""
    pooled[0], together, rows = g, 1, size[g]
    target = 2 + draw_below(state, MOST_CLASSES - 1)
    for _ in range(2 * MOST_CLASSES):
        if together == target or near_count[g] == 0:
            break
        h = near[g, min(draw_below(state, near_count[g]), draw_below(state, near_count[g]))]
        if size[h] == 0 or rows + size[h] > most:
            continue
        new = True
        for t in range(together):
            new &= pooled[t] != h
        if new:
            pooled[together] = h
            together += 1
            rows += size[h]
    return together


@njit(nogil=True, cache=True)
def _clusters(together: int, rows: int, least: int, room: int, state: npt.NDArray[np.uint64]) -> int:
    """Number of clusters to make of so many classes: half of the time 1 more, else as many, or any number."""
    largest = min(rows // least, room)
    fewest = min(max(together - 1, 1), largest)
    draw = draw_below(state, 4)
    if draw == 3:
        return fewest + draw_below(state, largest - fewest + 1)
    return min(together + 1 if draw < 2 else together, largest)


@njit(nogil=True, cache=True)
def _gather(
    pool: Pool, box: Places, mask: Masks, head: Longs, after: Longs, pooled: Longs, together: int, members: Longs
) -> int:
    """Bring the rows of classes into a pool; how many."""
    rows = 0
    for t in range(together):
        i = head[pooled[t]]
        while i >= 0:
            members[rows] = i
            copy_box(pool.box, pool.mask, rows, box, mask, i)
            pool.number[rows] = i
            rows += 1
            i = after[i]
    return rows


@njit(nogil=True, cache=True)
def search(
    places: Places,
    sets: Masks,
    geometry: Geometry,
    demands: Demands,
    group: npt.NDArray[np.int32],
    classes: int,
    least: int,
    most: int,
    trials: int,
    state: npt.NDArray[np.uint64],
) -> int:
    """Improve an assignment in place.

    Args:
        places, sets: n rows, see `Rows`.
        geometry: the attributes.
        demands: the requirements, which the classes meet; the arrays are indexed by the same row numbers.
        group: int32[n], class of each row, 0 to ``classes`` - 1; changed. Afterwards the numbers are below n / least,
            or below ``classes``, and some may have no row.
        classes: how many there are.
        least: no class of fewer rows meets the requirements, at least 1.
        most: rows that are pooled, at most.
        trials: for every class that loses something.
        state: of the random numbers.

    Returns:
        By how much the sum of rows x extents has fallen, at least 0.

    Cost: each trial O(most^2 d), and O(classes d) for every class that changes; memory O(n d + most n / least).
    """
    n, lanes, words = len(group), places.shape[1], sets.shape[1]
    measure, box = measure_of(geometry, lanes), boxes_of(places)
    slots = max(classes, n // least)
    pool = make_pool(most, max(most // least, MOST_CLASSES), lanes, words, demands)
    # The rows of a class are a list: head, then after.
    head, after = np.full(slots, -1, np.int64), np.empty(n, np.int64)
    size, wide = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    class_box, class_mask = np.empty((slots, 2 * lanes), np.int32), np.zeros((slots, words), np.uint64)
    for i in range(n - 1, -1, -1):
        g = np.int64(group[i])
        if head[g] < 0:
            copy_box(class_box, class_mask, g, box, sets, i)
        else:
            join_box(class_box, class_mask, g, class_box, class_mask, g, box, sets, i)
        after[i], head[g] = head[g], i
        size[g] += 1
    for g in range(classes):
        wide[g] = measure_joint_width(class_box, class_mask, g, class_box, class_mask, g, measure)
    near, near_counts, price = (
        np.empty((slots, NEAR), np.int64),
        np.full(slots, -1, np.int64),
        np.empty(NEAR, np.int64),
    )
    pooled, members = np.empty(MOST_CLASSES, np.int64), np.empty(most, np.int64)
    next_slot, gained, coded = classes, np.int64(0), len(measure.codes) > 0
    for _ in range(trials):
        for g in range(slots):
            if wide[g] == 0 or size[g] > most:
                continue
            if near_counts[g] < 0:
                near_counts[g] = _find_nearest(
                    class_box, class_mask, size, wide, g, next_slot, most, measure, near, price
                )
            together = _pool(g, near, near_counts, size, most, pooled, state)
            if together == 1 and size[g] < 2 * least:
                continue  # one class alone can only be divided
            cost = np.int64(0)
            for t in range(together):
                cost += size[pooled[t]] * wide[pooled[t]]
            rows = _gather(pool, box, sets, head, after, pooled, together, members)
            clusters = _clusters(together, rows, least, len(pool.size), state)
            lost = regroup(pool, rows, clusters, least, cost, demands, measure, state)
            # In hierarchies most changes of a few rows lose the same: other divisions that lose as much are kept, too.
            if lost < 0 or lost > cost or (lost == cost and not coded):
                continue
            gained += cost - lost
            for t in range(together):
                head[pooled[t]], size[pooled[t]], wide[pooled[t]], near_counts[pooled[t]] = -1, 0, 0, -1
            h = 0
            for c in range(clusters):
                if c < together:
                    h = pooled[c]
                elif next_slot < slots:
                    h = next_slot
                    next_slot += 1
                else:  # there are as many as rows suffice for, so that some number is free
                    h = 0
                    while size[h] > 0:
                        h += 1
                copy_box(class_box, class_mask, h, pool.box, pool.mask, find_box_of_cluster(most, c))
                wide[h], size[h], near_counts[h] = pool.wide[c], pool.size[c], -1
                for t in range(pool.size[c]):
                    i = members[pool.members[c, t]]
                    after[i], head[h] = head[h], i
    for g in range(slots):
        i = head[g]
        while i >= 0:
            group[i] = g
            i = after[i]
    return gained
