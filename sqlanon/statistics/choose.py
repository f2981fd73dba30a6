"""Choice of the cells to hide, and of the tables that prove their protection.

A small cell is protected if two tables agree with all published cells: in the first the cell has as little as its
published parts allow, in the second as much as the threshold; and the same for every insider, who knows the atoms of
the cells in which he is alone. Such a table, as a change of each atom, is a witness. A witness serves every cell with
a demand that it happens to meet. To hide more cells never takes a witness away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amount_choice import Party, Sums, drop_all
from sqlanon.statistics.amounts import Amounts, Range, find_sensitive
from sqlanon.statistics.deviations import MOST_WORK, Demand, Deviations, ExhaustedError, Work
from sqlanon.statistics.growing import Rows
from sqlanon.statistics.insiders import Insider, Insiders, insiders_of
from sqlanon.statistics.local import NEARBY, WHOLE, Nearby
from sqlanon.statistics.served import Served
from sqlanon.statistics.system import System, hash_members
from sqlanon.statistics.unserved import UnservedError

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

MOST_SERVED = 500_000_000
"""Most bytes of the tables of served ends; with more no cell is shown again."""
SPARED = 4
"""Programs of all atoms may cost this fraction (1/n) of the total limit, as far as small cells are served."""
BEGINNING = 0.05
"""Their limit before the first cell is served, as a part of that: the first program takes longest."""
MOST_SHOWN = 50_000_000_000
"""Ends times witnesses times cells, at most, for which cells are shown again."""
Step = Callable[[int, int], None]
"""Gets how many small cells are served, and how many there are."""


@dataclass(frozen=True, slots=True)
class Protected:
    """The hidden cells of a system, with witnesses.

    Attributes:
        hidden: bool[classes].
        witnesses: int64[witnesses, atoms], changes of the true table.
        sums: of each column whose sums are published the changes of the same witnesses.
    """

    hidden: Flags
    witnesses: Longs
    sums: tuple[Longs, ...] = ()


def choose_hidden(
    system: System,
    threshold: int,
    *,
    insiders: bool,
    secret: bytes,
    step: Step | None = None,
    most_work: int = MOST_WORK,
    amounts: Sequence[tuple[Amounts, Range]] = (),
) -> Protected:
    """Hide the small cells and as few other cells as the search finds, with witnesses for all demands.

    Args:
        system: the cells.
        threshold: a hidden small cell may have any number up to it.
        insiders: demands also hold for each person who is alone in a cell.
        secret: key for the order of equal levels.
        step: gets progress.
        most_work: the cost limit of the programs; see `Work`.
        amounts: columns whose sums are published, and their ranges; each has demands of its own, on the same cells.
            Where the atoms are parts of the finest combinations, they are those of ``system.wholes``.

    Raises:
        UnservedError: a small cell cannot be protected, or the programs exceed the cost limit.
        UnsupportedError: HiGHS is not installed.

    Cost: some linear programs for each small cell; more where an insider is in the way.
    """
    sensitive = find_sensitive([amount for amount, _ in amounts], len(system))
    must = system.with_twins(system.small | system.inner | sensitive)
    work = Work(most_work)
    search = _Search(system, threshold, insiders_of(system) if insiders else [], (work, must.copy()))
    small = np.flatnonzero(system.small)
    for index, cell in enumerate(_order_by_level(system, small, secret)):
        if step is not None:
            step(index, len(small))
        search.ahead = 2 * (len(small) - index)
        try:
            for low in (True, False):
                search.serve(int(cell), low=low)
        except ExhaustedError:
            raise UnservedError(int(system.margin[cell]), exhausted=True) from None
    sums = Sums(system, amounts, search.changes, search.hidden, work)
    sums.serve(lambda cells: _order_by_level(system, cells, secret), secret)
    hidden = system.with_twins(sums.hidden)
    cells = _order_by_level(system, np.flatnonzero(hidden & ~must & system.first), secret)[::-1]
    served = search.list_served(len(cells))
    if served is None:
        return Protected(hidden, *sums.combine(search.changes))
    moves = system.with_twins((search.moved != 0) | sums.moved_by_repairs)
    parties = [Party(served, moves), *sums.list_parties()]
    for cell in cells:
        if drop_all(parties, int(cell)):
            hidden[cell] = False
            if system.twin is not None:
                hidden[system.twin[cell]] = False
    return Protected(hidden, *sums.combine(search.changes, [party.kept for party in parties]))


def _order_by_level(system: System, cells: Longs, secret: bytes) -> Longs:
    """Classes by level, the finest first, and then by a keyed hash; never by value."""

    def key(cell: int) -> tuple[int, bytes]:
        return int(system.height[cell]), hash_members(system.members(cell), secret)

    return np.array(sorted((int(cell) for cell in cells), key=key), np.int64)


class _Search:
    """The witnesses found so far, the true table the first of them, and the cells that they serve."""

    def __init__(self, system: System, threshold: int, insiders: Sequence[Insider], begun: tuple[Work, Flags]) -> None:
        work, hidden = begun
        self.system, self._work, self.hidden = system, work, hidden
        self._whole = Deviations(system, self.hidden, work)
        self._near = Nearby(system, self.hidden, work)
        self.ahead, self._cost = 0, 0
        self._insiders = Insiders(system, insiders)
        # The least number is one of rows, where cells have both; of rows fewer than N are fewer than N persons.
        self._least_of = np.arange(len(system)) if system.twin is None else system.twin
        self._most = (system.least - system.value)[self._least_of]
        self._fewest = threshold - system.value
        self._changes = Rows(len(system.atoms.count), np.int64)
        self._moved = Rows(len(system), np.int64)
        self._seen = Rows(len(insiders), np.bool_)
        self._add(np.zeros(len(system.atoms.count), np.int64))

    def serving(self, cell: int, *, low: bool) -> tuple[Flags, Flags]:
        """The witnesses that serve a class at an end, and those that do for each insider.

        Returns:
            bool[witnesses] and bool[insiders, witnesses]; every witness serves an insider with the whole class.
        """
        moved, seen = self._moved.array[:, self._least_of[cell] if low else cell], self._seen.array
        plain = self._meets(cell, moved, low=low, more=0)
        by_person = plain & ~seen.T
        if len(self._insiders):
            excess, whole = self._insiders.parts(cell)
            for person, more in excess.items():
                by_person[person] = self._meets(cell, moved, low=low, more=more) & ~seen[:, person]
            if whole >= 0:
                by_person[whole] = True
        return plain, by_person

    def _meets(self, cell: int, moved: Longs, *, low: bool, more: int) -> Flags:
        """An insider with more rows asks for less at the lower end, and for more at an upper end of rows."""
        if low:
            least: Flags = moved <= self._most[cell] + more
            return least
        most: Flags = moved >= self._fewest[cell] + (more if self.system.twin is None else 0)
        return most

    def serve(self, cell: int, *, low: bool) -> None:
        """Find witnesses for an end of a cell.

        Raises:
            UnservedError: there is none.
        """
        plain, by_person = self.serving(cell, low=low)
        if not plain.any():
            self._solve(cell, low=low, persons=())
            _, by_person = self.serving(cell, low=low)
        while not by_person.any(axis=1).all():
            persons = tuple(int(person) for person in np.flatnonzero(~by_person.any(axis=1)))
            if len(persons) == 1 or not self._solve(cell, low=low, persons=persons, able=True):
                self._solve(cell, low=low, persons=persons[:1])
            _, by_person = self.serving(cell, low=low)

    def _solve(self, cell: int, *, low: bool, persons: tuple[int, ...], able: bool = False) -> bool:
        fixed = tuple(int(atom) for person in persons for atom in self._insiders.atoms(person))
        excess = self._insiders.parts(cell)[0] if persons else {}
        more = [excess.get(person, 0) for person in persons] or [0]
        if low:
            demand = Demand(int(self._least_of[cell]), int(self._most[cell]) + min(more), None, fixed)
        else:
            most = max(more) if self.system.twin is None else 0
            demand = Demand(cell, None, int(self._fewest[cell]) + most, fixed)
        change = self._find(demand, keep_shown=able)
        if change is None:
            if able:
                return False
            raise UnservedError(int(self.system.margin[cell]), exhausted=False)
        self._add(change)
        return True

    def _find(self, demand: Demand, *, keep_shown: bool) -> Longs | None:
        """A change that meets a demand: of least weight, unless such programs would cost too much for those ahead."""
        served = 1 - self.ahead / max(1, 2 * int(self.system.small.sum()))
        large = len(self.system.atoms.count) * len(self.system) > WHOLE
        if large or self._cost * SPARED > self._work.most * (served + BEGINNING):
            change = self._find_nearby(demand, keep_shown=keep_shown)
            if change is not None or keep_shown:
                return change
        before = self._work.left
        try:
            return self._whole.solve(
                demand, keep_shown=keep_shown, instead=lambda: self._find_nearby(demand, keep_shown=keep_shown)
            )
        finally:
            self._cost += before - self._work.left

    def _find_nearby(self, demand: Demand, *, keep_shown: bool) -> Longs | None:
        for most in NEARBY[:1] if keep_shown else NEARBY:
            change = self._near.solve(demand, most, keep_shown=keep_shown)
            if change is not None:
                return change
        return None

    def _add(self, change: Longs) -> None:
        moved = self.system.sums(change)
        self._whole.hide(np.flatnonzero(self.system.with_twins(moved != 0)))
        self._changes.add(change)
        self._moved.add(moved)
        self._seen.add(self._insiders.seen(change))

    @property
    def changes(self) -> Longs:
        """int64[witnesses, atoms]."""
        changes: Longs = self._changes.array
        return changes

    @property
    def moved(self) -> Longs:
        """int64[witnesses, classes]."""
        moved: Longs = self._moved.array
        return moved

    def list_served(self, cells: int) -> Served | None:
        """The witnesses of each end; None: the tables for so many cells to show again are too large.

        Cost: tables of small cells by witnesses and by insiders; for each cell a product of a few of their columns.
        """
        small = np.flatnonzero(self.system.small)
        steps = 2 * len(small) * len(self._changes.array) * cells
        if 8 * len(small) * max(1, len(self._insiders)) > MOST_SERVED or steps > MOST_SHOWN:
            return None
        return Served(self._list_served(small), ~self._seen.array)

    def _list_served(self, small: Longs) -> Iterator[tuple[Flags, dict[int, Flags]]]:
        """Of each end of each small cell which witnesses serve it, and which do for insiders with a part of it."""
        for cell in small:
            excess, whole = self._insiders.parts(int(cell))
            for low in (True, False):
                plain, by_person = self.serving(int(cell), low=low)
                parts = {person: by_person[person] for person in excess}
                yield plain, parts if whole < 0 else {**parts, whole: np.ones(len(plain), bool)}
