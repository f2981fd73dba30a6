"""Mondrian on arrays: the tree of cuts of LeFevre, DeWitt and Ramakrishnan (2006), section 4, Figure 7.

Two ways to choose a cut: ``median`` is the paper's; ``loss`` is ours: every candidate value of every attribute is
scored by the rows times extents of its two halves, from a frequency set whose entries also carry the box of their rows.
Rows are kept in one array that is partitioned in place, stably, so that a leaf is a run of it, left before right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.demands import Demands, Tally, allowed_slots, new_tally, satisfied
from sqlanon.kernels.extent import (
    KIND,
    LEVELS,
    NULLS,
    SET,
    SIZE,
    START,
    WEIGHT,
    WORD,
    WORD_END,
    Geometry,
    extent,
    popcount,
)  # fmt: skip

_NEVER = np.int64(1) << np.int64(62)
_SMALL = 40
COUNT, USED, CODE, ENDS, LOSS, PLACE = range(6)


class Work(NamedTuple):
    """Scratch of one thread. A slot of a frequency set is a value (strict) or one row of the order (relaxed).

    Attributes:
        slot: int64[6, slots]. Per slot its rows (`COUNT`) and where its next row goes in ``order`` (`PLACE`); per
            used slot, in the order of values, its number (`USED`), its value (`CODE`), the rows up to and
            including it (`ENDS`) and the loss of the half that ends with it (`LOSS`).
        box: int32[slots + 2, 2, d], smallest and largest codes of a slot's rows; the last two places hold the box
            of the whole partition and one that grows.
        mask: uint64[slots + 2, words], the sets of the same.
        full: bool[slots], the slot's box is already that of the whole partition and will stay so.
        allowed: bool[slots], per used slot whether the checks allow a cut after it.
        order: int64[n], row positions by slot.
        wide: int64[d], weighted extents of the growing box.
        spare: int32[n, d + 1], the right half with its row numbers while the left one moves.
    """

    slot: npt.NDArray[np.int64]
    box: npt.NDArray[np.int32]
    mask: npt.NDArray[np.uint64]
    full: npt.NDArray[np.bool_]
    allowed: npt.NDArray[np.bool_]
    order: npt.NDArray[np.int64]
    wide: npt.NDArray[np.int64]
    spare: npt.NDArray[np.int32]


@njit(nogil=True, cache=True)
def new_work(n: int, geometry: Geometry, domains: npt.NDArray[np.int64], relaxed: bool, median: bool) -> Work:
    """Scratch for partitions of at most ``n`` rows."""
    d = len(domains)
    words = max(geometry.facts[d - 1, WORD_END], 1)
    slots = 1
    if relaxed and not median:
        slots = n + 1
    elif not median:
        for j in range(d):
            slots = max(slots, min(domains[j], max(4 * n, 64)) + 1)
    return Work(
        np.zeros((6, slots), np.int64), np.empty((slots + 2, 2, d), np.int32), np.empty((slots + 2, words), np.uint64),
        np.empty(slots, np.bool_), np.empty(slots, np.bool_), np.empty(n, np.int64), np.empty(d, np.int64),
        np.empty((n, d + 1), np.int32),
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _partition_box(
    codes: npt.NDArray[np.int32], start: int, stop: int, facts: npt.NDArray[np.int64],
    box: npt.NDArray[np.int32], mask: npt.NDArray[np.uint64],
) -> None:  # fmt: skip
    """Box and sets of rows ``start`` to ``stop``, into the last place but one."""
    whole = len(mask) - 2
    d = len(facts)
    for a in range(d):
        box[whole, 0, a] = codes[start, a]
        box[whole, 1, a] = codes[start, a]
    for i in range(start + 1, stop):
        for a in range(d):
            code = codes[i, a]
            if code < box[whole, 0, a]:
                box[whole, 0, a] = code
            elif code > box[whole, 1, a]:
                box[whole, 1, a] = code
    for a in range(d):
        if facts[a, KIND] == SET:
            word = facts[a, WORD]
            for w in range(word, facts[a, WORD_END]):
                mask[whole, w] = 0
            for i in range(start, stop):
                code = codes[i, a]
                mask[whole, word + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)


@njit(nogil=True, cache=True)
def _sort_positions(
    codes: npt.NDArray[np.int32], start: int, stop: int, j: int, order: npt.NDArray[np.int64]
) -> None:
    """Row positions ``start`` to ``stop`` by code of ``j``, stably, into the front of ``order``."""
    n = stop - start
    if n > _SMALL:
        order[:n] = start + np.argsort(codes[start:stop, j], kind="mergesort")
        return
    for i in range(n):
        code = codes[start + i, j]
        at = i
        while at > 0 and codes[order[at - 1], j] > code:
            order[at] = order[at - 1]
            at -= 1
        order[at] = start + i


@njit(nogil=True, cache=True)
def _frequency_set(
    codes: npt.NDArray[np.int32], start: int, stop: int, facts: npt.NDArray[np.int64], j: int, by_row: bool,
    need_order: bool, slot: npt.NDArray[np.int64], box: npt.NDArray[np.int32], mask: npt.NDArray[np.uint64],
    full: npt.NDArray[np.bool_], order: npt.NDArray[np.int64],
) -> int:  # fmt: skip
    """The frequency set of attribute ``j`` with the box of each slot's rows. Returns the slots in use.

    A slot is a value, or one row by code and then the order the rows stand in (``by_row``). A narrow range of codes
    is counted directly, a wide one is sorted first. One long loop on purpose: numba counts references to every array
    that a call takes, so a call a row would cost more than its work.
    """
    n = stop - start
    d = len(facts)
    words = facts[d - 1, WORD_END]
    whole = len(mask) - 2
    lowest = np.int64(box[whole, 0, j])
    spread = np.int64(box[whole, 1, j]) - lowest + 1
    direct = not by_row and spread <= 4 * n
    used = np.int64(0)
    if direct:
        slot[COUNT, :spread] = 0
    else:
        _sort_positions(codes, start, stop, j, order)
    for at in range(n):
        if direct:
            i = start + at
            s = np.int64(codes[i, j]) - lowest
            fresh = slot[COUNT, s] == 0
        else:
            i = order[at]
            fresh = by_row or at == 0 or slot[CODE, used - 1] != codes[i, j]
            if fresh:
                slot[USED, used] = used
                slot[CODE, used] = codes[i, j]
                used += 1
            s = used - 1
            slot[ENDS, s] = at + 1
        if fresh:
            slot[COUNT, s] = 1
            full[s] = False
            for a in range(d):
                box[s, 0, a] = codes[i, a]
                box[s, 1, a] = codes[i, a]
            if words > 0:
                for w in range(words):
                    mask[s, w] = 0
                for a in range(d):
                    if facts[a, KIND] == SET:
                        code = codes[i, a]
                        mask[s, facts[a, WORD] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
            continue
        slot[COUNT, s] += 1
        if full[s]:
            continue
        changed = False
        for a in range(d):
            code = codes[i, a]
            if code < box[s, 0, a]:
                box[s, 0, a] = code
                changed = True
            if code > box[s, 1, a]:
                box[s, 1, a] = code
                changed = True
        if words > 0:
            for a in range(d):
                if facts[a, KIND] == SET:
                    code = codes[i, a]
                    w = facts[a, WORD] + (code >> 6)
                    merged = mask[s, w] | (np.uint64(1) << np.uint64(code & 63))
                    if merged != mask[s, w]:
                        mask[s, w] = merged
                        changed = True
        if changed:
            same = True
            for a in range(d):
                if a != j and (box[s, 0, a] != box[whole, 0, a] or box[s, 1, a] != box[whole, 1, a]):
                    same = False
                    break
            if same and words > 0:
                for a in range(d):
                    if a != j and facts[a, KIND] == SET:
                        for w in range(facts[a, WORD], facts[a, WORD_END]):
                            if mask[s, w] != mask[whole, w]:
                                same = False
            full[s] = same
    if not direct:
        return used
    end = np.int64(0)
    for s in range(spread):
        if slot[COUNT, s] > 0:
            slot[PLACE, s] = end
            end += slot[COUNT, s]
            slot[USED, used] = s
            slot[CODE, used] = lowest + s
            slot[ENDS, used] = end
            used += 1
    if need_order:
        for i in range(start, stop):
            s = np.int64(codes[i, j]) - lowest
            order[slot[PLACE, s]] = i
            slot[PLACE, s] += 1
    return used


@njit(nogil=True, cache=True)
def _sweep(
    facts: npt.NDArray[np.int64], table: npt.NDArray[np.int64], used: int, n: int, k: int, by_row: bool, checks: bool,
    slot: npt.NDArray[np.int64], box: npt.NDArray[np.int32], mask: npt.NDArray[np.uint64],
    allowed: npt.NDArray[np.bool_], wide: npt.NDArray[np.int64],
) -> tuple[int, int, int]:  # fmt: skip
    """Score every cut of a frequency set: prefixes grow to the right, then suffixes to the left.

    Returns loss, tilt (how uneven the cut is) and bound of the best one; loss `_NEVER` if none is allowed.
    """
    d = len(facts)
    grown = len(mask) - 1
    best_loss, best_tilt, best_cut = _NEVER, _NEVER, np.int64(0)
    for forward in (True, False):
        for a in range(d):
            box[grown, 0, a] = 2147483647
            box[grown, 1, a] = -1
            wide[a] = 0
            for w in range(facts[a, WORD], facts[a, WORD_END]):
                mask[grown, w] = 0
        width = np.int64(0)
        for step in range(used - 1):
            u = step if forward else used - 1 - step
            s = slot[USED, u]
            for a in range(d):
                changed = False
                if box[s, 0, a] < box[grown, 0, a]:
                    box[grown, 0, a] = box[s, 0, a]
                    changed = True
                if box[s, 1, a] > box[grown, 1, a]:
                    box[grown, 1, a] = box[s, 1, a]
                    changed = True
                members = np.int64(0)
                if facts[a, KIND] == SET:
                    for w in range(facts[a, WORD], facts[a, WORD_END]):
                        merged = mask[grown, w] | mask[s, w]
                        if merged != mask[grown, w]:
                            mask[grown, w] = merged
                            changed = True
                    if changed:
                        for w in range(facts[a, WORD], facts[a, WORD_END]):
                            members += popcount(mask[grown, w])
                if changed:
                    new = facts[a, WEIGHT] * extent(
                        facts[a, KIND], facts[a, SIZE], facts[a, NULLS], facts[a, LEVELS], facts[a, START], table,
                        np.int64(box[grown, 0, a]), np.int64(box[grown, 1, a]), members,
                    )  # fmt: skip
                    width += new - wide[a]
                    wide[a] = new
            if forward:
                slot[LOSS, u] = width * slot[ENDS, u]
                continue
            left = slot[ENDS, u - 1]
            right = n - left
            if right < k:
                continue
            if left < k:
                break
            if checks and not allowed[u - 1]:
                continue
            loss = slot[LOSS, u - 1] + width * right
            tilt = abs(left - right)
            # Bounds fall from slot to slot, so an equal one replaces what came before.
            if loss < best_loss or (loss == best_loss and tilt <= best_tilt):
                best_loss, best_tilt = loss, tilt
                best_cut = left if by_row else slot[CODE, u - 1]
    return best_loss, best_tilt, best_cut


@njit(nogil=True, cache=True)
def _best_loss(
    codes: npt.NDArray[np.int32], rows: npt.NDArray[np.int32], start: int, stop: int, geometry: Geometry,
    demands: Demands, relaxed: bool, work: Work, tally: Tally,
) -> tuple[int, int]:  # fmt: skip
    """The attribute and bound of the cut with the least loss; attribute -1 if no cut is allowed.

    The bound is the largest code of the left half (strict) or its number of rows (relaxed).
    Ties: the more even cut, then the first attribute, then the lower bound.
    """
    n = stop - start
    facts = geometry.facts
    checks = len(demands.kind) > 0
    _partition_box(codes, start, stop, facts, work.box, work.mask)
    whole = len(work.mask) - 2
    best_loss, best_tilt, best_j, best_cut = _NEVER, _NEVER, -1, np.int64(0)
    for j in range(len(facts)):
        if not relaxed and work.box[whole, 0, j] == work.box[whole, 1, j]:
            continue
        used = _frequency_set(
            codes,
            start,
            stop,
            facts,
            j,
            relaxed,
            checks,
            work.slot,
            work.box,
            work.mask,
            work.full,
            work.order,
        )
        if checks:
            allowed_slots(demands, rows, work.order[:n], work.slot[ENDS], used, tally, work.allowed)
        loss, tilt, cut = _sweep(
            facts, geometry.table, used, n, demands.k, relaxed, checks, work.slot, work.box, work.mask, work.allowed,
            work.wide,
        )  # fmt: skip
        if loss < best_loss or (loss == best_loss and tilt < best_tilt):
            best_loss, best_tilt, best_j, best_cut = loss, tilt, j, cut
    return best_j, best_cut


@njit(nogil=True, cache=True)
def _best_median(
    codes: npt.NDArray[np.int32], rows: npt.NDArray[np.int32], start: int, stop: int, geometry: Geometry,
    demands: Demands, relaxed: bool, work: Work, tally: Tally,
) -> tuple[int, int]:  # fmt: skip
    """The paper's cut: widest attribute first, at its median; in strict partitions ``<=`` and then ``<`` the median."""
    n = stop - start
    facts, box, mask = geometry.facts, work.box, work.mask
    d = len(facts)
    checks = len(demands.kind) > 0
    _partition_box(codes, start, stop, facts, box, mask)
    whole = len(mask) - 2
    for j in range(d):
        members = np.int64(0)
        for w in range(facts[j, WORD], facts[j, WORD_END]):
            members += popcount(mask[whole, w])
        work.wide[j] = facts[j, WEIGHT] * extent(
            facts[j, KIND], facts[j, SIZE], facts[j, NULLS], facts[j, LEVELS], facts[j, START], geometry.table,
            np.int64(box[whole, 0, j]), np.int64(box[whole, 1, j]), members,
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
            _sort_positions(codes, start, stop, j, work.order)
            if satisfied(demands, rows, work.order[:half], tally) and satisfied(
                demands, rows, work.order[half:n], tally
            ):
                return j, np.int64(half)
            continue
        if box[whole, 0, j] == box[whole, 1, j]:
            continue
        median = np.int64(np.partition(codes[start:stop, j], half - 1)[half - 1])
        for attempt in range(2):
            cut = median - attempt
            left, right = 0, n
            for i in range(start, stop):
                if codes[i, j] <= cut:
                    work.order[left] = i
                    left += 1
                else:
                    right -= 1
                    work.order[right] = i
            if satisfied(demands, rows, work.order[:left], tally) and satisfied(
                demands, rows, work.order[left:n], tally
            ):
                return j, cut
    return -1, np.int64(0)


@njit(nogil=True, cache=True)
def _divide(
    codes: npt.NDArray[np.int32], rows: npt.NDArray[np.int32], start: int, stop: int, j: int, cut: int,
    relaxed: bool, order: npt.NDArray[np.int64], spare: npt.NDArray[np.int32],
) -> int:  # fmt: skip
    """Bring the left half to the front, keeping the order within both; returns its number of rows."""
    d = codes.shape[1]
    side = np.empty(stop - start if relaxed else 0, np.bool_)
    if relaxed:
        _sort_positions(codes, start, stop, j, order)
        for at in range(stop - start):
            side[order[at] - start] = at < cut
    left, right = np.int64(start), np.int64(0)
    for i in range(start, stop):
        goes_left = side[i - start] if relaxed else codes[i, j] <= cut
        if goes_left:
            if left != i:
                for a in range(d):
                    codes[left, a] = codes[i, a]
                rows[left] = rows[i]
            left += 1
        else:
            for a in range(d):
                spare[right, a] = codes[i, a]
            spare[right, d] = rows[i]
            right += 1
    for i in range(right):
        for a in range(d):
            codes[left + i, a] = spare[i, a]
        rows[left + i] = spare[i, d]
    return left - start


@njit(nogil=True, cache=True)
def grow(
    codes: npt.NDArray[np.int32], rows: npt.NDArray[np.int32], first: npt.NDArray[np.bool_], geometry: Geometry,
    demands: Demands, domains: npt.NDArray[np.int64], relaxed: bool, median: bool, target: int,
) -> None:  # fmt: skip
    """Cut a partition until no allowable cut is left, or only until its pieces are small.

    Args:
        codes: int32[n, d], permuted in place.
        rows: int32[n], row numbers, permuted alike; they index the arrays of ``demands``.
        first: bool[n], set True where a leaf (or a piece) begins.
        geometry: the attributes.
        demands: the requirements.
        domains: int64[d], codes of each attribute (with NULL).
        relaxed: rows with equal values may be divided; rows must then stand in tie-break order.
        median: the paper's cut instead of the least loss.
        target: pieces of at most this many rows are not cut further; 0 cuts down to the leaves.

    Cost: O(n d^2 log(n / k)) for balanced cuts; memory 2n rows and one frequency set.
    """
    n = len(codes)
    tally = new_tally(demands)
    work = new_work(n, geometry, domains, relaxed, median)
    stack = [(np.int64(0), np.int64(n))]
    while len(stack) > 0:
        start, stop = stack.pop()
        left = np.int64(0)
        if stop - start >= max(2 * demands.k, 2) and stop - start > target:
            if median:
                j, cut = _best_median(codes, rows, start, stop, geometry, demands, relaxed, work, tally)
            else:
                j, cut = _best_loss(codes, rows, start, stop, geometry, demands, relaxed, work, tally)
            if j >= 0:
                left = _divide(codes, rows, start, stop, j, cut, relaxed, work.order, work.spare)
        if left == 0:
            first[start] = True
        else:
            stack.append((start + left, stop))
            stack.append((start, start + left))
