"""Groups within a bound, repaired until the least private group cannot be improved; ours, not a paper's.

PM is the privacy of the least private group, so one row far from its neighbours in the order, which no
group near it can take, lowers the PM of the whole division. Here the least private group borrows rows from any group,
or gives rows to any, as long as the bound holds and every other group that takes part stays more private than it was.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.bounds import OVER, Bounds
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import KIND, SET, Geometry
from sqlanon.methods.onedim.kernels.group_boxes import HIGH, LOW, enter, reset, with_row
from sqlanon.methods.onedim.kernels.group_rows import (
    OTHER,
    WORST,
    Members,
    forget,
    move,
    reaches,
    reaches_nearest_corner,
    rows_of,
    tally,
)

_LOOKS = 200
"""Rows, and boxes of groups, that are looked at per row of the table: about where the pass ends at the latest."""


@njit(nogil=True, cache=True)
def _spares(value: int, most: int, tops: int, donor: int, worst: int, state: Members) -> tuple[bool, int]:
    """Whether a group stays more private than the worst group if it loses a row of this value.

    The second result is the number of rows of the group's most frequent value then.
    """
    rest = most - (1 if state.held[OTHER, value] == most and tops == 1 else 0)
    size = state.size[donor] - 1
    return size == 0 or size * state.most[worst] > state.size[worst] * rest, rest


@njit(nogil=True, cache=True)
def _gather(
    codes: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32],
    owner: npt.NDArray[np.int32],
    worst: int,
    geometry: Geometry,
    bounds: Bounds,
    state: Members,
) -> bool:
    """Move rows of rarer values from inside the worst group's box to that group, which does not widen it."""
    counts, count, low, high = state.held, state.count, state.box[WORST, :, LOW], state.box[WORST, :, HIGH]
    facts, base = geometry.facts, bounds.base
    d, full = len(facts), state.most[worst]
    helped = False
    for g in range(len(state.head)):
        if g == worst or state.size[g] == 0 or not reaches_nearest_corner(g, WORST, state, geometry, bounds):
            continue
        rows = rows_of(g, state)
        most, tops = tally(value, rows, OTHER, state)
        size, worst_size = state.size[g], state.size[worst]
        for row in rows:
            v = value[row]
            if counts[WORST, v] >= full:
                continue
            rest = most - (1 if counts[OTHER, v] == most and tops == 1 else 0)
            if size > 1 and (size - 1) * full <= worst_size * rest:
                continue
            inside = True
            for a in range(d):
                code = codes[row, a]
                if facts[a, KIND] == SET:
                    inside &= count[WORST, base[a] + code] > 0
                else:
                    inside &= low[a] <= code <= high[a]
            if not inside:
                continue
            move(codes, row, g, worst, state)
            owner[row] = worst
            enter(codes, row, WORST, count, state.box, base)
            counts[WORST, v] += 1
            counts[OTHER, v] -= 1
            size, worst_size, helped = size - 1, worst_size + 1, True
            if counts[OTHER, v] == most - 1:
                tops -= 1
                if tops == 0:
                    most = rest
                    for value_code in range(counts.shape[1]):
                        tops += counts[OTHER, value_code] == most
        state.most[g] = most
        forget(value, rows, OTHER, state)
    return helped


