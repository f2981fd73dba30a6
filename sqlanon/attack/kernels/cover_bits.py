"""Columns of a box that cover a row, as the bits of a number: the comparison of every attack."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Boxes(NamedTuple):
    """The boxes of a release, as rows are compared with them.

    Attributes:
        low: int32[d, b], the least code of each cell.
        high: int32[d, b], the greatest; less than ``low``: the cell covers nothing of them.
        null: bool[d, b], whether a cell covers code 0 beside them.
        cells: int32[d, b], the number of each cell that is a set.
        start: int64[d], where a column's part of ``sets`` begins.
        kinds: int64[d], how many different cells a column of sets has; 0: the cells are all codes from ``low`` to
            ``high``.
        sets: whether the cells have a code, code by code.
        place: int64[d], the bit of each column; columns may share a bit, which then says that all of them cover.
        members: int64[b], the rows published in each box.
    """

    low: Ints
    high: Ints
    null: Bools
    cells: Ints
    start: Longs
    kinds: Longs
    sets: Bools
    place: Longs
    members: Longs


class FittingState(NamedTuple):
    """State kept from one row to the next, as rows that follow each other have most of their codes in common.

    Attributes:
        last: int32[d], the codes of the last row.
        parts: int32[d, b], of each column all bits where the cell covers the code, else all but the column's.
        found: int32[b], the bits of the columns that cover the last row.
    """

    last: Ints
    parts: Ints
    found: Ints


@njit(nogil=True, cache=True)
def mark_all_unseen(boxes: Boxes) -> FittingState:
    """No row was seen yet."""
    d, b = boxes.low.shape
    return FittingState(np.full(d, -1, np.int32), np.empty((d, b), np.int32), np.empty(b, np.int32))


@njit(nogil=True, cache=True)
def cover(boxes: Boxes, row: Ints, seen: FittingState) -> int:
    """Write into ``seen.found`` the covering columns of every box for a row, int32[d]; return the number with all bits.

    Cost: O(b d).
    """
    every, masks = 0, seen.found
    for a in range(len(row)):
        every |= 1 << boxes.place[a]
    masks[:] = every
    for a in range(len(row)):
        part = seen.parts[a]
        if row[a] != seen.last[a]:
            code, off = row[a], np.int32(~(1 << boxes.place[a]))
            seen.last[a] = code
            if boxes.kinds[a]:
                has, cells = find_cells_with_code(boxes, a, code), boxes.cells[a]
                for j in range(len(masks)):
                    part[j] = np.int32(-1) if has[cells[j]] else off
            else:
                low, high = boxes.low[a], boxes.high[a]
                for j in range(len(masks)):
                    # No branch: the compiler compares several boxes at once.
                    part[j] = np.int32(-1) if (code >= low[j]) & (code <= high[j]) else off
                if code == 0:
                    beside = boxes.null[a]
                    for j in range(len(masks)):
                        if beside[j]:
                            part[j] = np.int32(-1)
        for j in range(len(masks)):
            masks[j] &= part[j]
    return every


@njit(nogil=True, cache=True)
def find_cells_with_code(boxes: Boxes, a: int, code: int) -> Bools:
    """Which cells of a column of sets have a code."""
    first = boxes.start[a] + code * boxes.kinds[a]
    return boxes.sets[first : first + boxes.kinds[a]]


@njit(nogil=True, cache=True)
def covers_code(boxes: Boxes, a: int, j: int, code: int) -> bool:
    """Whether a box's cell covers a code."""
    if boxes.kinds[a]:
        return bool(find_cells_with_code(boxes, a, code)[boxes.cells[a, j]])
    return bool(boxes.low[a, j] <= code <= boxes.high[a, j]) or bool(code == 0 and boxes.null[a, j])


@njit(nogil=True, cache=True)
def add_supersets(counts: Longs) -> None:
    """Add to every number's count those of all supersets, in place; int64[2^w]. Cost: O(w 2^w)."""
    step = 1
    if len(counts) >= 4:
        # The two lowest bits at once: their steps are too short for the compiler to add several numbers at a time.
        for n in range(0, len(counts), 4):
            low_only, high_only, both = counts[n + 1], counts[n + 2], counts[n + 3]
            counts[n] += low_only + high_only + both
            counts[n + 1], counts[n + 2] = low_only + both, high_only + both
        step = 4
    while step < len(counts):
        for first in range(0, len(counts), 2 * step):
            below, above = counts[first : first + step], counts[first + step : first + 2 * step]
            for n in range(step):
                below[n] += above[n]
        step *= 2


@njit(nogil=True, cache=True)
def find_owners(
    boxes: Boxes, rows: Ints, begins: Longs, order: Longs, first: Longs, past: Longs
) -> tuple[Longs, Longs]:
    """The boxes that may be those of groups of rows: they cover all of the group.

    Args:
        boxes: b boxes of d columns.
        rows: int32[r, d], tuples of codes, group by group.
        begins: int64[g + 1], where each group begins in ``rows``.
        order: int64[b], the boxes in an order.
        first: int64[g], where the boxes that a group is compared with begin in ``order``; past: where they end.
        past: see there.

    Returns:
        Boxes group by group, in the order's sequence, and where each group's begin, int64[g + 1].

    Cost: a step for each group and box, O(d) for each row that the box covers.
    """
    starts, owners = np.zeros(len(first) + 1, np.int64), np.empty(2 * len(first) + 1, np.int64)
    n = 0
    for g in range(len(first)):
        for place in range(first[g], past[g]):
            fits = True
            for i in range(begins[g], begins[g + 1]):
                for a in range(rows.shape[1]):
                    if not covers_code(boxes, a, order[place], rows[i, a]):
                        fits = False
                        break
                if not fits:
                    break
            if fits:
                if n == len(owners):
                    more = np.empty(2 * n, np.int64)
                    more[:n] = owners
                    owners = more
                owners[n] = order[place]
                n += 1
        starts[g + 1] = n
    return owners[:n], starts
