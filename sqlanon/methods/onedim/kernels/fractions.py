"""l-diverse groups along an order for a fractional l = p / q.

It is the heuristic of `make_diverse_groups` with repeated values (ours).

A group of a fractional l may hold a value more than once: c times among at least c p / q rows. So the frontier holds a
value's next row again until the group has ``copies`` rows of it. A group takes the rows of the frontier that come first
until it and the rest are eligible (q rows >= p most frequent); where that fails, a group of ceil(c p / q) rows takes,
for the least c that will do, the rows that the rest could not keep, and fills up with those that come first. With q
rows of a value among p that is always possible while p^2 / q rows are left; at the end all that are left make one
group.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.heap import drop, push
from sqlanon.methods.onedim.kernels.frontier import find_frontier, put_back, take_row

MOST_COPIES = 8
"""Rows of one value that a group may hold, unless the rest would not be eligible."""

SIMPLE = 16
"""Denominators of simpler fractions, at most."""


def make_copies(p: int, q: int) -> int:
    """Number of rows of one value, at most `MOST_COPIES`, with which groups come nearest to l = p / q.

    Of several equally good numbers it is the least.
    """
    return min(range(1, min(q, MOST_COPIES) + 1), key=lambda c: (-(-c * p // q) / c, c))


def list_simpler(l: Fraction) -> list[Fraction]:  # noqa: E741 - the papers' symbol
    """Fractions with denominators of at most `SIMPLE` above a fraction with a larger one, the nearest first.

    Of a fraction with a denominator of at most `MOST_COPIES` there are none: groups hold so many rows of a value.

    Example:
        >>> list_simpler(Fraction(1_249_999, 1_000_000))[:3]
        [Fraction(5, 4), Fraction(19, 15), Fraction(14, 11)]
    """
    if l.denominator <= MOST_COPIES:
        return []
    return sorted({Fraction(-(-q * l.numerator // l.denominator), q) for q in range(1, SIMPLE + 1)})


@njit(nogil=True, cache=True)
def make_fractional_groups(
    value: npt.NDArray[np.int32], values: int, p: int, q: int, copies: int, group: npt.NDArray[np.int32]
) -> int:
    """Divide n rows, in order, into groups of rows >= p / q x rows of their most frequent value.

    Args:
        value: int32[n], sensitive codes, 0 to ``values`` - 1.
        values: codes there can be.
        p, q: l, above 1, in lowest terms.
        copies: rows of one value that a group takes as they come, at most, see `make_copies`.
        group: int32[n], written: the number of each row's group, in the order in which they are made.

    Returns:
        How many groups there are; 0 if the table is not eligible (a value is more than q / p of the rows).

    Cost: O(n log m) greedy steps for m values; O(m) for each c that the other step tries, which is O(m / l) a row;
    memory O(n + m).
    """
    n = len(value)
    following, head, count, holders, heap, size, most = find_frontier(value, values)
    if most * p > n * q:
        return 0
    counts = np.zeros(values, np.int64)
    members = np.empty(n, np.int64)
    remaining, groups = np.int64(n), np.int64(0)
    while remaining > 0:
        # Greedy step. ``head`` moves with the rows that are taken; the heap holds the heads that may be taken.
        rows, top = np.int64(0), np.int64(0)
        while size > 0:
            i = heap[0]
            size = drop(heap, size)
            v = value[i]
            members[rows] = i
            rows += 1
            head[v] = following[i]
            counts[v] += 1
            top = max(top, counts[v])
            most = take_row(count, holders, most, v)
            remaining -= 1
            if counts[v] < copies and head[v] >= 0:
                size = push(heap, size, head[v])
            if top * p <= rows * q:
                if most * p <= remaining * q:
                    break
                if (most - 1) * p > (remaining - 1) * q:  # no further row can lower the most frequent value far enough
                    break
        if top * p > rows * q or most * p > remaining * q:
            # Put the rows back.
            for index in range(rows - 1, -1, -1):
                v = value[members[index]]
                head[v] = members[index]
                counts[v] = 0
                most = put_back(count, holders, most, v)
            remaining += rows
            cap, rows = np.int64(0), remaining  # all that are left, if nothing else will do
            for c in range(1, q + 1):
                group_size = (c * p + q - 1) // q
                if group_size >= remaining:
                    break
                keep = (remaining - group_size) * q // p  # rows of a value that the rest may hold
                needed, offered = np.int64(0), np.int64(0)
                if most - keep > c:
                    continue
                for v in range(values):
                    needed += max(count[v] - keep, 0)
                    offered += min(count[v], c)
                if needed <= group_size <= offered:
                    cap, rows = np.int64(c), np.int64(group_size)
                    break
            keep = (remaining - rows) * q // p
            index, size = np.int64(0), np.int64(0)
            for v in range(values):
                must = count[v] - keep if cap > 0 else count[v]
                for _ in range(must):
                    members[index] = head[v]
                    index += 1
                    head[v] = following[head[v]]
                    counts[v] += 1
                    most = take_row(count, holders, most, v)
                if head[v] >= 0 and counts[v] < cap:
                    size = push(heap, size, head[v])
            while index < rows:
                i = heap[0]
                size = drop(heap, size)
                v = value[i]
                members[index] = i
                index += 1
                head[v] = following[i]
                counts[v] += 1
                most = take_row(count, holders, most, v)
                if counts[v] < cap and head[v] >= 0:
                    size = push(heap, size, head[v])
            remaining -= rows
            size = 0
            for v in range(values):
                counts[v] = 0
                if head[v] >= 0:
                    size = push(heap, size, head[v])
        else:
            # Values that the group holds as often as it may have their next rows outside the heap.
            for index in range(rows):
                v = value[members[index]]
                if counts[v] >= copies and head[v] >= 0:
                    size = push(heap, size, head[v])
                counts[v] = 0
        for index in range(rows):
            group[members[index]] = groups
        groups += 1
    return groups
