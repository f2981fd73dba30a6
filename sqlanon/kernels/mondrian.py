"""Mondrian on arrays: the tree of cuts of LeFevre, DeWitt and Ramakrishnan (2006), section 4, Figure 7.

Two ways to choose a cut: ``median`` is the paper's; ``loss`` is ours: every candidate value of every attribute is
scored by the rows times extents of its two halves, from a frequency set whose entries also carry the box of their rows.
Rows are kept in one array that is partitioned in place, stably, so that a leaf is a run of it, left before right.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.cut_scratch import CODE, COUNT, ENDS, LOSS, PLACE, USED, Work, new_work
from sqlanon.kernels.extent import (
    BIT,
    KIND,
    LEVELS,
    NULLS,
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
    extent,
    popcount,
)  # fmt: skip
from sqlanon.kernels.lanes import WIDTH, clear, take, widen, widen_one, width
from sqlanon.kernels.requirements import Counters, Demands, allowed_slots, new_counters, satisfied
from sqlanon.kernels.rows import Rows, Spare

_NEVER = np.int64(1) << np.int64(62)
_SMALL = 40


@njit(nogil=True, cache=True)
def _sort_positions(
    codes: npt.NDArray[np.int32], start: int, stop: int, j: int, order: npt.NDArray[np.int64]
) -> None:
    """Row positions ``start`` to ``stop`` by code of ``j``, stably, into the front of ``order``."""
    n = stop - start
    for at in range(n):
        order[at] = (np.int64(codes[start + at, j]) << 32) | at
    if n > _SMALL:
        order[:n].sort()
    else:
        for i in range(1, n):
            key = order[i]
            at = i
            while at > 0 and order[at - 1] > key:
                order[at] = order[at - 1]
                at -= 1
            order[at] = key
    for at in range(n):
        order[at] = start + (order[at] & 0xFFFFFFFF)


@njit(nogil=True, cache=True, inline="always")
def _members(
    facts: npt.NDArray[np.int64], a: int, mask: npt.NDArray[np.uint64], row: int
) -> tuple[int, bool]:
    """Values of a set, and whether NULL is one of them. Small sets share a word."""
    word, end = facts[a, WORD], facts[a, WORD_END]
    if end - word > 1:
        count = np.int64(0)
        for w in range(word, end):
            count += popcount(mask[row, w])
        return count, facts[a, NULLS] == 1 and mask[row, word] & np.uint64(1) != 0
    own = mask[row, word] >> np.uint64(facts[a, BIT])
    codes = facts[a, SIZE] + facts[a, NULLS]
    if codes < 64:
        own &= (np.uint64(1) << np.uint64(codes)) - np.uint64(1)
    return popcount(own), facts[a, NULLS] == 1 and own & np.uint64(1) != 0


@njit(nogil=True, cache=True)
def _best_loss(
    rows: Rows, start: int, stop: int, first: int, past: int, geometry: Geometry, demands: Demands, by_row: bool,
    work: Work, counters: Counters,
) -> tuple[int, int, int, int]:  # fmt: skip
    """The cut with the least loss: loss, tilt, attribute, bound; attribute -1 if no cut is allowed.

    Only attributes ``first`` to ``past`` are looked at. Tilt is how uneven the cut is. The bound is the largest code of
    the left half (strict) or its number of rows (relaxed, ``by_row``).
    Ties: the more even cut, then the first attribute, then the lower bound.

    One long function on purpose: numba counts references to every array that a call takes, so that calls in the
    inner loops would cost more than their work.
    """
    codes, places, sets = rows.codes, rows.places, rows.sets
    facts, table = geometry.facts, geometry.table
    slot, low, high, mask, order, box = work.slot, work.low, work.high, work.mask, work.spare.order, work.box
    allowed, seen, weight, small = work.allowed, work.seen, work.weight, work.small
    n, k = stop - start, demands.k
    d, lanes = len(facts), codes.shape[1]
    words = sets.shape[1]
    checks = len(demands.add) > 0
    codes_wide = False
    for a in range(d):
        codes_wide |= facts[a, KIND] == TREE or facts[a, KIND] == SPAN
    grown = len(low) - 1
    best_loss, best_tilt, best_j, best_cut = _NEVER, _NEVER, -1, np.int64(0)
    for b in range(0, lanes, WIDTH):
        take(box, 0, codes, start, b)
        take(box, 1, codes, start, b)
        for i in range(start + 1, stop):
            widen_one(box, codes, i, b)
    for j in range(first, past):
        lowest = np.int64(box[0, j])
        spread = np.int64(box[1, j]) - lowest + 1
        if spread == 1 and not by_row:
            continue
        # 1. The frequency set of j, with the box of each slot's rows. A narrow range of codes is counted, a wide one sorted.
        used = np.int64(0)
        direct = not by_row and spread <= 4 * n
        if direct:
            # No branch depends on a value here: a processor would guess wrong every other time.
            for s in range(spread):
                slot[COUNT, s] = 0
                for b in range(0, lanes, WIDTH):
                    clear(low, high, s, b)
                for w in range(words):
                    mask[s, w] = 0
            for i in range(start, stop):
                s = np.int64(codes[i, j]) - lowest
                slot[COUNT, s] += 1
                for b in range(0, lanes, WIDTH):
                    widen(low, high, s, places, places, i, b)
                for w in range(words):
                    mask[s, w] |= sets[i, w]
            end = np.int64(0)
            for s in range(spread):
                slot[PLACE, s] = end
                end += slot[COUNT, s]
                slot[USED, used] = s
                slot[ENDS, used] = end
                used += slot[COUNT, s] > 0
            if checks:
                for i in range(start, stop):
                    s = np.int64(codes[i, j]) - lowest
                    order[slot[PLACE, s]] = i
                    slot[PLACE, s] += 1
        else:
            _sort_positions(codes, start, stop, j, order)
            for at in range(n):
                i = order[at]
                s = used - 1
                if by_row or at == 0 or slot[CODE, s] != codes[i, j]:
                    s = used
                    slot[USED, s] = s
                    slot[CODE, s] = codes[i, j]
                    used += 1
                    for b in range(0, lanes, WIDTH):
                        take(low, s, places, i, b)
                        take(high, s, places, i, b)
                    for w in range(words):
                        mask[s, w] = sets[i, w]
                else:
                    for b in range(0, lanes, WIDTH):
                        widen(low, high, s, places, places, i, b)
                    for w in range(words):
                        mask[s, w] |= sets[i, w]
                slot[ENDS, s] = at + 1
        if checks:
            allowed_slots(demands, rows.number, order[:n], slot[ENDS], used, counters, allowed)
        # 2. Score every cut after a slot: prefixes grow to the right, then suffixes to the left. The loss of a half only
        # grows with it, so a sweep ends where one half alone loses to the best cut yet.
        nearest, limit = used, used - 1
        for forward in (True, False):
            begin = np.int64(0) if forward else used - 1
            for b in range(0, lanes, WIDTH):
                take(low, grown, low, slot[USED, begin], b)
                take(high, grown, high, slot[USED, begin], b)
            for w in range(words):
                mask[grown, w] = 0
            for a in range(d):
                seen[a, 0] = -1
            stale, sets_wide = True, np.int64(0)
            steps = used - 1 if forward else used - 1 - nearest
            for step in range(steps):
                u = step if forward else used - 1 - step
                s = slot[USED, u]
                for b in range(0, lanes, WIDTH):
                    widen(low, high, grown, low, high, s, b)
                for w in range(words):
                    merged = mask[grown, w] | mask[s, w]
                    stale |= merged != mask[grown, w]
                    mask[grown, w] = merged
                cut = u if forward else u - 1
                left = slot[ENDS, cut]
                if forward:
                    if left < k:
                        continue
                    if n - left < k:
                        limit = cut
                        break
                elif cut >= limit:
                    continue
                if checks and not allowed[cut]:
                    continue
                if stale:  # the sets of the growing half are soon whole
                    stale, sets_wide = False, np.int64(0)
                    for a in range(len(small)):
                        own, members = mask[grown, small[a, 0]], np.int64(0)
                        if small[a, 1] - small[a, 0] > 1:
                            for w in range(small[a, 0], small[a, 1]):
                                members += popcount(mask[grown, w])
                        else:
                            own = (own >> np.uint64(small[a, 2])) & np.uint64(small[a, 3])
                            members = popcount(own)
                        if members > 1:
                            null = small[a, 6] == 1 and own & np.uint64(1) != 0
                            sets_wide += small[a, 5] * (SCALE if null else table[small[a, 4] + members])
                total = sets_wide
                for b in range(0, lanes, WIDTH):
                    total += width(low, high, grown, weight, b)
                if codes_wide:
                    for a in range(d):
                        if facts[a, KIND] == TREE or facts[a, KIND] == SPAN:
                            one, other = np.int64(low[grown, a]), np.int64(high[grown, a])
                            if seen[a, 0] != one or seen[a, 1] != other:
                                seen[a, 0], seen[a, 1] = one, other
                                seen[a, 2] = facts[a, WEIGHT] * extent(
                                    facts[a, KIND], facts[a, SIZE], facts[a, NULLS], facts[a, LEVELS], facts[a, START],
                                    table, one, other, 0,
                                )  # fmt: skip
                            total += seen[a, 2]
                half = total * (left if forward else n - left)
                if half > best_loss:
                    if forward:
                        limit = cut
                    break
                if forward:
                    nearest = min(nearest, cut)
                    slot[LOSS, cut] = half
                    continue
                loss = slot[LOSS, cut] + half
                tilt = abs(2 * left - n)
                # Bounds fall from slot to slot, so an equal one replaces what came before it.
                if loss < best_loss or (
                    loss == best_loss and (tilt < best_tilt or (tilt == best_tilt and j == best_j))
                ):
                    best_loss, best_tilt, best_j = loss, tilt, j
                    best_cut = left if by_row else lowest + slot[USED, cut] if direct else slot[CODE, cut]
            if nearest == used:
                break
    return best_loss, best_tilt, best_j, best_cut


@njit(nogil=True, cache=True)
def _best_median(
    rows: Rows, start: int, stop: int, geometry: Geometry, demands: Demands, relaxed: bool, work: Work, counters: Counters
) -> tuple[int, int]:  # fmt: skip
    """The paper's cut: widest attribute first, at its median; in strict partitions ``<=`` and then ``<`` the median."""
    n = stop - start
    codes, sets = rows.codes, rows.sets
    facts, box, mask = geometry.facts, work.box, work.mask
    d, lanes = len(facts), codes.shape[1]
    checks = len(demands.add) > 0
    for b in range(0, lanes, WIDTH):
        take(box, 0, codes, start, b)
        take(box, 1, codes, start, b)
        for i in range(start + 1, stop):
            widen_one(box, codes, i, b)
    for w in range(sets.shape[1]):
        mask[0, w] = 0
        for i in range(start, stop):
            mask[0, w] |= sets[i, w]
    for j in range(d):
        members = np.int64(0)
        if facts[j, KIND] == SET:
            members, _ = _members(facts, j, mask, 0)
        work.wide[j] = facts[j, WEIGHT] * extent(
            facts[j, KIND], facts[j, SIZE], facts[j, NULLS], facts[j, LEVELS], facts[j, START], geometry.table,
            np.int64(box[0, j]), np.int64(box[1, j]), members,
        )  # fmt: skip
    by_width = np.argsort(-work.wide, kind="mergesort")
    half = n - n // 2
    for at in range(d):
        j = by_width[at]
        if relaxed:
            if n - half < demands.k:
                return -1, np.int64(0)
            if not checks:
                return j, np.int64(half)
            _sort_positions(codes, start, stop, j, work.spare.order)
            if satisfied(demands, rows.number, work.spare.order[:half], counters) and satisfied(
                demands, rows.number, work.spare.order[half:n], counters
            ):
                return j, np.int64(half)
            continue
        if box[0, j] == box[1, j]:
            continue
        median = np.int64(np.partition(codes[start:stop, j], half - 1)[half - 1])
        for attempt in range(2):
            cut = median - attempt
            left, right = 0, n
            for i in range(start, stop):
                if codes[i, j] <= cut:
                    work.spare.order[left] = i
                    left += 1
                else:
                    right -= 1
                    work.spare.order[right] = i
            if satisfied(demands, rows.number, work.spare.order[:left], counters) and satisfied(
                demands, rows.number, work.spare.order[left:n], counters
            ):
                return j, cut
    return -1, np.int64(0)


