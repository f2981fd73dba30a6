"""Which cells are hidden, and the tables that prove their protection.

A small cell is protected if two tables agree with everything that is published, one in which the cell has as little as
its published parts allow, and one in which it has as much as the threshold; and the same for every insider, who knows
the atoms of the cells in which he is alone. Such a table, as a change of each atom, is a witness. A witness serves
every cell that it happens to serve. To hide more cells never takes a witness away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import InfeasibleError
from sqlanon.statistics.deviations import Demand, Deviations
from sqlanon.statistics.system import System, hash_members

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

Step = Callable[[int, int], None]
"""Gets how many small cells are served, and how many there are."""


@dataclass(frozen=True, slots=True)
class Protected:
    """What is published of a system.

    Attributes:
        hidden: bool[classes].
        witnesses: int64[witnesses, atoms], changes of the true table.
    """

    hidden: Flags
    witnesses: Longs


class UnservedError(InfeasibleError):
    """A small cell cannot be protected whatever is hidden; ``margin`` is the place of its margin, no value."""

    def __init__(self, margin: int) -> None:
        super().__init__("a small cell cannot be protected")
        self.margin = margin


def insiders_of(system: System) -> list[Longs]:
    """Who is alone in a class: for each such person the atoms of all classes in which he is, in ascending order."""
    owner = system.atoms.owner
    first = owner[system.member[system.at[:-1]]]
    lengths = np.diff(system.at)
    alone = (first >= 0) & (
        np.add.reduceat(owner[system.member] == np.repeat(first, lengths), system.at[:-1]) == lengths
    )
    known: dict[int, set[int]] = {}
    for cell in np.flatnonzero(alone):
        known.setdefault(int(first[cell]), set()).update(system.members(int(cell)).tolist())
    return [np.array(sorted(known[person]), np.int64) for person in sorted(known)]


def choose_hidden(
    system: System, threshold: int, *, insiders: bool, secret: bytes, step: Step | None = None
) -> Protected:
    """Hide the small cells and as few others as the search finds, with witnesses for all demands.

    Args:
        system: the cells.
        threshold: a hidden small cell may have any number up to it.
        insiders: demands also hold for each person who is alone in a cell.
        secret: what the order of equal levels is keyed with.
        step: gets progress.

    Raises:
        UnservedError: a small cell cannot be protected.
        UnsupportedError: HiGHS is not installed.

    Cost: some linear programs for each small cell; with insiders more where one is in the way.
    """
    search = _Search(system, threshold, insiders_of(system) if insiders else [])
    small = np.flatnonzero(system.small)
    search.solver.hide(small)
    for at, cell in enumerate(_ordered(system, small, secret)):
        if step is not None:
            step(at, len(small))
        for low in (True, False):
            search.serve(int(cell), low=low)
    search.show_again(_ordered(system, np.flatnonzero(search.solver.hidden & ~system.small), secret)[::-1])
    return Protected(search.solver.hidden.copy(), search.kept())


def _ordered(system: System, cells: Longs, secret: bytes) -> Longs:
    """Classes by level, the finest first, and then by a keyed hash; never by value."""

    def key(cell: int) -> tuple[int, bytes]:
        return int(system.height[cell]), hash_members(system.members(cell), secret)

    return np.array(sorted((int(cell) for cell in cells), key=key), np.int64)


class _Search:
    def __init__(self, system: System, threshold: int, insiders: list[Longs]) -> None:
        self.system, self.solver = system, Deviations(system)
        self._insiders = insiders
        self._of_atom = np.full(len(system.atoms.count), -1, np.int64)
        for person, atoms in enumerate(insiders):
            self._of_atom[atoms] = person
        self._most = system.least - system.value
        self._fewest = threshold - system.value
        self._found: list[Longs] = [np.zeros(len(system.atoms.count), np.int64)]
        self._moved: list[Longs] = [np.zeros(len(system), np.int64)]

    def _excess(self, cell: int) -> dict[int, int]:
        """Of each insider of a class by how much his own part exceeds one for each atom; of all his: not listed."""
        inside = self.system.members(cell)
        found: dict[int, int] = {}
        for person in np.unique(self._of_atom[inside]):
            if person >= 0:
                own = np.isin(inside, self._insiders[person])
                if not own.all():
                    found[int(person)] = int(self.system.atoms.count[inside[own]].sum() - own.sum())
        return found

    def _exempt(self, cell: int) -> int:
        """The insider who has all atoms of a class; -1: nobody."""
        person = int(self._of_atom[self.system.members(cell)[0]])
        if person >= 0 and np.isin(self.system.members(cell), self._insiders[person]).all():
            return person
        return -1

    def _changed(self, change: Longs) -> Flags:
        """The insiders who see that a table is not the true one."""
        seen = np.zeros(len(self._insiders), bool)
        persons = self._of_atom[np.flatnonzero(change)]
        seen[persons[persons >= 0]] = True
        return seen

    def open_demands(self, cell: int, *, low: bool, without: frozenset[int] = frozenset()) -> tuple[bool, Flags]:
        """Whether no witness serves a cell at one end, and which insiders rule out all that do."""
        excess = self._excess(cell) if self._insiders else {}
        nobody, open_ = True, np.ones(len(self._insiders), bool)
        exempt = self._exempt(cell) if self._insiders else -1
        if exempt >= 0:
            open_[exempt] = False
        for at, (change, moved) in enumerate(zip(self._found, self._moved, strict=True)):
            if at in without:
                continue
            if not self._meets(cell, int(moved[cell]), low=low, more=0):
                # With more rows of his own an insider asks for less at the lower end, and for more at the upper one.
                if low:
                    changed = self._changed(change)
                    for person, more in excess.items():
                        if open_[person] and not changed[person]:
                            open_[person] = not self._meets(cell, int(moved[cell]), low=True, more=more)
                continue
            nobody = False
            unseen = ~self._changed(change)
            for person, more in excess.items():
                if unseen[person] and not self._meets(cell, int(moved[cell]), low=low, more=more):
                    unseen[person] = False
            open_ &= ~unseen
            if not open_.any():
                break
        return nobody, open_

    def _meets(self, cell: int, moved: int, *, low: bool, more: int) -> bool:
        return bool(moved <= self._most[cell] + more if low else moved >= self._fewest[cell] + more)

    def serve(self, cell: int, *, low: bool) -> None:
        """Find witnesses for one end of a cell.

        Raises:
            UnservedError: there is none.
        """
        nobody, open_ = self.open_demands(cell, low=low)
        if nobody:
            self._solve(cell, low=low, persons=())
            _, open_ = self.open_demands(cell, low=low)
        while open_.any():
            persons = tuple(int(one) for one in np.flatnonzero(open_))
            if len(persons) > 1 and self._solve(cell, low=low, persons=persons, able=True):
                pass
            else:
                self._solve(cell, low=low, persons=persons[:1])
            _, open_ = self.open_demands(cell, low=low)

    def _solve(self, cell: int, *, low: bool, persons: tuple[int, ...], able: bool = False) -> bool:
        fixed = tuple(int(atom) for person in persons for atom in self._insiders[person])
        excess = self._excess(cell) if persons else {}
        more = [excess.get(person, 0) for person in persons] or [0]
        most = int(self._most[cell]) + min(more) if low else None
        fewest = None if low else int(self._fewest[cell]) + max(more)
        change = self.solver.solve(Demand(cell, most, fewest, fixed), keep_shown=able)
        if change is None:
            if able:
                return False
            raise UnservedError(int(self.system.margin[cell]))
        self._add(change)
        return True

    def _add(self, change: Longs) -> None:
        moved = self.system.sums(change)
        self.solver.hide(np.flatnonzero(moved))
        self._found.append(change)
        self._moved.append(moved)

    def show_again(self, cells: Longs) -> None:
        """Show hidden cells that are not small where other witnesses serve what theirs do."""
        small = np.flatnonzero(self.system.small)
        for cell in cells:
            movers = frozenset(at for at, moved in enumerate(self._moved) if moved[cell])
            if all(self._served(int(one), movers) for one in small):
                self._found = [one for at, one in enumerate(self._found) if at not in movers]
                self._moved = [one for at, one in enumerate(self._moved) if at not in movers]
                self.solver.show(int(cell))

    def _served(self, cell: int, without: frozenset[int]) -> bool:
        for low in (True, False):
            nobody, open_ = self.open_demands(cell, low=low, without=without)
            if nobody or open_.any():
                return False
        return True

    def kept(self) -> Longs:
        """The witnesses."""
        return np.stack(self._found)