@njit(nogil=True, cache=True)
def _borrow(
    codes: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32],
    owner: npt.NDArray[np.int32],
    worst: int,
    geometry: Geometry,
    bounds: Bounds,
    state: Members,
) -> bool:
    """Move rows of rarer values to the worst group, at most one row of each value, nearest first.

    Rarer values are all but the group's most frequent.
    """
    values = state.held.shape[1]
    counts = state.held[WORST]
    nearest, giver = np.full(values, OVER, np.int64), np.full(values, -1, np.int64)
    for g in range(len(state.head)):
        if g == worst or state.size[g] == 0 or not reaches_nearest_corner(g, WORST, state, geometry, bounds):
            continue
        rows = rows_of(g, state)
        most, tops = tally(value, rows, OTHER, state)
        for row in rows:
            v = value[row]
            if counts[v] < state.most[worst] and _spares(v, most, tops, g, worst, state)[0]:
                width = with_row(codes, row, WORST, state.count, state.box, geometry, bounds)
                if width < nearest[v]:
                    nearest[v], giver[v] = width, row
        forget(value, rows, OTHER, state)
    helped = False
    for v in np.argsort(nearest, kind="mergesort"):
        if giver[v] < 0:
            break
        row = giver[v]
        donor = owner[row]
        if with_row(codes, row, WORST, state.count, state.box, geometry, bounds) >= OVER:
            continue
        rows = rows_of(donor, state)
        most, tops = tally(value, rows, OTHER, state)
        fine, rest = _spares(v, most, tops, donor, worst, state)
        forget(value, rows, OTHER, state)
        if not fine:
            continue
        move(codes, row, donor, worst, state)
        owner[row], state.most[donor] = worst, rest
        counts[v] += 1
        enter(codes, row, WORST, state.count, state.box, bounds.base)
        helped = True
    return helped


@njit(nogil=True, cache=True)
def _give(
    codes: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32],
    owner: npt.NDArray[np.int32],
    worst: int,
    geometry: Geometry,
    bounds: Bounds,
    state: Members,
) -> bool:
    """Move rows of the worst group's most frequent values to other groups.

    It goes on while the group's privacy grows, or until the group is gone.
    """
    counts, count, box = state.held, state.count, state.box
    worst_rows = rows_of(worst, state)
    size, most, tops = len(worst_rows), state.most[worst], np.int64(0)
    for v in range(counts.shape[1]):
        tops += counts[WORST, v] == most
    best_size, best_most, best = size, most, 0
    given_rows, given_count = np.empty(len(worst_rows), np.int64), 0
    to = np.empty(len(worst_rows), np.int64)
    for g in range(len(state.head)):
        if g == worst or state.size[g] == 0 or size == 0:
            continue
        close = False
        for row in worst_rows:
            state.looks[0] += 1
            if reaches(codes, row, g, state, geometry, bounds):
                close = True
                break
        if not close:
            continue
        rows = rows_of(g, state)
        reset(codes, rows, OTHER, count, box, bounds.base)
        other_most, _ = tally(value, rows, OTHER, state)
        for row in worst_rows:
            v = value[row]
            grown = max(other_most, counts[OTHER, v] + 1)
            if owner[row] != worst or counts[WORST, v] < most or (state.size[g] + 1) * best_most <= best_size * grown:
                continue
            if with_row(codes, row, OTHER, count, box, geometry, bounds) >= OVER:
                continue
            move(codes, row, worst, g, state)
            owner[row] = g
            given_rows[given_count], to[given_count] = row, g
            given_count += 1
            enter(codes, row, OTHER, count, box, bounds.base)
            counts[OTHER, v] += 1
            counts[WORST, v] -= 1
            other_most, size, tops = grown, size - 1, tops - 1
            if tops == 0:
                most -= 1
                for value_code in range(counts.shape[1]):
                    tops += counts[WORST, value_code] == most
            if size == 0 or size * best_most > best_size * most:
                best_size, best_most, best = size, most, given_count
            if size == 0:
                break
        state.most[g] = other_most
        state.looks[0] += len(worst_rows)
        for row in rows:
            counts[OTHER, value[row]] = 0
        for row in worst_rows:
            counts[OTHER, value[row]] = 0
    for index in range(best, given_count):
        move(codes, given_rows[index], to[index], worst, state)
        owner[given_rows[index]] = worst
    for index in range(best, given_count):
        if index == best or to[index] != to[index - 1]:
            rows = rows_of(to[index], state)
            state.most[to[index]], _ = tally(value, rows, OTHER, state)
            forget(value, rows, OTHER, state)
    state.most[worst] = best_most
    return best > 0


