"""Dealt halves: classes divided in two along an attribute, the rows of every sensitive value by themselves. Ours.

A cut divides rows by quasi values alone, and where sensitive values depend on these, the halves have other shares of
them. Here each half gets half of the rows of every value, the lower or the higher rows along an attribute. Shares
stay, but for single rows, and requirements on them hold for smaller classes. The halves may overlap.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.random import draw_below
from sqlanon.kernels.requirements import Counters, Demands, make_counters, satisfied
from sqlanon.kernels.unions import Masks, Measure, Places, empty_box, join_box

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

ATTEMPTS = 8
"""Ways to deal the middle rows of each value, at most, for each attribute."""
OFFSETS, MOST_OFFSETS = 16, 14
"""Samples of each size that `find_least_dealt` draws, and how many of them must meet the requirements."""


@njit(nogil=True, cache=True)
def find_least_dealt(demands: Demands, key: Longs, least: int, most: int) -> int:
    """The fewest rows that meet the requirements if they have the shares of the whole table, or ``most`` + 1.

    Rows are drawn evenly from all rows in the order of ``key`` int64[n]; sizes grow by an eighth.

    Cost: O(most^2) for small ``least``, as a tally is.
    """
    n, rows = len(key), least
    order, numbers = np.argsort(key, kind="mergesort"), np.arange(n).astype(np.int32)
    counters, sample = make_counters(demands, n), np.empty(n, np.int64)
    while rows <= most:
        met = 0
        for offset in range(OFFSETS):
            for t in range(rows):
                sample[t] = order[((2 * OFFSETS * t + 2 * offset + 1) * n // (2 * OFFSETS * rows)) % n]
            met += satisfied(demands, numbers, sample[:rows], counters)
        if met >= MOST_OFFSETS:
            return rows
        rows += max(rows // 8, 1)
    return most + 1


@njit(nogil=True, cache=True)
def _cost(rows: Longs, box: Places, mask: Masks, scratch_box: Places, own_mask: Masks, measure: Measure) -> int:
    """Rows x extents of some rows; row 0 of ``scratch_box`` and ``own_mask`` is overwritten."""
    empty_box(scratch_box, own_mask, 0)
    for i in rows:
        join_box(scratch_box, own_mask, 0, scratch_box, own_mask, 0, box, mask, i)
    return len(rows) * measure_joint_width(scratch_box, own_mask, 0, scratch_box, own_mask, 0, measure)


@njit(nogil=True, cache=True)
def _deal(
    line: npt.NDArray[np.int32], ordered: Longs, key: Longs, attempt: int, dealt: Longs, state: npt.NDArray[np.uint64]
) -> int:
    """Deal rows into two halves, one from each end of ``dealt``; the rows of the first.

    Args:
        line: int32[n], codes of the attribute.
        ordered: the rows by key, those of a key by code.
        key: of each row.
        attempt: 0: the middle row of a key goes to the key's side of all rows; 1: to either half in turn; 2: of all
            keys to the same half; others at random.
        dealt: written.
        state: of the random numbers.
    """
    rows, left, right, t, odd = len(ordered), 0, 0, 0, np.int64(draw_below(state, 2))
    middle = np.sort(line[ordered])[rows // 2]
    while t < rows:
        past = t
        while past < rows and key[ordered[past]] == key[ordered[t]]:
            past += 1
        lower = (past - t) // 2
        if (past - t) % 2 == 1:
            code = line[ordered[t + lower]]
            if attempt == 1:
                odd = 1 - odd
            elif attempt != 2 and code != middle and (attempt == 0 or (attempt % 2 == 0 and draw_below(state, 3) > 0)):
                odd = np.int64(code < middle)
            elif attempt != 2:
                odd = np.int64(draw_below(state, 2))
            lower += odd
        for s in range(t, past):
            if s - t < lower:
                dealt[left] = ordered[s]
                left += 1
            else:
                right += 1
                dealt[rows - right] = ordered[s]
        t = past
    return left


@njit(nogil=True, cache=True)
def halve_dealt(
    codes: Ints,
    box: Places,
    mask: Masks,
    measure: Measure,
    demands: Demands,
    key: Longs,
    group: Ints,
    least: int,
    state: npt.NDArray[np.uint64],
) -> int:
    """Divide classes again and again while both halves meet every requirement and lose no more than before.

    Args:
        codes: int32[d, n].
        box, mask: the boxes of the rows, see `unions`.
        measure: of widths.
        demands: the requirements, which the classes meet; the arrays are indexed by the same row numbers.
        key: int64[n], equal for rows that the requirements count alike.
        group: int32[n], class of each row; changed.
        least: no class of fewer rows meets the requirements.
        state: of the random numbers.

    Returns:
        How many classes there are afterwards.

    Cost: O(n d log n) for each time that all classes are halved.
    """
    d, n = codes.shape
    members, numbers = np.argsort(group, kind="mergesort").astype(np.int64), np.arange(n).astype(np.int32)
    counters: Counters = make_counters(demands, n)
    begins, pasts, waiting, groups = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), 0, 0
    for index in range(n):
        if index == 0 or group[members[index]] != group[members[index - 1]]:
            begins[waiting] = index
            waiting += 1
        pasts[waiting - 1] = index + 1
    part_box, part_mask = np.empty((1, box.shape[1]), np.int32), np.zeros((1, mask.shape[1]), np.uint64)
    best, dealt = np.empty(n, np.int64), np.empty(n, np.int64)
    while waiting > 0:
        waiting -= 1
        begin, past = begins[waiting], pasts[waiting]
        rows, cut = past - begin, 0
        part = members[begin:past].copy()
        cheapest = _cost(part, box, mask, part_box, part_mask, measure)
        for a in range(d if rows >= 2 * least and cheapest > 0 else 0):
            by_code = part[np.argsort(codes[a][part], kind="mergesort")]
            if codes[a, by_code[0]] == codes[a, by_code[rows - 1]]:
                continue
            ordered = by_code[np.argsort(key[by_code], kind="mergesort")]
            for attempt in range(ATTEMPTS):
                half = _deal(codes[a], ordered, key, attempt, dealt, state)
                if half < least or rows - half < least:
                    continue
                cost = _cost(dealt[:half], box, mask, part_box, part_mask, measure)
                cost += _cost(dealt[half:rows], box, mask, part_box, part_mask, measure)
                # Of equal cost, too: halves of halves may lose less.
                if cost > cheapest or (cost == cheapest and cut > 0):
                    continue
                if satisfied(demands, numbers, dealt[:half], counters) and satisfied(
                    demands, numbers, dealt[half:rows], counters
                ):
                    cheapest, cut = cost, half
                    best[:rows] = dealt[:rows]
        if cut == 0:
            group[part] = groups
            groups += 1
            continue
        members[begin:past] = best[:rows]
        begins[waiting], pasts[waiting] = begin, begin + cut
        begins[waiting + 1], pasts[waiting + 1] = begin + cut, past
        waiting += 2
    return groups
