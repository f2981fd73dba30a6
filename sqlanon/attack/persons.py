"""Readers of rows and persons together, where persons have several rows: linear programs over both.

A reader knows that rows add up, that a cell has at least the persons of each part and at most their sum, and no more
persons than rows. Nothing else is used of whole persons: intervals may be narrower, not wider.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.results.counts import CountsReader
from sqlanon.statistics.highs import NEAR, import_highs, make_program, make_solver
from sqlanon.statistics.person_bounds import list_steps
from sqlanon.statistics.reader_cells import HIDDEN, Label, SeenCells, list_atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs

Known = Mapping[int, Mapping[tuple[Label, ...], int]]
"""Of each insider the rows of the combinations that nobody else has."""


@dataclass(frozen=True)
class PersonTarget:
    """The small cells that readers look for.

    Attributes:
        seen: the cells over the finest combinations, with their persons.
        rows: int64[cells], the published rows, `HIDDEN` where they are hidden; None: no rows are published.
        levels: int64[columns, cells].
        persons: int64[cells], the true numbers.
        true_rows: int64[cells], the same of rows.
        small: bool[cells].
        most: each small cell may have so many persons, it is promised.
        seconds: time left.
    """

    seen: SeenCells
    rows: Longs | None
    levels: Longs
    persons: Longs
    true_rows: Longs
    small: Flags
    most: int
    seconds: Callable[[], float]

    def attack(self, private: Known, most: int, *, promised: bool) -> list[CountsReader]:
        """Readers of the small cells' absence alone, of the view, and insiders, of whom so many are tried at most."""
        persons = np.where(self.small, HIDDEN, self.persons)
        rows = None if self.rows is None else np.where(self.small, HIDDEN, self.true_rows)
        naive = replace(self, seen=replace(self.seen, value=persons), rows=rows)
        return [
            naive.read("naive", promised=False),
            self.read("outsider", promised=True),
            self._read_insiders(private, most, promised=promised),
        ]

    def over(self, seen: SeenCells) -> PersonTarget:
        """The same cells for readers of a release of rows as well.

        Args:
            seen: the cells over the parts, then the rows of classes, which have no persons; see `see_classes`.
        """
        of_classes = seen.value[len(self.persons) :]
        rows = np.full(len(self.persons), HIDDEN, np.int64) if self.rows is None else self.rows
        return replace(self, seen=seen, rows=np.concatenate([rows, of_classes]))

    def read(self, name: str, *, promised: bool) -> CountsReader:
        """A reader without knowledge of persons."""
        program = _Program(self)
        cells = np.flatnonzero(self.small & (self.seen.value[: len(self.small)] == HIDDEN)).tolist()
        return self._report(name, (1, 1), (program.span(cell) for cell in cells), promised=promised)

    def _read_insiders(self, private: Known, most: int, *, promised: bool) -> CountsReader:
        owners = sorted(private)
        insiders = owners if len(owners) <= most else sorted(random.Random(0).sample(owners, most))  # noqa: S311

        def look() -> Iterator[tuple[int, int | None, bool]]:
            for owner in insiders:
                own_rows = {
                    self.seen.places[atom]: rows for atom, rows in private[owner].items() if atom in self.seen.places
                }
                alone = self._list_inside(own_rows)
                program = _Program(self, own_rows, alone)
                for cell in np.flatnonzero(self.small & (self.seen.value == HIDDEN)).tolist():
                    if cell not in alone:
                        yield program.span(cell)

        return self._report("insider", (len(insiders), len(owners)), look(), promised=promised)

    def _list_inside(self, own_rows: Mapping[int, int]) -> set[int]:
        """The cells that have no other combinations than these."""
        is_own = np.zeros(len(self.seen.atoms), bool)
        is_own[list(own_rows)] = True
        inside: set[int] = set()
        for row in self.seen.of:
            size = np.bincount(row[row >= 0], minlength=len(self.persons))
            of_own = np.bincount(row[is_own & (row >= 0)], minlength=len(self.persons))
            inside |= set(np.flatnonzero((size > 0) & (size == of_own)).tolist())
        return inside

    def _report(
        self, name: str, readers: tuple[int, int], spans: Iterator[tuple[int, int | None, bool]], *, promised: bool
    ) -> CountsReader:
        intervals = list(spans)
        exact = sum(low == high for low, high, _ in intervals)
        below = sum(high is not None and high < self.most for _, high, _ in intervals)
        late = sum(not ended for _, _, ended in intervals)
        chances = [0.0 if high is None else 1 / (high - low + 1) for low, high, _ in intervals]
        guess = math.fsum(chances) / max(len(intervals), 1)
        return CountsReader(name, *readers, len(intervals), exact, below, late, guess, promised)


