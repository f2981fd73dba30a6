"""Rows and sums of columns as one system: the rows of a cell bound the sum, and the sum bounds the rows.

For each column an atom has a further number: the sum above the least that the rows can have. It is between 0 and the
rows times the width of the range. Any whole number in between is the sum of some rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.statistics.amounts import Range
from sqlanon.statistics.links import Links, join_links
from sqlanon.statistics.reach import End, Reach
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, SeenCells

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class Combinations:
    """The combinations that have sums, where atoms of rows are parts of them.

    Attributes:
        of: int64[margins, combinations], the cell of each in each margin; -1: none.
        whole: int64[atoms], the combination of each atom.
    """

    of: Longs
    whole: Longs


@dataclass(frozen=True, slots=True)
class Joint:
    """The system of rows and sums.

    Attributes:
        seen: the cells of both; first those of rows, over the first atoms.
        ranges: of each column the range of a row.
        atoms: number of atoms of rows.
        whole: int64[atoms], the combination of each, which has sums.
        combinations: number of combinations that have sums; of some there may be no atom.
    """

    seen: SeenCells
    ranges: tuple[Range, ...]
    atoms: int
    whole: Longs
    combinations: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Of each column the largest number of a row, without the sign."""
        return tuple(max(abs(of.low), abs(of.high), 1) for of in self.ranges)

    def rows(self, weight: Longs) -> Longs:
        """Weights of a sum of atoms of rows, over all atoms."""
        return np.concatenate([weight, np.zeros(len(self.seen.least) - self.atoms, np.int64)])

    def sums(self, column: int, weight: Longs, rows: int = 0) -> Longs:
        """Weights of a column's sum over combinations with weights, less so many units for each row.

        Args:
            column: the column's place among the sums.
            weight: int64[combinations].
            rows: units for each row.
        """
        weights = np.zeros(len(self.seen.least), np.int64)
        weights[: self.atoms] = (self.ranges[column].low - rows) * weight[self.whole]
        start = self.atoms + column * self.combinations
        weights[start : start + self.combinations] = weight
        return weights

    def above(self, column: int, combinations: Longs) -> Longs:
        """The atoms of a column's numbers of some combinations."""
        return self.atoms + column * self.combinations + combinations

    def bound(self, reach: Reach, column: int, weight: Longs) -> tuple[End, End]:
        """The least and the greatest sum over combinations with weights; without a program where shown cells say it."""
        above, rows = np.zeros(len(self.seen.least), np.int64), np.zeros(len(self.seen.least), np.int64)
        above[self.above(column, np.arange(self.combinations))] = weight
        rows[: self.atoms] = weight[self.whole]
        low = self.ranges[column].low
        if not low:
            return reach.bound(above)
        if reach.is_known(above) and reach.is_known(rows):
            (total, _), (count, _) = reach.bound(above), reach.bound(rows)
            assert total.value is not None
            assert count.value is not None
            end = End(total.value + low * count.value)
            return end, end
        return reach.bound(above + low * rows)

    def span(self, reach: Reach, column: int, combinations: Longs) -> tuple[int, int]:
        """The least and the greatest sum of some combinations; the ends of 64 bits where nothing bounds it."""
        if not self.ranges[column].low:
            low, high, _ = reach.span(self.above(column, combinations))
            return low, UNBOUNDED if high is None else high
        weight = np.zeros(self.combinations, np.int64)
        weight[combinations] = 1
        least, most = self.bound(reach, column, weight)
        return -UNBOUNDED if least.value is None else least.value, UNBOUNDED if most.value is None else most.value

    def within(self, column: int, least: Longs, most: Longs) -> Joint:
        """The same, where each combination's sum is known to be between two ends.

        Args:
            column: the column's place among the sums.
            least: int64[combinations]; the least of 64 bits: nothing is known.
            most: the same of the greatest.
        """
        seen, low = self.seen, self.ranges[column].low
        above = self.above(column, np.arange(self.combinations))
        if not low:
            least_of, most_of = seen.least.copy(), np.full(len(seen.least), UNBOUNDED, np.int64)
            if seen.most is not None:
                most_of = seen.most.copy()
            least_of[above], most_of[above] = np.maximum(least, 0), np.minimum(most_of[above], most)
            return replace(self, seen=replace(seen, least=least_of, most=most_of))
        unit = np.ones(len(seen.least), np.int64) if seen.links is None else seen.links.unit
        row = np.concatenate([np.arange(self.combinations), self.whole])
        atom = np.concatenate([above, np.arange(self.atoms)])
        factor = np.concatenate([np.ones(self.combinations, np.int64), np.full(self.atoms, low, np.int64)])
        links = Links(row, atom, factor, least, most, unit)
        every = [links] if seen.links is None else [seen.links, links]
        return replace(self, seen=replace(seen, links=join_links(every)))

    def table(self, count: Longs, sums: Sequence[Longs]) -> Longs:
        """A table of rows and of sums, as numbers of all atoms."""
        rows = np.zeros(self.combinations, np.int64)
        np.add.at(rows, self.whole, count)
        above = [total - of.low * rows for total, of in zip(sums, self.ranges, strict=True)]
        return np.concatenate([count, *above])


