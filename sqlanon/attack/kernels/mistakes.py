"""Effect of a wrong value on linkage: candidates by the believed values, code by code of a victim's own cell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.attack.kernels.cover_bits import (
    Boxes,
    add_supersets,
    cover,
    covers_code,
    find_cells_with_code,
    mark_all_unseen,
)
from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]

AT_ONCE = 128
"""Codes of a cell with counts that are held at once."""


@njit(nogil=True, cache=True)
def _by_code(boxes: Boxes, a: int, first: int, needed: Bools, others: Ints, here: Longs) -> None:
    """Members of the boxes that cover each wanted code, by number.

    Args:
        boxes: b boxes.
        a: the column.
        first: the first code.
        needed: bool[c], of the codes from ``first`` on.
        others: int32[b], the number of each box.
        here: int64[c + 1 or more, numbers], is written.

    Cost: O(b) for a range of codes, O(b) a code where cells are sets.
    """
    here[: len(needed) + 1] = 0
    if boxes.kinds[a]:
        cells = boxes.cells[a]
        for n in range(len(needed)):
            if needed[n]:
                has, counts = find_cells_with_code(boxes, a, first + n), here[n]
                for j in range(len(others)):
                    if has[cells[j]]:
                        counts[others[j]] += boxes.members[j]
        return
    low, high, flat = boxes.low[a], boxes.high[a], here.ravel()
    codes, numbers, begin = np.int32(len(needed)), np.int32(here.shape[1]), np.int32(first)
    # No branch, and places without a sign: several boxes at once. A box that covers none of the codes is added and
    # taken away at the same place.
    enter, leave = np.empty(len(others), np.uint32), np.empty(len(others), np.uint32)
    for j in range(len(others)):
        enters = min(max(low[j] - begin, np.int32(0)), codes)
        leaves = max(min(high[j] - begin + np.int32(1), codes), enters)
        enter[j], leave[j] = enters * numbers + others[j], leaves * numbers + others[j]
    for j in range(len(others)):
        flat[enter[j]] += boxes.members[j]
        flat[leave[j]] -= boxes.members[j]
    for n in range(1, len(needed)):
        before, counts = here[n - 1], here[n]
        for s in range(len(counts)):
            counts[s] += before[s]
    if first == 0 and needed[0]:  # NULL beside the range, which begins above it
        beside = boxes.null[a]
        for j in range(len(others)):
            if beside[j] and low[j] > 0:
                here[0, others[j]] += boxes.members[j]


@njit(nogil=True, cache=True)
def add_mistaken_success(
    boxes: Boxes,
    rows: Ints,
    begins: Longs,
    victim_box: Ints,
    times: Longs,
    begin: Longs,
    often: Longs,
    column_count: int,
    chance: Doubles,
    best: Doubles,
) -> None:
    """Expected success where a single known value is wrong, for every set of known columns.

    The wrong column is any of the known ones that have another value, each as likely; the wrong value is that of a
    random other row of the source. The candidates cover the believed values; the victim's row is among them where its
    own cell covers the wrong value as well.

    Args:
        boxes: b boxes of d columns.
        rows: int32[r, d], different tuples of codes.
        begins: int64[r + 1], where the boxes of a tuple's victims begin in ``victim_box``.
        victim_box: int32, a box that contains victims of the tuple.
        times: int64, number of these victims.
        begin: int64[d + 1], where the counts of a column's codes begin in ``often``.
        often: int64, rows of the source with each code.
        column_count: the first so many places are columns that are known; bits beyond are not.
        chance: float64[2^known], the sum of the expected success over victims; goes on.
        best: float64[2^known], the highest of any victim; goes on.

    Cost: for every box of a victim O(known b), once for each `AT_ONCE` codes of its cells, and O(known 2^known) a code;
    a code of a set costs O(b) more.
    """
    sets = 1 << column_count
    seen, reduced = mark_all_unseen(boxes), np.empty(boxes.low.shape[1], np.int32)
    right, here = np.empty(sets, np.int64), np.empty((AT_ONCE + 1, sets // 2), np.int64)
    success, gain, columns = np.empty(sets), np.empty(sets // 2), np.empty(sets, np.int64)
    for i in range(len(rows)):
        cover(boxes, rows[i], seen)
        right[:] = 0
        for j in range(len(reduced)):
            right[seen.found[j] & (sets - 1)] += boxes.members[j]
        add_supersets(right)
        for e in range(begins[i], begins[i + 1]):
            success[:] = 0
            columns[:] = 0
            for a in range(len(boxes.place)):
                place, true, rates = boxes.place[a], rows[i, a], often[begin[a] : begin[a + 1]]
                wrong = rates.sum() - rates[true]
                if place >= column_count or wrong <= 0:
                    continue
                # Sets with the column are numbers without its bit: of all others there are half as many.
                below = (1 << place) - 1
                gain[:] = 0
                low, past = max(boxes.low[a, victim_box[e]], 0), min(boxes.high[a, victim_box[e]] + 1, len(rates))
                if boxes.null[a, victim_box[e]]:
                    low, past = 0, max(past, 1)
                if low < true or true + 1 < past:
                    for j in range(len(reduced)):
                        number = seen.found[j] & (sets - 1)
                        reduced[j] = (number & below) | ((number >> 1) & ~below)
                    for first in range(low, past, AT_ONCE):
                        tested = np.zeros(min(AT_ONCE, past - first), np.bool_)
                        for code in range(first, first + len(tested)):
                            tested[code - first] = (
                                code != true and rates[code] and covers_code(boxes, a, victim_box[e], code)
                            )
                        if not tested.any():
                            continue
                        _by_code(boxes, a, first, tested, reduced, here)
                        for n in range(len(tested)):
                            if tested[n]:
                                add_supersets(here[n])
                                for s in range(len(gain)):
                                    gain[s] += rates[first + n] / here[n, s]
                for s in range(len(gain)):
                    number = (s & below) | ((s & ~below) << 1) | (below + 1)
                    success[number] += gain[s] / wrong
                    columns[number] += 1
            for s in range(1, sets):
                mean = success[s] / columns[s] if columns[s] else 1.0 / right[s]
                chance[s] += times[e] * mean
                best[s] = max(best[s], mean)
