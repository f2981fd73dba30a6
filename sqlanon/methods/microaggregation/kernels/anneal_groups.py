"""A search for groups of less squared error: rows move and change places, groups are dissolved and made, annealed.

The squared error of group G is the sum of |x|^2 minus |S|^2 / |G|, S the sum of the rows, so that only the sums and
sizes of groups are kept. These are integers below 2^53, so that a sum is exact however often rows come and go.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.random import draw_below
from sqlanon.methods.microaggregation.kernels.starts import Flag, Ints, Longs, Reals, measure_square

_EMPTY = -1


class Groups(NamedTuple):
    """Groups of rows, as they are now.

    Attributes:
        points: float64[n, d], whole numbers.
        group: int32[n].
        sums: float64[m, d], of the rows of each group.
        size: int64[m], 0: there is no such group.
        member: int32[m, 2k], rows of each group, in any order.
        place: int32[n], where a row is in ``member`` of the group.
        k: rows of a group, at least; 2k - 1 at most, but for groups of the start that have more.
    """

    points: Reals
    group: Ints
    sums: Reals
    size: Longs
    member: Ints
    place: Ints
    k: int


@njit(nogil=True, cache=True)
def _take(groups: Groups, i: int) -> None:
    """Take a row out of the group."""
    g = groups.group[i]
    groups.size[g] -= 1
    last = groups.member[g, groups.size[g]]
    groups.member[g, groups.place[i]] = last
    groups.place[last] = groups.place[i]
    for a in range(groups.points.shape[1]):
        groups.sums[g, a] -= groups.points[i, a]
    groups.group[i] = _EMPTY


@njit(nogil=True, cache=True)
def _put(groups: Groups, i: int, g: int) -> None:
    """Put a row into a group."""
    groups.group[i] = g
    groups.place[i] = groups.size[g]
    groups.member[g, groups.size[g]] = i
    groups.size[g] += 1
    for a in range(groups.points.shape[1]):
        groups.sums[g, a] += groups.points[i, a]


@njit(nogil=True, cache=True)
def _gain_out(groups: Groups, i: int) -> float:
    """By how much the error of a row's group falls without the row."""
    g = groups.group[i]
    size, total = groups.size[g], 0.0
    if size == 1:
        return 0.0
    for a in range(groups.points.shape[1]):
        step = groups.points[i, a] - groups.sums[g, a] / size
        total += step * step
    return total * size / (size - 1)


@njit(nogil=True, cache=True)
def _cost_in(groups: Groups, i: int, g: int) -> float:
    """By how much the error of a group rises with a row."""
    size, total = groups.size[g], 0.0
    if size == 0:
        return 0.0
    for a in range(groups.points.shape[1]):
        step = groups.points[i, a] - groups.sums[g, a] / size
        total += step * step
    return total * size / (size + 1)


@njit(nogil=True, cache=True)
def _swap_cost(groups: Groups, i: int, j: int) -> float:
    """By how much the error rises where two rows of different groups change places."""
    g, h = groups.group[i], groups.group[j]
    product = product_there = square = 0.0
    for a in range(groups.points.shape[1]):
        step = groups.points[j, a] - groups.points[i, a]
        product += groups.sums[g, a] * step
        product_there += groups.sums[h, a] * step
        square += step * step
    return (2 * product_there - square) / groups.size[h] - (2 * product + square) / groups.size[g]


@njit(nogil=True, cache=True)
def _accepts(state: npt.NDArray[np.uint64], rise: float, heat: float) -> bool:
    """Whether a step is taken (Metropolis)."""
    if rise <= 0:
        return True
    return heat > 0 and draw_below(state, 1 << 30) < math.exp(-rise / heat) * (1 << 30)


@njit(nogil=True, cache=True)
def _dissolve(groups: Groups, g: int, near: Ints, heat: float, state: npt.NDArray[np.uint64]) -> float:
    """Put the rows of a group into groups of rows near them; return the rise, or 0 where it is not taken."""
    count = groups.size[g]
    rows, rise = groups.member[g, :count].copy(), 0.0
    settled = True
    for i in rows:
        rise -= _gain_out(groups, i)
        _take(groups, i)
        best, to = np.inf, _EMPTY
        for j in near[i]:
            h = groups.group[j]
            if h >= 0 and h != g and groups.size[h] < 2 * groups.k - 1:
                cost = _cost_in(groups, i, h)
                if cost < best:
                    best, to = cost, h
        if to == _EMPTY:
            settled = False
            break
        rise += best
        _put(groups, i, to)
    if settled and _accepts(state, rise, heat):
        return rise
    for i in rows:
        if groups.group[i] != g:
            if groups.group[i] >= 0:
                _take(groups, i)
            _put(groups, i, g)
    return 0.0


