"""Searches for changes of sums that serve the demands of a column and hide few other cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amounts import ENDS, Amounts, Contributor, Range
from sqlanon.statistics.demands import Demand, Limits
from sqlanon.statistics.deviations import Deviations
from sqlanon.statistics.exchanges import Exchanges
from sqlanon.statistics.growing_matrix import Rows
from sqlanon.statistics.local import NEARBY, WHOLE, NearbyPrograms
from sqlanon.statistics.served_ends import WitnessCounts
from sqlanon.statistics.system import System
from sqlanon.statistics.unserved import UnservedError
from sqlanon.statistics.work import ExhaustedError, Work

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


class AmountSearch:
    """The changes of a column's sums found so far; nothing changes in the first.

    Args:
        system: the cells.
        amounts: the sums and their demands.
        hidden: bool[classes], hidden so far.
        work: counts the cost of the programs.
        counts: int64[changes, atoms], changes of rows that move no other cells than hidden ones.
    """

    def __init__(
        self, system: System, amounts: Amounts, hidden: Flags, work: Work, counts: Longs | None = None
    ) -> None:
        self._exchanges = Exchanges(system, amounts, counts)
        self.system, self.amounts = system, amounts
        low, high = (of.astype(np.float64) for of in (amounts.low, amounts.high))
        limits = Limits(low, high, np.full(len(system), np.inf), amounts.unit)
        self.deviations = Deviations(system, hidden.copy(), work, limits)
        self._near: NearbyPrograms | None = None
        self.must, self.work = hidden.copy(), work
        self._cells: Sequence[int] = ()
        self._persons: Sequence[Contributor] = ()
        if self.is_large:
            self._near = NearbyPrograms(system, self.deviations.hidden, work, limits)
        self._changes = Rows(len(amounts.value), np.int64)
        self._moved = Rows(len(system), np.int64)
        self._outside = Rows(len(amounts.value), np.bool_)
        self._totals = Rows(1, np.int64)
        self.add(np.zeros(len(amounts.value), np.int64))

    @property
    def is_large(self) -> bool:
        """Programs of all atoms take too long."""
        return len(self.amounts.value) * len(self.system) > WHOLE

    @property
    def hidden(self) -> Flags:
        """Which classes are hidden."""
        return self.deviations.hidden

    @property
    def changes(self) -> Longs:
        """int64[changes, atoms]."""
        changes: Longs = self._changes.array
        return changes

    @property
    def moved(self) -> Longs:
        """int64[changes, classes]."""
        moved: Longs = self._moved.array
        return moved

    def serve_all(self, cells: Sequence[int], persons: Sequence[Contributor]) -> None:
        """Find changes for all demands, in their orders.

        Raises:
            UnservedError: there is none.
        """
        self._cells, self._persons = cells, persons
        self.serve(cells, persons)

    def serve(self, cells: Sequence[int], persons: Sequence[Contributor]) -> None:
        """Find changes for the demands of some classes, and of contributors, in their orders.

        Raises:
            UnservedError: there is none.
        """
        for cell in cells:
            for more in ENDS:
                if not self.serving_cell(cell, more=more).any():
                    needed = int(self.amounts.find_demands(more=more)[cell])
                    change = self._exchanges.move_cell(cell, needed, more=more)
                    self._solve(cell, self._demand_of_cell(cell, more=more), change)
        for person in persons:
            for more in ENDS:
                if not self.serving_person(person, more=more).any():
                    change = self._exchanges.move_for_person(person, more=more)
                    self._solve(self._cell_of(person), self._demand_of_person(person, more=more), change)

    def serving_cell(self, cell: int, *, more: bool) -> Flags:
        """bool[changes], which change a class as it demands, and agree with the contributions outside of it."""
        needed, moved = int(self.amounts.find_demands(more=more)[cell]), self._moved.array[:, cell]
        serving: Flags = moved >= needed if more else moved <= -needed
        return self._agree(serving, self.system.members(cell))

    def serving_person(self, person: Contributor, *, more: bool) -> Flags:
        """bool[changes], in which a contributor can have more, or less, and others have the same."""
        low, high = person.box(more=more)
        inside = self._changes.array[:, person.atoms]
        serving: Flags = ((inside >= low) & (inside <= high)).all(axis=1)
        return self._agree(serving, person.atoms)

    def _agree(self, some: Flags, atoms: Longs) -> Flags:
        """Those of some changes that elsewhere than in some atoms agree with the knowledge of contributors."""
        places = np.flatnonzero(some)
        inside = self._outside.array[places][:, atoms].sum(axis=1)
        some[places] = inside == self._totals.array[places, 0]
        return some

    def serve_lost(self, draw: np.random.Generator) -> Iterator[None]:
        """Find changes for all demands that are not served, in an order that is drawn; yields after each.

        Raises:
            UnservedError: there is none.
        """
        unserved = np.flatnonzero(self.list_served().unserved)
        cells = len(self._cells)
        for place in draw.permutation(unserved).tolist():
            demand = place // 2
            if demand < cells:
                self.serve(self._cells[demand : demand + 1], ())
            else:
                self.serve((), self._persons[demand - cells : demand - cells + 1])
            yield

    def list_served(self) -> WitnessCounts:
        """The changes that serve each demand: those of cells, then those of persons; of each more, then less."""
        outside, many = self._outside.array, len(self.changes)
        total = self._totals.array[:, 0]
        ends = []
        if len(self._cells):
            cells = np.array(self._cells, np.int64)
            members = [self.system.members(cell) for cell in self._cells]
            agrees = _count_inside(outside, members) == total[:, None]
            moved = self._moved.array[:, cells]
            for more in ENDS:
                needed = self.amounts.find_demands(more=more)[cells]
                ends.append((moved >= needed if more else moved <= -needed) & agrees)
        cells_served = np.stack(ends, axis=2).reshape(many, -1) if ends else np.zeros((many, 0), bool)
        ends = []
        if len(self._persons):
            atoms = [person.atoms for person in self._persons]
            agrees = _count_inside(outside, atoms) == total[:, None]
            changes, starts = self.changes[:, np.concatenate(atoms)], _starts(atoms)
            for more in ENDS:
                low, high = np.concatenate([person.box(more=more) for person in self._persons], axis=1)
                ends.append(np.logical_and.reduceat((changes >= low) & (changes <= high), starts, axis=1) & agrees)
        persons_served = np.stack(ends, axis=2).reshape(many, -1) if ends else np.zeros((many, 0), bool)
        return WitnessCounts(np.concatenate([cells_served, persons_served], axis=1).T, np.zeros((many, 0), bool))

    def set_dearer(self, cell: int, times: float) -> None:
        """Let changes of a class cost so many times their weight."""
        self.deviations.set_dearer(np.array([cell], np.int64), times)

    def prepare_hidden(self, draw: np.random.Generator) -> None:
        """Sums have no programs of hidden cells alone."""
        return

    def keep(self, remaining: Flags) -> tuple[Rows, ...]:
        """Forget other changes; what they alone change is shown. Returns the changes before, for `reset`."""
        before = self._changes, self._moved, self._outside, self._totals
        self._changes, self._moved, self._outside, self._totals = (rows.take(remaining) for rows in before)
        self.deviations.set_hidden(self.must | self.moved.any(axis=0))
        return before

    def reset(self, before: tuple[Rows, ...], hidden: Flags) -> None:
        """Return to changes of `keep`."""
        self._changes, self._moved, self._outside, self._totals = before
        self.deviations.set_hidden(hidden)

    def repair(self, change: Longs, of: Range) -> Longs:
        """A change of sums with which they are in the column's range when counts change; classes that move are hidden.

        Args:
            change: int64[atoms], of the counts.
            of: the range of a counted row.

        Raises:
            UnservedError: there is none.
        """
        least, most = of.change(self.amounts.value, self.system.atoms.count + change)
        if (least <= 0).all() and (most >= 0).all():
            return np.zeros(len(change), np.int64)
        changed = np.flatnonzero(change)
        within = self._exchanges.keep_cells(changed, np.stack([least[changed], most[changed]]))
        if within is not None:
            return within
        between = tuple((int(atom), int(least[atom]), int(most[atom])) for atom in changed)
        witness = self._find(self.system.finest_with(changed), Demand(-1, None, None, (), between))
        self.deviations.hide(np.flatnonzero(self.system.sums(witness)))
        return witness

    def add(self, change: Longs) -> None:
        """Keep a change; the classes that it changes are hidden."""
        moved, amounts = self.system.sums(change), self.amounts
        self.deviations.hide(np.flatnonzero(moved))
        self._changes.add(change)
        self._moved.add(moved)
        outside = (change < amounts.low) | (change > amounts.high)
        self._outside.add(outside)
        self._totals.add(np.array([outside.sum()]))

    def _demand_of_cell(self, cell: int, *, more: bool) -> Demand:
        amounts, needed = self.amounts, int(self.amounts.find_demands(more=more)[cell])
        inside = self.system.members(cell)
        free = inside[(amounts.least[inside] < amounts.low[inside]) | (amounts.most[inside] > amounts.high[inside])]
        between = tuple((int(atom), int(amounts.least[atom]), int(amounts.most[atom])) for atom in free)
        return Demand(cell, None if more else -needed, needed if more else None, (), between)

    @staticmethod
    def _demand_of_person(person: Contributor, *, more: bool) -> Demand:
        low, high = person.box(more=more)
        return Demand(-1, None, None, (), tuple(zip(person.atoms.tolist(), low.tolist(), high.tolist(), strict=True)))

    def _cell_of(self, person: Contributor) -> int:
        """A class of a contributor, for messages."""
        return self.system.finest_with(person.atoms)

    def _solve(self, cell: int, demand: Demand, change: Longs | None) -> None:
        """Keep a change that meets a demand, or one that a program finds."""
        if change is None or not self._meets(change, demand):
            change = self._find(cell, demand)
            self._exchanges.add_direction(change)
        self.add(change)

    def _find(self, cell: int, demand: Demand) -> Longs:
        try:
            for most in NEARBY if self._near is not None else ():
                near = self._near.solve(demand, most) if self._near is not None else None
                if near is not None and self._meets(near, demand):
                    return near
            change = self.deviations.solve(demand)
        except ExhaustedError:
            raise UnservedError(int(self.system.margin[cell]), exhausted=True) from None
        if change is None or not self._meets(change, demand):
            raise UnservedError(int(self.system.margin[cell]), exhausted=False)
        return change

    def _meets(self, change: Longs, demand: Demand) -> bool:
        """Whether whole numbers meet a demand that the program met with fractions."""
        low, high = self.amounts.low.copy(), self.amounts.high.copy()
        for atom, least, most in demand.between:
            low[atom], high[atom] = least, most
        if (change < low).any() or (change > high).any():
            return False
        if demand.cell < 0:
            return True
        moved = int(change[self.system.members(demand.cell)].sum())
        return moved >= demand.fewest if demand.fewest is not None else moved <= (demand.most or 0)


def _starts(groups: Sequence[Longs]) -> Longs:
    """Where each group begins when all are put together."""
    starts: Longs = np.cumsum([0, *map(len, groups[:-1])])
    return starts


def _count_inside(flags: Flags, groups: Sequence[Longs]) -> Longs:
    """int64[rows, groups], the flags of each group of columns."""
    counts: Longs = np.add.reduceat(flags[:, np.concatenate(groups)].astype(np.int64), _starts(groups), axis=1)
    return counts
