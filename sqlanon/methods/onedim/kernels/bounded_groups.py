"""The accuracy-constrained heuristic (Ghinita et al. 2009, 5.3, 6.3).

It makes groups as private as a bound on their loss allows.

Rows join the current group, in order, as long as it stays within the bound. Two neighbouring groups then exchange rows,
the most frequent sensitive values first, as long as the lesser of their privacies PM = rows / most frequent value does
not fall (Figure 17): each value moves in one direction only, by the row that widens the other group least, and no
row moves twice.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.bounds import OVER, Bounds
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.methods.onedim.kernels.group_boxes import enter, remove_row, reset, with_row


@njit(nogil=True, cache=True)
def _adjust(
    codes: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32],
    values: int,
    geometry: Geometry,
    bounds: Bounds,
    count: npt.NDArray[np.int32],
    box: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    side_of: npt.NDArray[np.int8],
    moved: npt.NDArray[np.bool_],
) -> None:
    """Exchange rows between two neighbouring groups, side 0 before side 1.

    Args:
        rows: rows of both groups, ascending; ``side_of[row]`` is 0 or 1, and changes.
        moved: bool[n], rows that must stay where they are; rows that move join them.
    """
    size, n = np.zeros(2, np.int64), len(rows)
    counts = np.zeros((2, values + 1), np.int64)
    queue_start = np.zeros((2, values + 1), np.int64)
    for row in rows:
        s = side_of[row]
        size[s] += 1
        counts[s, value[row]] += 1
        if not moved[row]:
            queue_start[s, value[row] + 1] += 1
    # Rows that may move, by side and value; a queue is sorted by the width of the other side with the row.
    queue, key = np.empty((2, n), np.int64), np.empty((2, n), np.int64)
    for s in range(2):
        for v in range(values):
            queue_start[s, v + 1] += queue_start[s, v]
    fill = queue_start.copy()
    for row in rows:
        if not moved[row]:
            s, v = side_of[row], value[row]
            queue[s, fill[s, v]] = row
            fill[s, v] += 1
    head = queue_start.copy()
    version, sorted_at = np.zeros(2, np.int64), np.full((2, values), -1, np.int64)
    direction = np.full(values, -1, np.int64)
    by_frequency = np.empty(values, np.int64)
    again = size[0] > 0 and size[1] > 0
    while again:
        again = False
        for s in range(2):
            o = 1 - s
            if size[0] == 0 or size[1] == 0:
                break
            most = np.array([counts[0].max(), counts[1].max()])
            tops = np.int64(0)
            for v in range(values):
                tops += counts[s, v] == most[s]
                by_frequency[v] = (-counts[s, v] << 32) | v
            worst = 0 if size[0] * most[1] <= size[1] * most[0] else 1
            by_frequency.sort()
            for rank in range(values):
                v = by_frequency[rank] & 0xFFFFFFFF
                if counts[s, v] == 0:
                    break
                if head[s, v] == fill[s, v] or direction[v] == o:
                    continue
                # The lesser privacy must not fall; a group without rows is no group.
                rest = most[s] - (1 if counts[s, v] == most[s] and tops == 1 else 0)
                other_most = max(most[o], counts[o, v] + 1)
                if (size[s] - 1) * most[worst] < size[worst] * rest:
                    continue
                if (size[o] + 1) * most[worst] < size[worst] * other_most:
                    continue
                if sorted_at[s, v] != version[o]:
                    first, past = head[s, v], fill[s, v]
                    for i in range(first, past):
                        row = queue[s, i]
                        near = row if s == 1 else len(moved) - 1 - row
                        key[s, i] = (with_row(codes, row, o, count, box, geometry, bounds) << 32) | near
                    part = np.sort(key[s, first:past])
                    for i in range(first, past):
                        key[s, i] = part[i - first]
                        near = key[s, i] & 0xFFFFFFFF
                        queue[s, i] = near if s == 1 else len(moved) - 1 - near
                    sorted_at[s, v] = version[o]
                if key[s, head[s, v]] >> 32 >= OVER:
                    continue
                row = queue[s, head[s, v]]
                head[s, v] += 1
                direction[v] = s
                moved[row], side_of[row] = True, o
                counts[s, v] -= 1
                counts[o, v] += 1
                size[s] -= 1
                size[o] += 1
                if remove_row(codes, row, s, count, box, bounds.base, rows):
                    version[s] += 1
                if enter(codes, row, o, count, box, bounds.base):
                    version[o] += 1
                    sorted_at[s, v] = -1
                again = True
                break


@njit(nogil=True, cache=True)
def make_accurate_groups(
    codes: npt.NDArray[np.int32],
    value: npt.NDArray[np.int32],
    values: int,
    geometry: Geometry,
    bounds: Bounds,
    adjust: bool,
    group: npt.NDArray[np.int32],
) -> int:
    """Divide n rows, in order, into groups within the bounds, as private as the heuristic makes them.

    Args:
        codes: int32[n, lanes].
        value: int32[n], sensitive codes, 0 to ``values`` - 1.
        values: codes there can be.
        geometry: the attributes.
        bounds: of every group.
        adjust: exchange rows between neighbours; without it the groups are the greedy candidates.
        group: int32[n], written: the number of each row's group, 0 to the result - 1.

    Cost: O(n d) for the candidates; for the exchange O(m) a move, and a group's rows are looked at again whenever the
    box of the other group changes: O(n^2 d) at worst, linear where boxes soon stop changing. Memory O(n + codes).
    """
    n, d = len(codes), len(geometry.facts)
    count = np.zeros((2, bounds.base[d]), np.int32)
    box = np.empty((2, d, 3), np.int64)
    side_of, moved = np.zeros(n, np.int8), np.zeros(n, np.bool_)
    nobody = np.empty(0, np.int64)
    earlier = nobody  # the rows of the last candidate
    groups, start = 0, np.int64(0)
    while start < n:
        reset(codes, nobody, 1, count, box, bounds.base)
        stop = start
        while stop < n and (stop == start or with_row(codes, stop, 1, count, box, geometry, bounds) < OVER):
            enter(codes, stop, 1, count, box, bounds.base)
            stop += 1
        current = np.arange(start, stop)
        start = stop
        if len(earlier) == 0:
            earlier = current
            continue
        if not adjust:
            group[earlier] = groups
            groups += 1
            earlier = current
            continue
        reset(codes, earlier, 0, count, box, bounds.base)
        side_of[earlier] = 0
        side_of[current] = 1
        both = np.sort(np.concatenate((earlier, current)))
        _adjust(codes, value, values, geometry, bounds, count, box, both, side_of, moved)
        before = both[side_of[both] == 0]
        if len(before) > 0:
            group[before] = groups
            groups += 1
        earlier = both[side_of[both] == 1]
    if len(earlier) > 0:
        group[earlier] = groups
        groups += 1
    return groups


@njit(nogil=True, cache=True)
def find_least_privacy(
    value: npt.NDArray[np.int32], values: int, group: npt.NDArray[np.int32], groups: int
) -> tuple[int, int]:
    """PM of a grouping, the least rows / most frequent value over the groups, as (rows, most frequent). Cost: O(n)."""
    rows = np.zeros(groups + 1, np.int64)
    for g in group:
        rows[g + 1] += 1
    for g in range(groups):
        rows[g + 1] += rows[g]
    place = rows.copy()
    order = np.empty(len(group), np.int64)
    for i in range(len(group)):
        order[place[group[i]]] = i
        place[group[i]] += 1
    counts = np.zeros(values, np.int64)
    best_rows, best_most = np.int64(0), np.int64(0)
    for g in range(groups):
        most = np.int64(0)
        for index in range(rows[g], rows[g + 1]):
            counts[value[order[index]]] += 1
            most = max(most, counts[value[order[index]]])
        for index in range(rows[g], rows[g + 1]):
            counts[value[order[index]]] = 0
        size = rows[g + 1] - rows[g]
        if most > 0 and (best_most == 0 or size * best_most < best_rows * most):
            best_rows, best_most = size, most
    return best_rows, best_most
