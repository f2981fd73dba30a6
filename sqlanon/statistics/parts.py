"""Classes of a release of rows that readers of counts have as well: the cells are divided among these classes.

A release of rows shows of each class how many rows it has, and where: between two ends, in a set, or at the values
themselves. A part is a finest combination within a class. Readers know the sum of the parts of a class, and that both
ends, and all members of a set, occur in it; nothing else of the parts. So they are atoms of a larger system, in which
the numbers of the classes are cells that cannot be hidden.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from sqlanon.statistics.system import Atoms, System

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

MOST_PARTS = 400_000
"""Parts of a system, at most."""
LEFT_OUT = -1
"""The class of rows that the release of rows leaves out; how many they are is not published."""
How = Literal["ends", "members", "leaves"]
"""How a class shows a column: both ends, all members, or a node of which only the outermost leaves are taken."""


class TooManyPartsError(Exception):
    """Classes and cells have too many combinations."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows of the source by finest combination and class.

    Attributes:
        atom: int64[n], a finest combination.
        of: int64[n], a class; `LEFT_OUT`: none.
        count: int64[n], how many rows.
        exact: int64[atoms], a number of the values that the rows of a class show as they are.
        ranks: int64[columns, atoms], of each column of which classes show less: the rank of the value, 0 for NULL.
        how: of each such column.
        known: of each such column whether readers know that both ends, or all members, occur.
    """

    atom: Longs
    of: Longs
    count: Longs
    exact: Longs
    ranks: Longs
    how: tuple[How, ...]
    known: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """Finest combinations that rows of each class may have.

    Attributes:
        atom: int64[n], the combination.
        of: int64[n], the class.
        kind: int64[n], a class with values that are shown as they are: the sum over a kind is published.
        count: int64[n], how many rows it has; may be 0.
        needs: places of parts that are not all 0, as readers know.
        need_of: of each need its class and its column.
        known: whether readers know the need; others are kept besides, which is safe.
    """

    atom: Longs
    of: Longs
    kind: Longs
    count: Longs
    needs: tuple[Longs, ...]
    need_of: tuple[tuple[int, int], ...]
    known: Flags

    def __len__(self) -> int:
        return len(self.atom)

    def first(self) -> Longs:
        """A part of each finest combination."""
        found: Longs = np.unique(self.atom, return_index=True)[1].astype(np.int64)
        return found


def list_parts(placed: Placed) -> Parts:
    """All combinations that rows of each class may have for readers.

    Raises:
        TooManyPartsError: they are more than `MOST_PARTS`.

    Cost: for each class a scan of the finest combinations.
    """
    order = np.lexsort((placed.atom, placed.of))
    atom, of, count = placed.atom[order], placed.of[order], placed.count[order]
    starts = np.flatnonzero(np.diff(of, prepend=of[0] - 1)) if len(of) else np.zeros(0, np.int64)
    atoms, classes, kinds, counts, needs, need_of, known = [], [], [], [], [], [], []
    total, numbered = 0, 0
    for start, end in zip(starts, [*starts[1:], len(of)], strict=True):
        own, number = atom[start:end], int(of[start])
        inside, exact = _inside(placed, own, number), placed.exact
        some = np.flatnonzero(inside & np.isin(exact, exact[own])) if number != LEFT_OUT else np.flatnonzero(inside)
        rows = np.zeros(len(exact), np.int64)
        rows[own] = count[start:end]
        atoms.append(some)
        classes.append(np.full(len(some), number))
        counts.append(rows[some])
        if number == LEFT_OUT:
            kinds.append(np.full(len(some), -1))
        else:
            values, own_kind = np.unique(exact[some], return_inverse=True)
            kinds.append(numbered + own_kind.reshape(-1))
            numbered += len(values)
            for column, ranks in enumerate(placed.ranks):
                for chosen, sure in _list_needs(ranks[own], ranks[some], placed.how[column]):
                    needs.append(total + chosen)
                    need_of.append((number, column))
                    known.append(sure and placed.known[column])
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
        tuple(needs),
        tuple(need_of),
        np.array(known, bool),
    )


def _inside(placed: Placed, own: Longs, number: int) -> Flags:
    """Which finest combinations a row of a class may have, by what the class shows of each column."""
    found = np.ones(len(placed.exact), bool)
    if number == LEFT_OUT:
        return found
    for ranks, how in zip(placed.ranks, placed.how, strict=True):
        seen = ranks[own]
        if how == "members" or not seen.min():
            found &= np.isin(ranks, seen)
        else:
            found &= (ranks >= seen.min()) & (ranks <= seen.max())
    return found


def _list_needs(own: Longs, some: Longs, how: How) -> list[tuple[Longs, bool]]:
    """The parts of a class of which one at least is not 0, each with whether the class shows that.

    Args:
        own: ranks of the class's rows.
        some: ranks of the parts.
        how: how the class shows the column. With NULL in it, it shows that alone.
    """
    least, greatest = int(own.min()), int(own.max())
    if least == greatest:
        return []
    ranks = np.unique(own).tolist() if how == "members" else [least, greatest]
    return [(np.flatnonzero(some == rank), least > 0 or rank == 0) for rank in ranks]


def divide_atoms(atoms: Atoms, parts: Parts) -> Atoms:
    """The atoms of the larger system."""
    return Atoms(tuple(nodes[:, parts.atom] for nodes in atoms.nodes), parts.count, atoms.owner[parts.atom])


def with_classes(system: System, parts: Parts) -> System:
    """A system of parts, with the cells that the classes publish and with what must occur.

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
    lengths = [len(one) for one in more]
    at = np.concatenate([system.at, system.at[-1] + np.cumsum(lengths, dtype=np.int64)])
    many, none = len(more), np.zeros(len(more), np.int64)
    fixed = np.concatenate([system.fixed, np.arange(many) < len(kinds)])
    return replace(
        system,
        at=at,
        member=np.concatenate([system.member, *more]),
        value=np.concatenate([system.value, [int(parts.count[one].sum()) for one in more]]).astype(np.int64),
        least=np.concatenate([_raise_least(system, parts, kinds), none]),
        small=np.concatenate([system.small, np.zeros(many, bool)]),
        weight=np.concatenate([system.weight, np.where(fixed[len(system) :], 1.0, 0.0)]),
        margin=np.concatenate([system.margin, none]),
        height=np.concatenate([system.height, none]),
        fixed=fixed,
        inner=np.concatenate([system.inner, np.arange(many) >= len(kinds)]),
    )


