"""Persons of counts next to a release of rows: patterns over parts, and the persons that classes promise.

A pattern is how many rows a person has of each part. The system of the parts keeps the numbers of rows of each class;
the persons of classes are kept here. Readers know that a class has rows of at least so many persons, that no person has
more than a share of a class's rows, and perhaps that no person has rows in two classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.parts import LEFT_OUT, Parts
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

Pattern = tuple[tuple[int, int], ...]
"""Combinations, or parts, with rows, in ascending order, each with how many."""


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of rows, as patterns are made of them.

    Attributes:
        of: int64[parts], the class of each part.
        kind: int64[parts], see `Parts`.
        rows: of each class how many rows it has.
        share: the part of a class's rows that one person may have, at most, as a fraction.
    """

    of: Longs
    kind: Longs
    rows: dict[int, int]
    share: tuple[int, int]

    def allows(self, pattern: Pattern) -> bool:
        """Whether a person may have these rows: of no class more than the share."""
        part, of = self.share
        if part >= of:
            return True
        rows: dict[int, int] = {}
        for place, times in pattern:
            number = int(self.of[place])
            rows[number] = rows.get(number, 0) + times
        return all(many * of <= part * self.rows[number] for number, many in rows.items() if number != LEFT_OUT)


def list_classes(parts: Parts, share: tuple[int, int]) -> Classes:
    """The classes of some parts."""
    numbers, place = np.unique(parts.of, return_inverse=True)
    rows = np.bincount(place.reshape(-1), parts.count, len(numbers)).astype(np.int64)
    return Classes(parts.of, parts.kind, dict(zip(numbers.tolist(), rows.tolist(), strict=True)), share)


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
