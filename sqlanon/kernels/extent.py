"""How wide a box is in one attribute, as an integer: the number that every decision compares.

An attribute's tables are packed into one `Geometry`, a tuple of arrays, so that a kernel takes it whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

SCALE = 1 << 20
"""An extent of the whole domain."""

ORDERED, TREE, SET, SPAN = 0, 1, 2, 3
"""Kinds of attribute: positions on a line; a hierarchy; a nominal set as a bit mask; a large nominal domain
with sets that are bounded by the span of their codes."""

MASK_LIMIT = 256
"""Nominal domains up to this many values are scored by exact sets."""


KIND, SIZE, NULLS, WEIGHT, START, LEVELS, WORD, WORD_END, BIT = range(9)
"""Columns of `Geometry.facts`."""


class Geometry(NamedTuple):
    """Facts about d attributes for kernels, packed into two arrays because a call with many is expensive.

    Attributes:
        facts: int64[d, 9]. Per attribute: the kind (`ORDERED`, `TREE`, `SET`, `SPAN`); values of the domain without
            NULL (leaves of a hierarchy); 1 where code 0 is NULL; the weight; where the attribute's part of ``table``
            begins; levels of a tree above the leaves, else 0; the first and past-last mask word and the bit of the
            first code there (`SET` only; an attribute of more than one word shares them with no other).
        table: int64[*], positions by code, extents by number of members, or tree levels, all attributes one after
            the other. Level h of a tree holds, per leaf, the number of the leaf's node, then, per leaf, that node's
            extent.
    """

    facts: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def count_bits(word: np.uint64) -> np.int64:
    """Bits set in a 64-bit word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(nogil=True, cache=True)
def measure_extent(
    kind: int,
    size: int,
    null: int,
    levels: int,
    start: int,
    table: npt.NDArray[np.int64],
    low: int,
    high: int,
    members: int,
) -> int:
    """Extent of codes ``low`` to ``high`` of one attribute, in 0 to `SCALE`.

    Args:
        kind, size, null, levels, start, table: the attribute, see `Geometry`.
        low: smallest code of the box.
        high: largest code of the box.
        members: distinct codes in the box; only looked at for `SET`.
    """
    if low == high:
        return 0
    if null == 1 and low == 0:
        return SCALE
    if kind == ORDERED:
        return table[start + high] - table[start + low]
    if kind == TREE:
        low -= null
        high -= null
        for level in range(levels):
            offset = start + 2 * level * size
            if table[offset + low] == table[offset + high]:
                return table[offset + size + low]
        return SCALE
    return table[start + (members if kind == SET else high - low + 1)]
