"""The cells of a release as a system of sums over atoms: arrays of codes and counts, without values of the source.

An atom is an occurring combination of the finest codes of all columns. A cell has a level and a code for each column,
and the sum of atoms. Cells of equal atoms are equal for every reader, and are one class.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Flags, Longs
    from sqlanon.statistics.branches import Traces


@dataclass(frozen=True, slots=True)
class Atoms:
    """The finest combinations that occur.

    Attributes:
        nodes: per column int64[levels, n], the node of each atom at each level but the total.
        count: int64[n], the summands of published numbers; at least 1.
        owner: int64[n], the number of the person who has all rows of the atom; -1: several persons have some.
    """

    nodes: tuple[Longs, ...]
    count: Longs
    owner: Longs


@dataclass(frozen=True, slots=True)
class PublishedCells:
    """The cells that are published, in the order of a table of the database.

    Attributes:
        levels: int64[columns, cells]; a column's number of levels is the total.
        first: int64[cells], an atom of each.
        small: bool[cells], too few persons are in it.
    """

    levels: Longs
    first: Longs
    small: Flags


@dataclass(frozen=True, slots=True)
class Wholes:
    """The finest combinations of a system whose atoms are parts of them, or patterns of several; sums are of these.

    Attributes:
        system: the published cells over the combinations; its classes are the first of the other system.
        of: int64[parts], the combination of each part; of patterns one after the other the combinations of each.
        part: of patterns the pattern of each of ``of``, in ascending order; None: each part has one combination.
        times: of patterns how many rows of the combination each has.
        places: of patterns over parts of the combinations the part of each of ``of``; None: there are no parts.
    """

    system: System
    of: Longs
    part: Longs | None = None
    times: Longs | None = None
    places: Longs | None = None

    def add(self, change: Longs) -> Longs:
        """Changes of parts, as those of the combinations: int64[.., combinations]."""
        if self.part is not None and self.times is not None:
            change = change[..., self.part] * self.times
        spread = np.zeros((*change.shape[:-1], len(self.system.atoms.count)), np.int64)
        np.add.at(spread.T, self.of, change.T)
        return spread

    def entries(self, part: int) -> tuple[Longs, Longs]:
        """The combinations of a pattern, with rows."""
        assert self.part is not None
        assert self.times is not None
        start, end = np.searchsorted(self.part, [part, part + 1])
        return self.of[start:end], self.times[start:end]

    def first(self) -> Longs:
        """int64[combinations], a part of each."""
        firsts: Longs = np.unique(self.of, return_index=True)[1].astype(np.int64)
        return firsts


@dataclass(frozen=True, slots=True)
class System:
    """Cells over atoms.

    Attributes:
        at, member: cell classes by their atoms: those of class i are ``member[at[i]:at[i + 1]]``, in ascending order.
        value: int64[classes], the sums.
        least: int64[classes], a lower bound over all tables with the published cells and without zeros: of each table
            the number of the finest cells within, the largest of these.
        small: bool[classes], too few persons are in it.
        weight: float64[classes], the cost of hiding the class: by level and a keyed hash.
        margin: int64[classes], a published cell of the class; messages name the cell's margin.
        height: int64[classes], the sum of the levels of such a cell, the coarsest of them.
        listed: int64[cells], the class of each published cell.
        levels: int64[columns, cells], of each published cell.
        fixed: bool[classes], published by another release, or of a margin that must be shown: no table changes it, and
            it cannot be hidden.
        inner: bool[classes], of no published number: all that is known is that it is not zero.
        wholes: where atoms are parts of the finest combinations, these; None: they are not.
        floor: int64[classes], the least value that a class may have in a table; None: 1 of each.
        times: int64 of each of ``member``, how often a class counts the atom; None: once.
        twin: int64[classes], where cells have two numbers the class of the other; None: they have one. A cell is hidden
            in both. Of two classes the first counts persons, and the second rows.
        kin: int64[n, 2], pairs of atoms; programs of few atoms that have the first have the second.
        traces: where atoms are traces of persons in tables, these; None: they are not.
        by_persons: where cells have two numbers, the least one is of persons, and not of rows.
    """

    atoms: Atoms
    at: Longs
    member: Longs
    value: Longs
    least: Longs
    small: Flags
    weight: npt.NDArray[np.float64]
    margin: Longs
    height: Longs
    listed: Longs
    levels: Longs
    fixed: Flags
    inner: Flags
    wholes: Wholes | None = None
    floor: Longs | None = None
    times: Longs | None = None
    twin: Longs | None = None
    kin: Longs | None = None
    traces: Traces | None = None
    by_persons: bool = False

    def __len__(self) -> int:
        return len(self.value)

    def members(self, cell: int) -> Longs:
        """The atoms of a class."""
        return self.member[self.at[cell] : self.at[cell + 1]]

    def levels_of(self, cell: int) -> list[int]:
        """The levels of a published cell."""
        return [int(level) for level in self.levels[:, cell]]

    def finest_with(self, atoms: Longs) -> int:
        """A class of the lowest levels that has the first of some atoms, for messages."""
        holding = np.searchsorted(self.at, np.flatnonzero(self.member == atoms[0]), side="right") - 1
        return int(holding[np.argmin(self.height[holding])])

    def floors(self) -> Longs:
        """int64[classes], the least value that each class may have in a table."""
        return np.ones(len(self), np.int64) if self.floor is None else self.floor

    def sums(self, of: Longs) -> Longs:
        """Per class the sum of a number of each atom."""
        of_members = of[self.member] if self.times is None else of[self.member] * self.times
        return np.add.reduceat(of_members, self.at[:-1]) if len(self.member) else np.zeros(0, np.int64)

    def sums_of(self, of: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The same of fractions."""
        of_members = of[self.member] if self.times is None else of[self.member] * self.times
        return np.add.reduceat(of_members, self.at[:-1]) if len(self.member) else np.zeros(0)

    def times_of(self, cell: int) -> Longs:
        """How often a class counts each atom."""
        if self.times is None:
            return np.ones(int(self.at[cell + 1] - self.at[cell]), np.int64)
        return self.times[self.at[cell] : self.at[cell + 1]]

    def first_times(self) -> Longs:
        """int64[classes], how often each counts its first atom."""
        return np.ones(len(self), np.int64) if self.times is None else self.times[self.at[:-1]]

    def with_twins(self, flags: Flags) -> Flags:
        """bool[.., classes], with the other number of each cell that is flagged."""
        both: Flags = flags if self.twin is None else flags | flags[..., self.twin]
        return both

    @property
    def first(self) -> Flags:
        """bool[classes], each cell once."""
        places = np.arange(len(self))
        firsts: Flags = np.ones(len(self), bool) if self.twin is None else self.twin >= places
        return firsts


