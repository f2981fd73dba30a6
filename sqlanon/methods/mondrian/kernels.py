"""Mondrian's loss cuts from given frequency sets.

They are for rows that are spread over processes, or too many for a process.

A slot is a value of an attribute within an open partition. It has the number of rows and their box, which can be
added up from parts of the rows; the cut that they lead to is that of `sqlanon.kernels.counted_cuts`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import (
    BIT,
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
    count_bits,
    measure_extent,
)
from sqlanon.kernels.sorted_cuts import NEVER


class Tree(NamedTuple):
    """Cuts so far; node 0 is the whole table.

    Attributes:
        attribute: int32[m], the attribute that a node is cut by; -1: it is a leaf.
        cut: int32[m], the largest code of the left half.
        left, right: int32[m], the halves.
    """

    attribute: npt.NDArray[np.int32]
    cut: npt.NDArray[np.int32]
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]


class Slots(NamedTuple):
    """Slots of some partitions, those of an attribute one after the other.

    Attributes:
        size: int64[p, v], rows.
        low, high: int32[p, v, d], the box of a slot's codes; of a slot without rows low is above high.
        sets: int64[p, v, w], the codes of `SET` attributes as bits, see `Geometry.facts`.
        held: int64[p, v, s], rows of each sensitive value, those of a column one after the other.
    """

    size: npt.NDArray[np.int64]
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    sets: npt.NDArray[np.int64]
    held: npt.NDArray[np.int64]


class Checks(NamedTuple):
    """Requirements of halves beyond k.

    Attributes:
        base: int64[c + 1], where each sensitive column's values begin in `Slots.held`, and their number.
        asked: int64[m, 4]: 1 where p different values are asked, 0 where most frequent * p <= rows * q; p; q; the
            column.
    """

    base: npt.NDArray[np.int64]
    asked: npt.NDArray[np.int64]


def make_slots(parts: int, values: int, d: int, words: int, widest: int) -> Slots:
    """Slots without rows."""
    return Slots(
        np.zeros((parts, values), np.int64),
        np.full((parts, values, d), np.iinfo(np.int32).max, np.int32),
        np.full((parts, values, d), -1, np.int32),
        np.zeros((parts, values, words), np.int64),
        np.zeros((parts, values, widest), np.int64),
    )


@njit(nogil=True, cache=True)
def find_leaves(codes: npt.NDArray[np.int32], tree: Tree) -> npt.NDArray[np.int32]:
    """The leaf of every row, int32[n], of codes int32[d, n]. Cost: O(n depth)."""
    n = codes.shape[1]
    leaf = np.zeros(n, np.int32)
    for i in range(n):
        node = np.int32(0)
        while tree.attribute[node] >= 0:
            node = tree.left[node] if codes[tree.attribute[node], i] <= tree.cut[node] else tree.right[node]
        leaf[i] = node
    return leaf


@njit(nogil=True, cache=True)
def count_slots(
    codes: npt.NDArray[np.int32],
    sensitive: npt.NDArray[np.int32],
    part: npt.NDArray[np.int32],
    base: npt.NDArray[np.int64],
    facts: npt.NDArray[np.int64],
    within: npt.NDArray[np.int64],
    slots: Slots,
) -> None:
    """Add rows to the slots of their partitions.

    Args:
        codes: int32[d, n].
        sensitive: int32[c, n], of the columns that are checked.
        part: int32[n], the place of every row's partition in ``slots``; -1: it is in none.
        base: int64[d], the slot of each attribute's code 0.
        facts: see `Geometry`.
        within: see `Checks.base`.
        slots: added to.

    Cost: O(n d (d + c)).
    """
    d, n = codes.shape
    words = slots.sets.shape[2]
    row = np.empty(d, np.int32)
    bits = np.zeros(words, np.int64)
    for i in range(n):
        p = part[i]
        if p < 0:
            continue
        bits[:] = 0
        for a in range(d):
            row[a] = codes[a, i]
            if facts[a, KIND] == SET:
                bit = facts[a, BIT] + row[a]
                bits[facts[a, WORD] + bit // 64] |= np.int64(1) << np.int64(bit % 64)
        for j in range(d):
            s = base[j] + row[j]
            slots.size[p, s] += 1
            low, high = slots.low[p, s], slots.high[p, s]
            for a in range(d):
                low[a] = min(low[a], row[a])
                high[a] = max(high[a], row[a])
            for w in range(words):
                slots.sets[p, s, w] |= bits[w]
            for c in range(len(sensitive)):
                slots.held[p, s, within[c] + sensitive[c, i]] += 1


@njit(nogil=True, cache=True)
def cut_slots(
    slots: Slots, p: int, base: npt.NDArray[np.int64], geometry: Geometry, k: int, checks: Checks
) -> tuple[int, int, int]:
    """The strict cut of a partition with the least loss.

    Returns the attribute (-1 if none is allowed), the largest code of the left half, and the rows of that half.

    Loss is rows times extents of the two halves. Ties: the more even cut, then the first attribute, then the lower
    code.

    Args:
        slots: all rows of the partition.
        p: the partition's place there.
        base: int64[d + 1], the slot of each attribute's code 0, and the number of slots.
        geometry: the attributes.
        k: rows of a half, at least.
        checks: requirements of a half beyond k.

    Cost: O(slots (d + sensitive values)).
    """
    facts, d, words = geometry.facts, len(geometry.facts), slots.sets.shape[2]
    total = np.int64(0)
    for s in range(base[0], base[1]):
        total += slots.size[p, s]
    best_loss, best_tilt, best_j, best_cut, best_left = NEVER, NEVER, -1, np.int64(0), np.int64(0)
    for j in range(d):
        used_slots = base[j] + np.flatnonzero(slots.size[p, base[j] : base[j + 1]])
        values = len(used_slots)
        if values < 2:
            continue
        wide = np.zeros((2, values), np.int64)
        allowed = np.ones(values, np.bool_)
        if len(checks.asked) > 0:
            _check(slots, p, used_slots, checks, allowed)
        for half in range(2):
            first = used_slots[0] if half == 0 else used_slots[values - 1]
            low, high, sets = (
                slots.low[p, first].copy(),
                slots.high[p, first].copy(),
                slots.sets[p, first].copy(),
            )
            for step in range(values - 1):
                value = step if half == 0 else values - 1 - step
                s = used_slots[value]
                for a in range(d):
                    low[a], high[a] = min(low[a], slots.low[p, s, a]), max(high[a], slots.high[p, s, a])
                for w in range(words):
                    sets[w] |= slots.sets[p, s, w]
                width = np.int64(0)
                for a in range(d):
                    width += facts[a, WEIGHT] * measure_extent(
                        facts[a, KIND],
                        facts[a, SIZE],
                        facts[a, NULLS],
                        facts[a, LEVELS],
                        facts[a, START],
                        geometry.table,
                        low[a],
                        high[a],
                        _members(sets, facts, a),
                    )
                wide[half, value if half == 0 else value - 1] = width  # by the last value of the left half
        left_rows = np.int64(0)
        for u in range(values - 1):
            left_rows += slots.size[p, used_slots[u]]
            if left_rows < k or total - left_rows < k or not allowed[u]:
                continue
            loss, tilt = wide[0, u] * left_rows + wide[1, u] * (total - left_rows), abs(2 * left_rows - total)
            if loss < best_loss or (loss == best_loss and tilt < best_tilt):
                best_loss, best_tilt, best_j = loss, tilt, j
                best_cut, best_left = used_slots[u] - base[j], left_rows
    return best_j, best_cut, best_left


@njit(nogil=True, cache=True)
def _members(sets: npt.NDArray[np.int64], facts: npt.NDArray[np.int64], a: int) -> int:
    """How many codes of attribute ``a`` are in the sets; 0 where it has none."""
    if facts[a, KIND] != SET:
        return np.int64(0)
    if facts[a, WORD_END] - facts[a, WORD] > 1:  # its words are its own
        members = np.int64(0)
        for w in range(facts[a, WORD], facts[a, WORD_END]):
            members += count_bits(np.uint64(sets[w]))
        return members
    codes = facts[a, SIZE] + facts[a, NULLS]
    word = np.uint64(sets[facts[a, WORD]]) >> np.uint64(facts[a, BIT])
    if codes < 64:
        word &= (np.uint64(1) << np.uint64(codes)) - np.uint64(1)
    return count_bits(word)


@njit(nogil=True, cache=True)
def _check(slots: Slots, p: int, used: npt.NDArray[np.int64], checks: Checks, allowed: npt.NDArray[np.bool_]) -> None:
    """Whether both halves of the cut after each slot meet the requirements of sensitive values."""
    base, bounds, values = checks.base, checks.asked, len(used)
    columns = len(base) - 1
    for half in range(2):
        counts = np.zeros(base[columns], np.int64)
        most, different, rows = np.zeros(columns, np.int64), np.zeros(columns, np.int64), np.int64(0)
        for step in range(values - 1):
            value = step if half == 0 else values - 1 - step
            rows += slots.size[p, used[value]]
            for c in range(columns):
                for x in range(base[c], base[c + 1]):
                    more = slots.held[p, used[value], x]
                    if more > 0:
                        different[c] += counts[x] == 0
                        counts[x] += more
                        most[c] = max(most[c], counts[x])
            for m in range(len(bounds)):
                c = bounds[m, 3]
                if bounds[m, 0] == 1:
                    met = different[c] >= bounds[m, 1]
                else:
                    met = most[c] * bounds[m, 1] <= rows * bounds[m, 2]
                if not met:
                    allowed[value if half == 0 else value - 1] = False