@njit(nogil=True, cache=True)
def _divide(rows: Rows, start: int, stop: int, j: int, cut: int, relaxed: bool, spare: Spare) -> int:
    """Bring the left half to the front, keeping the order within both; returns its number of rows."""
    codes, places, sets, number = rows
    spare_codes, spare_places, spare_sets, spare_number = spare.rows
    lanes, words = codes.shape[1], sets.shape[1]
    side = np.empty(stop - start if relaxed else 0, np.bool_)
    if relaxed:
        _sort_positions(codes, start, stop, j, spare.order)
        for at in range(stop - start):
            side[spare.order[at] - start] = at < cut
    left, right = np.int64(start), np.int64(0)
    for i in range(start, stop):
        goes_left = side[i - start] if relaxed else codes[i, j] <= cut
        if goes_left:
            if left != i:
                for b in range(0, lanes, WIDTH):
                    take(codes, left, codes, i, b)
                    take(places, left, places, i, b)
                for w in range(words):
                    sets[left, w] = sets[i, w]
                number[left] = number[i]
            left += 1
        else:
            for b in range(0, lanes, WIDTH):
                take(spare_codes, right, codes, i, b)
                take(spare_places, right, places, i, b)
            for w in range(words):
                spare_sets[right, w] = sets[i, w]
            spare_number[right] = number[i]
            right += 1
    for i in range(right):
        for b in range(0, lanes, WIDTH):
            take(codes, left + i, spare_codes, i, b)
            take(places, left + i, spare_places, i, b)
        for w in range(words):
            sets[left + i, w] = spare_sets[i, w]
        number[left + i] = spare_number[i]
    return left - start


