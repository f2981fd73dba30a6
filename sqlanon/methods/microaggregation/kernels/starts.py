"""Groups around far rows: MDAV, of k rows each, and V-MDAV, of k to 2k - 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Reals = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Flag = npt.NDArray[np.int8]


@njit(nogil=True, cache=True)
def measure_square(points: Reals, i: int, middle: Reals) -> float:
    """The squared distance of a row from a point."""
    total = 0.0
    for a in range(len(middle)):
        step = points[i, a] - middle[a]
        total += step * step
    return total


@njit(nogil=True, cache=True)
def _take_nearest(points: Reals, free: Longs, left: int, centre: Reals, k: int, g: int, group: Ints) -> int:
    """Make the ``k`` free rows nearest to a point group ``g``; return how many are left, of ties the first."""
    apart = np.empty(left)
    for f in range(left):
        apart[f] = measure_square(points, free[f], centre)
    order = np.argsort(apart, kind="mergesort")
    for index in range(k):
        group[free[order[index]]] = g
    count = 0
    for f in range(left):
        if group[free[f]] < 0:
            free[count] = free[f]
            count += 1
    return count


@njit(nogil=True, cache=True)
def _find_farthest(points: Reals, free: Longs, left: int, centre: Reals) -> int:
    """The free row that is farthest from a point, of ties the first."""
    row, most = free[0], -1.0
    for f in range(left):
        apart = measure_square(points, free[f], centre)
        if apart > most:
            row, most = free[f], apart
    return row


@njit(nogil=True, cache=True)
def group_by_mdav(points: Reals, k: int, group: Ints, stop: Flag) -> int:
    """MDAV (Domingo-Ferrer and Torra 2005, algorithm "MDAV-generic").

    While 3k rows are left: a group around the row farthest from their mean, and another around the row farthest from
    that row; with 2k another; the remaining rows are a group.

    Args:
        points: float64[n, d].
        k: rows of a group, at most n.
        group: int32[n], written.
        stop: int8[1], set by others to end early.

    Returns:
        How many groups there are.

    Cost: O(n^2 d / k).
    """
    n, d = points.shape
    free, remaining, groups = np.arange(n), n, 0
    group[:] = -1
    middle = np.empty(d)
    while remaining >= 2 * k and not stop[0]:
        middle[:] = 0
        for f in range(remaining):
            for a in range(d):
                middle[a] += points[free[f], a]
        for a in range(d):
            middle[a] /= remaining
        far = _find_farthest(points, free, remaining, middle)
        centre = points[far].copy()
        two = remaining >= 3 * k
        remaining = _take_nearest(points, free, remaining, centre, k, groups, group)
        groups += 1
        if two:
            far = _find_farthest(points, free, remaining, centre)
            remaining = _take_nearest(points, free, remaining, points[far].copy(), k, groups, group)
            groups += 1
    for f in range(remaining):
        group[free[f]] = groups
    return groups + 1


@njit(nogil=True, cache=True)
def group_by_vmdav(points: Reals, k: int, gamma: float, group: Ints, stop: Flag) -> int:
    """V-MDAV (Solanas and Martinez-Balleste 2006): a group takes further rows that are nearer to it than to others.

    Args:
        points: float64[n, d].
        k: rows of a group, at most n; none has more than 2k - 1 but for rows that are left at the end.
        gamma: a free row joins where the distance from the group is below gamma times that from the nearest free row.
        group: int32[n], written.
        stop: int8[1], set by others to end early.

    Returns:
        How many groups there are.

    Cost: O(n^2 d).
    """
    n, d = points.shape
    free, remaining, groups = np.arange(n), n, 0
    group[:] = -1
    middle, inside = np.zeros(d), np.empty(n)
    for i in range(n):
        for a in range(d):
            middle[a] += points[i, a]
    for a in range(d):
        middle[a] /= n
    while remaining >= k and not stop[0]:
        far = _find_farthest(points, free, remaining, middle)
        before = free[:remaining].copy()
        remaining = _take_nearest(points, free, remaining, points[far].copy(), k, groups, group)
        for f in range(remaining):
            inside[free[f]] = np.inf
        for row in before:
            if group[row] == groups:
                for f in range(remaining):
                    inside[free[f]] = min(inside[free[f]], measure_square(points, free[f], points[row]))
        for _ in range(k - 1):
            if remaining == 0:
                break
            best_place, out = 0, np.inf
            for f in range(1, remaining):
                if inside[free[f]] < inside[free[best_place]]:
                    best_place = f
            row = free[best_place]
            for f in range(remaining):
                if f != best_place:
                    out = min(out, measure_square(points, free[f], points[row]))
            if inside[row] >= gamma * gamma * out:
                break
            group[row] = groups
            for f in range(best_place + 1, remaining):
                free[f - 1] = free[f]
            remaining -= 1
            for f in range(remaining):
                inside[free[f]] = min(inside[free[f]], measure_square(points, free[f], points[row]))
        groups += 1
    _place_left(points, free, remaining, groups, group)
    return groups


@njit(nogil=True, cache=True)
def _place_left(points: Reals, free: Longs, left: int, groups: int, group: Ints) -> None:
    """Put the free rows into the groups with the nearest means."""
    n, d = points.shape
    if left == 0:
        return
    means, sizes = np.zeros((groups, d)), np.zeros(groups)
    for i in range(n):
        if group[i] >= 0:
            sizes[group[i]] += 1
            for a in range(d):
                means[group[i], a] += points[i, a]
    for g in range(groups):
        for a in range(d):
            means[g, a] /= sizes[g]
    for f in range(left):
        near, least = 0, np.inf
        for g in range(groups):
            apart = measure_square(points, free[f], means[g])
            if apart < least:
                near, least = g, apart
        group[free[f]] = near
