"""Tiny sources of persons with several rows, made without a database, and what a brute-force reader finds in them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.statistics.choose import HiddenChoice, choose_hidden
from sqlanon.statistics.pattern_cells import over_patterns
from sqlanon.statistics.patterns import Patterns, add_candidates, collect_patterns
from sqlanon.statistics.system import System
from tests.oracle.person_reader import Rows, Source, count, sources
from tests.oracle.table_reader import Cell
from tests.unit.cells.made import Tiny, tiny

Numbers = tuple[int | None, int | None]
"""Rows and persons of a cell, None where the number is not published."""


@dataclass(frozen=True)
class Persons:
    """A source, its cells, and the cells as systems.

    Attributes:
        case: the rows by combinations.
        source: how many persons have which rows, by places of the combinations.
        threshold: cells of fewer persons are small.
        measures: ``n``, ``persons`` or both.
    """

    case: Tiny
    source: Source
    threshold: int
    measures: Collection[str] = ("n", "persons")

    def persons(self, cell: Cell) -> int:
        return count(self.source, self.case.within[cell])[1]

    @property
    def small(self) -> list[Cell]:
        return [cell for cell in self.case.cells if self.persons(cell) < self.threshold]

    def rows(self) -> System:
        """The cells by rows alone; those of few persons are small."""
        system = self.case.system(self.threshold)
        small = np.zeros(len(system), bool)
        for cell, of in zip(self.case.cells, system.listed, strict=True):
            small[of] |= self.persons(cell) < self.threshold
        return replace(system, small=small)

    def system(self) -> System:
        system = self.rows()
        persons = np.zeros(len(system), np.int64)
        for cell, of in zip(self.case.cells, system.listed, strict=True):
            persons[of] = self.persons(cell)
        patterns = add_candidates(system, self.patterns(), b"key")
        return over_patterns(system, persons, patterns, rows="n" in self.measures)

    def patterns(self) -> Patterns:
        listed = [kind for kind, many in self.source.items() for _ in range(many)]
        entries = [(person, atom, kind.count(atom)) for person, kind in enumerate(listed) for atom in sorted(set(kind))]
        person, atom, times = np.array(entries, np.int64).T
        return collect_patterns(person, atom, times)

    def protect(self, *, insiders: bool) -> HiddenChoice:
        return choose_hidden(self.system(), self.threshold, insiders=insiders, secret=b"key")

    def hidden_of(self, found: HiddenChoice) -> list[bool]:
        return [bool(found.hidden[of]) for of in self.rows().listed]

    def shown(self, hidden: Sequence[bool]) -> dict[Cell, Numbers | None]:
        """What the view has of each cell."""
        return {cell: None if hide else self.numbers(cell) for cell, hide in zip(self.case.cells, hidden, strict=True)}

    def numbers(self, cell: Cell) -> Numbers:
        rows, persons = count(self.source, self.case.within[cell])
        return rows if "n" in self.measures else None, persons if "persons" in self.measures else None

    def read(
        self, shown: dict[Cell, Numbers | None], asked: Sequence[Cell], known: tuple[Rows, Sequence[Cell]] | None = None
    ) -> dict[Cell, set[tuple[int, int]]]:
        """Every number of rows and of persons that cells have in a source which agrees with what is shown."""
        total = shown[tuple(None for _ in self.case.cells[0])]
        assert total is not None, "without the grand total there is no end"
        everybody = total[1] if total[1] is not None else total[0]
        assert everybody is not None
        most = max(len(kind) for kind in self.source)
        found: dict[Cell, set[tuple[int, int]]] = {cell: set() for cell in asked}
        leaves, within = len(self.case.counts), self.case.within
        for source in sources(leaves, shown, within, (most, everybody, everybody), self.able(most), known):
            for cell in asked:
                found[cell].add(count(source, within[cell]))
        return found

    def able(self, most: int) -> list[Rows]:
        """The rows that persons may have, for who knows in which columns nobody has two values."""
        places = list(self.case.counts)
        columns = range(len(places[0]))
        constant = [at for at in columns if all(len({places[p][at] for p in kind}) == 1 for kind in self.source)]
        kinds = [
            kind
            for many in range(1, most + 1)
            for kind in itertools.combinations_with_replacement(range(len(places)), many)
        ]
        if "n" not in self.measures:  # how often is not seen
            kinds = [kind for kind in kinds if len(set(kind)) == len(kind)]
        return [kind for kind in kinds if all(len({places[p][at] for p in kind}) == 1 for at in constant)]

    def alone(self) -> list[tuple[Rows, list[Cell]]]:
        """The rows of each person who is the only one in a cell, and these cells."""
        found: dict[Rows, list[Cell]] = {}
        for cell in self.case.cells:
            inside = set(self.case.within[cell])
            kinds = [kind for kind in self.source if inside & set(kind)]
            if len(kinds) == 1 and self.source[kinds[0]] == 1:
                found.setdefault(kinds[0], []).append(cell)
        return list(found.items())


def persons(
    seed: object,
    shape: Sequence[int] = (2, 3),
    many: int = 8,
    most: int = 2,
    threshold: int = 3,
    *,
    measures: Collection[str] = ("n", "persons"),
    constant: Collection[int] = (),
    tables: Sequence[Sequence[int]] | None = None,
) -> Persons:
    """A drawn source: so many persons, each with up to ``most`` rows; in constant columns each has one value."""
    draw = random.Random(str(seed))
    listed: list[list[tuple[int, ...]]] = []
    for _ in range(many):
        first = [draw.randrange(width) for width in shape]
        listed.append(
            [
                tuple(first[at] if at in constant else draw.randrange(width) for at, width in enumerate(shape))
                for _ in range(draw.randint(1, most))
            ]
        )
    return of_rows(listed, threshold, measures=measures, tables=tables)


def of_rows(
    listed: Sequence[Sequence[tuple[int, ...]]],
    threshold: int = 3,
    *,
    measures: Collection[str] = ("n", "persons"),
    tables: Sequence[Sequence[int]] | None = None,
) -> Persons:
    """A source, by the codes of the rows of each person."""
    counts: dict[tuple[int, ...], int] = {}
    for codes in sorted(codes for rows in listed for codes in rows):
        counts[codes] = counts.get(codes, 0) + 1
    case = tiny(counts, tables)
    place = {codes: at for at, codes in enumerate(case.counts)}
    source: Source = {}
    for rows in listed:
        kind = tuple(sorted(place[codes] for codes in rows))
        source[kind] = source.get(kind, 0) + 1
    return Persons(case, source, threshold, measures)
