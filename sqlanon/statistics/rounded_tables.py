"""Finds the witnesses of rounded cells: tables that agree with all of them and have other small numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.highs import import_highs, make_solver
from sqlanon.statistics.reader_cells import HIDDEN, SeenCells, narrow
from sqlanon.statistics.rounding import make_program_of_cells
from sqlanon.statistics.spans import find_simple_ends
from sqlanon.statistics.whole_search import search_whole
from sqlanon.statistics.work import ExhaustedError, Work

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.statistics.system import System


MISSES = 3
"""Programs for many cells end after so many that found nothing new."""
MOST_NODES = 200
"""Nodes of a program."""
GAP = 1e-4
"""The table of a program may be so far from the best, as a part of that."""


def see_rounded(system: System, of: Longs, rounded: Longs, base: int) -> SeenCells:
    """The cells as readers have them; ``rounded`` has a number for each class."""
    ends = np.maximum(rounded - base + 1, 1), rounded + base - 1
    least = np.ones(len(system.atoms.count), np.int64)
    return SeenCells(of, np.full_like(rounded, HIDDEN), least, (), {}, ends=ends)


class RoundedTables:
    """The tables of whole numbers that agree with all rounded cells, and the small cells that have both ends in one.

    Args:
        system: the cells.
        seen: as readers have them.
        most: every small cell must have a table with this number or more, and one with the least that its parts allow.
        work: counts the cost of the programs; at its limit the cells that are left have no table.
    """

    def __init__(self, system: System, seen: SeenCells, most: int, work: Work) -> None:
        self._system, self._seen, self._most, self._work = system, seen, most, work
        self.tables: list[Longs] = [system.atoms.count]
        self._low, self._high = system.value <= system.least, system.value >= most
        self._small = np.flatnonzero(system.small)

    def serve(self) -> Longs:
        """Look for the tables.

        Returns:
            int64: the first small cells that have none.

        Cost: programs of whole numbers with a variable for each atom: some for many cells, and one for each end that
        these leave.
        """
        beyond = self._beyond()
        if len(beyond):
            return beyond
        solver, draw, missed = self._make_solver(), np.random.default_rng(0), 0
        while missed < MISSES and len(self._open()):
            missed = 0 if self._note(self._solve(solver, self._draw(draw))) else missed + 1
        for cell in self._open().tolist():
            for sign, met in ((1, self._low), (-1, self._high)):
                if not met[cell]:
                    self._note(self._solve(solver, self._weight(cell) * sign))
                if not met[cell]:
                    return np.array([cell], np.int64)
        return self._small[:0]

    def _beyond(self) -> Longs:
        """Small cells that other cells bound, so that no table has their ends."""
        sets = [self._system.members(int(cell)) for cell in self._small]
        if not sets:
            return self._small
        low, high = find_simple_ends(self._seen, narrow(self._seen), sets)
        return self._small[(low > self._system.least[self._small]) | (high < self._most)]

    def _open(self) -> Longs:
        return self._small[~(self._low & self._high)[self._small]]

    def _draw(self, draw: np.random.Generator) -> Longs:
        """Costs whose least sum has many open cells at an end: each at one that is left, by chance."""
        cost = np.zeros(len(self._system.atoms.count), np.int64)
        for cell in self._open().tolist():
            down = not self._low[cell] and (self._high[cell] or draw.random() < 0.5)
            cost[self._system.members(cell)] += 4 if down else -4
        moved: Longs = np.where(cost != 0, cost + draw.integers(-1, 2, len(cost)), 0)
        return moved

    def _weight(self, cell: int) -> Longs:
        weight = np.zeros(len(self._system.atoms.count), np.int64)
        weight[self._system.members(cell)] = 1
        return weight

    def _note(self, table: Longs | None) -> bool:
        """Keep a table that serves a small cell."""
        if table is None:
            return False
        sums = self._system.sums(table)
        low, high = sums <= self._system.least, sums >= self._most
        new = bool(((low & ~self._low) | (high & ~self._high))[self._small].any())
        if new:
            self.tables.append(table)
            self._low |= low
            self._high |= high
        return new

    def _solve(self, model: Any, cost: Longs) -> Longs | None:  # noqa: ANN401 - HiGHS has no types
        places = np.arange(len(cost), dtype=np.int32)
        model.changeColsCost(len(cost), places, cost.astype(np.float64))
        try:
            if not search_whole(model, self._work, gap=GAP, nodes=MOST_NODES):
                return None
        except ExhaustedError:
            return None
        table = np.rint(np.array(model.getSolution().col_value)).astype(np.int64)
        return table if self._agrees(table) else None

    def _agrees(self, table: Longs) -> bool:
        low, high = self._seen.bounds()
        sums = self._system.sums(table)
        return bool((table >= 1).all() and (sums >= low).all() and (sums <= high).all())

    def _make_solver(self) -> Any:  # noqa: ANN401
        highs, system = import_highs(), self._system
        low, high = self._seen.bounds()
        atoms = len(system.atoms.count)
        single = np.flatnonzero(np.diff(system.at) == 1)
        least, most = np.ones(atoms), np.full(atoms, highs.kHighsInf)
        least[system.member[system.at[single]]], most[system.member[system.at[single]]] = low[single], high[single]
        return make_solver(make_program_of_cells(system, np.arange(atoms), np.zeros(atoms), (least, most), (low, high)))
