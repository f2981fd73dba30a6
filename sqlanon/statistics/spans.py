"""Least and greatest sums of many sets of atoms at once, over all tables that agree with the published cells.

Most ends follow from one published cell around a set and the ends of the other atoms in it (bounds of Fréchet), and one
linear program finds a table with hundreds of them. The remaining sets have separate programs until the time is over:
then bounds hold, and may be wider than necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.reach import ContradictionError, End, Reach
from sqlanon.statistics.reader_cells import UNBOUNDED, AtomRanges, SeenCells

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MISSES = 4
"""Programs for many sets end after so many that found nothing new."""
HEIGHT, SPREAD = 100, 30
"""Weights of a program for many sets are 100, and up to 30 more or less at each atom, so that programs differ."""
Span = tuple[int, int | None, bool]
"""The least and the greatest sum (None: nothing bounds it), and whether tables were found that have them."""


def find_spans(
    seen: SeenCells, reach: Reach, sets: Sequence[Longs], seconds: Callable[[], float], tables: Sequence[Longs] = ()
) -> list[Span]:
    """The span of each set.

    Args:
        seen: the published cells.
        reach: programs over them.
        sets: int64[n] each, atoms.
        seconds: time left, in seconds; without any more bounds hold, and are not known to be reached.
        tables: int64[atoms] each, which agree with the cells.

    Raises:
        ContradictionError: no table agrees with them.
        UnsupportedError: HiGHS is needed, and not installed.

    Cost: some scans of the sets for each margin; some linear programs, and one for each end that these leave.
    """
    if not sets:
        return []
    spans = _Spans(seen, reach.narrowed, sets)
    for table in tables:
        spans.note(table)
    draw, missed = np.random.default_rng(0), 0
    while missed < MISSES and spans.open and seconds() > 0:
        end = reach.least(spans.draw(draw))
        missed = 0 if end.table is not None and spans.note(end.table) else missed + 1
    for low in (True, False):
        for number in spans.list_left(low=low):
            if seconds() <= 0:
                break
            if number in spans.list_left(low=low):
                weight = spans.weight(number)
                spans.close(number, reach.least(weight) if low else reach.greatest(weight), low=low)
    return spans.list()


def find_simple_ends(seen: SeenCells, narrowed: AtomRanges, sets: Sequence[Longs]) -> tuple[Longs, Longs]:
    """Ends of sets by the atoms' own ends, and by each cell that contains a whole set; they hold, and may be wide.

    Args:
        seen: the published cells.
        narrowed: the ends of the atoms.
        sets: int64[n] each, atoms.

    Returns:
        int64[sets] twice; `UNBOUNDED`: nothing bounds it.

    Cost: some scans of the sets and of the atoms for each margin.
    """
    flat, starts = np.concatenate(sets), np.cumsum([0, *(len(members) for members in sets)])[:-1]
    free = narrowed.high >= UNBOUNDED
    parts = narrowed.low, np.where(free, 0, narrowed.high), free.astype(np.int64)
    low_of, high_of, free_of = (np.add.reduceat(part[flat], starts) for part in parts)
    low, high = low_of.copy(), np.where(free_of > 0, UNBOUNDED, high_of)
    bottom, top = seen.bounds()
    for row in seen.of:
        around = row[flat]
        cell = np.minimum.reduceat(around, starts)
        in_one_cell = np.flatnonzero((cell >= 0) & (cell == np.maximum.reduceat(around, starts)))
        cell, inside = cell[in_one_cell], row >= 0
        sums = [np.zeros(len(top), np.int64) for _ in parts]
        for total, values in zip(sums, parts, strict=True):
            np.add.at(total, row[inside], values[inside])
        rest_low, rest_high = sums[0][cell] - low_of[in_one_cell], sums[1][cell] - high_of[in_one_cell]
        closed, all_known = top[cell] < UNBOUNDED, sums[2][cell] == free_of[in_one_cell]
        high[in_one_cell] = np.where(closed, np.minimum(high[in_one_cell], top[cell] - rest_low), high[in_one_cell])
        low[in_one_cell] = np.where(all_known, np.maximum(low[in_one_cell], bottom[cell] - rest_high), low[in_one_cell])
    return low, high


class _Spans:
    """What is known of the sets."""

    def __init__(self, seen: SeenCells, narrowed: AtomRanges, sets: Sequence[Longs]) -> None:
        self._atoms = len(seen.least)
        self._at = np.cumsum([0, *(len(members) for members in sets)])
        self._flat = np.concatenate(sets)
        self._low, self._high = find_simple_ends(seen, narrowed, sets)
        if (self._low > self._high).any():
            raise ContradictionError(np.zeros(0, np.int64))
        self._low_met = self._high_met = self._low == self._high
        self._low_met, self._high_met = self._low_met.copy(), self._high_met | (self._high >= UNBOUNDED)

    def _sum(self, values: Longs) -> Longs:
        """The sum of each set."""
        return np.add.reduceat(values[self._flat], self._at[:-1])

    @property
    def open(self) -> bool:
        """Whether an end is left that no table was found to have."""
        return not (self._low_met.all() and self._high_met.all())

    def list_left(self, *, low: bool) -> list[int]:
        """The sets with such an end."""
        return np.flatnonzero(~(self._low_met if low else self._high_met)).tolist()

    def note(self, table: Longs) -> bool:
        """Note the ends that a table has; whether there are new ones."""
        sums = self._sum(table)
        low, high = (sums == self._low) & ~self._low_met, (sums == self._high) & ~self._high_met
        self._low_met |= low
        self._high_met |= high
        return bool(low.any() or high.any())

    def draw(self, draw: np.random.Generator) -> Longs:
        """Weights whose least sum has many sets at an end that is left: of each at one of both, by chance."""
        down = ~self._low_met & ((draw.random(len(self._low)) < 0.5) | self._high_met)
        sign = np.where(down, 1, np.where(~self._high_met, -1, 0))
        weight = np.zeros(self._atoms, np.int64)
        np.add.at(weight, self._flat, HEIGHT * np.repeat(sign, np.diff(self._at)))
        moved = weight + draw.integers(-SPREAD, SPREAD + 1, self._atoms)
        weights: Longs = np.where(weight != 0, moved, 0)
        return weights

    def weight(self, number: int) -> Longs:
        """Weights whose sum is that of a set."""
        weight = np.zeros(self._atoms, np.int64)
        weight[self._flat[self._at[number] : self._at[number + 1]]] = 1
        return weight

    def close(self, number: int, end: End, *, low: bool) -> None:
        """Note the end of a set that its own program found."""
        if end.value is not None:
            if low:
                self._low[number] = max(int(self._low[number]), end.value)
            else:
                self._high[number] = min(int(self._high[number]), end.value)
        if end.table is not None:
            self.note(end.table)

    def list(self) -> list[Span]:
        met = (self._low_met & self._high_met) | (self._low == self._high)
        ends = zip(self._low.tolist(), self._high.tolist(), met.tolist(), strict=True)
        return [(low, None if high >= UNBOUNDED else high, reached) for low, high, reached in ends]
