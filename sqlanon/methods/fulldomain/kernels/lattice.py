"""Cells grouped at a node of a lattice: one level of generalization for every column.

A cell is a combination of codes with the number of rows, once for every combination of the sensitive codes that are
counted. A node of a column's level is known by the first code, so that the same tables roll up cells that are rolled
up already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.requirements import Counters, Demands, satisfied
from sqlanon.kernels.tally import Flags, Ints, Longs

_KEY_BITS = 62


class Maps(NamedTuple):
    """The node of every code at every level, as parts of a key: equal keys are equal nodes in all columns.

    Attributes:
        part: int64[*], by column, level and code: the node times the column's stride in the word.
        start: int64[d, levels], where the codes of a column's level begin.
        word: int64[d], the word of the key that a column is in.
        words: the number of words of a key: one, unless the product of the codes passes 62 bits.
    """

    part: Longs
    start: Longs
    word: Longs
    words: int


def make_maps(nodes: Sequence[npt.NDArray[np.int32]]) -> Maps:
    """From int32[levels, codes] a column: the first code of the node that a code is in."""
    start = np.zeros((len(nodes), max(len(node) for node in nodes)), np.int64)
    parts: list[Longs] = []
    word = np.zeros(len(nodes), np.int64)
    offset, stride, words = 0, 1, 0
    for j, node in enumerate(nodes):
        levels, codes = node.shape
        if (stride * codes).bit_length() > _KEY_BITS:
            stride, words = 1, words + 1
        word[j] = words
        start[j, :levels] = offset + np.arange(levels) * codes
        parts.append((node.astype(np.int64) * stride).ravel())
        offset += levels * codes
        stride *= codes
    return Maps(np.concatenate(parts), start, word, words + 1)


class GroupingArrays(NamedTuple):
    """Scratch arrays for grouping.

    They hold the records, their keys and groups, a hash table, and the key and first record of each group.
    """

    rows: Ints
    keys: npt.NDArray[np.int64]
    group: Ints
    slots: Ints
    held: npt.NDArray[np.int64]
    first: Ints
    size: Longs


def room_of(records: int, words: int) -> GroupingArrays:
    """Room for at most so many records; memory is taken where it is first written."""
    slots = 1 << max(2 * records - 1, 1).bit_length()
    return GroupingArrays(
        np.zeros(records, np.int32),
        np.zeros((words, records), np.int64),
        np.zeros(records, np.int32),
        np.zeros(slots, np.int32),
        np.zeros((records, words), np.int64),
        np.zeros(records, np.int32),
        np.zeros(records, np.int64),
    )


@njit(nogil=True, cache=True)
def group(codes: Ints, n: int, maps: Maps, node: npt.NDArray[np.int16], room: GroupingArrays) -> int:
    """Group the records ``room.rows[:n]`` at a node; groups are numbered in the order of their first records.

    ``room.group`` gets the group of each, ``room.first`` the place of each group's first record in ``room.rows``. A
    level of -1 leaves a column out.

    Returns:
        how many groups there are.

    Cost: O(n d), a probe of a hash table a record.
    """
    make_keys(codes, n, maps, node, room)
    return group_keys(n, maps.words, room)


@njit(nogil=True, cache=True)
def make_keys(codes: Ints, n: int, maps: Maps, node: npt.NDArray[np.int16], room: GroupingArrays) -> None:
    """``room.keys`` of the records ``room.rows[:n]`` at a node."""
    rows, keys, words = room.rows, room.keys, maps.words
    for w in range(words):
        for i in range(n):
            keys[w, i] = 0
    for j in range(len(node)):
        if node[j] < 0:
            continue
        column, part = codes[j], maps.part[maps.start[j, node[j]] :]
        key = keys[maps.word[j]]
        for i in range(n):
            key[i] += part[column[rows[i]]]


@njit(nogil=True, cache=True)
def hash_key(keys: npt.NDArray[np.int64], words: int, i: int) -> np.uint64:
    """A hash of the key of place ``i``."""
    h = np.uint64(0)
    for w in range(words):
        h = (h ^ np.uint64(keys[w, i])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    return h


@njit(nogil=True, cache=True)
def thin_out(n: int, words: int, room: GroupingArrays, counts: Longs, least: int, sums: npt.NDArray[np.uint8]) -> int:
    """Drop records in groups that surely have fewer than ``least`` rows.

    The other records keep their places, keys and order.

    Every record adds its rows to one of a few sums, by key; the sum is at least the rows of the group. The sums fit
    a processor's cache, where the hash table of all groups does not.

    Args:
        n: records in ``room.rows``, with their keys.
        words: of a key.
        room: changed.
        counts: rows of each record.
        least: rows of a group.
        sums: room for them; a power of two.

    Returns:
        how many are left.
    """
    rows, keys, least = room.rows, room.keys, min(least, 255)
    size = 64
    while size < len(sums) and size * least < 4 * n:
        size *= 2
    sums[:size] = 0
    mask = np.uint64(size - 1)
    for i in range(n):
        slot = np.int64(hash_key(keys, words, i) & mask)
        sums[slot] = min(sums[slot] + counts[rows[i]], 255)
    count = 0
    for i in range(n):
        if sums[np.int64(hash_key(keys, words, i) & mask)] >= least:
            rows[count] = rows[i]
            for w in range(words):
                keys[w, count] = keys[w, i]
            count += 1
    return count


@njit(nogil=True, cache=True)
def group_keys(n: int, words: int, room: GroupingArrays) -> int:
    """`group`, by keys that are made."""
    keys = room.keys
    size = 2
    while size < 2 * n:
        size *= 2
    slots, fill, mask = room.slots, room.held, size - 1
    for s in range(size):
        slots[s] = -1
    groups = 0
    for i in range(n):
        slot = np.int64(hash_key(keys, words, i) & np.uint64(mask))
        while True:
            g = slots[slot]
            if g < 0:
                g = groups
                slots[slot] = g
                for w in range(words):
                    fill[g, w] = keys[w, i]
                room.first[g] = i
                groups += 1
                break
            same = True
            for w in range(words):
                if fill[g, w] != keys[w, i]:
                    same = False
                    break
            if same:
                break
            slot = (slot + 1) & mask
        room.group[i] = g
    return groups


@njit(nogil=True, cache=True)
def add_up(n: int, groups: int, room: GroupingArrays, counts: Longs) -> None:
    """``room.size`` of each group: the sum of ``counts`` over the records."""
    for g in range(groups):
        room.size[g] = 0
    for i in range(n):
        room.size[room.group[i]] += counts[room.rows[i]]


@njit(nogil=True, cache=True)
def sort_by_group(label: Ints, n: int, groups: int) -> tuple[Longs, Ints]:
    """Begins of the groups, int64[groups + 1], and the places 0 to ``n`` in the order of their groups.

    A group below 0 means none.
    """
    start = np.zeros(groups + 1, np.int64)
    for i in range(n):
        if label[i] >= 0:
            start[label[i] + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    order, next_place = np.empty(start[groups], np.int32), start[:groups].copy()
    for i in range(n):
        g = label[i]
        if g >= 0:
            order[next_place[g]] = i
            next_place[g] += 1
    return start, order


@njit(nogil=True, cache=True)
def mark_meeting(demands: Demands, counters: Counters, label: Ints, counts: Longs, groups: int, holds: Flags) -> None:
    """Whether the rows of each group meet the tallies: ``holds``. Records below 0 are in none. Cost: rows x tallies.

    Args:
        demands: over the records.
        counters: for all rows.
        label: int32[m], the group of each record.
        counts: int64[m], the rows of each.
        groups: how many there are.
        holds: bool[groups].
    """
    start, order = sort_by_group(label, len(label), groups)
    most = np.int64(0)
    for g in range(groups):
        rows = np.int64(0)
        for index in range(start[g], start[g + 1]):
            rows += counts[order[index]]
        most = max(most, rows)
    rows_of, places = np.empty(most, np.int32), np.arange(most)
    for g in range(groups):
        n = 0
        for index in range(start[g], start[g + 1]):
            for _ in range(counts[order[index]]):
                rows_of[n] = order[index]
                n += 1
        holds[g] = satisfied(demands, rows_of, places[:n], counters)
