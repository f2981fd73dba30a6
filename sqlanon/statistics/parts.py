"""Counts next to a release of rows: the atoms are divided among the classes that readers of the rows see.

A release of rows shows, for each class, the number of rows and their values: a range, a set, or the values themselves.
A part is a finest combination within a class. Readers know the sum of the parts of a class, and that both ends of a
range and all members of a set occur; nothing else about the parts. So parts are atoms of a larger system, in which the
numbers of the classes are cells that cannot be hidden.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from sqlanon.statistics.system import System

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_PARTS = 400_000
"""Parts of a system, at most."""
LEFT_OUT = -1
"""The class of rows that the release of rows leaves out; how many they are is not published."""
How = Literal["ends", "members", "branches"]
"""How a class shows a column: both ends, all members, or the lowest node, below which it is in several branches."""


class TooManyPartsError(Exception):
    """Classes and cells have too many combinations."""


@dataclass(frozen=True, slots=True)
class PlacedRows:
    """Rows of the source by finest combination and class.

    Attributes:
        atom: int64[n], a finest combination.
        of: int64[n], a class; `LEFT_OUT`: none.
        count: int64[n], how many rows.
        exact: int64[atoms], a number of the values that the rows of a class show as they are.
        ranks: int64[columns, atoms], of each column of which classes show less: the rank of the value, 0 for NULL.
        how: of each such column.
        known: of each such column whether readers know that both ends, or all members, occur.
        trees: of columns shown by nodes int64[levels, atoms], from the leaves up the nodes above each; one at the top.
        columns: of each such column its place among the columns of the combinations, from 0.
        shown: the places of those that the rows show as they are.
        public: a class with NULL and values shows NULL alone; else the values of its rows are taken for shown, which is
            safe where cells are hidden.
    """

    atom: Longs
    of: Longs
    count: Longs
    exact: Longs
    ranks: Longs
    how: tuple[How, ...]
    known: tuple[bool, ...]
    trees: Mapping[int, Longs] = field(default_factory=dict)
    columns: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    public: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    """Finest combinations that rows of each class may have.

    Attributes:
        atom: int64[n], the combination.
        of: int64[n], the class.
        kind: int64[n], a class with values that are shown as they are: the sum over a kind is published.
        count: int64[n], how many rows it has; may be 0.
        ranks: int64[columns, n], of each column of which the class shows less: the rank, or the branch.
        needs: places of parts that are not all 0, as readers know.
        need_of: of each need its class and its column.
        known: whether readers know the need; others are kept besides, which is safe.
        placed: the rows that the parts were made of.
    """

    atom: Longs
    of: Longs
    kind: Longs
    count: Longs
    ranks: Longs
    needs: tuple[Longs, ...]
    need_of: tuple[tuple[int, int], ...]
    known: Flags
    placed: PlacedRows

    def __len__(self) -> int:
        return len(self.atom)

    def first(self) -> Longs:
        """A part of each finest combination."""
        firsts: Longs = np.unique(self.atom, return_index=True)[1].astype(np.int64)
        return firsts


def list_parts(placed: PlacedRows) -> Parts:
    """All combinations that rows of each class may have for readers.

    Raises:
        TooManyPartsError: they are more than `MOST_PARTS`.

    Cost: for each class a scan of the finest combinations.
    """
    order = np.lexsort((placed.atom, placed.of))
    atom, of, count = placed.atom[order], placed.of[order], placed.count[order]
    starts = np.flatnonzero(np.diff(of, prepend=of[0] - 1)) if len(of) else np.zeros(0, np.int64)
    atoms, classes, kinds, counts, needs, need_of, known_flags = [], [], [], [], [], [], []
    all_ranks = [np.zeros((len(placed.how), 0), np.int64)]
    total, numbered = 0, 0
    for start, end in zip(starts, [*starts[1:], len(of)], strict=True):
        class_atoms, number = atom[start:end], int(of[start])
        (inside, ranks_here), exact = _look_at(placed, class_atoms, number), placed.exact
        some = (
            np.flatnonzero(inside & np.isin(exact, exact[class_atoms]))
            if number != LEFT_OUT
            else np.flatnonzero(inside)
        )
        rows = np.zeros(len(exact), np.int64)
        rows[class_atoms] = count[start:end]
        atoms.append(some)
        classes.append(np.full(len(some), number))
        counts.append(rows[some])
        all_ranks.append(ranks_here[:, some])
        if number == LEFT_OUT:
            kinds.append(np.full(len(some), -1))
        else:
            values, own_kind = np.unique(exact[some], return_inverse=True)
            kinds.append(numbered + own_kind.reshape(-1))
            numbered += len(values)
            for column, ranks in enumerate(ranks_here):
                for need, sure in _list_needs(ranks[class_atoms], ranks[some], placed.how[column]):
                    needs.append(total + need)
                    need_of.append((number, column))
                    known_flags.append(sure and placed.known[column])
        total += len(some)
        if total > MOST_PARTS:
            raise TooManyPartsError
    none = np.zeros(0, np.int64)
    atom, of, kind, count = (np.concatenate([none, *some]) for some in (atoms, classes, kinds, counts))
    return Parts(
        atom.astype(np.int64),
        of.astype(np.int64),
        kind.astype(np.int64),
        count.astype(np.int64),
        np.concatenate(all_ranks, axis=1),
        tuple(needs),
        tuple(need_of),
        np.array(known_flags, bool),
        placed,
    )


def _look_at(placed: PlacedRows, rows: Longs, number: int) -> tuple[Flags, Longs]:
    """The finest combinations that a row of a class may have, by the values that the class shows, and the ranks."""
    fits, coarse_ranks = np.ones(len(placed.exact), bool), placed.ranks.copy()
    if number == LEFT_OUT:
        return fits, coarse_ranks
    for column, (ranks, how) in enumerate(zip(placed.ranks, placed.how, strict=True)):
        own_ranks = ranks[rows]
        if placed.public and how != "branches" and own_ranks.min() == 0 < own_ranks.max():
            continue
        if how == "branches":
            tree = placed.trees[column]
            level = next(index for index, nodes in enumerate(tree) if (nodes[rows] == nodes[rows[0]]).all())
            fits &= tree[level] == tree[level][rows[0]]
            coarse_ranks[column] = tree[max(level - 1, 0)]
        elif how == "members" or not own_ranks.min():
            fits &= np.isin(ranks, own_ranks)
        else:
            fits &= (ranks >= own_ranks.min()) & (ranks <= own_ranks.max())
    return fits, coarse_ranks


def _list_needs(class_ranks: Longs, some: Longs, how: How) -> list[tuple[Longs, bool]]:
    """The parts of a class of which one at least is not 0, each with whether the class shows that.

    Args:
        class_ranks: ranks of the class's rows.
        some: ranks of the parts.
        how: how the class shows the column. With NULL in it, it shows that alone.
    """
    least, greatest = int(class_ranks.min()), int(class_ranks.max())
    if least == greatest:
        return []
    if how == "branches":
        return [(np.flatnonzero(some != branch), False) for branch in np.unique(class_ranks).tolist()]
    ranks = np.unique(class_ranks).tolist() if how == "members" else [least, greatest]
    return [(np.flatnonzero(some == rank), least > 0 or rank == 0) for rank in ranks]


def read_parts(kind: Longs, of: Longs, count: Longs, ranks: Longs, columns: Sequence[tuple[How, bool]]) -> Parts:
    """Stored parts, with the values that must occur.

    Args:
        kind: int64[n], as in `Parts`.
        of: the same; of atoms that are no parts `LEFT_OUT`.
        count: the same.
        ranks: int64[columns, n].
        columns: how classes show each column, and whether readers know it.
    """
    needs: list[Longs] = []
    need_of: list[tuple[int, int]] = []
    surely: list[bool] = []
    order = np.argsort(of, kind="stable")
    classes, starts = np.unique(of[order], return_index=True)
    for number, places in zip(classes.tolist(), np.split(order, starts[1:]), strict=True):
        for column, (how, is_known) in enumerate(columns if number != LEFT_OUT else ()):
            column_ranks = ranks[column, places]
            for need, sure in _list_needs(column_ranks[count[places] > 0], column_ranks, how):
                needs.append(np.sort(places[need]))
                need_of.append((number, column))
                surely.append(sure and is_known)
    hows, flags = tuple(how for how, _ in columns), tuple(flag for _, flag in columns)
    atom = np.arange(len(of), dtype=np.int64)
    placed = PlacedRows(atom, of, count, np.zeros(len(of), np.int64), ranks, hows, flags)
    return Parts(atom, of, kind, count, ranks, tuple(needs), tuple(need_of), np.array(surely, bool), placed)


def with_classes(system: System, parts: Parts) -> System:
    """A system of parts, with the cells that the classes publish and the values that must occur.

    Args:
        system: the cells over the parts.
        parts: the parts.
    """
    order = np.argsort(parts.kind, kind="stable")
    ends = np.searchsorted(parts.kind[order], np.arange(int(parts.kind.max(initial=-1)) + 2))
    kinds = [np.sort(order[a:b]) for a, b in itertools.pairwise(ends)]
    more = [*kinds, *parts.needs]
    if not more:
        return system
    lengths = [len(members) for members in more]
    starts = np.concatenate([system.at, system.at[-1] + np.cumsum(lengths, dtype=np.int64)])
    many, none = len(more), np.zeros(len(more), np.int64)
    fixed = np.concatenate([system.fixed, np.arange(many) < len(kinds)])
    return replace(
        system,
        at=starts,
        member=np.concatenate([system.member, *more]),
        value=np.concatenate([system.value, [int(parts.count[members].sum()) for members in more]]).astype(np.int64),
        least=np.concatenate([_raise_least(system, parts, kinds), none]),
        small=np.concatenate([system.small, np.zeros(many, bool)]),
        weight=np.concatenate([system.weight, np.where(fixed[len(system) :], 1.0, 0.0)]),
        margin=np.concatenate([system.margin, none]),
        height=np.concatenate([system.height, none]),
        fixed=fixed,
        inner=np.concatenate([system.inner, np.arange(many) >= len(kinds)]),
        floor=None if system.floor is None else np.concatenate([system.floor, np.ones(many, np.int64)]),
    )


class _SureRows:
    """The rows that readers of the classes know to be in some parts.

    Of each class these are the kinds that are wholly inside, or as many needs of a column as are.
    """

    def __init__(self, parts: Parts, kinds: Sequence[Longs]) -> None:
        sure_needs = [
            (need, *of) for need, of, sure in zip(parts.needs, parts.need_of, parts.known, strict=True) if sure
        ]
        self._rows = np.array([int(parts.count[kind].sum()) for kind in kinds], np.int64)
        self._class_of_kind = [int(parts.of[kind[0]]) for kind in kinds]
        self._kind, self._kind_size = parts.kind, [len(kind) for kind in kinds]
        self._needs: list[list[int]] = [[] for _ in range(len(parts))]
        for number, (need, _, _) in enumerate(sure_needs):
            for part in need.tolist():
                self._needs[part].append(number)
        self._need_size = [len(need) for need, _, _ in sure_needs]
        self._need_of = [(of, column) for _, of, column in sure_needs]

    def count(self, inside: Longs) -> int:
        """The rows that are known to be in some parts."""
        counts: dict[int, int] = {}
        kinds, many = np.unique(self._kind[inside], return_counts=True)
        for kind, parts in zip(kinds.tolist(), many.tolist(), strict=True):
            if kind >= 0 and parts == self._kind_size[kind]:
                of = self._class_of_kind[kind]
                counts[of] = counts.get(of, 0) + int(self._rows[kind])
        times: dict[int, int] = {}
        for part in inside.tolist():
            for need in self._needs[part]:
                times[need] = times.get(need, 0) + 1
        columns: dict[tuple[int, int], int] = {}
        for need, parts in times.items():
            if parts == self._need_size[need]:
                key = self._need_of[need]
                columns[key] = columns.get(key, 0) + 1
        for (of, _), needed in columns.items():
            counts[of] = max(counts.get(of, 0), needed)
        return sum(counts.values())


def _raise_least(system: System, parts: Parts, kinds: Sequence[Longs]) -> Longs:
    """The lower bounds of small cells, with the rows that readers of the classes know to be in them."""
    sure, least = _SureRows(parts, kinds), system.least.copy()
    for cell in np.flatnonzero(system.small).tolist():
        least[cell] = max(int(least[cell]), sure.count(system.members(cell)))
    return least