@njit(nogil=True, cache=True)
def _make(groups: Groups, i: int, empty: int, near: Ints, heat: float, state: npt.NDArray[np.uint64]) -> float:
    """Make a group of a row and of near rows that their groups can spare; return the rise, or 0."""
    rise, count = 0.0, 0
    rows, old = np.empty(groups.k, np.int32), np.empty(groups.k, np.int32)
    for index in range(-1, near.shape[1]):
        j = np.int32(i) if index < 0 else near[i, index]
        if groups.size[groups.group[j]] <= groups.k:
            continue
        if groups.group[j] == empty:
            continue
        rows[count], old[count] = j, groups.group[j]
        count += 1
        rise -= _gain_out(groups, j)
        _take(groups, j)
        rise += _cost_in(groups, j, empty)
        _put(groups, j, empty)
        if count == groups.k:
            break
    if count == groups.k and _accepts(state, rise, heat):
        return rise
    for index in range(count - 1, -1, -1):
        _take(groups, rows[index])
        _put(groups, rows[index], old[index])
    return 0.0


@njit(nogil=True, cache=True)
def find_neighbours(points: Reals, near: Ints, stop: Flag) -> None:
    """Write the rows nearest to each row, int32[n, m], without itself, nearest first.

    ``stop``: int8[1], set by others to end early. Cost: O(n^2 d).
    """
    n, m = near.shape
    apart = np.empty(m)
    for i in range(n):
        if stop[0]:
            return
        count = 0
        for j in range(n):
            if j == i:
                continue
            square = measure_square(points, j, points[i])
            if count == m and square >= apart[m - 1]:
                continue
            count = min(count + 1, m)
            place = count - 1
            while place > 0 and apart[place - 1] > square:
                apart[place], near[i, place] = apart[place - 1], near[i, place - 1]
                place -= 1
            apart[place], near[i, place] = square, j


@njit(nogil=True, cache=True)
def anneal_groups(
    points: Reals, k: int, near: Ints, steps: int, warm: float, seed: npt.NDArray[np.uint64], group: Ints, stop: Flag
) -> int:
    """Lower the squared error of groups of at least k rows.

    Args:
        points: float64[n, d], whole numbers.
        k: rows of a group, at least.
        near: int32[n, m], the rows nearest to each, nearest first.
        steps: tried, at most.
        warm: the first temperature, in parts of the mean error of a row.
        seed: uint64[1], of the random numbers.
        group: int32[n], groups of at least k rows, written: those of the least error that was seen.
        stop: int8[1], set by others to end early.

    Returns:
        How many groups there are.

    Cost: O(d) for a step, O(k m d) for each k-th step.
    """
    n, d = points.shape
    most = n // k + 1
    widest = 2 * k
    sizes = np.zeros(most, np.int64)
    for i in range(n):
        sizes[group[i]] += 1
    for g in range(most):
        widest = max(widest, sizes[g] + 1)
    groups = Groups(
        points,
        np.full(n, _EMPTY, np.int32),
        np.zeros((most, d)),
        np.zeros(most, np.int64),
        np.zeros((most, widest), np.int32),
        np.zeros(n, np.int32),
        k,
    )
    total = 0.0
    for i in range(n):
        total += _cost_in(groups, i, group[i])
        _put(groups, i, group[i])
    first = warm * total / max(n, 1)
    now = best = total
    cold = first / 1000
    heat, cooling = first, math.exp(math.log(1000.0) * 1000 / max(steps, 1000))
    for step in range(steps):
        if step % 1000 == 0:
            heat = max(heat / cooling, cold) if step > 0 else first
            if stop[0]:
                break
        i = draw_below(seed, n)
        g = groups.group[i]
        kind = draw_below(seed, 16 * k)
        if kind == 0:
            now += _dissolve(groups, g, near, heat, seed)
        elif kind == 1:
            for empty in range(most):
                if groups.size[empty] == 0:
                    now += _make(groups, i, empty, near, heat, seed)
                    break
        else:
            j = near[i, draw_below(seed, near.shape[1])]
            h = groups.group[j]
            if h == g:
                continue
            if groups.size[g] > k and groups.size[h] < 2 * k - 1 and kind % 2 == 0:
                rise = _cost_in(groups, i, h) - _gain_out(groups, i)
                if _accepts(seed, rise, heat):
                    _take(groups, i)
                    _put(groups, i, h)
                    now += rise
                continue
            j = groups.member[h, draw_below(seed, groups.size[h])]
            rise = _swap_cost(groups, i, j)
            if _accepts(seed, rise, heat):
                _take(groups, i)
                _take(groups, j)
                _put(groups, i, h)
                _put(groups, j, g)
                now += rise
        if step % n == 0 and now < best:
            best = now
            group[:] = groups.group
    if now < best:
        group[:] = groups.group
    number = np.full(most, _EMPTY, np.int32)
    group_count = 0
    for i in range(n):
        if number[group[i]] == _EMPTY:
            number[group[i]] = group_count
            group_count += 1
        group[i] = number[group[i]]
    return group_count
