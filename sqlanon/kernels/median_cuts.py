"""The paper's cut of Mondrian: the widest attribute first, at the median (LeFevre et al. 2006, section 4, Figure 7)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import KIND, LEVELS, NULLS, SET, SIZE, START, WEIGHT, Geometry, measure_extent
from sqlanon.kernels.requirements import Counters, Demands, satisfied
from sqlanon.kernels.rows import TreeRows

_SMALL = 40


@njit(nogil=True, cache=True)
def _sort_positions(codes: npt.NDArray[np.int32], start: int, stop: int, j: int, order: npt.NDArray[np.int64]) -> None:
    """Row positions ``start`` to ``stop`` by code of ``j``, stably, into the front of ``order``."""
    n = stop - start
    for index in range(n):
        order[index] = (np.int64(codes[start + index, j]) << 32) | index
    if n > _SMALL:
        order[:n].sort()
    else:
        for i in range(1, n):
            key = order[i]
            index = i
            while index > 0 and order[index - 1] > key:
                order[index] = order[index - 1]
                index -= 1
            order[index] = key
    for index in range(n):
        order[index] = start + (order[index] & 0xFFFFFFFF)


@njit(nogil=True, cache=True)
def _widths(rows: TreeRows, start: int, stop: int, geometry: Geometry) -> npt.NDArray[np.int64]:
    """Weighted extents of the partition, int64[d]; -1 where all codes are equal."""
    facts, wide = geometry.facts, np.empty(len(geometry.facts), np.int64)
    for j in range(len(facts)):
        low = high = np.int64(rows.codes[start, j])
        for i in range(start + 1, stop):
            low, high = min(low, np.int64(rows.codes[i, j])), max(high, np.int64(rows.codes[i, j]))
        members = np.int64(0)
        if facts[j, KIND] == SET:
            present = np.zeros(high - low + 1, np.bool_)
            for i in range(start, stop):
                present[rows.codes[i, j] - low] = True
            members = np.int64(present.sum())
        wide[j] = facts[j, WEIGHT] * measure_extent(
            facts[j, KIND],
            facts[j, SIZE],
            facts[j, NULLS],
            facts[j, LEVELS],
            facts[j, START],
            geometry.table,
            low,
            high,
            members,
        )
        if low == high:
            wide[j] = -1
    return wide


@njit(nogil=True, cache=True)
def cut_median(
    rows: TreeRows,
    start: int,
    stop: int,
    geometry: Geometry,
    demands: Demands,
    relaxed: bool,
    order: npt.NDArray[np.int64],
    counters: Counters,
) -> tuple[int, int, int]:
    """The cut: widest attribute first, at the median; in strict partitions ``<=`` and then ``<`` the median.

    Args:
        rows, start, stop: the partition.
        geometry, demands, relaxed, counters: see `grow`.
        order: int64[>= stop - start], scratch.

    Returns:
        the attribute, -1 if no cut is allowed; the largest code of the left half; and up to which position rows of that
        code belong to it.
    """
    n, codes = stop - start, rows.codes
    wide = _widths(rows, start, stop, geometry)
    by_width = np.argsort(-np.maximum(wide, 0), kind="mergesort")
    half, last = n - n // 2, np.int64(stop)
    for index in range(len(wide)):
        j = by_width[index]
        if relaxed:
            if n - half < demands.k:
                break
            _sort_positions(codes, start, stop, j, order)
            if len(demands.add) == 0 or (
                satisfied(demands, rows.number, order[:half], counters)
                and satisfied(demands, rows.number, order[half:n], counters)
            ):
                return j, np.int64(codes[order[half - 1], j]), order[half - 1]
            continue
        if wide[j] < 0:
            continue
        median = np.int64(np.partition(codes[start:stop, j], half - 1)[half - 1])
        for attempt in range(2):
            cut = median - attempt
            left, right = 0, n
            for i in range(start, stop):
                if codes[i, j] <= cut:
                    order[left] = i
                    left += 1
                else:
                    right -= 1
                    order[right] = i
            if satisfied(demands, rows.number, order[:left], counters) and satisfied(
                demands, rows.number, order[left:n], counters
            ):
                return j, cut, last
    return -1, np.int64(0), last
