"""Rows as kernels take them: codes, places and sets side by side, and how they are written from columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import BIT, KIND, NULLS, ORDERED, SCALE, SET, START, WORD, Geometry
from sqlanon.kernels.lanes import WIDTH
from sqlanon.kernels.vectors import load_lanes, read_item, read_lane, store_vector

_BLOCK = 256
"""Rows that are written together: they stay in the nearest cache from attribute to attribute."""


class Rows(NamedTuple):
    """n rows as kernels take them, permuted in place together.

    Attributes:
        codes: int32[n, lanes]; no rows where nobody asked for them.
        places: int32[n, lanes], for boxes: a line's positions (NULL at -`SCALE`), other attributes' codes.
        sets: uint64[n, words], the row's bit in every `SET` attribute.
        number: int32[n], row numbers; they index the arrays of `Demands`.
    """

    codes: npt.NDArray[np.int32]
    places: npt.NDArray[np.int32]
    sets: npt.NDArray[np.uint64]
    number: npt.NDArray[np.int32]

    def part(self, start: int, stop: int) -> Rows:
        """Rows ``start`` to ``stop``, a view."""
        return Rows(self.codes[start:stop], self.places[start:stop], self.sets[start:stop], self.number[start:stop])

    def then(self, more: Rows) -> Rows:
        """These rows, then others, in new arrays."""
        return Rows(
            np.concatenate([self.codes, more.codes]),
            np.concatenate([self.places, more.places]),
            np.concatenate([self.sets, more.sets]),
            np.concatenate([self.number, more.number]),
        )


class TreeRows(NamedTuple):
    """n rows as trees take them: only the compared columns of a row, since rows are moved often.

    Attributes:
        codes: int16[n, lanes], or int32 where a domain is larger; unused lanes hold zeros.
        number: int32[n], as in `Rows`.
        count: int32[n], source rows of each row; empty: 1 of each.
    """

    codes: npt.NDArray[np.int32]
    number: npt.NDArray[np.int32]
    count: npt.NDArray[np.int32]

    def part(self, start: int, stop: int) -> TreeRows:
        """Rows ``start`` to ``stop``, a view."""
        return TreeRows(self.codes[start:stop], self.number[start:stop], self.count[start:stop])


@njit(nogil=True, cache=True)
def pack(columns: npt.NDArray[np.int32], packed: npt.NDArray[np.int32], start: int, stop: int) -> None:
    """Lay rows ``start`` to ``stop`` of [d, n] columns out as rows of [n, lanes]. Cost: O(n d)."""
    for i in range(start, stop):
        for a in range(len(columns)):
            packed[i, a] = columns[a, i]


@njit(nogil=True, cache=True)
def pick(
    packed: npt.NDArray[np.int32], number: npt.NDArray[np.int32], codes: npt.NDArray[np.int32], start: int, stop: int
) -> None:
    """Copy rows ``number[start]`` to ``number[stop - 1]`` of ``packed``, which are in random places.

    Cost: one cache miss a row.
    """
    for i in range(start, stop):
        for b in range(0, codes.shape[1], WIDTH):
            store_vector(codes, i, b, load_lanes(packed, np.int64(number[i]), b))


@njit(nogil=True, cache=True)
def fill(
    bare: npt.NDArray[np.int32],
    geometry: Geometry,
    codes: npt.NDArray[np.int32],
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    start: int,
    stop: int,
) -> None:
    """Write rows ``start`` to ``stop``.

    Args:
        bare: [n, lanes], codes; see `TreeRows`.
        geometry: the attributes.
        codes: int32[n, lanes], zeros; see `Rows`. Without rows: nobody asks for them.
        places: int32[n, lanes], zeros.
        sets: uint64[n, words], zeros.

    Cost: O(n d).
    """
    facts, table = geometry.facts, geometry.table
    has_codes = len(codes) > 0
    for first in range(start, stop, _BLOCK):
        past = min(first + _BLOCK, stop)
        for a in range(len(facts)):
            kind = facts[a, KIND]
            if has_codes:
                for i in range(first, past):
                    codes[i, a] = bare[i, a]
            if kind == ORDERED:
                begin = facts[a, START]
                for i in range(first, past):
                    places[i, a] = read_item(table, begin + np.int64(read_lane(bare, i, a)))
                if facts[a, NULLS] == 1:
                    # NULL lies a whole scale before everything, so that an extent is a difference, cut at SCALE.
                    for i in range(first, past):
                        if bare[i, a] == 0:
                            places[i, a] = -SCALE
            elif kind == SET:
                word, bit = facts[a, WORD], facts[a, BIT]
                for i in range(first, past):
                    bit_index = np.int64(read_lane(bare, i, a)) + bit
                    sets[i, word + (bit_index >> 6)] |= np.uint64(1) << np.uint64(bit_index & 63)
            else:
                for i in range(first, past):
                    places[i, a] = bare[i, a]
