"""Sums from the view of readers: numbers of zero and more, above the least that rows and range allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amounts import Range
from sqlanon.statistics.reach import End, Reach
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, AtomRanges, SeenCells

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_TOP = 2**52
"""Larger sums of an atom are taken for unbounded."""


@dataclass(frozen=True, slots=True)
class ShiftedSums:
    """Sums over atoms, each above a base that readers know.

    Attributes:
        seen: the cells; the value of an atom is the sum above the base.
        base: int64[atoms].
        rows: the possible numbers of rows of each atom.
        of: the range of a row.
    """

    seen: SeenCells
    base: Longs
    rows: AtomRanges
    of: Range

    def bound(self, reach: Reach, weight: Longs) -> tuple[End, End]:
        """The least and the greatest sum of the atoms with such weights, of 0 or more."""
        low, high = reach.bound(weight)
        base = int(sum(a * b for a, b in zip(weight.tolist(), self.base.tolist(), strict=True)))
        open_below = bool((self.base[weight != 0] <= -MOST_TOP).any())
        return (
            End(None if low.value is None or open_below else low.value + base, low.table),
            End(None if high.value is None else high.value + base, high.table),
        )

    def span(self, reach: Reach, atoms: Longs) -> tuple[int, int]:
        """The least and the greatest sum of some atoms; the ends of 64 bits where nothing bounds it."""
        low, high, _ = reach.span(atoms)
        base = int(self.base[atoms].sum())
        least = -UNBOUNDED if low + base <= -(MOST_TOP // 2) else low + base
        return least, UNBOUNDED if high is None else high + base


def shift_sums(margins: Longs, value: Longs, hidden: Flags, rows: AtomRanges, of: Range) -> ShiftedSums:
    """Sums as a reader sees them.

    Args:
        margins: int64[margins, atoms], the cell of each atom in each margin; -1: none.
        value: int64[cells], the sums; of hidden cells anything.
        hidden: bool[cells].
        rows: the possible numbers of rows of each atom.
        of: the range of a row.
    """
    most = np.minimum(rows.high, MOST_TOP // (1 + max(abs(of.low), abs(of.high))))
    unknown = most < rows.high
    base = np.minimum(of.low * rows.low, of.low * most)
    top = np.maximum(of.high * rows.low, of.high * most) - base
    top[unknown] = UNBOUNDED
    if of.low < 0 and unknown.any():
        # Without a greatest number of rows nothing bounds a negative sum from below.
        base[unknown] = -MOST_TOP
    above = np.full(len(value), HIDDEN, np.int64)
    for row in margins:
        listed = row >= 0
        sums = np.zeros(len(value), np.int64)
        np.add.at(sums, row[listed], base[listed])
        cells = np.unique(row[listed])
        cells = cells[~hidden[cells]]
        above[cells] = value[cells] - sums[cells]
    zeros = np.zeros(len(base), np.int64)
    return ShiftedSums(SeenCells(margins, above, zeros, (), {}, 0, top), base, rows, of)
