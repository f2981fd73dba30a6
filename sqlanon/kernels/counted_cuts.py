"""The loss cut of a large partition.

One pass computes the frequency sets of all attributes, each entry with the box of the rows.

Boxes are of codes; the width of a box is looked up only where it grows, which in a large partition is soon over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import (
    KIND,
    LEVELS,
    NULLS,
    SCALE,
    SET,
    SIZE,
    START,
    WEIGHT,
    Geometry,
    count_bits,
    measure_extent,
)
from sqlanon.kernels.lanes import WIDTH
from sqlanon.kernels.requirements import Counters, Demands, mark_allowed
from sqlanon.kernels.rows import TreeRows
from sqlanon.kernels.set_masks import BITS, FIRST, NULL, PAST, PRICE, SHIFT, TABLE, VALUE, describe_sets, words_of
from sqlanon.kernels.sorted_cuts import NEVER
from sqlanon.kernels.vectors import (
    box_of,
    clear_slot,
    differs,
    load_own_box,
    meet,
    read_item,
    read_lane,
    slot_box,
    store_vector,
    take_lesser,
)

_ROOM = 1 << 14
"""Slots that there is room for at least, so that all attributes are counted in one pass."""


class Slots(NamedTuple):
    """Scratch of a thread. A slot is a value of an attribute that is counted.

    Attributes:
        slots: int64[parts * room, record], per slot a box of its rows' codes, their number (source rows), and their
            sets, see `vectors.meet`. A part has 8 attributes of the box and 64 bits of the sets, and ``room`` slots.
        room: slots of a part.
        used: int64[values], slots with rows, of one attribute in the order of its values.
        left: int64[values], source rows up to and including each used slot.
        wide: int64[2, values], widths of the halves of a cut after each used slot.
        place: int64[values], where a slot's next row goes, for checks.
        allowed: bool[values].
        order: int64[n], rows by slot, for checks.
        keep: [lanes + 1, 2 * lanes], all bits but those of one attribute's codes; the last row, all bits.
        range: [1, 2 * lanes], the box of the partition.
        grown: the same of the half that grows.
        base: int64[d], the slot of each attribute's code 0; may be negative.
        sets: see `describe_sets`.
        shift: int64[sets], where a set's code 0 is in a part's 64 bits; may be outside.
        own: uint64[words], the sets of the half that grows.
    """

    slots: npt.NDArray[np.int64]
    room: int
    used: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    wide: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.bool_]
    order: npt.NDArray[np.int64]
    keep: npt.NDArray[np.int32]
    range: npt.NDArray[np.int32]
    grown: npt.NDArray[np.int32]
    base: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int64]
    shift: npt.NDArray[np.int64]
    own: npt.NDArray[np.uint64]


@njit(nogil=True, cache=True)
def make_slots(rows: TreeRows, geometry: Geometry, domains: npt.NDArray[np.int64], checks: bool) -> Slots:
    """Scratch for the rows of a piece of the table."""
    n, lanes = rows.codes.shape
    d, words = len(domains), words_of(geometry.facts)
    values, total = np.int64(1), np.int64(0)
    for j in range(d):
        values = max(values, domains[j])
        total += domains[j]
    room, parts = max(values, min(total, _ROOM)), max(lanes // WIDTH, words)
    dtype, sets = rows.codes.dtype, describe_sets(geometry)
    keep = np.full((lanes + 1, 2 * lanes), -1, dtype)
    for a in range(lanes):
        lane = a // WIDTH * 2 * WIDTH + a % WIDTH
        keep[a, lane], keep[a, lane + WIDTH] = 0, 0
    return Slots(
        np.empty((parts * room, 2 * rows.codes.itemsize + 2), np.int64),
        room,
        np.empty(values, np.int64),
        np.empty(values, np.int64),
        np.empty((2, values), np.int64),
        np.empty(values, np.int64),
        np.empty(values, np.bool_),
        np.empty(n if checks else 0, np.int64),
        keep,
        np.empty((1, 2 * lanes), dtype),
        np.empty((1, 2 * lanes), dtype),
        np.zeros(d, np.int64),
        sets,
        np.empty(len(sets), np.int64),
        np.zeros(words, np.uint64),
    )


@njit(nogil=True, cache=True)
def find_range(rows: TreeRows, start: int, stop: int, d: int, work: Slots) -> int:
    """Write the box of the rows to ``work.range``; returns how many values lie in it, all attributes together."""
    codes, lanes = rows.codes, rows.codes.shape[1]
    for b in range(0, lanes, WIDTH):
        box = load_own_box(codes, start, b)
        for i in range(start + 1, stop):
            box = take_lesser(box, load_own_box(codes, i, b))
        store_vector(work.range, 0, 2 * b, box)
    total = np.int64(0)
    for a in range(d):
        lane = a // WIDTH * 2 * WIDTH + a % WIDTH
        total += np.int64(~work.range[0, lane + WIDTH]) - np.int64(work.range[0, lane])
    return total + d


@njit(nogil=True, cache=True)
def cut_counted(
    rows: TreeRows,
    start: int,
    stop: int,
    first: int,
    past: int,
    geometry: Geometry,
    demands: Demands,
    work: Slots,
    counters: Counters,
) -> tuple[int, int, int, int]:
    """The strict cut with the least loss: loss, tilt, attribute, largest code of the left half.

    The attribute is -1 if no cut is allowed.

    Only attributes ``first`` to ``past`` are looked at; ``work`` holds the partition's range. Tilt is how uneven the
    cut is. Ties: the more even cut, then the first attribute, then the lower bound.

    Cost: O(n d) in one pass, where the values of all attributes have room, and O(values d).
    """
    facts, table = geometry.facts, geometry.table
    codes, count, sets = rows.codes, rows.count, work.sets
    slots, room, used_slots, left_rows, wide, shift = work.slots, work.room, work.used, work.left, work.wide, work.shift
    half_mask, base, keep, grown, span = work.own, work.base, work.keep, work.grown, work.range
    n, d, lanes, words, k = stop - start, len(facts), codes.shape[1], len(half_mask), max(demands.k, 1)
    parts, number, mask = len(slots) // room, slots.shape[1] - 2, slots.shape[1] - 1
    checks, has_counts = len(demands.add) > 0, len(count) > 0
    best_loss, best_tilt, best_j, best_cut = NEVER, NEVER, -1, np.int64(0)
    group = np.int64(first)
    while group < past:
        # 1. Attributes group to behind have room together.
        behind, filled = group, np.int64(0)
        while behind < past:
            place = behind // WIDTH * 2 * WIDTH + behind % WIDTH
            low, values = np.int64(span[0, place]), np.int64(~span[0, place + WIDTH]) - np.int64(span[0, place]) + 1
            if filled > 0 and filled + values > room:
                break
            base[behind] = filled - low
            filled += values
            behind += 1
        # 2. Their frequency sets.
        for part in range(parts):
            for s in range(filled):
                clear_slot(slots, part * room + s, codes)
            b = min(part * WIDTH, lanes - WIDTH)
            for t in range(len(sets)):
                shift[t] = sets[t, SHIFT] + (sets[t, FIRST] - part) * 64
            for i in range(start, stop):
                size = np.int64(read_item(count, i)) if has_counts else np.int64(1)
                bits = np.uint64(0)
                for t in range(len(sets)):
                    bit = read_item(shift, t) + np.int64(read_lane(codes, i, sets[t, VALUE]))
                    if bit >= 0 and bit < 64:
                        bits |= np.uint64(1) << np.uint64(bit)
                row = load_own_box(codes, i, b)
                for j in range(group, behind):
                    meet(slots, part * room + read_item(base, j) + np.int64(read_lane(codes, i, j)), row, size, bits)
        for j in range(group, behind):
            place = j // WIDTH * 2 * WIDTH + j % WIDTH
            low, high = np.int64(span[0, place]), np.int64(~span[0, place + WIDTH])
            if low == high:
                continue
            # 3. Where it may be cut.
            values, total = np.int64(0), np.int64(0)
            for s in range(base[j] + low, base[j] + high + 1):
                total += slots[s, number]
                used_slots[values], left_rows[values] = s, total
                values += slots[s, number] > 0
            if checks:
                _by_slot(rows, start, stop, j, base[j], low, high, work)
                mark_allowed(demands, rows.number, work.order[:n], left_rows, values, counters, work.allowed)
            begin, end = np.int64(0), values - 1
            while begin < end and left_rows[begin] < k:
                begin += 1
            while end > begin and total - left_rows[end - 1] < k:
                end -= 1
            if begin >= end:
                continue
            # 4. The widths of both halves of every cut; the last slot is never in a left half, nor the first in a right
            # one.
            for half in range(2):
                for b in range(0, lanes, WIDTH):
                    part = b // WIDTH * room
                    own_lane = j if j >= b and j < b + WIDTH else lanes
                    bits = box_of(keep, own_lane, 2 * b)
                    width_sum = np.int64(0)
                    place = np.int64(0) if half == 0 else values - 1
                    edge = used_slots[place] - base[j]
                    last = slot_box(slots, part + used_slots[place], codes)
                    stale = True
                    for _ in range(end if half == 0 else values - 1 - begin):
                        s = used_slots[place]
                        now = take_lesser(last, slot_box(slots, part + s, codes))
                        stale |= differs(now, last, bits)
                        last = now
                        u = place if half == 0 else place - 1
                        place += 1 - 2 * half
                        if u < begin or u >= end:
                            continue
                        if stale:
                            stale, width_sum = False, np.int64(0)
                            store_vector(grown, 0, 2 * b, now)
                            for a in range(b, min(b + WIDTH, d)):
                                if a != j and facts[a, KIND] != SET:
                                    c = 2 * b + a - b
                                    width_sum += facts[a, WEIGHT] * measure_extent(
                                        facts[a, KIND],
                                        facts[a, SIZE],
                                        facts[a, NULLS],
                                        facts[a, LEVELS],
                                        facts[a, START],
                                        table,
                                        np.int64(grown[0, c]),
                                        np.int64(~grown[0, c + WIDTH]),
                                        np.int64(0),
                                    )
                        whole = width_sum
                        if own_lane == j and facts[j, KIND] != SET:
                            code = s - base[j]
                            whole += facts[j, WEIGHT] * measure_extent(
                                facts[j, KIND],
                                facts[j, SIZE],
                                facts[j, NULLS],
                                facts[j, LEVELS],
                                facts[j, START],
                                table,
                                min(edge, code),
                                max(edge, code),
                                np.int64(0),
                            )
                        wide[half, u] = whole if b == 0 else wide[half, u] + whole
                if words > 0:
                    for w in range(words):
                        half_mask[w] = 0
                    place, stale, width_sum = np.int64(0) if half == 0 else values - 1, True, np.int64(0)
                    for _ in range(end if half == 0 else values - 1 - begin):
                        s = used_slots[place]
                        for w in range(words):
                            merged = half_mask[w] | np.uint64(slots[w * room + s, mask])
                            stale |= merged != half_mask[w]
                            half_mask[w] = merged
                        u = place if half == 0 else place - 1
                        place += 1 - 2 * half
                        if u < begin or u >= end:
                            continue
                        if stale:
                            stale, width_sum = False, np.int64(0)
                            for t in range(len(sets)):
                                word, members = half_mask[sets[t, FIRST]], np.int64(0)
                                if sets[t, PAST] - sets[t, FIRST] > 1:
                                    for w in range(sets[t, FIRST], sets[t, PAST]):
                                        members += count_bits(half_mask[w])
                                else:
                                    word = (word >> np.uint64(sets[t, SHIFT])) & np.uint64(sets[t, BITS])
                                    members = count_bits(word)
                                if members > 1:
                                    null = sets[t, NULL] == 1 and word & np.uint64(1) != np.uint64(0)
                                    width_sum += sets[t, PRICE] * (SCALE if null else table[sets[t, TABLE] + members])
                        wide[half, u] += width_sum
            # 5. The best of them.
            for u in range(begin, end):
                if checks and not work.allowed[u]:
                    continue
                loss = wide[0, u] * left_rows[u] + wide[1, u] * (total - left_rows[u])
                if loss <= best_loss:
                    tilt = abs(2 * left_rows[u] - total)
                    if loss < best_loss or tilt < best_tilt:
                        best_loss, best_tilt, best_j, best_cut = loss, tilt, j, used_slots[u] - base[j]
        group = behind
    return best_loss, best_tilt, best_j, best_cut


@njit(nogil=True, cache=True)
def _by_slot(rows: TreeRows, start: int, stop: int, j: int, base: int, low: int, high: int, work: Slots) -> None:
    """Positions of the rows by their slot of ``j``, into ``work.order``; for checks of rows without counts."""
    place, end = work.place, np.int64(0)
    for code in range(low, high + 1):
        place[code - low] = end
        end += work.slots[base + code, work.slots.shape[1] - 2]
    for i in range(start, stop):
        s = np.int64(rows.codes[i, j]) - low
        work.order[place[s]] = i
        place[s] += 1
