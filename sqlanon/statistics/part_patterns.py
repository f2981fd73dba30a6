"""Persons of counts next to a release of rows: patterns over parts, and the persons that classes promise.

A pattern is how many rows a person has of each part. The system of the parts keeps the numbers of rows of each class;
the persons of classes are kept here. Readers know that a class has rows of at least so many persons, that no person has
more than a share of a class's rows, and perhaps that no person has rows in two classes.

Where the rows promise more, such as l of persons, a witness has as many persons as the source of each *kind of rows*:
how many rows a person has in each class, by the values that the class shows as they are. Then every person of it can
be given the other values, published or not, of a person of the source with equal kinds of rows. So each promise about
classes, their values and whose rows they are holds for the witness as it does for the source, whatever it is. A promise
that looks at each class by itself, such as l, needs no more than equal kinds of rows in each class.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.neighbour import Alike
from sqlanon.statistics.parts import LEFT_OUT, Parts
from sqlanon.statistics.system import System, Wholes

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


Pattern = tuple[tuple[int, int], ...]
"""Combinations, or parts, with rows, in ascending order, each with how many."""
Kinds = tuple[tuple[int, int], ...]
"""Classes with the values that they show as they are, in ascending order, each with how many rows of a person."""


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of rows, as patterns are made of them.

    Attributes:
        of: int64[parts], the class of each part.
        kind: int64[parts], see `Parts`.
        rows: of each class how many rows it has.
        share: the part of a class's rows that one person may have, at most, as a fraction.
        alike: the kinds of rows of persons, where witnesses keep how many persons have which; None: they do not.
        apart: these are of each class by itself.
    """

    of: Longs
    kind: Longs
    rows: dict[int, int]
    share: tuple[int, int]
    alike: frozenset[Kinds] | None = None
    apart: bool = False

    def allows(self, pattern: Pattern) -> bool:
        """Whether a person may have these rows: of no class more than the share, or kinds that somebody has."""
        if self.alike is not None:
            return self.alike.issuperset(list_kinds(pattern, self.kind, self.of if self.apart else None))
        part, of = self.share
        if part >= of:
            return True
        rows: dict[int, int] = {}
        for place, times in pattern:
            number = int(self.of[place])
            rows[number] = rows.get(number, 0) + times
        return all(many * of <= part * self.rows[number] for number, many in rows.items() if number != LEFT_OUT)


def list_kinds(pattern: Pattern, kind: Longs, of: Longs | None = None) -> list[Kinds]:
    """How many rows of each kind a pattern has, of all classes together or of each by itself.

    Args:
        pattern: the rows of a person, by parts.
        kind: int64[parts], see `Parts`.
        of: int64[parts], the class of each, where each is by itself.
    """
    rows: dict[int, dict[int, int]] = {}
    for place, times in pattern:
        inside = rows.setdefault(0 if of is None else int(of[place]), {})
        number = int(kind[place])
        inside[number] = inside.get(number, 0) + times
    return [tuple(sorted(inside.items())) for inside in rows.values()]


def list_classes(parts: Parts, share: tuple[int, int], observed: Iterable[Pattern], alike: Alike = "") -> Classes:
    """The classes of some parts.

    Args:
        parts: the parts.
        share: the part of a class's rows that one person may have, at most, as a fraction.
        observed: the patterns of persons.
        alike: see `sqlanon.statistics.neighbour.OfPersons`.
    """
    of = parts.of if alike == "classes" else None
    kinds = frozenset(some for pattern in observed for some in list_kinds(pattern, parts.kind, of)) if alike else None
    numbers, place = np.unique(parts.of, return_inverse=True)
    rows = np.bincount(place.reshape(-1), parts.count, len(numbers)).astype(np.int64)
    of_class = dict(zip(numbers.tolist(), rows.tolist(), strict=True))
    return Classes(parts.of, parts.kind, of_class, share, kinds, alike == "classes")


class PatternMoves:
    """Moves all rows of a person to other values of the columns in which nobody has two.

    Each row stays in its class, and keeps the values that the class shows and those of all other columns.

    Args:
        sides: int64[parts], a number of the values that a person has one of.
        rest: int64[parts], a number of all that a row keeps.
    """

    def __init__(self, sides: Longs, rest: Longs) -> None:
        self._side, self._rest = sides.tolist(), rest.tolist()
        self._sides: dict[int, list[int]] = {}
        self._place: dict[tuple[int, int], int] = {}
        for place, (side, rest_of_row) in enumerate(zip(self._side, self._rest, strict=True)):
            self._sides.setdefault(rest_of_row, []).append(side)
            self._place[side, rest_of_row] = place

    def move(self, pattern: Pattern) -> Iterator[Pattern]:
        """The same rows of other values, in the order of the parts."""
        first = pattern[0][0]
        for side in self._sides[self._rest[first]]:
            if side == self._side[first]:
                continue
            places = [self._place.get((side, self._rest[place]), -1) for place, _ in pattern]
            if min(places) >= 0:
                yield tuple(sorted((place, times) for place, (_, times) in zip(places, pattern, strict=True)))