def _raise_least(system: System, parts: Parts, kinds: Sequence[Longs]) -> Longs:
    """The lower bounds of small cells, with the rows that readers of the classes know to be in them.

    Of each class these are the kinds that are wholly inside, or as many needs of a column as are.
    """
    least = system.least.copy()
    kind_of = np.array([int(parts.of[one[0]]) for one in kinds], np.int64)
    rows = np.array([int(parts.count[one].sum()) for one in kinds], np.int64)
    known = [(need, *of) for need, of, sure in zip(parts.needs, parts.need_of, parts.known, strict=True) if sure]
    columns = 1 + max((column for _, _, column in known), default=0)
    classes = 1 + int(parts.of.max(initial=0))
    sizes = np.array([len(one) for one in kinds], np.int64)
    in_kind = np.concatenate([np.full(len(one), place) for place, one in enumerate(kinds)] or [np.zeros(0)])
    member_kind = np.full(len(parts), -1, np.int64)
    if kinds:
        member_kind[np.concatenate(kinds)] = in_kind.astype(np.int64)
    need_sizes = np.array([len(need) for need, _, _ in known], np.int64)
    need_member = np.concatenate([need for need, _, _ in known]) if known else np.zeros(0, np.int64)
    need_place = np.repeat(np.arange(len(known)), need_sizes) if known else np.zeros(0, np.int64)
    key = np.array([number * columns + column for _, number, column in known], np.int64)
    for cell in np.flatnonzero(system.small):
        inside = np.zeros(len(parts), bool)
        inside[system.members(int(cell))] = True
        found = np.zeros(classes, np.int64)
        if kinds:
            held = member_kind[inside]
            whole = np.bincount(held[held >= 0], minlength=len(kinds)) == sizes
            np.add.at(found, kind_of[whole], rows[whole])
        if known:
            needed = np.bincount(need_place[inside[need_member]], minlength=len(known)) == need_sizes
            each = np.bincount(key[needed], minlength=classes * columns).reshape(classes, columns)
            found = np.maximum(found, each.max(axis=1))
        least[cell] = max(int(least[cell]), int(found.sum()))
    return least
