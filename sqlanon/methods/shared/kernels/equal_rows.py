"""Rows of equal codes, found by hashing: a tree that keeps them together needs one row for all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.vectors import read_item, write

_MIX = np.uint64(0x9E3779B97F4A7C15)
_AHEAD = 256


@njit(nogil=True, cache=True, inline="always")
def _place(key: int, size: int) -> int:
    """Where a key is looked for first; the high bits of a product depend on all bits of the key."""
    mixed = np.uint64(key) * _MIX
    return np.int64((mixed >> np.uint64(32)) & np.uint64(size - 1))


@njit(nogil=True, cache=True)
def number_rows(
    codes: npt.NDArray[np.int32],
    shift: npt.NDArray[np.int64],
    places: npt.NDArray[np.int32],
    keys: npt.NDArray[np.int64],
    count: npt.NDArray[np.int32],
    groups: int,
    start: int,
    group: npt.NDArray[np.int32],
) -> tuple[int, int]:
    """Number rows by their codes, from ``start`` on, until no more groups have room.

    Args:
        codes: [d, n].
        shift: int64[d], the bit of a key where each attribute's codes begin; at most 62 bits in all.
        places: int32[size], a power of two: the hash table, group numbers or -1.
        keys: int64[size / 2], keys of the groups so far.
        count: int32[size / 2], their rows.
        groups: how many groups there are.
        start: the first row that has no number.
        group: int32[n], written.

    Returns:
        how many groups there are, and the next row.

    Cost: O(n d), a cache miss a row.
    """
    d, n = codes.shape
    size = len(places)
    packed_keys = np.empty(_AHEAD, np.int64)
    for first in range(start, n, _AHEAD):
        block = min(_AHEAD, n - first)
        if groups + block > len(keys):
            return groups, first
        for r in range(block):
            packed_keys[r] = 0
        for a in range(d):
            for r in range(block):
                packed_keys[r] |= np.int64(codes[a, first + r]) << shift[a]
        for r in range(block):
            key = read_item(packed_keys, r)
            slot = _place(key, size)
            g = np.int64(read_item(places, slot))
            while g >= 0 and read_item(keys, g) != key:
                slot = (slot + 1) & (size - 1)
                g = np.int64(read_item(places, slot))
            if g < 0:
                g = groups
                groups += 1
                write(places, slot, np.int32(g))
                write(keys, g, key)
                write(count, g, np.int32(0))
            write(count, g, np.int32(read_item(count, g) + 1))
            write(group, first + r, np.int32(g))
    return groups, n


@njit(nogil=True, cache=True)
def place_keys(keys: npt.NDArray[np.int64], groups: int, places: npt.NDArray[np.int32]) -> None:
    """Write a new hash table, as `number_rows` has it, of ``groups`` keys that differ. Cost: O(groups + size)."""
    size = len(places)
    places[:] = -1
    for g in range(groups):
        slot = _place(keys[g], size)
        while places[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        places[slot] = g


@njit(nogil=True, cache=True)
def unpack_keys(
    keys: npt.NDArray[np.int64],
    shift: npt.NDArray[np.int64],
    bits: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    start: int,
    stop: int,
) -> None:
    """The codes, [groups, lanes], of keys ``start`` to ``stop``."""
    for g in range(start, stop):
        for a in range(len(shift)):
            codes[g, a] = (keys[g] >> shift[a]) & ((np.int64(1) << bits[a]) - 1)
