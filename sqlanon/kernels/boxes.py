"""Boxes on arrays: the ranges and sets that a growing set of rows covers, and their width.

A box is one row of three arrays: ``low`` and ``high`` int32[*, lanes] (places) and ``mask`` uint64[*, words] (sets).
The small functions here are written into their callers by numba, since a call that takes arrays costs more than the
work itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import (
    BIT,
    KIND,
    LEVELS,
    NULLS,
    ORDERED,
    SCALE,
    SET,
    SIZE,
    SPAN,
    START,
    TREE,
    WEIGHT,
    WORD,
    WORD_END,
    Geometry,
    count_bits,
    measure_extent,
)
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen
from sqlanon.kernels.rows import TreeRows
from sqlanon.kernels.set_masks import FIRST, SHIFT, VALUE, describe_sets


@njit(nogil=True, cache=True)
def weigh_lines(geometry: Geometry, lanes: int) -> npt.NDArray[np.int32]:
    """int32[lanes]: weights of the attributes that are a line, else 0."""
    weight = np.zeros(lanes, np.int32)
    for a in range(len(geometry.facts)):
        if geometry.facts[a, KIND] == ORDERED:
            weight[a] = geometry.facts[a, WEIGHT]
    return weight


@njit(nogil=True, cache=True)
def list_other_kinds(geometry: Geometry) -> bool:
    """Whether some attribute is a hierarchy or a large nominal domain, with extents that are looked up by codes."""
    for a in range(len(geometry.facts)):
        if geometry.facts[a, KIND] == TREE or geometry.facts[a, KIND] == SPAN:
            return True
    return False


@njit(nogil=True, cache=True, inline="always")
def measure_set(
    facts: npt.NDArray[np.int64], table: npt.NDArray[np.int64], mask: npt.NDArray[np.uint64], row: int
) -> int:
    """Sum over `SET` attributes of weight x extent of a box."""
    total = np.int64(0)
    for a in range(len(facts)):
        if facts[a, KIND] == SET:
            first, past = facts[a, WORD], facts[a, WORD_END]
            members = np.int64(0)
            bits = mask[row, first]
            if past - first > 1:
                for w in range(first, past):
                    members += count_bits(mask[row, w])
            else:
                bits = bits >> np.uint64(facts[a, BIT])
                codes = facts[a, SIZE] + facts[a, NULLS]
                if codes < 64:
                    bits &= (np.uint64(1) << np.uint64(codes)) - np.uint64(1)
                members = count_bits(bits)
            if members > 1:
                null = facts[a, NULLS] == 1 and bits & np.uint64(1) != np.uint64(0)
                total += facts[a, WEIGHT] * (SCALE if null else table[facts[a, START] + members])
    return total


@njit(nogil=True, cache=True, inline="always")
def measure_codes(
    facts: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    row: int,
    seen: npt.NDArray[np.int64],
) -> int:
    """Sum over `TREE` and `SPAN` attributes of weight x extent of a box.

    Args:
        facts, table: the geometry.
        low, high, row: the box.
        seen: int64[d, 3], ends and weighted extent of the last box asked; start with -1.
    """
    total = np.int64(0)
    for a in range(len(facts)):
        if facts[a, KIND] == TREE or facts[a, KIND] == SPAN:
            low_code, high_code = np.int64(low[row, a]), np.int64(high[row, a])
            if seen[a, 0] != low_code or seen[a, 1] != high_code:
                seen[a, 0], seen[a, 1] = low_code, high_code
                seen[a, 2] = facts[a, WEIGHT] * measure_extent(
                    facts[a, KIND],
                    facts[a, SIZE],
                    facts[a, NULLS],
                    facts[a, LEVELS],
                    facts[a, START],
                    table,
                    low_code,
                    high_code,
                    np.int64(0),  # a literal would be compiled apart
                )
            total += seen[a, 2]
    return total


@njit(nogil=True, cache=True)
def measure_widths(
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint64],
    geometry: Geometry,
    out: npt.NDArray[np.int64],
) -> None:
    """Weighted sum of extents of every box, 0 to `SCALE` x weights, into ``out`` int64[boxes]."""
    facts, table = geometry.facts, geometry.table
    lanes = low.shape[1]
    weight = weigh_lines(geometry, lanes)
    last_width = np.full((len(facts), 3), -1, np.int64)
    for row in range(len(out)):
        total = measure_set(facts, table, mask, row) + measure_codes(facts, table, low, high, row, last_width)
        for b in range(0, lanes, WIDTH):
            total += measure_width(low, high, row, weight, b)
        out[row] = total


@njit(nogil=True, cache=True)
def cover_codes(
    bare: TreeRows,
    group: npt.NDArray[np.int32],
    geometry: Geometry,
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.int64],
) -> None:
    """The codes that every group covers.

    Args:
        bare: n rows.
        group: int32[n], group of each row, 0 to g - 1.
        geometry: the attributes.
        low, high, mask: int32[d, g] twice and uint64[words, g], written.
        rows: int64[g], written: source rows of each group.

    Cost: O(n d), with few cache misses where neighbouring rows are of neighbouring groups.
    """
    d, sets, has_counts = len(low), describe_sets(geometry), len(bare.count) > 0
    low[:], high[:], mask[:], rows[:] = (1 << 31) - 1, -1, 0, 0
    for i in range(len(group)):
        g = group[i]
        rows[g] += bare.count[i] if has_counts else 1
        for a in range(d):
            code = np.int32(bare.codes[i, a])
            low[a, g], high[a, g] = min(low[a, g], code), max(high[a, g], code)
        for t in range(len(sets)):
            bit = sets[t, SHIFT] + bare.codes[i, sets[t, VALUE]]
            mask[sets[t, FIRST] + (bit >> 6), g] |= np.uint64(1) << np.uint64(bit & 63)


@njit(nogil=True, cache=True)
def cover(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    group: npt.NDArray[np.int32],
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.int64],
) -> None:
    """The box of every group.

    Args:
        places, sets: n rows, see `Rows`.
        group: int32[n], group of each row, 0 to g - 1.
        low, high, mask: int32[g, lanes] twice and uint64[g, words], written.
        rows: int64[g], written: rows of each group.
    """
    lanes, words = places.shape[1], sets.shape[1]
    rows[:] = 0
    for i in range(len(group)):
        g = group[i]
        if rows[g] == 0:
            for b in range(0, lanes, WIDTH):
                take(low, g, places, i, b)
                take(high, g, places, i, b)
            for w in range(words):
                mask[g, w] = sets[i, w]
        else:
            for b in range(0, lanes, WIDTH):
                widen(low, high, g, places, places, i, b)
            for w in range(words):
                mask[g, w] |= sets[i, w]
        rows[g] += 1