def build_system(atoms: Atoms, cells: PublishedCells, finest: Sequence[tuple[int, ...]], secret: bytes) -> System:
    """The classes of all published cells.

    Args:
        atoms: the atoms.
        cells: the cells, each once.
        finest: the margins of whole tables at their finest levels.
        secret: key for the order of equal levels.

    Cost: a sort of the atoms for each margin.
    """
    parts = [(tuple(levels), group_atoms(atoms, levels)) for levels in finest]
    number_of_members: dict[bytes, int] = {}
    members: list[Longs] = []
    least: list[int] = []
    small: list[bool] = []
    heights: list[int] = []
    places: list[int] = []
    listed = np.empty(len(cells.first), np.int64)
    margins, of_cell = np.unique(cells.levels, axis=1, return_inverse=True)
    of_cell = of_cell.reshape(-1)
    for margin in range(margins.shape[1]):
        levels = tuple(int(level) for level in margins[:, margin])
        inside = group_atoms(atoms, levels)
        order = np.argsort(inside, kind="stable")
        ends = np.searchsorted(inside[order], np.arange(int(inside.max()) + 2))
        fewest = _count_parts(levels, parts, inside)
        for cell in np.flatnonzero(of_cell == margin):
            group = inside[cells.first[cell]]
            some = order[ends[group] : ends[group + 1]].astype(np.int64)
            text = some.tobytes()
            if text not in number_of_members:
                number_of_members[text] = len(members)
                members.append(some)
                least.append(1)
                small.append(False)
                heights.append(0)
                places.append(int(cell))
            number = listed[cell] = number_of_members[text]
            least[number] = max(least[number], int(fewest[group]))
            small[number] = small[number] or bool(cells.small[cell])
            heights[number] = max(heights[number], sum(levels))
    starts = np.concatenate(
        [np.zeros(1, np.int64), np.cumsum([len(cell_members) for cell_members in members], dtype=np.int64)]
    )
    member = np.concatenate(members)
    height = np.array(heights, np.int64)
    return System(
        atoms,
        starts,
        member,
        np.add.reduceat(atoms.count[member], starts[:-1]),
        np.array(least, np.int64),
        np.array(small, bool),
        np.array([weigh(int(high), cell_members, secret) for high, cell_members in zip(height, members, strict=True)]),
        np.array(places, np.int64),
        height,
        listed,
        cells.levels,
        np.zeros(len(members), bool),
        np.zeros(len(members), bool),
    )


def with_least_total(system: System, least: int) -> System:
    """The same system, of which readers know that there are at least so many rows."""
    totals = system.levels.max(axis=1, keepdims=True)  # the grand total is the coarsest published cell
    floor = system.floors().copy()
    floor[system.listed[(system.levels == totals).all(axis=0)]] = least
    return replace(system, floor=floor)


def weigh(height: int, members: Longs, secret: bytes) -> float:
    """The cost of hiding a class: higher the coarser it is, and a keyed hash where levels are equal."""
    mark = int.from_bytes(hash_members(members, secret), "big") / 2**64
    return (1.0 + height / 4) * (1.0 + mark / 4)


def hash_members(members: Longs, secret: bytes) -> bytes:
    """A keyed hash of a class: 8 bytes."""
    return hashlib.blake2b(members.tobytes(), key=secret[:64], digest_size=8).digest()


def group_atoms(atoms: Atoms, levels: Sequence[int]) -> Longs:
    """The cell of each atom in a margin: numbers from 0."""
    level_nodes = [nodes[level] for nodes, level in zip(atoms.nodes, levels, strict=True) if level < len(nodes)]
    if not level_nodes:
        return np.zeros(len(atoms.count), np.int64)
    return np.unique(np.stack(level_nodes), axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _count_parts(levels: Sequence[int], parts: Sequence[tuple[tuple[int, ...], Longs]], inside: Longs) -> Longs:
    """For each cell of a margin, the most finest cells of a table in it; 1 where no table divides it."""
    cells = int(inside.max()) + 1
    part_counts = np.ones(cells, np.int64)
    for finest, finer in parts:
        if all(finest_level <= level for finest_level, level in zip(finest, levels, strict=True)):
            pairs = np.unique(np.stack([inside, finer]), axis=1)
            part_counts = np.maximum(part_counts, np.bincount(pairs[0], minlength=cells))
    return part_counts
