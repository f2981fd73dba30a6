"""Mondrian on arrays: the tree of cuts of LeFevre, DeWitt and Ramakrishnan (2006), section 4, Figure 7.

Two ways to choose a cut: ``median`` is the paper's; ``loss`` is ours: every candidate value of every attribute is
scored by the rows times extents of the two halves. Rows are kept in one array that is partitioned in place, stably, so
that a leaf is a run of it, left before right.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.counted_cuts import cut_counted, find_range, make_slots
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH
from sqlanon.kernels.median_cuts import cut_median
from sqlanon.kernels.requirements import Demands, make_counters
from sqlanon.kernels.rows import TreeRows
from sqlanon.kernels.sorted_cuts import cut_sorted
from sqlanon.kernels.sorted_lists import make_lists
from sqlanon.kernels.vectors import load_lanes, store_vector

_SORTED, _VALUES = 64, 2
"""Largest number of rows, and largest part of the values in their range, of partitions that are cut by sorted lists."""


@njit(nogil=True, cache=True)
def grow(
    rows: TreeRows,
    spare: TreeRows,
    first: npt.NDArray[np.bool_],
    bounds: npt.NDArray[np.int64],
    geometry: Geometry,
    demands: Demands,
    domains: npt.NDArray[np.int64],
    relaxed: bool,
    target: int,
) -> None:
    """Cut partitions by the least loss until no allowable cut is left, or only until their pieces are small.

    Args:
        rows: n rows, permuted in place; relaxed cuts want them in tie-break order, and no counts.
        spare: room for as many.
        first: bool[n], set True where a leaf (or a piece) begins.
        bounds: int64[p + 1], where partitions begin, and n.
        geometry: the attributes.
        demands: the requirements; requirements other than k want rows without counts.
        domains: int64[d], codes of each attribute (with NULL).
        relaxed: rows with equal values may be divided.
        target: pieces of at most this many source rows are not cut further; 0 cuts down to the leaves.

    Cost: O(n d^2 log(n / k)) for balanced cuts; memory a frequency set, or lists of a small partition, or with relaxed
    cuts of the largest partition.
    """
    d, largest = len(geometry.facts), np.int64(0)
    for p in range(len(bounds) - 1):
        largest = max(largest, bounds[p + 1] - bounds[p])
    counters = make_counters(demands, largest)
    most = min(largest, max(domains.sum(), _SORTED))
    lists = make_lists(rows, largest if relaxed else most, geometry)
    if relaxed:
        for p in range(len(bounds) - 1):
            cut_sorted(rows, bounds[p], bounds[p + 1], first, geometry, demands, relaxed, target, lists, counters)
        return
    slots = make_slots(rows, geometry, domains, len(demands.add) > 0)
    for p in range(len(bounds) - 1):
        stack = [(bounds[p], bounds[p + 1])]
        while len(stack) > 0:
            start, stop = stack.pop()
            j, cut, left_rows = -1, np.int64(0), np.int64(0)
            enough, size = len(rows.count) > 0 or stop - start >= 2 * demands.k, stop - start
            if len(rows.count) > 0 and size <= target:
                size = rows.count[start:stop].sum()
            if stop - start >= 2 and size > target and enough:
                values = find_range(rows, start, stop, d, slots)
                if stop - start <= max(_SORTED, values):
                    cut_sorted(rows, start, stop, first, geometry, demands, relaxed, target, lists, counters)
                    continue
                _, _, j, cut = cut_counted(rows, start, stop, np.int64(0), d, geometry, demands, slots, counters)
                if j >= 0:
                    left_rows = _divide(rows, start, stop, j, cut, stop, spare)
            if left_rows == 0:
                first[start] = True
            else:
                stack.append((start + left_rows, stop))
                stack.append((start, start + left_rows))


@njit(nogil=True, cache=True)
def grow_by_median(
    rows: TreeRows,
    spare: TreeRows,
    first: npt.NDArray[np.bool_],
    bounds: npt.NDArray[np.int64],
    geometry: Geometry,
    demands: Demands,
    relaxed: bool,
    target: int,
) -> None:
    """As `grow`, with the paper's cut. Cost: O(n d log(n / k)) for balanced cuts.

    Apart, so that the two ways to choose a cut are compiled only when they are used.
    """
    largest = np.int64(0)
    for p in range(len(bounds) - 1):
        largest = max(largest, bounds[p + 1] - bounds[p])
    counters = make_counters(demands, largest)
    order = np.empty(largest, np.int64)
    for p in range(len(bounds) - 1):
        stack = [(bounds[p], bounds[p + 1])]
        while len(stack) > 0:
            start, stop = stack.pop()
            left_rows = np.int64(0)
            enough = len(rows.count) > 0 or stop - start >= 2 * demands.k
            if stop - start >= 2 and stop - start > target and enough:
                j, cut, last = cut_median(rows, start, stop, geometry, demands, relaxed, order, counters)
                if j >= 0:
                    left_rows = _divide(rows, start, stop, j, cut, last, spare)
            if left_rows == 0:
                first[start] = True
            else:
                stack.append((start + left_rows, stop))
                stack.append((start, start + left_rows))


@njit(nogil=True, cache=True)
def _divide(rows: TreeRows, start: int, stop: int, j: int, cut: int, last: int, spare: TreeRows) -> int:
    """Bring the left half to the front, keeping the order within both; returns the number of rows in it.

    The codes of the left half are at most ``cut``, and rows of this very code lie up to position ``last``.
    """
    codes, number, count = rows
    spare_codes, spare_number, spare_count = spare
    lanes, has_counts = codes.shape[1], len(count) > 0
    left, right = start, np.int64(0)
    for i in range(start, stop):
        if codes[i, j] < cut or (codes[i, j] == cut and i <= last):
            for b in range(0, lanes, WIDTH):
                store_vector(codes, left, b, load_lanes(codes, i, b))
            number[left] = number[i]
            if has_counts:
                count[left] = count[i]
            left += 1
        else:
            for b in range(0, lanes, WIDTH):
                store_vector(spare_codes, right, b, load_lanes(codes, i, b))
            spare_number[right] = number[i]
            if has_counts:
                spare_count[right] = count[i]
            right += 1
    for i in range(right):
        for b in range(0, lanes, WIDTH):
            store_vector(codes, left + i, b, load_lanes(spare_codes, i, b))
        number[left + i] = spare_number[i]
        if has_counts:
            count[left + i] = spare_count[i]
    return left - start


def score(
    rows: TreeRows, geometry: Geometry, demands: Demands, domains: npt.NDArray[np.int64], first: int, past: int
) -> tuple[int, int, int, int]:
    """The strict cut of all rows with the least loss among attributes ``first`` to ``past``.

    Returns loss, tilt, attribute (-1: none) and bound. The least of such tuples is the cut of all attributes, so that
    threads can share a large table's first cut.
    """
    n, work = len(rows.number), make_slots(rows, geometry, domains, len(demands.add) > 0)
    find_range(rows, 0, n, len(domains), work)
    # Not compiled: this is `grow`'s own compiled code, called from outside.
    cut: tuple[int, int, int, int] = cut_counted(
        rows, 0, n, first, past, geometry, demands, work, make_counters(demands, n)
    )
    return cut


def divide(rows: TreeRows, spare: TreeRows, j: int, cut: int) -> int:
    """Bring the rows with a code of ``j`` of at most ``cut`` to the front; returns their number."""
    return int(_divide(rows, 0, len(rows.number), j, cut, len(rows.number), spare))
