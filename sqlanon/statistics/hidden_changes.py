"""Finds changes of hidden cells alone, in coordinates of all such changes.

Changes that keep all shown cells are a vector space of few dimensions: of the 396 hidden atoms of a table, 128. So a
program in these coordinates has a small dense tableau, and takes some steps where a program of all atoms takes
hundreds. Nothing changes at the beginning, which is a solution for every hidden set and every basis: the tableau stays
from demand to demand, and loses a column with each cell that is to be shown. Steps are of whole numbers; where they
lead nowhere, a change may exist that is not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.demands import Demand, count_limits
from sqlanon.statistics.system import System
from sqlanon.statistics.work import Work

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_STEPS = 60
"""Steps of a demand, at most; with more the tableau turns in a circle."""
MOST_ENTRIES = 1_500_000
"""Atoms times hidden classes of a system, at most, of which a tableau is made."""
MOST_TABLEAU = 16_000_000
"""Entries of a tableau before shown classes are excluded, at most, 128 MB: atoms that are no class are all free."""
FEWEST_CLASSES = 100
"""Systems of fewer classes have none: programs of all atoms are as small."""
READ_AT_ONCE = 4
"""So many entries are read in the time of a unit of `Work`."""
UNITS_OF_PROGRAM = 10_000
"""What a demand costs besides."""


def find_free(system: System, hidden: Flags) -> Flags:
    """bool[atoms], those that are no shown class, and so may change."""
    first, single = system.member[system.at[:-1]], np.diff(system.at) == 1
    free = np.ones(len(system.atoms.count), bool)
    free[first[single & ~hidden]] = False
    return free


class HiddenChanges:
    """The changes of hidden cells.

    Args:
        system: the cells; no class counts an atom twice.
        hidden: bool[classes], which are hidden.
        work: counts the cost.
        draw: for the order of coordinates.

    Cost: elimination of the shown cells, about atoms * cells * shown cells with few entries.
    """

    @staticmethod
    def fits(system: System, hidden: Flags) -> bool:
        """Whether such changes are searched for: classes count atoms once, and the tableau is not too large."""
        if system.times is not None or system.twin is not None or len(system) < FEWEST_CLASSES:
            return False
        free = int(find_free(system, hidden).sum())
        entries = free * (free + len(system))
        return len(system.atoms.count) * int(hidden.sum()) <= MOST_ENTRIES and entries <= MOST_TABLEAU

    def __init__(self, system: System, hidden: Flags, work: Work, draw: np.random.Generator) -> None:
        self._system, self._work, self._hidden = system, work, hidden.copy()
        limits, sizes = count_limits(system), np.diff(system.at)
        atoms = len(system.atoms.count)
        single, first = sizes == 1, system.member[system.at[:-1]]
        self._atoms = draw.permutation(np.flatnonzero(find_free(system, hidden)))
        self._place = np.full(atoms, -1, np.int64)
        self._place[self._atoms] = np.arange(len(self._atoms))
        cell_of, place = np.repeat(np.arange(len(system)), sizes), self._place[system.member]
        has_free = np.zeros(len(system), bool)
        has_free[cell_of[place >= 0]] = True
        wide = np.flatnonzero(~single & (hidden | has_free))
        inside, shown = wide[hidden[wide]], wide[~hidden[wide]]
        shown = shown[np.argsort(sizes[shown], kind="stable")]
        rows = len(self._atoms) + len(inside)
        row = np.full(len(system), -1, np.int64)
        row[np.concatenate([inside, shown])] = len(self._atoms) + np.arange(len(wide))
        tableau = np.zeros((rows + len(shown), len(self._atoms)))
        np.fill_diagonal(tableau, 1.0)
        entries = (place >= 0) & (row[cell_of] >= 0)
        tableau[row[cell_of[entries]], place[entries]] = 1.0
        self._basis = np.arange(len(self._atoms), dtype=np.int64)
        self._tableau, self._columns = tableau, len(self._atoms)
        for extra in range(rows, len(tableau)):
            self._exclude(extra)
        self._tableau = np.ascontiguousarray(tableau[:rows, : self._columns])
        self._basis, self._width = self._basis[: self._columns].copy(), self._columns
        self._row = np.where(hidden, row, -1)
        alone = np.flatnonzero(single & hidden)
        self._row[alone] = self._place[first[alone]]
        self._low = np.concatenate([limits.low[self._atoms], -limits.shrinks[inside]])
        self._high = np.concatenate([limits.high[self._atoms], np.full(len(inside), np.inf)])
        self._value = np.zeros(rows)

    def _exclude(self, row: int) -> None:
        from sqlanon.statistics.kernels import exclude_row

        self._columns, read = exclude_row(self._tableau, self._basis, self._columns, row)
        self._work.left -= read // READ_AT_ONCE

    def show(self, cell: int) -> None:
        """Let a hidden class be shown, until `reset` or for good."""
        self._width, self._hidden[cell] = self._columns, False
        self._exclude(int(self._row[cell]))

    def reset(self, cell: int) -> None:
        """Let the class of the last `show` be hidden again."""
        self._columns, self._hidden[cell] = self._width, True

    def holds(self, hidden: Flags) -> bool:
        """Whether these classes are hidden."""
        return bool(self._hidden[hidden].all())

    def keep(self, hidden: Flags) -> None:
        """Let all other classes be shown for good."""
        for cell in np.flatnonzero(self._hidden & ~hidden).tolist():
            self._exclude(int(self._row[cell]))
        self._hidden, self._width = hidden.copy(), self._columns

    def solve(self, demand: Demand) -> Longs | None:
        """A change of hidden classes that meets a demand: int64[atoms]; None: none was found.

        Args:
            demand: the demand, of a class.
        """
        from sqlanon.statistics.kernels import raise_row

        row, is_low = int(self._row[demand.cell]), demand.most is not None
        amount = -(demand.most or 0) if is_low else demand.fewest or 0
        if row < 0 or amount <= 0 or demand.between:
            return None
        low, high = self._low.copy(), self._high.copy()
        places = self._place[list(demand.fixed)]
        low[places[places >= 0]] = high[places[places >= 0]] = 0.0
        for atom, least in demand.kept:
            if (place := self._place[atom]) >= 0:
                low[place] = max(low[place], least)
        goal = np.array([row, -1 if is_low else 1, amount, MOST_STEPS], np.int64)
        sizes = (self._columns, self._width)
        is_met, read = raise_row(self._tableau, self._basis, low, high, self._value, sizes, goal)
        self._work.left -= UNITS_OF_PROGRAM + read // READ_AT_ONCE
        if not is_met:
            return None
        change = np.zeros(len(self._place), np.int64)
        change[self._atoms] = np.rint(self._value[: len(self._atoms)]).astype(np.int64)
        return change if self._is_exact(change, demand) else None

    def _is_exact(self, change: Longs, demand: Demand) -> bool:
        """Whether a change meets a demand by sums of whole numbers, and keeps all ends: entries may be inexact."""
        sums = self._system.sums(change)
        values = np.concatenate([change[self._atoms], sums[self._row >= 0]])
        rows = np.concatenate([np.arange(len(self._atoms)), self._row[self._row >= 0]])
        is_within = (values >= self._low[rows]) & (values <= self._high[rows])
        fewest, most = demand.fewest, demand.most
        is_met = (fewest is None or sums[demand.cell] >= fewest) and (most is None or sums[demand.cell] <= most)
        is_kept = all(change[atom] == 0 for atom in demand.fixed) and all(
            change[atom] >= least for atom, least in demand.kept
        )
        return bool(is_within.all() and is_met and is_kept and not sums[~self._hidden].any())