class _Program:
    """A linear program of the rows of each finest combination and the persons of each cell."""

    def __init__(
        self, of: PersonTarget, own_rows: Mapping[int, int] | None = None, alone: Collection[int] = ()
    ) -> None:
        self._highs, self._seconds = import_highs(), of.seconds
        infinite, seen = self._highs.kHighsInf, of.seen
        cells, atoms = len(of.persons), seen.of.shape[1]
        value = seen.value[:cells]
        low, high = np.where(value == HIDDEN, 1.0, value), np.where(value == HIDDEN, infinite, value)
        low[list(alone)] = high[list(alone)] = 1.0
        # Of linked tables no cell says which combinations occur; a cell of one person has a row.
        row_low, row_high = np.zeros(atoms), np.full(atoms, infinite)
        for atom, rows in (own_rows or {}).items():
            row_low[atom] = row_high[atom] = rows
        self._index: list[Longs] = []
        self._value: list[Any] = []
        self._bounds: list[tuple[float, float]] = []
        if of.rows is not None:
            self._add_rows(of, cells)
        for whole, part in list_steps(of.levels, seen.of):
            for cell in np.unique(whole):
                parts = part[whole == cell]
                self._add(np.append(parts, cell), np.append(np.ones(len(parts)), -1.0), 0.0, infinite)
            for cell, inside in zip(whole.tolist(), part.tolist(), strict=True):
                self._add(np.array([cell, inside]), np.array([1.0, -1.0]), 0.0, infinite)
        ends = (np.append(low, row_low), np.append(high, row_high))
        row_ends = (np.array([low for low, _ in self._bounds]), np.array([high for _, high in self._bounds]))
        starts, index = np.cumsum([0, *map(len, self._index)]), np.concatenate([np.zeros(0, np.int32), *self._index])
        matrix = (starts, index, np.concatenate([np.zeros(0), *self._value]))
        self._solver = make_solver(make_program(np.zeros(cells + atoms), ends, row_ends, matrix))

    def _add(self, index: Longs, value: Any, low: float, high: float) -> None:  # noqa: ANN401 - fractions
        self._index.append(index)
        self._value.append(value)
        self._bounds.append((low, high))

    def _add_rows(self, of: PersonTarget, cells: int) -> None:
        """Rows add up to the shown ones, and a cell has no more persons than rows; shown ends and members occur."""
        assert of.rows is not None
        for cell, atoms in list_atoms(of.seen.of):
            if of.rows[cell] != HIDDEN:
                number = float(of.rows[cell])
                self._add(atoms + cells, np.ones(len(atoms)), number, number)
            if cell >= cells:
                self._add(atoms + cells, np.ones(len(atoms)), 1.0, self._highs.kHighsInf)
                continue
            inside = np.append(atoms + cells, cell)
            self._add(inside, np.append(np.ones(len(atoms)), -1.0), 0.0, self._highs.kHighsInf)

    def span(self, cell: int) -> tuple[int, int | None, bool]:
        """The least and the greatest number of persons of a cell, and whether there was time to find them."""
        ends: list[int | None] = []
        for sense in (1.0, -1.0):
            if self._seconds() <= 0:
                return 1, None, False
            self._solver.changeColCost(cell, sense)
            self._solver.run()
            status, value = self._solver.getModelStatus(), self._solver.getInfo().objective_function_value
            self._solver.changeColCost(cell, 0.0)
            solved = status == self._highs.HighsModelStatus.kOptimal
            ends.append((math.ceil(value - NEAR) if sense > 0 else math.floor(-value + NEAR)) if solved else None)
        low, high = ends
        return low if low is not None else 1, high, low is not None
