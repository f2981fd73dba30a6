"""Input and output of every attack with a control group: codes of a trial, and numbers of successes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.attack.kernels.nearest import Space

WORK = 1_000_000_000
"""Comparisons of an attack, about: some seconds of a core."""
FEWEST = 200
"""Victims that are attacked at least, if there are so many."""


@dataclass(frozen=True, slots=True)
class Column:
    """A released column.

    Attributes:
        name: the source's.
        role: ``quasi``, ``sensitive`` or ``insensitive``.
    """

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial release and the rows of its source, in codes of the whole source.

    Attributes:
        columns: d of them: quasi columns first.
        space: the different released rows.
        inside: int32[n, d], rows that the release was made of.
        outside: int32[m, d], rows that were held out.
        victims: int64, places in ``inside`` that are attacked, one for each person.
        control: int64, places in ``outside``.
        sets: two disjoint sets of quasi columns, by their places, for linkability; either may be empty.
        seed: of every draw.
        threads: for a classifier.
    """

    columns: tuple[Column, ...]
    space: Space
    inside: Ints
    outside: Ints
    victims: Longs
    control: Longs
    sets: tuple[tuple[int, ...], tuple[int, ...]]
    seed: int
    threads: int = 1

    def with_role(self, *roles: str) -> tuple[int, ...]:
        """The places of columns."""
        return tuple(place for place, column in enumerate(self.columns) if column.role in roles)

    def rng(self, name: str) -> np.random.Generator:
        """Random numbers of an attack: the same in every run, and independent of the other attacks."""
        return np.random.default_rng([self.seed, *name.encode()])

    def affords(self, columns: int) -> int:
        """Victims of each group that are compared with every different released row by so many columns."""
        return max(FEWEST, WORK // (2 * max(columns * len(self.space.members), 1)))

    def draw(self, most: int) -> tuple[Ints, Ints, bool]:
        """Rows inside and held out that are attacked, at most so many of each, and whether they are all."""
        rng = self.rng("victims")
        samples = []
        for rows, places in ((self.inside, self.victims), (self.outside, self.control)):
            some = np.sort(rng.choice(places, most, replace=False)) if len(places) > most else places
            samples.append(np.ascontiguousarray(rows[some]))
        return samples[0], samples[1], max(len(self.victims), len(self.control)) <= most


@dataclass(frozen=True, slots=True)
class Successes:
    """How often an attack succeeded, which may be an expected number, in so many attempts."""

    number: float
    attempts: int

    @property
    def share(self) -> float:
        """The rate; 0 without attempts."""
        return self.number / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an attack.

    Attributes:
        what: name of the attack, for people.
        columns: those that it knows or guesses, by name.
        main: on rows inside.
        control: on rows held out.
        naive: of an attacker who does not read the release's rows.
        every: all victims, or all predicates, were tried.
        gain: control is subtracted and the rest is not scaled: membership.
    """

    what: str
    columns: tuple[str, ...]
    main: Successes
    control: Successes
    naive: float
    every: bool
    gain: bool = False


@dataclass(frozen=True, slots=True)
class MissingFigure:
    """Why a figure is not measured."""

    why: str


@dataclass(frozen=True, slots=True)
class Attack:
    """An entry of the registry.

    Attributes:
        name: key of the attack.
        title: description in a line for people.
        run: makes it on a trial.
    """

    name: str
    title: str
    run: Callable[[Trial], Iterator[Outcome | MissingFigure]]