def with_class_persons(system: System, parts: Parts, persons: Mapping[int, int], least: int) -> System:
    """A system of patterns, with the persons of each class, who are not fewer than promised.

    Args:
        system: the cells over the patterns.
        parts: the parts.
        persons: those of each class.
        least: persons of a class, at least; of a class with fewer there are no fewer.
    """
    wholes = system.wholes
    assert wholes is not None
    assert wholes.places is not None
    assert wholes.part is not None
    assert system.times is not None
    pairs = np.unique(np.stack([parts.of[wholes.places], wholes.part]), axis=1)
    pairs = pairs[:, pairs[0] != LEFT_OUT]
    numbers, starts = np.unique(pairs[0], return_index=True)
    if least < 2 or not len(numbers):
        return system
    many, none = len(numbers), np.zeros(len(numbers), np.int64)
    value = np.array([persons[number] for number in numbers.tolist()], np.int64)
    twin = np.arange(len(system)) if system.twin is None else system.twin
    return replace(
        system,
        at=np.concatenate([system.at, system.at[-1] + np.append(starts[1:], pairs.shape[1])]),
        member=np.concatenate([system.member, pairs[1]]),
        times=np.concatenate([system.times, np.ones(pairs.shape[1], np.int64)]),
        value=np.concatenate([system.value, value]),
        least=np.concatenate([system.least, none]),
        small=np.concatenate([system.small, np.zeros(many, bool)]),
        weight=np.concatenate([system.weight, np.zeros(many)]),
        margin=np.concatenate([system.margin, none]),
        height=np.concatenate([system.height, none]),
        fixed=np.concatenate([system.fixed, np.zeros(many, bool)]),
        inner=np.concatenate([system.inner, np.ones(many, bool)]),
        floor=np.concatenate([system.floors(), np.minimum(value, least)]),
        twin=None if system.twin is None else np.append(twin, len(system) + np.arange(many)),
    )


def number_alike(wholes: Wholes, parts: Parts, alike: Alike) -> Longs:
    """A number of the kinds of rows that a pattern has, or of those in the class: int64[entries of ``wholes``].

    Args:
        wholes: the patterns, over parts.
        parts: the parts.
        alike: see `sqlanon.statistics.neighbour.OfPersons`.
    """
    assert wholes.places is not None
    assert wholes.part is not None
    assert wholes.times is not None
    of = parts.of[wholes.places] if alike == "classes" else np.zeros(len(wholes.part), np.int64)
    order = np.lexsort((of, wholes.part))
    group = np.stack([wholes.part, of])[:, order]
    starts = np.flatnonzero((np.diff(group, axis=1, prepend=-2) != 0).any(axis=0))
    rows = list(zip(wholes.places[order].tolist(), wholes.times[order].tolist(), strict=True))
    numbers: dict[Kinds, int] = {}
    of_entries = np.zeros(len(order), np.int64)
    for start, end in itertools.pairwise([*starts.tolist(), len(rows)]):
        (kinds,) = list_kinds(tuple(rows[start:end]), parts.kind)
        of_entries[order[start:end]] = numbers.setdefault(kinds, len(numbers))
    return of_entries


def with_alike(system: System, parts: Parts, alike: Alike) -> System:
    """A system of patterns in which as many persons as in the source have each kinds of rows.

    Small cells then have as few persons as finest cells, whatever rows these have: a person keeps a number of rows.

    Args:
        system: the cells over the patterns.
        parts: the parts.
        alike: see `sqlanon.statistics.neighbour.OfPersons`.
    """
    wholes = system.wholes
    assert wholes is not None
    assert wholes.part is not None
    assert system.times is not None
    pairs = np.unique(np.stack([number_alike(wholes, parts, alike), wholes.part]), axis=1)
    starts = np.searchsorted(pairs[0], np.arange(1, int(pairs[0].max(initial=-1)) + 2))
    value = np.bincount(pairs[0], system.atoms.count[pairs[1]], len(starts)).astype(np.int64)
    many, none = len(starts), np.zeros(len(starts), np.int64)
    return replace(
        system,
        at=np.concatenate([system.at, system.at[-1] + starts]),
        member=np.concatenate([system.member, pairs[1]]),
        times=np.concatenate([system.times, np.ones(pairs.shape[1], np.int64)]),
        value=np.concatenate([system.value, value]),
        least=np.concatenate([system.least, none]),
        small=np.concatenate([system.small, np.zeros(many, bool)]),
        weight=np.concatenate([system.weight, np.ones(many)]),
        margin=np.concatenate([system.margin, none]),
        height=np.concatenate([system.height, none]),
        fixed=np.concatenate([system.fixed, np.ones(many, bool)]),
        inner=np.concatenate([system.inner, np.zeros(many, bool)]),
        floor=np.concatenate([system.floors(), none]),
        twin=None if system.twin is None else np.append(system.twin, len(system) + np.arange(many)),
        by_persons=True,
    )
