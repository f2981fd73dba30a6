"""How exact sets of nominal attributes are counted from bit masks, prepared once for many boxes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import BIT, KIND, NULLS, SET, SIZE, START, WEIGHT, WORD, WORD_END, Geometry

FIRST, PAST, SHIFT, BITS, TABLE, PRICE, NULL, VALUE = range(8)
"""Columns of `describe_sets`."""


@njit(nogil=True, cache=True)
def words_of(facts: npt.NDArray[np.int64]) -> int:
    """Words of a row's mask."""
    words = np.int64(0)
    for a in range(len(facts)):
        words = max(words, facts[a, WORD_END])
    return words


@njit(nogil=True, cache=True)
def describe_sets(geometry: Geometry) -> npt.NDArray[np.int64]:
    """Figures for counting sets, int64[m, 8], the sets that have the first word alone first.

    Per set attribute the first and past-the-last word, the bit there, the bits of the codes, where the extents begin in
    the table, the weight, whether NULL is one of the codes, and the attribute's number.
    """
    facts = geometry.facts
    sets = np.empty((len(facts), 8), np.int64)
    m = 0
    for alone in (True, False):
        for a in range(len(facts)):
            if facts[a, KIND] == SET and (facts[a, WORD_END] == 1) == alone:
                codes = facts[a, SIZE] + facts[a, NULLS]
                sets[m, FIRST] = facts[a, WORD]
                sets[m, PAST] = facts[a, WORD_END]
                sets[m, SHIFT] = facts[a, BIT]
                sets[m, BITS] = -1 if codes >= 64 else (np.int64(1) << codes) - 1
                sets[m, TABLE] = facts[a, START]
                sets[m, PRICE] = facts[a, WEIGHT]
                sets[m, NULL] = facts[a, NULLS]
                sets[m, VALUE] = a
                m += 1
    return sets[:m]