@njit(nogil=True, cache=True)
def _is_most_private(
    codes: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32],
    worst: int,
    geometry: Geometry,
    bounds: Bounds,
    state: Members,
) -> bool:
    """Whether no division within the bounds is more private.

    A row with too few values within reach proves that, since it is in some group.
    """
    row = state.head[worst]
    reset(codes[row : row + 1], np.zeros(1, np.int64), OTHER, state.count, state.box, bounds.base)
    seen = np.zeros(state.held.shape[1], np.bool_)
    distinct = np.int64(0)
    for other in range(len(codes)):
        state.looks[0] += 1
        v = value[other]
        if not seen[v] and with_row(codes, other, OTHER, state.count, state.box, geometry, bounds) < OVER:
            seen[v] = True
            distinct += 1
            if distinct * state.most[worst] > state.size[worst]:
                return False
    return True


@njit(nogil=True, cache=True)
def repair(
    codes: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32],
    values: int,
    geometry: Geometry,
    bounds: Bounds,
    group: npt.NDArray[np.int32],
    groups: int,
) -> int:
    """Raise the PM of n rows' groups, which keep to the bounds before and after.

    The least private group borrows, from any group, rows of values that are not most frequent in it. Where it
    cannot, rows of the most frequent values move to other groups until it is more private or gone. Every other group
    that takes part is more private afterwards than the least private was before, so that PM never falls. The pass
    ends where none of the least private groups can be improved.

    Args:
        codes: int32[n, lanes].
        value: int32[n], sensitive codes, 0 to ``values`` - 1.
        values: codes there can be.
        geometry: the attributes.
        bounds: of every group.
        group: int32[n], group of each row, 0 to ``groups`` - 1; changed.
        groups: the number of groups.

    Returns:
        The number of groups now.

    Cost: a step looks at the groups near by, O(n d) at most; all steps together at about `_LOOKS` n rows at most.
    Memory O(n d + codes).
    """
    n, d = len(codes), len(geometry.facts)
    state = Members(
        np.full(groups, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(groups, np.int64),
        np.zeros(groups, np.int64),
        np.full((groups, d), OVER, np.int32),
        np.full((groups, d), -1, np.int32),
        np.zeros((2, values), np.int64),
        np.zeros((2, bounds.base[d]), np.int32),
        np.empty((2, d, 3), np.int64),
        np.zeros(1, np.int64),
    )
    for row in range(n - 1, -1, -1):
        g = group[row]
        state.after[row] = state.head[g]
        if state.head[g] >= 0:
            state.before[state.head[g]] = row
        state.head[g] = row
        state.size[g] += 1
        for a in range(d):
            state.low[g, a] = min(state.low[g, a], codes[row, a])
            state.high[g, a] = max(state.high[g, a], codes[row, a])
    for g in range(groups):
        rows = rows_of(g, state)
        state.most[g], _ = tally(value, rows, OTHER, state)
        forget(value, rows, OTHER, state)
    stuck = np.zeros(groups, np.bool_)
    while state.looks[0] < _LOOKS * n:
        worst = -1
        for g in range(groups):
            if state.size[g] == 0:
                continue
            if worst < 0:
                worst = g
                continue
            less, more = state.size[g] * state.most[worst], state.size[worst] * state.most[g]
            if less < more or (less == more and stuck[worst]):
                worst = g
        if stuck[worst]:
            break
        state.looks[0] += 2 * groups
        rows = rows_of(worst, state)
        reset(codes, rows, WORST, state.count, state.box, bounds.base)
        tally(value, rows, WORST, state)
        helped = (
            _gather(codes, value, group, worst, geometry, bounds, state)
            or _borrow(codes, value, group, worst, geometry, bounds, state)
            or _give(codes, value, group, worst, geometry, bounds, state)
        )
        state.held[WORST, :] = 0
        if helped:
            stuck[:] = False
        elif _is_most_private(codes, value, worst, geometry, bounds, state):
            break
        else:
            stuck[worst] = True
    number = np.full(groups, -1, np.int32)
    group_count = 0
    for g in range(groups):
        if state.size[g] > 0:
            number[g] = group_count
            group_count += 1
    for row in range(n):
        group[row] = number[group[row]]
    return group_count
