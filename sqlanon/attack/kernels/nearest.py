"""Rows compared with released rows by distance: links, guesses and matches.

The distance is that of Gower 1971: over columns the sum of differences, each from 0 to 1. A cell that covers a value
has distance 0; outside an ordered cell it is the codes to the nearer end by the codes of the column, else 1. Distances
are whole numbers of 2^-20, so that ties are exact and sums have no order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ONE = 1 << 20
"""The greatest distance of a column."""


class Space(NamedTuple):
    """The different released rows, b of them, in d columns.

    Attributes:
        low: int32[d, b], the least code of each cell; high: the greatest. Less than ``low``: it covers none of them.
        null: bool[d, b], the cell covers code 0 in addition.
        cells: int32[d, b], the number of each cell that is a set.
        start: int64[d], where a column's part of ``sets`` begins.
        kinds: int64[d], how many different cells a column of sets has; 0: the cells are all codes from low to high.
        sets: bool, whether the cells have a code, code by code.
        ordered: bool[d], near codes are near values.
        codes: int64[d], how many codes a column has.
        nulls: bool[d], code 0 is NULL.
        members: int64[b], released rows that are equal to it.
    """

    low: Ints
    high: Ints
    null: Bools
    cells: Ints
    start: Longs
    kinds: Longs
    sets: Bools
    ordered: Bools
    codes: Longs
    nulls: Bools
    members: Longs


@njit(nogil=True, cache=True)
def covers(space: Space, a: int, j: int, code: int) -> bool:
    """Whether a released cell covers a code."""
    if space.kinds[a]:
        return bool(space.sets[space.start[a] + code * space.kinds[a] + space.cells[a, j]])
    return bool(space.low[a, j] <= code <= space.high[a, j]) or bool(code == 0 and space.null[a, j])


@njit(nogil=True, cache=True)
def find_distances(space: Space, columns: Longs, row: Ints, distance: Ints) -> int:
    """Write the distance of every released row from a row, int32[d], into ``distance``, int32[b]; return the least.

    Args:
        space: the released rows.
        columns: int64, those that are compared.
        row: codes of every column.
        distance: written.

    Cost: O(b) for each column.
    """
    distance[:] = 0
    for a in columns:
        code, whole = row[a], np.int32(ONE)
        if space.kinds[a]:
            first = space.start[a] + code * space.kinds[a]
            has, cells = space.sets[first : first + space.kinds[a]], space.cells[a]
            for j in range(len(distance)):
                distance[j] += np.int32(0) if has[cells[j]] else whole
            continue
        low, high, null = space.low[a], space.high[a], space.null[a]
        least = 1 if space.nulls[a] else 0
        width = np.int64(max(space.codes[a] - least - 1, 1))
        if not space.ordered[a] or (code == 0 and space.nulls[a]):
            for j in range(len(distance)):
                inside = low[j] <= code <= high[j] or (code == 0 and null[j])
                distance[j] += np.int32(0) if inside else whole
            continue
        for j in range(len(distance)):
            gap = np.int64(0)
            if high[j] < low[j] or high[j] < least:
                gap = width
            elif code < low[j]:
                gap = np.int64(low[j] - code)
            elif code > high[j]:
                gap = np.int64(code - high[j])
            distance[j] += np.int32(gap * ONE // width)
    return int(distance.min())


@njit(nogil=True, cache=True)
def link(space: Space, first: Longs, second: Longs, rows: Ints) -> Doubles:
    """The chance that two sets of columns of a row lead to the same released row.

    Each leads to one of the nearest released rows, each as likely.

    Args:
        space: the released rows.
        first: int64, the columns of the first set; ``second`` those of the second.
        second: see there.
        rows: int32[v, d].

    Returns:
        float64[v].

    Cost: O(b) for each row and column.
    """
    b = len(space.members)
    to_first, to_second, chances = np.empty(b, np.int32), np.empty(b, np.int32), np.empty(len(rows))
    for i in range(len(rows)):
        near, close = find_distances(space, first, rows[i], to_first), find_distances(space, second, rows[i], to_second)
        left, right, both = np.int64(0), np.int64(0), np.int64(0)
        for j in range(b):
            n = space.members[j]
            left += n if to_first[j] == near else 0
            right += n if to_second[j] == close else 0
            both += n if to_first[j] == near and to_second[j] == close else 0
        chances[i] = both / (left * right)
    return chances


@njit(nogil=True, cache=True)
def guess(space: Space, compared: Longs, secret: int, rows: Ints) -> Doubles:
    """The chance that the most frequent value of a column in the nearest released rows is that of a row.

    Of equally frequent values each is as likely.

    Args:
        space: the released rows, in which the column is published as it is.
        compared: int64, the columns that are compared.
        secret: the column that is guessed.
        rows: int32[v, d].

    Returns:
        float64[v].

    Cost: O(b) for each row and column.
    """
    b = len(space.members)
    far, chances = np.empty(b, np.int32), np.zeros(len(rows))
    counts = np.zeros(space.codes[secret], np.int64)
    for i in range(len(rows)):
        near = find_distances(space, compared, rows[i], far)
        top = np.int64(0)
        for j in range(b):
            if far[j] == near:
                value = space.low[secret, j]
                counts[value] += space.members[j]
                top = max(top, counts[value])
        ties = 0
        right = counts[rows[i, secret]] == top
        for j in range(b):
            if far[j] == near:
                value = space.low[secret, j]
                ties += 1 if counts[value] == top else 0
                counts[value] = 0
        chances[i] = 1.0 / ties if right and ties else 0.0
    return chances


@njit(nogil=True, cache=True)
def match(space: Space, rows: Ints) -> Bools:
    """Whether some released row covers all values of a row, bool[v]. Cost: O(b d) for each row at most."""
    d, b = space.low.shape
    matched = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        for j in range(b):
            inside = True
            for a in range(d):
                if not covers(space, a, j, rows[i, a]):
                    inside = False
                    break
            if inside:
                matched[i] = True
                break
    return matched
