"""Finds insiders: persons who are alone in a cell, and so know the rows in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import System, group_atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.statistics.branches import Traces


@dataclass(frozen=True, slots=True)
class Insider:
    """A person who is alone in some cells.

    Attributes:
        atoms: int64[n], the atoms that he knows, in ascending order: those of the cells in which he is alone.
        own: where atoms are patterns of persons his pattern, and where they are traces his trace in each table; empty:
            atoms are combinations, and those he knows are his.
        kept: int64[2, n], atoms of which he knows that some persons are left, and the least change of each.
        pattern: where atoms are traces his pattern.
    """

    atoms: Longs
    own: tuple[int, ...] = ()
    kept: Longs = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    pattern: int = -1


def insiders_of(system: System) -> list[Insider]:
    """Who is alone in a class, in the order of their numbers."""
    if system.traces is not None:
        return _insiders_of_traces(system, system.traces)
    if system.times is not None:
        return _insiders_of_patterns(system)
    # Of cells that are published atoms without rows say nothing of who is there. What a class of rows shows is of all
    # its parts: nobody is known to be alone among those that have rows.
    published = np.zeros(len(system), bool)
    published[system.listed] = True
    owner, has_rows = system.atoms.owner[system.member], system.atoms.count[system.member] > 0
    counts = has_rows | ~np.repeat(published, np.diff(system.at))
    first = np.maximum.reduceat(np.where(counts, owner, -1), system.at[:-1])
    least = np.minimum.reduceat(np.where(counts, owner, np.iinfo(np.int64).max), system.at[:-1])
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
        Insider(np.unique(np.concatenate(atoms_of_pattern[pattern])), (pattern,))
        for pattern in sorted(atoms_of_pattern)
    ]


def _insiders_of_traces(system: System, traces: Traces) -> list[Insider]:
    """The same of traces: besides, who is alone keeps the traces in all tables, as do others who are alone."""
    inside_of: dict[int, list[Longs]] = {}
    alone = np.zeros(len(system), bool)
    alone[system.listed] = True
    for cell in np.flatnonzero(alone & (system.value == 1)):
        inside = system.members(int(cell))
        (real,) = inside[system.atoms.count[inside] > 0].tolist()
        (pattern,) = np.flatnonzero((traces.traces == real).any(axis=0)).tolist()
        inside_of.setdefault(pattern, []).append(inside)
    of_all = traces.traces[:, sorted(inside_of)].T.tolist()
    trace, times = np.unique(np.array(of_all, np.int64), return_counts=True)
    least = dict(zip(trace.tolist(), (times - traces.persons[trace]).tolist(), strict=True))
    return [
        Insider(
            np.unique(np.concatenate(inside_of[pattern])),
            tuple(mine),
            np.array([mine, [least[place] for place in mine]], np.int64),
            pattern,
        )
        for pattern, mine in zip(sorted(inside_of), of_all, strict=True)
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
        self._kept = np.concatenate([np.zeros((2, 0), np.int64), *(insider.kept for insider in insiders)], axis=1)
        self._keeper = np.repeat(np.arange(len(insiders)), [insider.kept.shape[1] for insider in insiders])
        self._starts = np.cumsum([0, *(len(insider.atoms) for insider in insiders)])[:-1]
        self._person_of = np.repeat(np.arange(len(insiders)), [len(insider.atoms) for insider in insiders])
        atoms, holder = np.append(self._known, self._kept[0]), np.append(self._person_of, self._keeper)
        order = np.argsort(atoms, kind="stable")
        self._sorted, self._holder = atoms[order], holder[order]

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
        seen[self._keeper[change[self._kept[0]] < self._kept[1]]] = True
        return seen

    def list_kept(self, persons: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """The atoms that some insiders know to be left, each with the least change."""
        least = np.concatenate([np.zeros((2, 0), np.int64), *(self._insiders[person].kept for person in persons)], 1)
        return tuple(sorted({(int(atom), int(change)) for atom, change in least.T}))

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
            traces = [place for place in self._insiders[person].own if place in inside]
            if not traces:
                continue
            if int(system.value[cell]) == 1:
                return {}, person
            of_persons = system.twin is None or system.by_persons
            excess[person] = 0 if of_persons else self._excess_of_pattern(traces[0], cell)
        return excess, -1

    def _excess_of_pattern(self, pattern: int, cell: int) -> int:
        """The rows of a pattern in a cell beyond the first: others may have none where it has them."""
        assert self._system.twin is not None
        rows = int(self._system.twin[cell])
        place = int(np.searchsorted(self._system.members(rows), pattern))
        return int(self._system.times_of(rows)[place]) - 1
