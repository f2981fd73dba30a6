"""Costs of the rows of a window in each of their boxes.

A cost is the growth of the box, an integer (Doka et al. 2015, section 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import (
    KIND,
    LEVELS,
    NULLS,
    ORDERED,
    SCALE,
    SET,
    SIZE,
    START,
    WEIGHT,
    Geometry,
    measure_extent,
)

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]

TAKEN = np.int32(2**31 - 1)
"""The mark of a box that a row has in another matching; costs are at most 2^30."""


@njit(nogil=True, cache=True)
def _number_values(values: Longs, bound: int) -> tuple[Ints, Longs]:
    """Small numbers for values from 0 to ``bound`` - 1, in their order.

    It returns the number of each value, and a place of each number.
    """
    m = len(values)
    if bound > 16 * m:  # many that do not occur: they are sorted
        line = np.unique(values)
        number = np.searchsorted(line, values).astype(np.int32)
        first = np.empty(len(line), np.int64)
    else:
        rank, number, count = np.zeros(bound, np.int32), np.empty(m, np.int32), 0
        for value in values:
            rank[value] = 1
        for value in range(bound):
            occurs = rank[value]
            rank[value] = count
            count += occurs
        for i in range(m):
            number[i] = rank[values[i]]
        first = np.empty(count, np.int64)
    for i in range(m):
        first[number[i]] = i
    return number, first


class _Window(NamedTuple):
    """The codes of a window of m rows, by small numbers.

    Attributes:
        base: int64[d + 1], where the codes of an attribute begin in ``known``.
        known: int32[*], the codes that occur, ascending, all attributes one after the other.
        place: int32[*], their positions, of ordered attributes.
        group: int64[d], attributes with codes in few combinations are one group: a row's cost is the sum of fewer
            numbers.
        size: int64[groups], the number of combinations.
        of_row: uint32[groups, m], the combination of every row.
        of_group: uint32[d, m], the place in ``known`` of a combination's code of an attribute.
    """

    base: Longs
    known: Ints
    place: Ints
    group: Longs
    size: Longs
    of_row: npt.NDArray[np.uint32]
    of_group: npt.NDArray[np.uint32]


@njit(nogil=True, cache=True)
def _window(codes: Ints, geometry: Geometry, begin: int, stop: int) -> _Window:
    """Cost: O(m d) where domains are small, and O(m d log m) else."""
    d, m = len(codes), stop - begin
    facts, table = geometry.facts, geometry.table
    number, known_rows, place, base = (
        np.empty((d, m), np.int32),
        np.empty(d * m, np.int32),
        np.zeros(d * m, np.int32),
        np.zeros(d + 1, np.int64),
    )
    for a in range(d):
        numbers, first = _number_values(codes[a, begin:stop].astype(np.int64), facts[a, SIZE] + facts[a, NULLS])
        number[a] = numbers
        base[a + 1] = base[a] + len(first)
        for index in range(len(first)):
            code = codes[a, begin + first[index]]
            known_rows[base[a] + index] = code
            if facts[a, KIND] == ORDERED:
                place[base[a] + index] = table[facts[a, START] + code]
    group, size, of_row, of_group = (
        np.empty(d, np.int64),
        np.zeros(d, np.int64),
        np.empty((d, m), np.uint32),
        np.zeros((d, m), np.uint32),
    )
    firsts, joined_columns = np.empty((d, m), np.int64), 0
    for a in np.argsort(base[1:] - base[:-1]):
        count = base[a + 1] - base[a]
        if joined_columns > 0:
            numbers, first = _number_values(
                of_row[joined_columns - 1].astype(np.int64) * count + number[a], size[joined_columns - 1] * count
            )
            if 4 * len(first) <= m:
                of_row[joined_columns - 1], firsts[joined_columns - 1, : len(first)] = numbers, first
                size[joined_columns - 1], group[a] = len(first), joined_columns - 1
                continue
        for i in range(m):
            of_row[joined_columns, i] = number[a, i]
            firsts[joined_columns, number[a, i]] = i
        size[joined_columns], group[a] = count, joined_columns
        joined_columns += 1
    for a in range(d):
        g = group[a]
        for index in range(size[g]):
            of_group[a, index] = base[a] + number[a, firsts[g, index]]
    return _Window(
        base, known_rows[: base[d]], place[: base[d]], group, size[:joined_columns], of_row[:joined_columns], of_group
    )


@njit(nogil=True, cache=True)
def _growths(
    codes: Ints, geometry: Geometry, rows: Longs, window: _Window, seen: Ints, stamp: int, growth: Ints
) -> None:
    """Growth of the box of some rows by each code of a window, into ``growth``.

    ``seen`` is scratch space for the codes of sets.
    """
    facts, table, base, known_rows, place = geometry.facts, geometry.table, window.base, window.known, window.place
    for a in range(len(facts)):
        kind, low, high, members = facts[a, KIND], np.int64(2**31), np.int64(-1), np.int64(0)
        for i in rows:
            code = np.int64(codes[a, i])
            low, high = min(low, code), max(high, code)
            if kind == SET and seen[a, code] != stamp:
                seen[a, code] = stamp
                members += 1
        size, null, levels, start = facts[a, SIZE], facts[a, NULLS], facts[a, LEVELS], facts[a, START]
        extent = measure_extent(kind, size, null, levels, start, table, low, high, members)
        if kind == ORDERED and (null == 0 or low > 0):  # the same as below, by vector instructions
            weight, low_side, right = (
                np.int32(facts[a, WEIGHT]),
                np.int32(table[start + low]),
                np.int32(table[start + high]),
            )
            for index in range(base[a], base[a + 1]):
                growth[index] = weight * (
                    max(low_side - place[index], np.int32(0)) + max(place[index] - right, np.int32(0))
                )
            if null == 1 and known_rows[base[a]] == 0:
                growth[base[a]] = facts[a, WEIGHT] * (SCALE - extent)
            continue
        for index in range(base[a], base[a + 1]):
            code = np.int64(known_rows[index])
            if low <= code <= high and (kind != SET or seen[a, code] == stamp):
                growth[index] = 0
            else:
                more = members + (1 if kind == SET and seen[a, code] != stamp else 0)
                wide = measure_extent(kind, size, null, levels, start, table, min(low, code), max(high, code), more)
                growth[index] = facts[a, WEIGHT] * (wide - extent)


@njit(nogil=True, cache=True)
def price_window(
    codes: Ints,
    geometry: Geometry,
    row_in: Longs,
    t: int,
    matchings: int,
    begin: int,
    stop: int,
    boxes: Longs,
    cost: Ints,
) -> None:
    """The cost of every row of a window in every box, without the row that matching ``t`` put there.

    Args:
        codes: int32[d, n], the rows.
        geometry: the attributes.
        row_in: int64[k, n], the row of every box in each matching.
        t: the matching that is left out.
        matchings: the number of matchings so far; later matchings are not looked at.
        begin, stop: the window.
        boxes: int64[m], the boxes.
        cost: int32[m, m], written: by box, then by row of the window.

    Cost: O(m d (m + k)).
    """
    m, d = stop - begin, len(codes)
    window = _window(codes, geometry, begin, stop)
    size, of_row = window.size, window.of_row
    growth, sums = np.empty(len(window.known), np.int32), np.empty((len(size), m), np.int32)
    most = np.int64(1)
    for a in range(d):
        if geometry.facts[a, KIND] == SET:
            most = max(most, geometry.facts[a, SIZE] + geometry.facts[a, NULLS])
    seen = np.full((d, most), -1, np.int32)
    rows = np.empty(matchings, np.int64)
    for b in range(m):
        count = 0
        for other in range(matchings):
            if other != t:
                rows[count] = row_in[other, boxes[b]]
                count += 1
        _growths(codes, geometry, rows[:count], window, seen, b, growth)
        for g in range(len(size)):
            sums[g, : size[g]] = 0
        for a in range(d):
            part, of = sums[window.group[a]], window.of_group[a]
            for index in range(size[window.group[a]]):
                part[index] += growth[of[index]]
        line, g = cost[b], len(size) % 2
        if g == 1:
            low_row, first = of_row[0], sums[0]
            for i in range(m):
                line[i] = first[low_row[i]]
        else:
            line[:] = 0
        for h in range(g, len(size), 2):
            low_row, two, first, second = of_row[h], of_row[h + 1], sums[h], sums[h + 1]
            for i in range(m):
                line[i] += first[low_row[i]] + second[two[i]]
        for index in range(count):
            if begin <= rows[index] < stop:
                line[rows[index] - begin] = TAKEN
