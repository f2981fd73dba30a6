"""Persons who are alone in a cell, and so know the rows in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import System, group_atoms

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Insider:
    """A person who is alone in some cells.

    Attributes:
        atoms: int64[n], the atoms that he knows, in ascending order: those of the cells in which he is alone.
        own: where atoms are patterns of persons his pattern; -1: atoms are combinations, and those he knows are his.
    """

    atoms: Longs
    own: int = -1


def insiders_of(system: System) -> list[Insider]:
    """Who is alone in a class, in the order of their numbers."""
    if system.times is not None:
        return _insiders_of_patterns(system)
    owner, has_rows = system.atoms.owner[system.member], system.atoms.count[system.member] > 0
    first = np.maximum.reduceat(np.where(has_rows, owner, -1), system.at[:-1])
    least = np.minimum.reduceat(np.where(has_rows, owner, np.iinfo(np.int64).max), system.at[:-1])
    alone = (first >= 0) & (first == least)
    atoms_of_person: dict[int, set[int]] = {}
    for cell in np.flatnonzero(alone):
        atoms_of_person.setdefault(int(first[cell]), set()).update(system.members(int(cell)).tolist())
    return [Insider(np.array(sorted(atoms_of_person[person]), np.int64)) for person in sorted(atoms_of_person)]


def _insiders_of_patterns(system: System) -> list[Insider]:
    """The same of patterns: who is alone in a class knows that nobody has another pattern with rows in it."""
    atoms_of_pattern: dict[int, list[Longs]] = {}
    counted = np.zeros(len(system), bool)
    counted[system.listed] = True
    for cell in np.flatnonzero(counted & (system.value == 1)):
        inside = system.members(int(cell))
        real = inside[system.atoms.count[inside] > 0]
        atoms_of_pattern.setdefault(int(real[0]), []).append(inside)
    return [
        Insider(np.unique(np.concatenate(atoms_of_pattern[pattern])), pattern) for pattern in sorted(atoms_of_pattern)
    ]


class Insiders:
    """The insiders of a system.

    Args:
        system: the cells.
        insiders: the insiders.
    """

    def __init__(self, system: System, insiders: Sequence[Insider]) -> None:
        self._system, self._insiders = system, insiders
        self._part = group_atoms(system.atoms, [0] * len(system.atoms.nodes))
        self._known = np.concatenate([np.zeros(0, np.int64), *(insider.atoms for insider in insiders)])
        self._starts = np.cumsum([0, *(len(insider.atoms) for insider in insiders)])[:-1]
        self._person_of = np.repeat(np.arange(len(insiders)), [len(insider.atoms) for insider in insiders])
        order = np.argsort(self._known, kind="stable")
        self._sorted, self._holder = self._known[order], self._person_of[order]

    def __len__(self) -> int:
        return len(self._insiders)

    def atoms(self, person: int) -> Longs:
        """The atoms that an insider knows."""
        return self._insiders[person].atoms

    def seen(self, change: Longs) -> Flags:
        """bool[insiders], who knows that a change is none."""
        if not len(self):
            return np.zeros(0, bool)
        seen: Flags = np.logical_or.reduceat(change[self._known] != 0, self._starts)
        return seen

    def parts(self, cell: int) -> tuple[dict[int, int], int]:
        """For each insider of a class, his rows beyond one for each atom; and the insider with the whole class, or -1.

        An insider with the whole class knows it anyhow.
        """
        if self._system.times is not None:
            return self._parts_of_patterns(cell)
        inside = self._system.members(cell)
        excess: dict[int, int] = {}
        for person in self._list_knowing(inside):
            is_own = np.isin(inside, self._insiders[person].atoms)
            if is_own.all():
                return {}, person
            parts = len(np.unique(self._part[inside[is_own & (self._system.atoms.count[inside] > 0)]]))
            excess[person] = int(self._system.atoms.count[inside[is_own]].sum()) - parts
        return excess, -1

    def _list_knowing(self, inside: Longs) -> list[int]:
        """Who knows some of these atoms."""
        starts = np.searchsorted(self._sorted, inside, side="left")
        ends = np.searchsorted(self._sorted, inside, side="right")
        holders = [self._holder[start:end] for start, end in zip(starts, ends, strict=True) if end > start]
        return np.unique(np.concatenate(holders)).tolist() if holders else []

    def _parts_of_patterns(self, cell: int) -> tuple[dict[int, int], int]:
        system = self._system
        inside = system.members(cell)
        excess: dict[int, int] = {}
        for person in self._list_knowing(inside):
            pattern = self._insiders[person].own
            if pattern not in inside:
                continue
            if int(system.value[cell]) == 1:
                return {}, person
            excess[person] = self._excess_of_pattern(pattern, cell) if system.twin is not None else 0
        return excess, -1

    def _excess_of_pattern(self, pattern: int, cell: int) -> int:
        """The rows of a pattern in a cell beyond the first: others may have none where it has them."""
        assert self._system.twin is not None
        rows = int(self._system.twin[cell])
        place = int(np.searchsorted(self._system.members(rows), pattern))
        return int(self._system.times_of(rows)[place]) - 1
