"""Annealing: rows move between near classes and change places, also at a loss, which is allowed less and less. Ours.

`search` divides a few classes anew. Where a class must meet more than a number of rows, most new divisions fail.
Rows with equal sensitive values can always change places; other steps are judged by the tallies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.random import draw_below
from sqlanon.kernels.requirements import Counters, Demands, make_counters, satisfied
from sqlanon.kernels.unions import (
    Masks,
    Measure,
    Places,
    copy_box,
    empty_box,
    join_box,
    measure_coded,
    measure_lines,
    measure_sets,
)
from sqlanon.methods.shared.kernels.anneal_targets import choose_targets, find_near_classes

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

NEAR, CHOICES = 24, 8
"""Near classes that are known of each class, and those of them that a row may go to."""
LARGE = 512
"""Rows of a larger class stay, and no row goes there."""
UNIT = 1 << 16
"""Of `falling`: 1."""


@njit(nogil=True, cache=True, inline="always")
def _wide(box: Places, mask: Masks, row: int, boxes: Places, masks: Masks, other: int, measure: Measure) -> int:
    """The weighted sum of extents of two boxes joined."""
    total = measure_lines(box, row, boxes, other, measure.weight)
    total += measure_sets(mask, row, masks, other, measure.sets, measure.table)
    if len(measure.codes) > 0:
        total += measure_coded(box, row, boxes, other, measure.facts, measure.table, measure.codes)
    return total


@njit(nogil=True, cache=True)
def _measure_rests(
    members: Longs,
    box: Places,
    mask: Masks,
    rest: Places,
    rest_mask: Masks,
    lost: Longs,
    class_box: Places,
    class_mask: Masks,
    g: int,
    chain: Places,
    chain_mask: Masks,
    measure: Measure,
) -> int:
    """Write the box of class ``g`` and, for each member, box and width of the class without it; the class's width.

    ``chain`` has room for a box more than there are members. Cost: O(members x d).
    """
    rows = len(members)
    empty_box(chain, chain_mask, rows)
    for t in range(rows - 1, -1, -1):
        join_box(chain, chain_mask, t, chain, chain_mask, t + 1, box, mask, members[t])
    copy_box(class_box, class_mask, g, chain, chain_mask, 0)
    empty_box(chain, chain_mask, 0)
    for t in range(rows):
        j = members[t]
        join_box(rest, rest_mask, j, chain, chain_mask, 0, chain, chain_mask, t + 1)
        join_box(chain, chain_mask, 0, chain, chain_mask, 0, box, mask, j)
        lost[j] = _wide(rest, rest_mask, j, rest, rest_mask, j, measure) if rows > 1 else np.int64(0)
    return np.int64(_wide(class_box, class_mask, g, class_box, class_mask, g, measure))


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
def _count_change(key_counts: Longs, g: int, left: int, entered: int, table: Longs, rows: int, whole: int) -> int:
    """By how much more the shares of class ``g`` differ if a row of key ``left`` goes and one of ``entered`` comes."""
    change = np.int64(0)
    for v, more in ((left, -1), (entered, 1)):
        now = key_counts[g, v] * whole - rows * table[v]
        change += abs(now + more * whole) - abs(now)
    return change


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
    counters, spare = make_counters(demands, n), np.empty(n, np.int64)
    numbers = np.arange(n).astype(np.int32)
    # The members of class g begin at start[g]; it has room for twice its rows, or for four more.
    size, start = np.zeros(classes, np.int64), np.zeros(classes + 1, np.int64)
    for g in group:
        size[g] += 1
    for g in range(classes):
        start[g + 1] = start[g] + size[g] + max(size[g], 4)
    members, place = np.empty(start[classes], np.int64), np.empty(n, np.int64)
    chain = np.empty((max(size.max(), LARGE + 1) + 1, lanes), np.int32)
    chain_mask = np.zeros((len(chain), words), np.uint64)
    size[:] = 0
    for i in range(n):
        g = group[i]
        place[i] = start[g] + size[g]
        members[place[i]] = i
        size[g] += 1
    # Of each class the box, of each row that of the other rows of its class; widths of both.
    class_box, class_mask = np.empty((classes, lanes), np.int32), np.zeros((classes, words), np.uint64)
    rest, rest_mask = np.empty((n, lanes), np.int32), np.zeros((n, words), np.uint64)
    wide, without, lost = np.zeros(classes, np.int64), np.zeros(n, np.int64), np.int64(0)
    for g in range(classes):
        own_rows = members[start[g] : start[g] + size[g]]
        wide[g] = _measure_rests(
            own_rows, box, mask, rest, rest_mask, without, class_box, class_mask, g, chain, chain_mask, measure
        )
        lost += size[g] * wide[g]
    # With a toll: rows of each key, the difference of shares in rows, times rows of the table, and whether it fails.
    key_counts = np.zeros((classes if tolled else 0, keys), np.int64)
    off, fails = np.zeros(classes, np.int64), np.zeros(classes, np.bool_)
    if tolled:
        for i in range(n):
            key_counts[group[i], key[i]] += 1
        for g in range(classes):
            for v in range(keys):
                off[g] += abs(key_counts[g, v] * whole - size[g] * table[v])
            fails[g] = not satisfied(demands, numbers, members[start[g] : start[g] + size[g]], counters)
    least, best_group = lost, group.copy()
    near, price = np.empty((classes, NEAR), np.int64), np.empty(NEAR, np.int64)
    choice = np.empty((n, CHOICES), np.int32)
    for stage in range(len(warmth)):
        warm, toll = warmth[stage], tolls[stage]
        near_counts = find_near_classes(class_box, class_mask, wide, measure, near, price)
        choices = choose_targets(
            box, mask, class_box, class_mask, size, wide, group, near, near_counts, measure, choice, price
        )
        for _ in range(proposals):
            i = draw_below(state, n)
            g, h = np.int64(group[i]), np.int64(choice[i, draw_below(state, choices)])
            if g == h or size[g] > LARGE or size[h] > LARGE:
                continue
            limit = warm * falling[draw_below(state, len(falling))] // UNIT + size[g] * wide[g] + size[h] * wide[h]
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
                    most = limit - size[g] * without[i]
                    for t in range(size[h]):
                        m = members[start[h] + (first + t) % size[h]]
                        if key[m] == key[i] and size[h] * without[m] <= most:
                            j = m
                            break
            mixed = checks and (j < 0 or key[i] != key[j])
            if mixed:  # the present toll of the classes
                limit += toll * ((off[g] // whole + 1 if fails[g] else 0) + (off[h] // whole + 1 if fails[h] else 0))
            here, there = size[g] - (j < 0), size[h] + (j < 0)
            # No class is narrower than it is without the row that leaves it: most steps are ruled out here.
            if here * without[i] + there * (wide[h] if j < 0 else without[j]) > limit:
                continue
            if j < 0:
                cost = here * without[i] + there * _wide(class_box, class_mask, h, box, mask, i, measure)
            else:
                cost = here * _wide(rest, rest_mask, i, box, mask, j, measure)
                if cost + there * without[j] > limit:
                    continue
                cost += there * _wide(rest, rest_mask, j, box, mask, i, measure)
            if cost > limit:
                continue
            if mixed:
                off_here = off_there = np.int64(0)
                if tolled and j < 0:
                    for v in range(keys):
                        off_here += abs((key_counts[g, v] - (v == key[i])) * whole - here * table[v])
                        off_there += abs((key_counts[h, v] + (v == key[i])) * whole - there * table[v])
                elif tolled:
                    off_here = off[g] + _count_change(key_counts, g, key[i], key[j], table, here, whole)
                    off_there = off[h] + _count_change(key_counts, h, key[j], key[i], table, there, whole)
                failing = not _lawful(demands, members, start[g], start[g] + size[g], i, j, numbers, spare, counters)
                if failing:
                    cost += toll * (off_here // whole + 1)
                    if not tolled or cost > limit:
                        continue
                failing_there = not _lawful(
                    demands, members, start[h], start[h] + size[h], j, i, numbers, spare, counters
                )
                if failing_there:
                    cost += toll * (off_there // whole + 1)
                    if not tolled or cost > limit:
                        continue
                if tolled:
                    fails[g], fails[h], off[g], off[h] = failing, failing_there, off_here, off_there
                    key_counts[g, key[i]] -= 1
                    key_counts[h, key[i]] += 1
                    if j >= 0:
                        key_counts[g, key[j]] += 1
                        key_counts[h, key[j]] -= 1
            lost -= size[g] * wide[g] + size[h] * wide[h]
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
            for c in (g, h):
                own_rows = members[start[c] : start[c] + size[c]]
                wide[c] = _measure_rests(
                    own_rows, box, mask, rest, rest_mask, without, class_box, class_mask, c, chain, chain_mask, measure
                )
                lost += size[c] * wide[c]
        if lost < least:
            least = lost
            best_group[:] = group
    if not tolled:
        group[:] = best_group
