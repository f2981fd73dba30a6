"""From columns of codes to rows: what `mondrian.Rows` is made of, written in one pass."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.extent import BIT, KIND, NULLS, ORDERED, SCALE, SET, START, WORD, Geometry


@njit(nogil=True, cache=True)
def fill(
    columns: npt.NDArray[np.int32], geometry: Geometry, codes: npt.NDArray[np.int32],
    places: npt.NDArray[np.int32], sets: npt.NDArray[np.uint64], start: int, stop: int,
) -> None:  # fmt: skip
    """Write rows ``start`` to ``stop`` from columns.

    Args:
        columns: int32[d, n], codes.
        geometry: the attributes.
        codes, places: int32[n, lanes], zeros; see `mondrian.Rows`.
        sets: uint64[n, words], zeros.

    Cost: O(n d).
    """
    facts, table = geometry.facts, geometry.table
    d = len(columns)
    for i in range(start, stop):
        for a in range(d):
            code = columns[a, i]
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
