"""Systems for persons with several rows: over patterns, in which rows and persons are both sums.

A pattern is how many rows a person has of each finest combination. Persons do not add up over cells, but over patterns:
a person counts once in each cell in which the pattern has a row. A source, and so a witness, is a number of persons for
each pattern.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.part_patterns import Classes, Pattern, PatternMoves
from sqlanon.statistics.system import System, hash_members

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


MOST_PATTERNS = 40_000
"""Patterns of a system that are made of others, at most; of further ones no witness has other numbers."""
SIBLINGS = 3
"""Combinations to which a row of a pattern is moved, of each column and level."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of persons.

    Attributes:
        of: the patterns, each once.
        persons: int64[patterns], how many persons have each; 0: nobody has it, and witnesses may give it to some.
        kin: int64[n, 2], pairs of patterns, of which the second is made of the first.
    """

    of: tuple[Pattern, ...]
    persons: Longs
    kin: Longs

    def entries(self) -> tuple[Longs, Longs, Longs]:
        """The combinations of all patterns: pattern, combination, rows."""
        rows = [(place, atom, times) for place, pattern in enumerate(self.of) for atom, times in pattern]
        part, of, times = np.array(rows, np.int64).reshape(-1, 3).T
        return part.copy(), of.copy(), times.copy()


def collect_patterns(person: Longs, atom: Longs, times: Longs) -> Patterns:
    """The patterns that persons have, the most frequent first.

    Args:
        person: int64[n], a person.
        atom: int64[n], a combination.
        times: int64[n], how many rows of it the person has.
    """
    order = np.lexsort((atom, person))
    person, atom, times = person[order], atom[order], times[order]
    starts = np.flatnonzero(np.diff(person, prepend=person[0] - 1)) if len(person) else np.zeros(0, np.int64)
    pairs = list(zip(atom.tolist(), times.tolist(), strict=True))
    counts: dict[Pattern, int] = {}
    for start, end in itertools.pairwise([*starts.tolist(), len(pairs)]):
        pattern = tuple(pairs[start:end])
        counts[pattern] = counts.get(pattern, 0) + 1
    of = sorted(counts, key=lambda pattern: (-counts[pattern], pattern))
    return Patterns(tuple(of), np.array([counts[pattern] for pattern in of], np.int64), np.zeros((0, 2), np.int64))


def find_sides(nodes: Sequence[Longs], observed: Patterns) -> Longs:
    """Groups of combinations that a person may have together: int64[combinations].

    Columns of which no person has two values are taken for such in which nobody can: a witness in which somebody has
    two would say nothing to who knows that there are none.

    Args:
        nodes: per column int64[levels, combinations].
        observed: the patterns that persons have.
    """
    levels = np.concatenate(nodes)
    return _number(levels[_are_constant(levels, observed)])


def _are_constant(levels: Longs, observed: Patterns) -> Flags:
    """bool[levels], those of which no person has two nodes."""
    part, of, _ = observed.entries()
    first = np.searchsorted(part, part)
    return np.array([bool((level[of] == level[of[first]]).all()) for level in levels], bool)


def _number(levels: Longs) -> Longs:
    """Numbers of the combinations of some levels: int64[combinations]."""
    if not len(levels):
        return np.zeros(levels.shape[1], np.int64)
    numbers: Longs = np.unique(levels, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers


def add_candidates(
    system: System, observed: Patterns, secret: bytes, most: int = MOST_PATTERNS, classes: Classes | None = None
) -> Patterns:
    """Patterns for a search: some that persons have, and others that they could have.

    Nobody is given more rows than the person with most rows has, and nobody two values of a column in which nobody has.

    Args:
        system: the cells over combinations, or over parts of them.
        observed: all patterns that persons have.
        secret: key of the order among equals.
        most: patterns, at most, besides those of persons in small cells, and those of one combination.
        classes: where these are parts, the classes of a release of rows; a class is then a further column. Where
            witnesses keep kinds of rows, rows stay in their kind.

    Cost: for each combination of persons with several rows a scan of the combinations.
    """
    candidates = _Candidates(system, observed, secret, classes)
    numbers = dict(zip(observed.of, observed.persons.tolist(), strict=True))
    chosen: dict[Pattern, int] = {}
    kin: list[tuple[int, int]] = []
    # Who is alone in a cell has one of the first patterns.
    for pattern in candidates.list_first():
        chosen.setdefault(pattern, len(chosen))
    most += len(chosen)
    for parent, pattern in candidates.draw():
        if len(chosen) >= most:
            break
        if classes is not None and not classes.allows(pattern):
            continue
        place = chosen.setdefault(pattern, len(chosen))
        if parent is not None and parent in chosen:
            kin.append((chosen[parent], place))
    persons = np.array([numbers.get(pattern, 0) for pattern in chosen], np.int64)
    return Patterns(tuple(chosen), persons, np.array(kin, np.int64).reshape(-1, 2))


Child = tuple[Pattern | None, Pattern]
"""A pattern, and one that it is made of."""


class _Candidates:
    """Patterns in the order in which they are taken."""

    def __init__(self, system: System, observed: Patterns, secret: bytes, classes: Classes | None = None) -> None:
        self._observed, self._secret, self._classes = observed, secret, classes
        self._alike = classes is not None and classes.alike is not None
        nodes = system.atoms.nodes if classes is None else (*system.atoms.nodes, classes.of[np.newaxis])
        self._side = find_sides(nodes, observed)
        self._nodes = np.concatenate(nodes)
        self._most = max((_rows(pattern) for pattern in observed.of), default=1)
        small = [system.members(int(cell)) for cell in np.flatnonzero(system.small)]
        self._small = set(np.concatenate([np.zeros(0, np.int64), *small]).tolist())
        self._siblings: dict[int, list[int]] = {}
        self._moving: PatternMoves | None = None
        self._inside = [pattern for pattern in observed.of if any(atom in self._small for atom, _ in pattern)]

    def list_first(self) -> Iterator[Pattern]:
        """Those of persons in small cells, and those of one combination, once and twice.

        With the latter rows come and go without persons.
        """
        yield from self._inside
        for atom in range(self._nodes.shape[1]):
            if not self._alike or self._allows(((atom, 1),)):
                yield ((atom, 1),)
            if self._most > 1 and self._allows(((atom, 2),)):
                yield ((atom, 2),)

    def _allows(self, pattern: Pattern) -> bool:
        return self._classes is None or self._classes.allows(pattern)

    def draw(self) -> Iterator[Child]:
        """All others, each with a pattern of which it is made; some several times."""
        several = self._order(pattern for pattern in self._inside if _rows(pattern) > 1)
        yield from self._transpose(several, only=None)
        if self._alike:
            yield from self._draw_alike(several)
            return
        for pattern in several:
            yield from self._remove_row(pattern)
            yield from self._move_rows(pattern, only=self._small)
        # Rows come to small cells, and go elsewhere.
        small_patterns = set(self._inside)
        others = self._order(pattern for pattern in self._observed.of if pattern not in small_patterns)
        yield from self._transpose(others, only=self._small)
        for pattern in several:
            yield from self._move_rows(pattern, only=None)
        yield from self._double(sorted(self._small))
        for pattern in others:
            yield None, pattern
            yield from self._remove_row(pattern)
        yield from self._transpose(others, only=None)
        for pattern in self._order([*others, *self._inside]):
            yield from self._add_row(pattern)
            yield from self._move_rows(pattern, only=None)
        yield from self._double(range(self._nodes.shape[1]))

    def _draw_alike(self, several: Sequence[Pattern]) -> Iterator[Child]:
        """The same where rows stay in their kind, after the first."""
        for pattern in several:
            yield from self._empty_cells(pattern)
            yield from self._move_rows(pattern, only=self._small)
        small_patterns = set(self._inside)
        others = self._order(pattern for pattern in self._observed.of if pattern not in small_patterns)
        yield from self._transpose(others, only=self._small)
        everybody = self._order([*others, *self._inside])
        yield from self._fill_cells(everybody)
        yield from self._split_classes(everybody)
        yield from ((None, pattern) for pattern in others)
        yield from self._transpose(others, only=None)
        for pattern in everybody:
            yield from self._move_rows(pattern, only=None)

    def _empty_cells(self, pattern: Pattern) -> Iterator[Child]:
        """All rows in small cells go elsewhere, or all but one."""
        inside = [(atom, times) for atom, times in pattern if atom in self._small]
        for turn in range(SIBLINGS):
            moved, once = pattern, pattern
            for atom, times in inside:
                others = [other for other in self._near(atom) if other not in self._small] or self._near(atom)
                if others:
                    other = others[turn % len(others)]
                    moved = _change(_change(moved, atom, -times), other, times)
                    once = _change(_change(once, atom, 1 - times), other, times - 1)
            yield from ((pattern, changed) for changed in (moved, once) if changed != pattern)

    def _split_classes(self, patterns: Sequence[Pattern]) -> Iterator[Child]:
        """Where kinds are of each class by itself, rows of several classes are of several persons, and are moved so."""
        assert self._classes is not None
        if not self._classes.apart:
            return
        of, of_sides = self._classes.of, dict[int, list[Pattern]]()
        inside: list[tuple[Pattern, Pattern, int]] = []
        for pattern in patterns:
            numbers = {int(of[atom]) for atom, _ in pattern}
            for number in sorted(numbers):
                part = tuple((atom, times) for atom, times in pattern if int(of[atom]) == number)
                same_side = of_sides.setdefault(int(self._side[part[0][0]]), [])
                same_side.append(part)
                inside.append((pattern, part, len(same_side)))
                if len(numbers) > 1:
                    yield pattern, part
                    yield pattern, tuple(row for row in pattern if row not in part)
        moved = [part for _, part, _ in inside]
        yield from self._transpose(moved, only=self._small)
        yield from self._fill_cells(moved)
        for pattern, part, after in inside:
            for other in of_sides[int(self._side[part[0][0]])][after : after + SIBLINGS]:
                joined = tuple(sorted((*part, *other)))
                if int(of[other[0][0]]) != int(of[part[0][0]]) and _rows(joined) <= self._most:
                    yield pattern, joined

    def _fill_cells(self, patterns: Sequence[Pattern]) -> Iterator[Child]:
        """Rows come to small cells from others of their kind."""
        assert self._classes is not None
        targets: dict[tuple[int, int], list[int]] = {}
        kind = self._classes.kind
        for atom in sorted(self._small):
            targets.setdefault((int(kind[atom]), int(self._side[atom])), []).append(atom)
        for pattern in patterns:
            for atom, _ in pattern:
                for target in targets.get((int(kind[atom]), int(self._side[atom])), ()):
                    if target != atom:
                        yield pattern, _change(_change(pattern, atom, -1), target, 1)

    def _transpose(self, patterns: Sequence[Pattern], only: set[int] | None) -> Iterator[Child]:
        """Next to classes the rows of a person with other values of all columns in which nobody has two.

        Args:
            patterns: those that are moved.
            only: rows come to one of these combinations; None: to any.
        """
        if self._classes is None:
            return
        if self._moving is None:
            varying = self._nodes[~_are_constant(self._nodes, self._observed)]
            of, kind = self._classes.of, self._classes.kind
            self._moving = PatternMoves(self._side, _number(np.concatenate([varying, [of, kind]])))
        for pattern in patterns:
            for moved in self._moving.move(pattern) if len(pattern) > 1 else ():
                if only is None or any(atom in only for atom, _ in moved):
                    yield pattern, moved

    def _order(self, patterns: Iterable[Pattern]) -> list[Pattern]:
        def mark(pattern: Pattern) -> bytes:
            return hash_members(np.array(pattern, np.int64).reshape(-1), self._secret)

        return sorted(patterns, key=mark)

    def _near(self, atom: int) -> list[int]:
        """Other combinations that a person with one may have as well.

        Of each column and level some with another node, those of most equal nodes first.
        """
        siblings = self._siblings.get(atom)
        if siblings is None:
            unlike = self._nodes != self._nodes[:, atom, np.newaxis]
            fits = (self._side == self._side[atom]) & unlike.any(axis=0)
            if self._alike and self._classes is not None:
                fits &= self._classes.kind == self._classes.kind[atom]
            able = np.flatnonzero(fits)
            able = able[np.argsort(unlike[:, able].sum(axis=0), kind="stable")]
            chosen = dict.fromkeys(int(other) for row in unlike for other in able[row[able]][:SIBLINGS])
            siblings = [*chosen, *(other for other in able[:SIBLINGS].tolist() if other not in chosen)]
            self._siblings[atom] = siblings
        return siblings

    def _remove_row(self, pattern: Pattern) -> Iterator[Child]:
        if _rows(pattern) > 1:
            for atom, _ in pattern:
                yield pattern, _change(pattern, atom, -1)

    def _move_rows(self, pattern: Pattern, only: set[int] | None) -> Iterator[Child]:
        for atom, _ in pattern:
            if only is None or atom in only:
                less = _change(pattern, atom, -1)
                for other in self._near(atom) if less else ():
                    yield pattern, _change(less, other, 1)

    def _add_row(self, pattern: Pattern) -> Iterator[Child]:
        if _rows(pattern) < self._most:
            for atom, _ in pattern:
                for other in (atom, *self._near(atom)):
                    yield pattern, _change(pattern, other, 1)

    def _double(self, atoms: Iterable[int]) -> Iterator[Child]:
        for atom in atoms if self._most > 1 else ():
            for other in self._near(atom):
                yield ((atom, 1),), _change(((atom, 1),), other, 1)


def _rows(pattern: Pattern) -> int:
    return sum(times for _, times in pattern)


def _change(pattern: Pattern, atom: int, more: int) -> Pattern:
    """A pattern with one row of a combination more, or less."""
    rows = dict(pattern)
    rows[atom] = rows.get(atom, 0) + more
    return tuple(sorted((of, times) for of, times in rows.items() if times))