@njit(nogil=True, cache=True)
def grow(
    rows: Rows, spare: Spare, first: npt.NDArray[np.bool_], geometry: Geometry, demands: Demands,
    domains: npt.NDArray[np.int64], relaxed: bool, median: bool, target: int,
) -> None:  # fmt: skip
    """Cut a partition until no allowable cut is left, or only until its pieces are small.

    Args:
        rows: n rows, permuted in place; relaxed cuts want them in tie-break order.
        spare: room for as many.
        first: bool[n], set True where a leaf (or a piece) begins.
        geometry: the attributes.
        demands: the requirements.
        domains: int64[d], codes of each attribute (with NULL).
        relaxed: rows with equal values may be divided.
        median: the paper's cut instead of the least loss.
        target: pieces of at most this many rows are not cut further; 0 cuts down to the leaves.

    Cost: O(n d^2 log(n / k)) for balanced cuts; memory one frequency set.
    """
    n, d = len(rows.number), len(geometry.facts)
    counters = new_counters(demands, n)
    work = new_work(spare, geometry, domains, relaxed, median)
    stack = [(np.int64(0), np.int64(n))]
    while len(stack) > 0:
        start, stop = stack.pop()
        left = np.int64(0)
        if stop - start >= max(2 * demands.k, 2) and stop - start > target:
            if median:
                j, cut = _best_median(rows, start, stop, geometry, demands, relaxed, work, counters)
            else:
                _, _, j, cut = _best_loss(
                    rows, start, stop, np.int64(0), d, geometry, demands, relaxed, work, counters
                )
            if j >= 0:
                left = _divide(rows, start, stop, j, cut, relaxed, spare)
        if left == 0:
            first[start] = True
        else:
            stack.append((start + left, stop))
            stack.append((start, start + left))


def score(
    rows: Rows, spare: Spare, geometry: Geometry, demands: Demands, domains: npt.NDArray[np.int64], first: int,
    past: int,
) -> tuple[int, int, int, int]:  # fmt: skip
    """The strict cut of all rows with the least loss among attributes ``first`` to ``past``.

    Returns loss, tilt, attribute (-1: none) and bound. The least of such tuples is the cut of all attributes, so that
    threads can share a large table's first cut.
    """
    work = new_work(spare, geometry, domains, False, False)
    n = len(rows.number)
    # Not compiled: this is `grow`'s own compiled code, called from outside.
    found: tuple[int, int, int, int] = _best_loss(
        rows, 0, n, first, past, geometry, demands, False, work, new_counters(demands, n)
    )
    return found


def divide(rows: Rows, spare: Spare, j: int, cut: int) -> int:
    """Bring the rows whose code of ``j`` is at most ``cut`` to the front; returns how many they are."""
    return int(_divide(rows, 0, len(rows.number), j, cut, False, spare))
