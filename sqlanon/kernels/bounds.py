"""Limits on the loss of a class: the bound E, and how far back every row's class may reach within it.

E is a largest weighted sum of extents (NCP of a class), or a largest extent per attribute in its own units. The second
comes as a table, per code the last code that may share a class with it, so that rounded positions decide nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import KIND, LEVELS, NULLS, SET, SIZE, START, WEIGHT, Geometry, measure_extent

OVER = (1 << 30) + 1
"""A width that no bound allows; true widths are at most `SCALE` x 2^10."""


class Bounds(NamedTuple):
    """A bound on the loss of every class.

    Attributes:
        total: weighted sum of extents, at most; `OVER` - 1: no bound.
        until: int64[*], per attribute that has a bound of its own and per code: the last code allowed beside it.
        start: int64[d], where an attribute's part of ``until`` begins; -1: no bound.
        base: int64[d + 1], codes of the attributes before each, and of all.
    """

    total: int
    until: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    base: npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def measure_attribute(
    facts: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
    bounds: Bounds,
    a: int,
    low: int,
    high: int,
    members: int,
) -> int:
    """Weighted extent of an attribute, `OVER` if the attribute's bound forbids it."""
    if bounds.start[a] >= 0 and high > bounds.until[bounds.start[a] + low]:
        return OVER
    return facts[a, WEIGHT] * measure_extent(
        facts[a, KIND],
        facts[a, SIZE],
        facts[a, NULLS],
        facts[a, LEVELS],
        facts[a, START],
        table,
        low,
        high,
        members,
    )


@njit(nogil=True, cache=True)
def find_reach(codes: npt.NDArray[np.int32], geometry: Geometry, bounds: Bounds, start: npt.NDArray[np.int64]) -> None:
    """For every row the first row of the longest run that ends with it within the bounds.

    Args:
        codes: int32[n, lanes], rows in order.
        geometry: the attributes.
        bounds: the bound; a row alone is always within it.
        start: int64[n], written; ascending.

    Cost: O(n d): smallest and largest codes of the window are in a queue per attribute.
    """
    n, d = len(codes), len(geometry.facts)
    facts, table = geometry.facts, geometry.table
    queue = np.empty((2, d, n), np.int32)
    head, tail = np.zeros((2, d), np.int64), np.zeros((2, d), np.int64)
    count = np.zeros(bounds.base[d], np.int32)
    members = np.zeros(d, np.int64)
    window_start = np.int64(0)
    for i in range(n):
        for a in range(d):
            code = codes[i, a]
            while tail[0, a] > head[0, a] and codes[queue[0, a, tail[0, a] - 1], a] >= code:
                tail[0, a] -= 1
            queue[0, a, tail[0, a]] = i
            tail[0, a] += 1
            while tail[1, a] > head[1, a] and codes[queue[1, a, tail[1, a] - 1], a] <= code:
                tail[1, a] -= 1
            queue[1, a, tail[1, a]] = i
            tail[1, a] += 1
            if facts[a, KIND] == SET:
                code_index = bounds.base[a] + code
                members[a] += count[code_index] == 0
                count[code_index] += 1
        while window_start < i:
            total = np.int64(0)
            for a in range(d):
                low = np.int64(codes[queue[0, a, head[0, a]], a])
                high = np.int64(codes[queue[1, a, head[1, a]], a])
                total += measure_attribute(facts, table, bounds, a, low, high, members[a])
            if total <= bounds.total:
                break
            for a in range(d):
                for side in range(2):
                    if queue[side, a, head[side, a]] == window_start:
                        head[side, a] += 1
                if facts[a, KIND] == SET:
                    code_index = bounds.base[a] + codes[window_start, a]
                    count[code_index] -= 1
                    members[a] -= count[code_index] == 0
            window_start += 1
        start[i] = window_start


@njit(nogil=True, cache=True)
def _divides(start: npt.NDArray[np.int64], k: int, back: npt.NDArray[np.int32], before: npt.NDArray[np.int64]) -> bool:
    """Whether runs of at least ``k`` rows, each within reach, make up all rows; ``back`` gets the shortest."""
    n = len(start)
    # before[i]: the last division point at or before i, so that the nearest one k rows back is found at once
    before[0] = 0
    for i in range(1, n + 1):
        before[i] = before[i - 1]
        if i >= k:
            j = before[i - k]
            if j >= start[i - 1]:
                back[i] = i - j
                before[i] = i
    return before[n] == n


@njit(nogil=True, cache=True)
def find_most_anonymous(start: npt.NDArray[np.int64], first: npt.NDArray[np.bool_]) -> int:
    """The dual of k-anonymity on an order (section 5): the largest k for which runs within the bounds exist.

    Args:
        start: int64[n], see `find_reach`.
        first: bool[n], written: where runs begin.

    Returns:
        k, at least 1.

    Cost: O(n log n): the search relies on a division into runs of k rows being one into runs of fewer.
    """
    n = len(start)
    back, before = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int64)
    low, high = np.int64(1), np.int64(n)
    while low < high:
        middle = (low + high + 1) // 2
        if _divides(start, middle, back, before):
            low = middle
        else:
            high = middle - 1
    _divides(start, low, back, before)
    first[:] = False
    i = np.int64(n)
    while i > 0:
        i -= back[i]
        first[i] = True
    return low


@njit(nogil=True, cache=True)
def measure_widest(
    codes: npt.NDArray[np.int32], group: npt.NDArray[np.int32], groups: int, geometry: Geometry, bounds: Bounds
) -> int:
    """The largest weighted sum of extents of a group, `OVER` if an extent breaks an attribute's own bound.

    Args:
        codes: int32[n, lanes].
        group: int32[n], group of each row, 0 to ``groups`` - 1.
        groups: how many there are.
        geometry: the attributes.
        bounds: an attribute's own bound counts; the total is the caller's to compare.

    Cost: O(n d).
    """
    d = len(geometry.facts)
    start = np.zeros(groups + 1, np.int64)
    for g in group:
        start[g + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    fill, order = start.copy(), np.empty(len(group), np.int64)
    for i in range(len(group)):
        order[fill[group[i]]] = i
        fill[group[i]] += 1
    last_class = np.full(bounds.base[d], -1, np.int64)
    most = np.int64(0)
    for g in range(groups):
        total = np.int64(0)
        for a in range(d):
            low, high, members = np.int64(OVER), np.int64(-1), np.int64(0)
            for index in range(start[g], start[g + 1]):
                code = np.int64(codes[order[index], a])
                low, high = min(low, code), max(high, code)
                if last_class[bounds.base[a] + code] != g:
                    last_class[bounds.base[a] + code] = g
                    members += 1
            if high >= 0:
                total += measure_attribute(geometry.facts, geometry.table, bounds, a, low, high, members)
        most = max(most, min(total, OVER))
    return most
