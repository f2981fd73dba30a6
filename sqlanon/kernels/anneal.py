"""Annealing: rows move between near classes and change places, also at a loss, which is allowed less and less. Ours.

`search` divides a few classes anew. Where a class must meet more than a number of rows, most new divisions fail.
Rows with equal sensitive values can always change places; other steps are judged by the tallies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.random import draw_below
from sqlanon.kernels.requirements import Counters, Demands, new_counters, satisfied
from sqlanon.kernels.unions import (
    Masks,
    Measure,
    Places,
    codes_width,
    copy_box,
    empty_box,
    join_box,
    lines_width,
    sets_width,
)

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

NEAR, CHOICES = 24, 8
"""Near classes that are known of each class, and those of them that a row may go to."""
LARGE = 512
"""Rows of a larger class stay, and no row goes there."""
UNIT = 1 << 16
"""Of `falling`: 1."""


@njit(nogil=True, cache=True, inline="always")
def _wide(box: Places, mask: Masks, one: int, boxes: Places, masks: Masks, other: int, measure: Measure) -> int:
    """The weighted sum of extents of two boxes joined."""
    total = lines_width(box, one, boxes, other, measure.weight)
    total += sets_width(mask, one, masks, other, measure.sets, measure.table)
    if len(measure.codes) > 0:
        total += codes_width(box, one, boxes, other, measure.facts, measure.table, measure.codes)
    return total


@njit(nogil=True, cache=True)
def near_classes(box: Places, mask: Masks, wide: Longs, measure: Measure, near: Longs, price: Longs) -> int:
    """The classes that a union with each class widens least, into ``near`` int64[classes, *]; how many of each.

    Cost: O(classes^2 d).
    """
    classes, most = near.shape
    near_count = 0
    for g in range(classes):
        near_count = 0
        for h in range(classes):
            if h == g:
                continue
            more = _wide(box, mask, g, box, mask, h, measure) - wide[h]
            if near_count == most and more >= price[most - 1]:
                continue
            slot = min(near_count, most - 1)
            while slot > 0 and price[slot - 1] > more:
                price[slot], near[g, slot] = price[slot - 1], near[g, slot - 1]
                slot -= 1
            price[slot], near[g, slot] = more, h
            near_count = min(near_count + 1, most)
    return near_count


@njit(nogil=True, cache=True)
def _choose(
    box: Places,
    mask: Masks,
    own: Places,
    own_mask: Masks,
    size: Longs,
    wide: Longs,
    group: Ints,
    near: Longs,
    known: int,
    measure: Measure,
    choice: Ints,
    price: Longs,
) -> int:
    """Of the near classes of each row's class those where rows x extents rise least by it, into ``choice``; how many.

    Cost: O(n x near classes x d).
    """
    most = min(known, choice.shape[1])
    for i in range(len(group)):
        g, near_count = group[i], 0
        for t in range(known):
            h = near[g, t]
            more = size[h] * (_wide(own, own_mask, h, box, mask, i, measure) - wide[h])
            if near_count == most and more >= price[most - 1]:
                continue
            slot = min(near_count, most - 1)
            while slot > 0 and price[slot - 1] > more:
                price[slot], choice[i, slot] = price[slot - 1], choice[i, slot - 1]
                slot -= 1
            price[slot], choice[i, slot] = more, h
            near_count = min(near_count + 1, most)
    return most


@njit(nogil=True, cache=True)
def _lawful(
    demands: Demands,
    members: Longs,
    first: int,
    past: int,
    left: int,
    entered: int,
    numbers: Ints,
    spare: Longs,
    counters: Counters,
) -> bool:
    """Whether a class without row ``left`` and with row ``entered`` (-1: none) meets every requirement."""
    rows = 0
    for t in range(first, past):
        if members[t] != left:
            spare[rows] = members[t]
            rows += 1
    if entered >= 0:
        spare[rows] = entered
        rows += 1
    return satisfied(demands, numbers, spare[:rows], counters)


@njit(nogil=True, cache=True)
def anneal(
    box: Places,
    mask: Masks,
    measure: Measure,
    demands: Demands,
    key: Longs,
    table: Longs,
    group: Ints,
    classes: int,
    warmth: Longs,
    tolls: Longs,
    proposals: int,
    falling: Longs,
    state: npt.NDArray[np.uint64],
) -> None:
    """Improve an assignment in place, of at least two classes.

    A class that fails a requirement pays a toll for every row by which the shares of sensitive values differ from those
    of the whole table, which meets all of them.

    Args:
        box, mask: the boxes of n rows, see `unions`.
        measure: of widths.
        demands: the requirements; the arrays are indexed by the same row numbers.
        key: int64[n], equal for rows that the requirements count alike, from 0.
        table: int64[keys], rows of each key in the whole table; without a toll nobody looks at it.
        group: int32[n], class of each row, 0 to ``classes`` - 1; changed. Without a toll the classes must meet the
            requirements, and the classes that lost least at the end of a stage are written; with a toll the last
            classes, some of which may fail.
        classes: the number of classes.
        warmth: int64[stages], the allowed cost of a step, in rows x extents; times ``falling``.
        tolls: int64[stages], of rows x extents; zeros: no class may fail.
        proposals: steps that are tried in each stage.
        falling: int64[*], - log of a number between 0 and 1, times `UNIT`; each step draws a number.
        state: of the random numbers.

    Cost: O(rows of a class x d) for each step, and O(classes^2 d + n d) a stage; memory O(n d), with a toll O(classes x
    keys).
    """
    n, lanes, words, keys = len(group), box.shape[1], mask.shape[1], len(table)
    checks, tolled, whole = len(demands.add) > 0, tolls[0] > 0, max(table.sum(), 1)
    counters, spare = new_counters(demands, n), np.empty(n, np.int64)
    numbers = np.arange(n).astype(np.int32)
    # The members of class g begin at start[g]; it has room for twice its rows, or for four more.
    size, start = np.zeros(classes, np.int64), np.zeros(classes + 1, np.int64)
    for g in group:
        size[g] += 1
    for g in range(classes):
        start[g + 1] = start[g] + size[g] + max(size[g], 4)
    members, place = np.empty(start[classes], np.int64), np.empty(n, np.int64)
    size[:] = 0
    for i in range(n):
        g = group[i]
        place[i] = start[g] + size[g]
        members[place[i]] = i
        size[g] += 1
    class_box, class_mask = np.empty((classes, lanes), np.int32), np.zeros((classes, words), np.uint64)
    new, new_mask = np.empty((2, lanes), np.int32), np.zeros((2, words), np.uint64)
    wide, lost = np.zeros(classes, np.int64), np.int64(0)
    for g in range(classes):
        empty_box(class_box, class_mask, g)
        for t in range(start[g], start[g] + size[g]):
            join_box(class_box, class_mask, g, class_box, class_mask, g, box, mask, members[t])
        wide[g] = _wide(class_box, class_mask, g, class_box, class_mask, g, measure)
        lost += size[g] * wide[g]
    # With a toll: rows of each key, by how many rows the shares differ, and whether the class fails.
    key_counts = np.zeros((classes if tolled else 0, keys), np.int64)
    off, fails = np.zeros(classes, np.int64), np.zeros(classes, np.bool_)
    if tolled:
        for i in range(n):
            key_counts[group[i], key[i]] += 1
        for g in range(classes):
            for v in range(keys):
                off[g] += abs(key_counts[g, v] * whole - size[g] * table[v])
            off[g] //= whole
            fails[g] = not satisfied(demands, numbers, members[start[g] : start[g] + size[g]], counters)
    least, best_group = lost, group.copy()
    near, price = np.empty((classes, NEAR), np.int64), np.empty(NEAR, np.int64)
    choice = np.empty((n, CHOICES), np.int32)
    for stage in range(len(warmth)):
        warm, toll = warmth[stage], tolls[stage]
        near_counts = near_classes(class_box, class_mask, wide, measure, near, price)
        choices = _choose(
            box, mask, class_box, class_mask, size, wide, group, near, near_counts, measure, choice, price
        )
        for _ in range(proposals):
            i = draw_below(state, n)
            g, h = np.int64(group[i]), np.int64(choice[i, draw_below(state, choices)])
            if g == h or size[g] > LARGE or size[h] > LARGE:
                continue
            # Row i moves to class h, or changes places with row j there, which may be one of the same key.
            kind, j = draw_below(state, 4), -1
            if (
                kind > 0
                or size[g] <= (1 if tolled else demands.k)
                or size[g] == 1
                or start[h] + size[h] == start[h + 1]
            ):
                first = draw_below(state, size[h])
                j = members[start[h] + first]
                if kind > 1 and checks:
                    for t in range(size[h]):
                        m = members[start[h] + (first + t) % size[h]]
                        if key[m] == key[i]:
                            j = m
                            break
            mixed = checks and (j < 0 or key[i] != key[j])
            limit = warm * falling[draw_below(state, len(falling))] // UNIT + size[g] * wide[g] + size[h] * wide[h]
            if mixed:  # the present toll of the classes
                limit += toll * ((off[g] + 1 if fails[g] else 0) + (off[h] + 1 if fails[h] else 0))
            here, there = size[g] - (j < 0), size[h] + (j < 0)
            wide_there = np.int64(0)
            if j < 0:
                wide_there = _wide(class_box, class_mask, h, box, mask, i, measure)
                if there * wide_there > limit:
                    continue
                empty_box(new, new_mask, 0)
            else:
                copy_box(new, new_mask, 0, box, mask, j)
            for t in range(start[g], start[g] + size[g]):
                if members[t] != i:
                    join_box(new, new_mask, 0, new, new_mask, 0, box, mask, members[t])
            wide_here = _wide(new, new_mask, 0, new, new_mask, 0, measure)
            cost = here * wide_here
            if cost > limit:
                continue
            copy_box(new, new_mask, 1, box, mask, i)
            if j < 0:
                join_box(new, new_mask, 1, new, new_mask, 1, class_box, class_mask, h)
            else:
                for t in range(start[h], start[h] + size[h]):
                    if members[t] != j:
                        join_box(new, new_mask, 1, new, new_mask, 1, box, mask, members[t])
                wide_there = _wide(new, new_mask, 1, new, new_mask, 1, measure)
            cost += there * wide_there
            if cost > limit:
                continue
            if mixed:
                off_here = off_there = np.int64(0)
                if tolled:
                    for v in range(keys):
                        change = (v == key[i]) - (j >= 0 and v == key[j])
                        off_here += abs((key_counts[g, v] - change) * whole - here * table[v])
                        off_there += abs((key_counts[h, v] + change) * whole - there * table[v])
                    off_here //= whole
                    off_there //= whole
                failing = not _lawful(demands, members, start[g], start[g] + size[g], i, j, numbers, spare, counters)
                if failing:
                    cost += toll * (off_here + 1)
                    if not tolled or cost > limit:
                        continue
                failing_there = not _lawful(
                    demands, members, start[h], start[h] + size[h], j, i, numbers, spare, counters
                )
                if failing_there:
                    cost += toll * (off_there + 1)
                    if not tolled or cost > limit:
                        continue
                if tolled:
                    fails[g], fails[h], off[g], off[h] = failing, failing_there, off_here, off_there
                    key_counts[g, key[i]] -= 1
                    key_counts[h, key[i]] += 1
                    if j >= 0:
                        key_counts[g, key[j]] += 1
                        key_counts[h, key[j]] -= 1
            lost += here * wide_here + there * wide_there - size[g] * wide[g] - size[h] * wide[h]
            if j < 0:
                size[g] -= 1
                last = members[start[g] + size[g]]
                members[place[i]], place[last] = last, place[i]
                place[i] = start[h] + size[h]
                size[h] += 1
            else:
                members[place[i]], group[j] = j, g
                place[i], place[j] = place[j], place[i]
            members[place[i]], group[i] = i, h
            copy_box(class_box, class_mask, g, new, new_mask, 0)
            copy_box(class_box, class_mask, h, new, new_mask, 1)
            wide[g], wide[h] = wide_here, wide_there
        if lost < least:
            least = lost
            best_group[:] = group
    if not tolled:
        group[:] = best_group
