"""A small partition with the rows sorted by every attribute, once for all cuts; scratch of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import KIND, NULLS, ORDERED, SCALE, START, WEIGHT, Geometry
from sqlanon.kernels.lanes import WIDTH
from sqlanon.kernels.radix import order_stably
from sqlanon.kernels.rows import TreeRows
from sqlanon.kernels.set_masks import FIRST, SHIFT, VALUE, describe_sets, words_of
from sqlanon.kernels.vectors import load_lanes, read_item, read_lane, store_vector, write

FEW = 64
"""Rows that are sorted one by one."""


class Lists(NamedTuple):
    """Scratch of a thread for at most ``most`` rows.

    Attributes:
        places: int32[most, lanes], for boxes: a line's positions (NULL at -`SCALE`), other attributes' codes.
        masks: uint64[most, words], the row's bit in every `SET` attribute; at least one word.
        codes: int32[d * most], one attribute after the other.
        count: int32[most], source rows of each row.
        number: int32[most].
        own: codes as `TreeRows` has them, a copy.
        lists: uint32[2 * (d + 1) * most], twice: the rows' positions sorted by each attribute, and in their own order.
        final: uint32[most], positions in the order of the leaves.
        right: int64[most], by position: 1 in the right half of the cut.
        ends: int64[most + 1], per possible cut where the right half begins in the list.
        left: int64[most + 1], per possible cut the source rows of the left half.
        wide: int64[2 * (most + 1)], per possible cut the widths of both halves.
        open: int64[most + 1, 4], partitions to be looked at: from, to, which lists, source rows.
        order: int64[most], for sorting, and for checks.
        allowed: bool[most + 1].
        begin: int64[4 * most + 64], a counting sort's counts.
        weight: int32[1, lanes], weights of the attributes that are a line, else 0.
        sets: see `describe_sets`.
        grown: uint64[words], the set words of the half that grows.
    """

    places: npt.NDArray[np.int32]
    masks: npt.NDArray[np.uint64]
    codes: npt.NDArray[np.int32]
    count: npt.NDArray[np.int32]
    number: npt.NDArray[np.int32]
    own: npt.NDArray[np.int32]
    lists: npt.NDArray[np.uint32]
    final: npt.NDArray[np.uint32]
    right: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    wide: npt.NDArray[np.int64]
    open: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.bool_]
    begin: npt.NDArray[np.int64]
    weight: npt.NDArray[np.int32]
    sets: npt.NDArray[np.int64]
    grown: npt.NDArray[np.uint64]


@njit(nogil=True, cache=True)
def make_lists(rows: TreeRows, most: int, geometry: Geometry) -> Lists:
    """Scratch for partitions of at most ``most`` rows."""
    facts, lanes = geometry.facts, rows.codes.shape[1]
    d, words = len(facts), max(words_of(facts), 1)
    weight = np.zeros((1, lanes), np.int32)
    for a in range(d):
        if facts[a, KIND] == ORDERED:
            weight[0, a] = facts[a, WEIGHT]
    return Lists(
        np.zeros((most, lanes), np.int32),
        np.zeros((most, words), np.uint64),
        np.empty(d * most, np.int32),
        np.ones(most, np.int32),
        np.empty(most, np.int32),
        np.empty((most, lanes), rows.codes.dtype),
        np.empty(2 * (d + 1) * most, np.uint32),
        np.empty(most, np.uint32),
        np.empty(most, np.int64),
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty(2 * (most + 1), np.int64),
        np.empty((most + 1, 4), np.int64),
        np.empty(most, np.int64),
        np.empty(most + 1, np.bool_),
        np.empty(4 * most + 64, np.int64),
        weight,
        describe_sets(geometry),
        np.zeros(words, np.uint64),
    )


@njit(nogil=True, cache=True)
def sort_positions(codes: npt.NDArray[np.int32], start: int, n: int, lists: npt.NDArray[np.uint32]) -> None:
    """Write positions 0 to ``n`` to ``lists`` from ``start`` on, by their codes there, equal codes in order."""
    if n > FEW:
        order = order_stably(codes[start : start + n])
        for i in range(n):
            lists[start + i] = np.uint32(order[i])
        return
    for i in range(n):
        code, place = read_item(codes, start + i), start + i
        while place > start and read_item(codes, start + np.int64(read_item(lists, place - 1))) > code:
            write(lists, place, read_item(lists, place - 1))
            place -= 1
        write(lists, place, np.uint32(i))


@njit(nogil=True, cache=True)
def load(rows: TreeRows, start: int, stop: int, geometry: Geometry, work: Lists) -> int:
    """Copy rows ``start`` to ``stop`` and sort them by every attribute, stably.

    Returns the number of source rows.
    """
    facts, table = geometry.facts, geometry.table
    places, codes, masks, lists = work.places, work.codes, work.masks, work.lists
    n, d, most = stop - start, len(facts), len(work.final)
    for i in range(n):
        write(lists, d * most + i, np.uint32(i))
        work.number[i] = rows.number[start + i]
        for w in range(masks.shape[1]):
            masks[i, w] = 0
        for b in range(0, rows.codes.shape[1], WIDTH):
            store_vector(work.own, i, b, load_lanes(rows.codes, start + i, b))
    size = np.int64(n)
    if len(rows.count) > 0:
        size = 0
        for i in range(n):
            work.count[i] = rows.count[start + i]
            size += work.count[i]
    for a in range(d):
        low = high = np.int64(rows.codes[start, a])
        for i in range(n):
            code = np.int64(read_lane(rows.codes, start + i, a))
            write(codes, a * most + i, np.int32(code))
            low, high = min(low, code), max(high, code)
        kind, first = facts[a, KIND], facts[a, START]
        if kind == ORDERED:
            for i in range(n):
                places[i, a] = read_item(table, first + read_item(codes, a * most + i))
            if facts[a, NULLS] == 1 and low == 0:
                # NULL lies a whole scale before everything, so that an extent is a difference, cut at SCALE.
                for i in range(n):
                    if codes[a * most + i] == 0:
                        places[i, a] = -SCALE
        else:
            for i in range(n):
                places[i, a] = codes[a * most + i]
        if high - low + 2 <= len(work.begin):
            begin = work.begin
            for s in range(high - low + 2):
                begin[s] = 0
            for i in range(n):
                s = read_item(codes, a * most + i) - low + 1
                write(begin, s, read_item(begin, s) + 1)
            for s in range(1, high - low + 1):
                begin[s] += begin[s - 1]
            for i in range(n):
                s = read_item(codes, a * most + i) - low
                item = read_item(begin, s)
                write(lists, a * most + item, np.uint32(i))
                write(begin, s, item + 1)
        else:
            sort_positions(codes, a * most, n, lists)
    for t in range(len(work.sets)):
        a, first, shift = work.sets[t, VALUE], work.sets[t, FIRST], work.sets[t, SHIFT]
        for i in range(n):
            bit = shift + codes[a * most + i]
            masks[i, first + (bit >> 6)] |= np.uint64(1) << np.uint64(bit & 63)
    return size
