"""Groups as lists of rows, from and to which single rows move, and facts for their moves.

Two groups are open at a time, as the sides of `sides`: the worst group, and another that it takes rows from or gives
rows to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.bounds import Bounds, measure_attribute
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import KIND, SET, Geometry
from sqlanon.methods.onedim.kernels.group_boxes import HIGH, LOW, MEMBERS

WORST, OTHER = range(2)


class Members(NamedTuple):
    """The groups. Rows of a group are a list in both directions, -1 at the ends.

    Attributes:
        head: int32[groups], a row of each.
        after: int32[n], the next row.
        before: int32[n], the row before.
        size: int64[groups], rows.
        most: int64[groups], rows with the most frequent value.
        low: int32[groups, d], no larger than the smallest codes.
        high: int32[groups, d], no smaller than the largest.
        held: int64[2, values], rows by value of the worst group, and of another while it is looked at.
        count: int32[2, codes], rows by code of the same, see `sides`.
        box: int64[2, d, 3], boxes of the same.
        looks: int64[1], rows and groups looked at.
    """

    head: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    held: npt.NDArray[np.int64]
    count: npt.NDArray[np.int32]
    box: npt.NDArray[np.int64]
    looks: npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def move(codes: npt.NDArray[np.int32], row: int, source: int, target: int, state: Members) -> None:
    """Bring a row from a list into another; ``most`` is the caller's to set."""
    head, after, before = state.head, state.after, state.before
    if before[row] >= 0:
        after[before[row]] = after[row]
    else:
        head[source] = after[row]
    if after[row] >= 0:
        before[after[row]] = before[row]
    after[row], before[row] = head[target], -1
    if head[target] >= 0:
        before[head[target]] = row
    head[target] = row
    state.size[source] -= 1
    state.size[target] += 1
    for a in range(state.low.shape[1]):
        code = codes[row, a]
        state.low[target, a] = min(state.low[target, a], code)
        state.high[target, a] = max(state.high[target, a], code)


@njit(nogil=True, cache=True)
def rows_of(g: int, state: Members) -> npt.NDArray[np.int64]:
    """A group's rows; whoever asks looks at them all."""
    rows = np.empty(state.size[g], np.int64)
    row = state.head[g]
    for index in range(len(rows)):
        rows[index] = row
        row = state.after[row]
    state.looks[0] += len(rows)
    return rows


@njit(nogil=True, cache=True)
def tally(value: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], side: int, state: Members) -> tuple[int, int]:
    """Count the rows by value, in counters that are zero.

    Returns the rows of the most frequent value, and the number of values with as many rows.
    """
    counts = state.held
    most, tops = np.int64(0), np.int64(0)
    for row in rows:
        v = value[row]
        counts[side, v] += 1
        if counts[side, v] > most:
            most, tops = counts[side, v], np.int64(0)
        tops += counts[side, v] == most
    return most, tops


@njit(nogil=True, cache=True)
def forget(value: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], side: int, state: Members) -> None:
    """Bring the counters that these rows were counted in back to zero."""
    for row in rows:
        state.held[side, value[row]] = 0


@njit(nogil=True, cache=True)
def reaches_nearest_corner(g: int, side: int, state: Members, geometry: Geometry, bounds: Bounds) -> bool:
    """Whether the bound lets a side reach as far as the nearest corner of a group's box.

    False means that it is impossible; True decides nothing.
    """
    total = np.int64(0)
    for a in range(len(geometry.facts)):
        low, high = state.box[side, a, LOW], state.box[side, a, HIGH]
        if geometry.facts[a, KIND] != SET:
            high = max(high, np.int64(state.low[g, a]))
            low = min(low, np.int64(state.high[g, a]))
        total += measure_attribute(geometry.facts, geometry.table, bounds, a, low, high, state.box[side, a, MEMBERS])
    return total <= bounds.total


@njit(nogil=True, cache=True)
def reaches(codes: npt.NDArray[np.int32], row: int, g: int, state: Members, geometry: Geometry, bounds: Bounds) -> bool:
    """Whether the bound lets a row share a group with the nearest corner of a group's box.

    False means that it is impossible; True decides nothing.
    """
    total = np.int64(0)
    for a in range(len(geometry.facts)):
        if geometry.facts[a, KIND] != SET:
            code = np.int64(codes[row, a])
            low, high = min(code, np.int64(state.high[g, a])), max(code, np.int64(state.low[g, a]))
            total += measure_attribute(geometry.facts, geometry.table, bounds, a, low, high, np.int64(1))
    return total <= bounds.total