def join_sums(seen: SeenCells, sums: Sequence[tuple[Longs, Range]], parts: Combinations | None = None) -> Joint:
    """The system of rows and sums.

    Args:
        seen: the cells of rows.
        sums: of each column int64[cells], the sums of the first cells, of hidden ones anything; and the range of a row.
        parts: the combinations that have sums; None: each atom of rows has.

    Raises:
        PolicyError: a sum is not in the range of the rows.

    Cost: memory of the cells and atoms for each column.
    """
    many, cells = len(seen.least), len(seen.value)
    parts = parts or Combinations(seen.of, np.arange(many))
    combinations = parts.of.shape[1]
    bottom, top = seen.bounds()
    value, lows, highs, of, most = [seen.value], [bottom], [top], [seen.of], []
    links = [] if seen.links is None else [seen.links]
    total = many + len(sums) * combinations
    units = [np.ones(many, np.int64)]
    margins = max(len(seen.of), len(parts.of))
    for column, (published, ends) in enumerate(sums, 1):
        listed = len(published)
        above, width = np.full(cells, HIDDEN, np.int64), ends.high - ends.low
        shown = np.flatnonzero(seen.value[:listed] != HIDDEN)
        above[shown] = published[shown] - ends.low * seen.value[shown]
        if (above[shown] < 0).any() or (above[shown] > width * seen.value[shown]).any():
            raise PolicyError("a published sum is not in the range of its rows: no table has these numbers")
        value.append(above)
        lows.append(np.where(above == HIDDEN, 0, above))
        highs.append(np.where(above == HIDDEN, UNBOUNDED, above))
        of.append(np.where(parts.of >= 0, parts.of + column * cells, -1))
        units.append(np.full(combinations, max(width, 1), np.int64))
        most.append(np.full(combinations, UNBOUNDED if width else 0, np.int64))
        if width:
            start, number = many + (column - 1) * combinations, np.arange(combinations)
            row = np.concatenate([number, parts.whole])
            atom = np.concatenate([start + number, np.arange(many)])
            factor = np.concatenate([np.full(combinations, -1, np.int64), np.full(many, width, np.int64)])
            low, high = np.zeros(combinations, np.int64), np.full(combinations, UNBOUNDED, np.int64)
            links.append(Links(row, atom, factor, low, high, np.zeros(0, np.int64)))
            if seen.links is not None:  # pieces with equal numbers of rows have equal sums
                links.append(replace(seen.links, atom=seen.links.atom + start))
    unit = np.concatenate(units)
    own_most = np.full(many, UNBOUNDED, np.int64) if seen.most is None else seen.most
    joined = replace(
        seen,
        of=np.concatenate([_pad(rows, margins) for rows in of], axis=1),
        value=np.concatenate(value),
        least=np.concatenate([seen.least, np.zeros(total - many, np.int64)]),
        most=np.concatenate([own_most, *most]),
        ends=(np.concatenate(lows), np.concatenate(highs)),
        links=join_links([replace(some, unit=unit) for some in links]) if links else None,
    )
    return Joint(joined, tuple(ends for _, ends in sums), many, parts.whole, combinations)


def _pad(of: Longs, margins: int) -> Longs:
    """The same with further margins of no cells."""
    return np.concatenate([of, np.full((margins - len(of), of.shape[1]), -1, np.int64)])
