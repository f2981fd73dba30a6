"""Radix sort of rows by 64-bit keys.

The keys of a range are collected, then dealt by eleven of their bits at a time, the lowest first.

A stable sort (Knuth 5.2.5, least significant digit first) that reads and writes the rows a few times, whatever their
order; bits that all keys of a range have alike take no pass.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.vectors import read_item, write

BITS = 11
"""Of a digit: so many counters lie in the nearest cache of a processor."""


@njit(nogil=True, cache=True)
def count_range(keys: npt.NDArray[np.int64], low: int, high: int) -> int:
    """How many keys lie from ``low`` to ``high``. Cost: O(n)."""
    n = np.int64(0)
    for i in range(len(keys)):
        n += np.int64(read_item(keys, i) >= low) & np.int64(read_item(keys, i) <= high)
    return n


@njit(nogil=True, cache=True)
def sort_range(
    keys: npt.NDArray[np.int64],
    low: int,
    high: int,
    line: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int32],
) -> None:
    """Collect the rows with keys from ``low`` to ``high`` and sort them, stably.

    Args:
        keys: int64[n], of every row, not negative.
        low, high: the range, both ends included.
        line: int64[m], written: the keys of the range, ascending.
        rows: int32[m], written: the rows of these keys.

    Cost: O(n + m passes); memory 12 bytes a row of the range.
    """
    m = len(line)
    position = np.int64(0)
    same, every = np.int64(0), np.int64(-1)
    for i in range(len(keys)):
        key = read_item(keys, i)
        if key >= low and key <= high:
            write(line, position, key)
            write(rows, position, np.int32(i))
            same |= key
            every &= key
            position += 1
    differ = same & ~every
    source, source_rows = line, rows
    target, target_rows = np.empty(m, np.int64), np.empty(m, np.int32)
    place = np.empty(1 << BITS, np.int64)
    mask, shift, passes = np.int64((1 << BITS) - 1), np.int64(0), 0
    while shift < 63 and differ >> shift != 0:
        if (differ >> shift) & 1 == 0:
            shift += 1
            continue
        place[:] = 0
        for i in range(m):
            digit = (read_item(source, i) >> shift) & mask
            write(place, digit, read_item(place, digit) + 1)
        total = np.int64(0)
        for digit in range(len(place)):
            count = place[digit]
            place[digit] = total
            total += count
        for i in range(m):
            key = read_item(source, i)
            digit = (key >> shift) & mask
            to = read_item(place, digit)
            write(place, digit, to + 1)
            write(target, to, key)
            write(target_rows, to, read_item(source_rows, i))
        source, target = target, source
        source_rows, target_rows = target_rows, source_rows
        shift += BITS
        passes += 1
    if passes % 2 == 1:
        for i in range(m):  # an assignment of slices would compile the text of its error
            line[i] = source[i]
            rows[i] = source_rows[i]


@njit(nogil=True, cache=True)
def order_stably(values: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Places of values, int32[n] and not negative, in ascending order; the sort is stable.

    Cost: O(n) a byte.
    """
    n = len(values)
    order, next_order = np.empty(n, np.int32), np.empty(n, np.int32)
    same, every = np.int32(0), np.int32(-1)
    for i in range(n):
        order[i] = i
        same |= values[i]
        every &= values[i]
    differ = np.int64(same & ~every)
    place = np.empty(256, np.int64)
    for shift in range(0, 32, 8):
        if (differ >> shift) & 255 == 0:
            continue
        place[:] = 0
        for i in range(n):
            place[(np.int64(read_item(values, i)) >> shift) & 255] += 1
        total = np.int64(0)
        for digit in range(256):
            count = place[digit]
            place[digit] = total
            total += count
        for i in range(n):
            row = read_item(order, i)
            digit = (np.int64(read_item(values, np.int64(row))) >> shift) & 255
            to = read_item(place, digit)
            write(place, digit, to + 1)
            write(next_order, to, row)
        order, next_order = next_order, order
    return order
