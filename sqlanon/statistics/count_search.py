"""Searches for witnesses of counts that hide few other cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.demands import Demand
from sqlanon.statistics.deviations import Deviations
from sqlanon.statistics.growing_matrix import Rows
from sqlanon.statistics.hidden_changes import HiddenChanges
from sqlanon.statistics.insiders import Insider, Insiders
from sqlanon.statistics.local import NEARBY, WHOLE, NearbyPrograms
from sqlanon.statistics.served_ends import WitnessCounts
from sqlanon.statistics.system import System
from sqlanon.statistics.unserved import UnservedError
from sqlanon.statistics.work import Work

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_SERVED = 500_000_000
"""Most bytes of the tables of served ends; with more they are not made."""
SPARED = 4
"""Programs of all atoms may cost this fraction (1/n) of the total limit, as far as small cells are served."""
BEGINNING = 0.05
"""Their limit before the first cell is served, as a part of that: the first program takes longest."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The small cells, and the insiders with a part of one.

    Attributes:
        cell: int64[small cells].
        place, person: int64[pairs], a small cell by its place, and an insider with a part of it, or with the whole.
        more: int64[pairs], the insider's rows beyond one for each atom.
        whole: bool[pairs], the insider has the whole cell, and so knows it anyhow.
    """

    cell: Longs
    place: Longs
    person: Longs
    more: Longs
    whole: Flags


class CountSearch:
    """The witnesses found so far, the true table the first of them, and the cells that they serve.

    Args:
        system: the cells.
        threshold: a hidden small cell may have any number up to it.
        insiders: the persons who are alone in a class.
        begun: counts the cost of the programs; and which classes are hidden, which the search changes.
    """

    def __init__(self, system: System, threshold: int, insiders: Sequence[Insider], begun: tuple[Work, Flags]) -> None:
        self.work, self.hidden = begun
        self.system, self.must = system, self.hidden.copy()
        self._whole, self._near = (
            Deviations(system, self.hidden, self.work),
            NearbyPrograms(system, self.hidden, self.work),
        )
        self.ahead, self._cost = 0, 0
        self._inside: HiddenChanges | None = None
        self._insiders = Insiders(system, insiders)
        # The least number is one of rows, where cells have both; of rows fewer than N are fewer than N persons.
        rows = None if system.by_persons else system.twin
        self._least_of = np.arange(len(system)) if rows is None else rows
        self._most = (system.least - system.value)[self._least_of]
        self._fewest = threshold - system.value
        self._parts: _Parts | None = None
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
        most: Flags = moved >= self._fewest[cell] + self._more_above(more)
        return most

    def _more_above(self, more: int) -> int:
        """By how much an insider's rows beyond one for each atom raise the upper end; persons count once."""
        return more if self.system.twin is None else 0

    def serve(self, cell: int, *, low: bool) -> None:
        """Find witnesses for an end of a cell.

        Raises:
            UnservedError: there is none.
            ExhaustedError: the programs exceed the cost limit.
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
        most = int(self._most[cell]) + min(more) if low else None
        fewest = None if low else int(self._fewest[cell]) + self._more_above(max(more))
        demanded = int(self._least_of[cell]) if low else cell
        change = self._find(
            Demand(demanded, most, fewest, fixed, kept=self._insiders.list_kept(persons)), keep_shown=able
        )
        if change is None:
            if able:
                return False
            raise UnservedError(int(self.system.margin[cell]), exhausted=False)
        self._add(change)
        return True

    def _find(self, demand: Demand, *, keep_shown: bool) -> Longs | None:
        """A change that meets a demand: of least weight, unless such programs would cost too much for those ahead."""
        change = None if self._inside is None else self._inside.solve(demand)
        if change is not None:
            return change
        served = 1 - self.ahead / max(1, 2 * int(self.system.small.sum()))
        if self.is_large or self._cost * SPARED > self.work.most * (served + BEGINNING):
            change = self._find_nearby(demand, keep_shown=keep_shown)
            if change is not None or keep_shown:
                return change
        before = self.work.left
        try:
            return self._whole.solve(
                demand, keep_shown=keep_shown, instead=lambda: self._find_nearby(demand, keep_shown=keep_shown)
            )
        finally:
            self._cost += before - self.work.left

    @property
    def is_large(self) -> bool:
        """Programs of all atoms take too long."""
        return len(self.system.atoms.count) * len(self.system) > WHOLE

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

    def prepare_hidden(self, draw: np.random.Generator) -> HiddenChanges | None:
        """Let programs begin with changes of cells that are hidden now, and return these; None: there are none."""
        fits = HiddenChanges.fits(self.system, self.hidden)
        self._inside = HiddenChanges(self.system, self.hidden, self.work, draw) if fits else None
        return self._inside

    def reset(self, before: tuple[Rows, ...], hidden: Flags) -> None:
        """Return to witnesses of `keep`."""
        self._changes, self._moved, self._seen = before
        self._whole.set_hidden(hidden)

    def set_dearer(self, cell: int, times: float) -> None:
        """Let changes of a class, and of the other number of its cells, cost so many times their weight."""
        twin = self.system.twin
        self._whole.set_dearer(np.array([cell] if twin is None else [cell, twin[cell]], np.int64), times)

    def keep(self, remaining: Flags) -> tuple[Rows, Rows, Rows]:
        """Forget other witnesses; what they alone change is shown. Returns the witnesses before, for `reset`."""
        before = self._changes, self._moved, self._seen
        self._changes, self._moved, self._seen = (rows.take(remaining) for rows in before)
        moved: Flags = (self.moved != 0).any(axis=0)
        self._whole.set_hidden(self.must | self.system.with_twins(moved))
        return before

    def serve_lost(self, draw: np.random.Generator) -> Iterator[None]:
        """Find witnesses for all ends that are not served, in an order that is drawn; yields after each.

        Raises:
            UnservedError: there is none.
            ExhaustedError: the programs exceed the cost limit.
        """
        parts = self._list_parts()
        ends = np.flatnonzero(self.list_served().unserved)
        for end in draw.permutation(ends).tolist():
            self.serve(int(parts.cell[end // 2]), low=end % 2 == 0)
            yield

    def has_tables(self) -> bool:
        """Whether the tables of served ends are small enough to be made."""
        return 8 * int(self.system.small.sum()) * max(1, len(self._insiders)) <= MOST_SERVED

    def list_served(self) -> WitnessCounts:
        """Of each end of each small cell which witnesses serve it, and which do for insiders with a part of it.

        Cost: tables of small cells by witnesses and by insiders.
        """
        parts, seen = self._list_parts(), self._seen.array
        moved = self._moved.array[:, parts.cell].T
        least = self._moved.array[:, self._least_of[parts.cell]].T
        most, fewest = self._most[parts.cell], self._fewest[parts.cell]
        plain = np.empty((2 * len(parts.cell), moved.shape[1]), bool)
        plain[::2], plain[1::2] = least <= most[:, None], moved >= fewest[:, None]
        more, more_above = parts.more[:, None], parts.more[:, None] * (self.system.twin is None)
        keeps = ~seen.T[parts.person]
        insiders_served = np.empty((2 * len(parts.place), moved.shape[1]), bool)
        insiders_served[::2] = (least[parts.place] <= most[parts.place][:, None] + more) & keeps
        insiders_served[1::2] = (moved[parts.place] >= fewest[parts.place][:, None] + more_above) & keeps
        insiders_served[np.repeat(parts.whole, 2)] = True
        ends = (2 * parts.place[:, None] + np.arange(2)).reshape(-1)
        return WitnessCounts(plain, ~seen, insiders_served, np.stack([ends, np.repeat(parts.person, 2)], axis=1))

    def _list_parts(self) -> _Parts:
        if self._parts is None:
            small, pairs = np.flatnonzero(self.system.small), []
            for place, cell in enumerate(small.tolist() if len(self._insiders) else ()):
                excess, whole = self._insiders.parts(cell)
                pairs += [(place, person, more, False) for person, more in excess.items()]
                pairs += [(place, whole, 0, True)] if whole >= 0 else []
            columns = np.array(pairs, np.int64).reshape(-1, 4).T
            self._parts = _Parts(small, columns[0], columns[1], columns[2], columns[3] > 0)
        return self._parts
