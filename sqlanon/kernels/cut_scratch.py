"""Scratch of one thread that looks for cuts: frequency sets with boxes, and what sets are counted with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.kernels.extent import (
    BIT,
    KIND,
    NULLS,
    ORDERED,
    SET,
    SIZE,
    START,
    WEIGHT,
    WORD,
    WORD_END,
    Geometry,
)
from sqlanon.kernels.rows import Spare

COUNT, PLACE, USED, CODE, ENDS, LOSS = range(6)


class Work(NamedTuple):
    """Scratch of one thread. A slot of a frequency set is a value (strict) or one row of the order (relaxed).

    Attributes:
        slot: int64[6, slots]. Per slot its rows (`COUNT`) and where its next row goes in ``order`` (`PLACE`); per
            used slot, in the order of values, its number (`USED`), its value (`CODE`), the rows up to and
            including it (`ENDS`) and the loss of the half that ends with it (`LOSS`).
        low: int32[slots + 1, lanes], the smallest places of a slot's rows; the last row is the growing half's.
        high: int32[slots + 1, lanes], the largest.
        mask: uint64[slots + 1, words], the sets of the same.
        allowed: bool[slots], per used slot whether the checks allow a cut after it.
        box: int32[2, lanes], smallest and largest codes of the partition.
        wide: int64[d], weighted extents.
        seen: int64[d, 3], ends and extent of the growing half in attributes that are no line.
        weight: int32[lanes], weights of the attributes that are a line, else 0.
        small: int64[m, 7], per set attribute its first and past-the-last word, its bit there, the bits of its codes, where its
            extents begin in the table, its weight, and whether NULL is one of its codes.
        spare: room of the caller.
    """

    slot: npt.NDArray[np.int64]
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    mask: npt.NDArray[np.uint64]
    allowed: npt.NDArray[np.bool_]
    box: npt.NDArray[np.int32]
    wide: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int64]
    weight: npt.NDArray[np.int32]
    small: npt.NDArray[np.int64]
    spare: Spare


@njit(nogil=True, cache=True)
def new_work(
    spare: Spare, geometry: Geometry, domains: npt.NDArray[np.int64], relaxed: bool, median: bool
) -> Work:
    """Scratch for partitions of at most as many rows as there are spare ones."""
    n, lanes = spare.rows.codes.shape
    d = len(domains)
    words = np.int64(0)
    for a in range(d):
        words = max(words, geometry.facts[a, WORD_END])
    slots = 1
    if relaxed and not median:
        slots = n + 1
    elif not median:
        for j in range(d):
            slots = max(slots, min(domains[j], max(4 * n, 64)) + 1)
    weight = np.zeros(lanes, np.int32)
    for a in range(d):
        if geometry.facts[a, KIND] == ORDERED:
            weight[a] = geometry.facts[a, WEIGHT]
    return Work(
        np.zeros((6, slots), np.int64), np.empty((slots + 1, lanes), np.int32), np.empty((slots + 1, lanes), np.int32),
        np.zeros((slots + 1, words), np.uint64), np.empty(slots, np.bool_), np.empty((2, lanes), np.int32),
        np.empty(d, np.int64), np.empty((d, 3), np.int64), weight, _small_sets(geometry), spare,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _small_sets(geometry: Geometry) -> npt.NDArray[np.int64]:
    """What a box's sets are counted with, see `Work`: found once, since a sweep counts after almost every row."""
    facts = geometry.facts
    found = np.empty((len(facts), 7), np.int64)
    m = 0
    for a in range(len(facts)):
        if facts[a, KIND] == SET:
            codes = facts[a, SIZE] + facts[a, NULLS]
            found[m, 0] = facts[a, WORD]
            found[m, 1] = facts[a, WORD_END]
            found[m, 2] = facts[a, BIT]
            found[m, 3] = -1 if codes >= 64 else (np.int64(1) << codes) - 1
            found[m, 4] = facts[a, START]
            found[m, 5] = facts[a, WEIGHT]
            found[m, 6] = facts[a, NULLS]
            m += 1
    return found[:m]
