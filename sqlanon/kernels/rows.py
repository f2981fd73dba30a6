"""Rows as kernels take them: codes, places and sets side by side, and how they are written from columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.extent import BIT, KIND, NULLS, ORDERED, SCALE, SET, START, WORD, Geometry


class Rows(NamedTuple):
    """n rows as kernels take them, permuted in place together.

    Attributes:
        codes: int32[n, lanes].
        places: int32[n, lanes], what boxes are made of: a line's positions (NULL at -`SCALE`), other attributes' codes.
        sets: uint64[n, words], per row its bit in every `SET` attribute.
        number: int32[n], row numbers; they index the arrays of `Demands`.
    """

    codes: npt.NDArray[np.int32]
    places: npt.NDArray[np.int32]
    sets: npt.NDArray[np.uint64]
    number: npt.NDArray[np.int32]

    def part(self, start: int, stop: int) -> Rows:
        """Rows ``start`` to ``stop``, a view."""
        return Rows(
            self.codes[start:stop], self.places[start:stop], self.sets[start:stop], self.number[start:stop]
        )

    def then(self, more: Rows) -> Rows:
        """These rows, then others, in new arrays."""
        return Rows(
            np.concatenate([self.codes, more.codes]),
            np.concatenate([self.places, more.places]),
            np.concatenate([self.sets, more.sets]),
            np.concatenate([self.number, more.number]),
        )


class Spare(NamedTuple):
    """Scratch memory as large as the rows, allocated by the caller: one piece for all threads.

    Attributes:
        rows: the right half while the left one moves.
        order: int64[n], row positions by slot.
    """

    rows: Rows
    order: npt.NDArray[np.int64]

    def part(self, start: int, stop: int) -> Spare:
        """What belongs to rows ``start`` to ``stop``, a view."""
        return Spare(self.rows.part(start, stop), self.order[start:stop])


@njit(nogil=True, cache=True)
def pack(
    columns: npt.NDArray[np.int32], packed: npt.NDArray[np.int32], start: int, stop: int
) -> None:  # fmt: skip
    """Lay rows ``start`` to ``stop`` of int32[d, n] columns out as rows of int32[n, lanes]. Cost: O(n d)."""
    for i in range(start, stop):
        for a in range(len(columns)):
            packed[i, a] = columns[a, i]


@njit(nogil=True, cache=True)
def fill(
    packed: npt.NDArray[np.int32], number: npt.NDArray[np.int32], geometry: Geometry,
    codes: npt.NDArray[np.int32], places: npt.NDArray[np.int32], sets: npt.NDArray[np.uint64], start: int, stop: int,
) -> None:  # fmt: skip
    """Write rows ``start`` to ``stop``, which are in random places: one cache miss a row.

    Args:
        packed: int32[*, lanes], codes; see `pack`.
        number: int32[n], the row of ``packed`` of each row.
        geometry: the attributes.
        codes, places: int32[n, lanes], zeros; see `Rows`.
        sets: uint64[n, words], zeros.

    Cost: O(n d).
    """
    facts, table = geometry.facts, geometry.table
    d = len(facts)
    for i in range(start, stop):
        row = number[i]
        for a in range(d):
            code = packed[row, a]
            kind = facts[a, KIND]
            codes[i, a] = code
            if kind == ORDERED:
                # NULL lies a whole scale before everything, so that an extent is a difference, cut at SCALE.
                null = code == 0 and facts[a, NULLS] == 1
                places[i, a] = -SCALE if null else table[facts[a, START] + code]
            elif kind == SET:
                bit = code + facts[a, BIT]
                sets[i, facts[a, WORD] + (bit >> 6)] |= np.uint64(1) << np.uint64(bit & 63)
            else:
                places[i, a] = code
