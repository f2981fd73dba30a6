"""Conditions between published numbers that sums of atoms cannot express: weighted sums between two ends.

There are two kinds. Sums of two tables over their common columns are equal; and the sum of a column is within the range
of a row times the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


OPEN = 2**62
"""The greatest value of an unbounded number."""
MOST = 2.0**60
"""Products of a factor and an end that are larger are taken for unbounded."""


@dataclass(frozen=True, slots=True)
class Links:
    """Conditions ``low <= sum of factor * atom <= high``, entry by entry.

    Attributes:
        row, atom, factor: int64[entries]; each atom once in a row.
        low, high: int64[rows]; `OPEN`, with a sign: nothing bounds it.
        unit: int64[atoms], the unit in which programs solve an atom.
    """

    row: Longs
    atom: Longs
    factor: Longs
    low: Longs
    high: Longs
    unit: Longs

    def narrow(self, low: Longs, high: Longs) -> tuple[Longs, Longs]:
        """Narrower ends of atoms: of each condition by the ends of the condition's other atoms."""
        low, high = low.copy(), high.copy()
        factor, positive = self.factor, self.factor > 0
        ends = np.where(positive, low[self.atom], high[self.atom]), np.where(positive, high[self.atom], low[self.atom])
        bounds = []
        for end in ends:
            open_end = (end >= OPEN) | (np.abs(factor.astype(np.float64)) * end > MOST)
            part = np.where(open_end, 0, factor * np.where(open_end, 0, end))
            total, opened = np.zeros((2, len(self.low)), np.int64)
            np.add.at(total, self.row, part)
            np.add.at(opened, self.row, open_end.astype(np.int64))
            bounds.append((total[self.row] - part, opened[self.row] - open_end == 0))
        (least, least_known), (most, most_known) = bounds
        top, bottom = self.high[self.row], self.low[self.row]
        closed = least_known & (top < OPEN)
        most_known &= bottom > -OPEN
        room, need = np.where(closed, top - least, 0), np.where(most_known, bottom - most, 0)
        for some, limit in ((closed, room), (most_known, need)):
            upper = some & (positive == (limit is room))
            if upper.any():
                np.minimum.at(high, self.atom[upper], limit[upper] // factor[upper])
            lower = some & ~upper
            if lower.any():
                np.maximum.at(low, self.atom[lower], -(-limit[lower] // factor[lower]))
        return low, high

    def reduce(self, free: Longs, values: Longs) -> Links:
        """The conditions over the free atoms alone, numbered anew; those without any are left out.

        Args:
            free: int64[free atoms], their places, in ascending order.
            values: int64[atoms], the values of the others.
        """
        place = np.full(len(values), -1, np.int64)
        place[free] = np.arange(len(free))
        is_free = place[self.atom] >= 0
        rest = np.zeros(len(self.low), np.int64)
        np.add.at(rest, self.row[~is_free], self.factor[~is_free] * values[self.atom[~is_free]])
        rows, number = np.unique(self.row[is_free], return_inverse=True)
        high = np.where(self.high[rows] < OPEN, self.high[rows] - rest[rows], OPEN)
        atoms = place[self.atom[is_free]]
        low = np.where(self.low[rows] > -OPEN, self.low[rows] - rest[rows], -OPEN)
        return Links(number.reshape(-1), atoms, self.factor[is_free], low, high, self.unit[free])

    def pick(self, atoms: Longs, rows: Longs) -> Links:
        """The conditions of some rows, all of whose atoms are among some, numbered anew by both."""
        place = np.full(len(self.unit), -1, np.int64)
        place[atoms] = np.arange(len(atoms))
        number = np.full(len(self.low), -1, np.int64)
        number[rows] = np.arange(len(rows))
        some = number[self.row] >= 0
        inside, of = place[self.atom[some]], number[self.row[some]]
        return Links(of, inside, self.factor[some], self.low[rows], self.high[rows], self.unit[atoms])

    def sum(self, table: Longs) -> Longs:
        """int64[rows], the sum of each condition."""
        sums = np.zeros(len(self.low), np.int64)
        np.add.at(sums, self.row, self.factor * table[self.atom])
        return sums

    @property
    def row_unit(self) -> Longs:
        """int64[rows], the largest unit of the atoms of each condition."""
        units = np.ones(len(self.low), np.int64)
        np.maximum.at(units, self.row, self.unit[self.atom])
        return units


def join_links(parts: list[Links]) -> Links:
    """All conditions of some lists over the same atoms."""
    starts = np.cumsum([0, *(len(part.low) for part in parts)])
    row = np.concatenate([part.row + start for part, start in zip(parts, starts, strict=False)])
    unit = np.max(np.stack([part.unit for part in parts]), axis=0)
    atom, factor, low, high = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("atom", "factor", "low", "high")
    )
    return Links(row, atom, factor, low, high, unit)
