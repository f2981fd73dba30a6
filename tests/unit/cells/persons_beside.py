"""Tiny sources of persons with several rows in classes, made without a database, and the systems of both."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.choose import HiddenChoice, choose_hidden
from sqlanon.statistics.class_counts import PersonRows, count_class_persons, place_persons, weigh_kinds
from sqlanon.statistics.neighbour import Alike
from sqlanon.statistics.part_patterns import list_classes, with_alike, with_class_persons
from sqlanon.statistics.part_weights import Weighed, with_weights
from sqlanon.statistics.parts import Parts, list_parts, with_classes
from sqlanon.statistics.pattern_cells import over_patterns
from sqlanon.statistics.patterns import Patterns, add_candidates, collect_patterns
from sqlanon.statistics.system import Atoms, PublishedCells, System, Wholes, build_system
from tests.oracle.class_reader import SHOWN, Row
from tests.oracle.person_class_reader import Classed, Group, Owned, Promise
from tests.oracle.person_reader import Rows, Source, count
from tests.oracle.table_reader import Cell
from tests.unit.cells.persons_made import Numbers, Persons, of_rows
from tests.unit.cells.test_parts import placed_of

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Beside:
    """Persons by class.

    Attributes:
        listed: of each person the rows, each a class and the codes.
        ways: how classes show each column.
        threshold: cells of fewer persons are small.
        least: persons of a class, at least, as is promised.
        measures: ``n``, ``persons`` or both.
        values: of each person's rows a further value that the rows publish; empty: they publish none.
        promise: what the rows promise of the values of persons.
        alike: what witnesses keep of the rows of persons.
        weighed: the column of the values, and how much of a class they weigh at most; None: that is not looked at.
    """

    listed: Sequence[Sequence[tuple[int, Row]]]
    ways: tuple[str, ...]
    threshold: int
    least: int
    measures: Collection[str] = ("n", "persons")
    values: Sequence[Sequence[str]] = ()
    promise: Promise | None = None
    alike: Alike = ""
    weighed: Weighed | None = None

    @property
    def persons(self) -> Persons:
        rows = [[codes for _, codes in own] for own in self.listed]
        return of_rows(rows, self.threshold, measures=self.measures)

    @property
    def leaves(self) -> list[Row]:
        return list(self.persons.case.counts)

    @property
    def classes(self) -> list[list[Row]]:
        many = 1 + max(of for own in self.listed for of, _ in own)
        return [sorted(codes for own in self.listed for of, codes in own if of == at) for at in range(many)]

    @property
    def whole(self) -> bool:
        return all(len({of for of, _ in own}) == 1 for own in self.listed)

    @property
    def most(self) -> int:
        return max(map(len, self.listed))

    @property
    def constant(self) -> list[int]:
        """Columns of which nobody has two values."""
        columns = range(len(self.leaves[0]))
        return [at for at in columns if all(len({codes[at] for _, codes in own}) == 1 for own in self.listed)]

    def parts(self) -> Parts:
        classes = self.classes
        placed = placed_of(self.persons.case, classes, self.ways)
        of = [at for at, rows in enumerate(classes) for _ in sorted(set(rows))]
        return list_parts(replace(placed, of=np.array(of, np.int64)))

    def person_rows(self) -> PersonRows:
        """The rows of persons: person, combination, class and how many."""
        leaves = self.leaves
        counts: dict[tuple[int, int, int], int] = {}
        for person, own in enumerate(self.listed):
            for of, codes in own:
                key = (person, leaves.index(codes), of)
                counts[key] = counts.get(key, 0) + 1
        person, atom, of = np.array(list(counts), np.int64).T
        return person, atom, of, np.array(list(counts.values()), np.int64)

    def patterns(self, parts: Parts) -> tuple[Patterns, dict[int, int]]:
        rows = self.person_rows()
        return collect_patterns(*place_persons(parts, rows)), count_class_persons(rows)

    def over_parts(self, plain: System, parts: Parts) -> System:
        """The cells over parts, by rows alone."""
        case = self.persons
        small = plain.small[plain.listed]
        first = parts.first()[[case.case.within[cell][0] for cell in case.case.cells]]
        nodes = tuple(level[:, parts.atom] for level in plain.atoms.nodes)
        atoms = Atoms(nodes, parts.count, plain.atoms.owner[parts.atom])
        finest = [(0,) * len(nodes)]
        over = build_system(atoms, PublishedCells(plain.levels, first, small), finest, b"key")
        return replace(with_classes(over, parts), wholes=Wholes(plain, parts.atom))

    def system(self) -> tuple[System, Parts]:
        """The cells over patterns of parts."""
        case, parts = self.persons, self.parts()
        over = self.over_parts(case.rows(), parts)
        persons = np.zeros(len(over), np.int64)
        for cell, of in zip(case.case.cells, over.listed, strict=True):
            persons[of] = case.persons(cell)
        observed, crowds = self.patterns(parts)
        classes = list_classes(parts, (1, 1), observed.of, self.alike)
        candidates = add_candidates(over, observed, b"key", classes=classes)
        over = over_patterns(over, persons, candidates, rows="n" in self.measures)
        if self.alike:
            return with_alike(over, parts, self.alike), parts
        over = with_class_persons(over, parts, crowds, self.least)
        if self.weighed is not None:
            over = with_weights(over, parts, weigh_kinds(parts, self.person_rows()), crowds, self.weighed)
        return over, parts

    def protect(self, *, insiders: bool) -> HiddenChoice:
        return choose_hidden(self.system()[0], self.threshold, insiders=insiders, secret=b"key")

    def hidden_of(self, found: HiddenChoice) -> list[bool]:
        return [bool(found.hidden[of]) for of in self.persons.rows().listed]

    def owned(self, person: int) -> Owned:
        """The values of a person's rows."""
        found: dict[Group, Counter[str]] = {}
        for (of, codes), value in zip(self.listed[person], self.values[person], strict=True):
            shown = tuple(code for code, way in zip(codes, self.ways, strict=True) if way == SHOWN)
            found.setdefault((of, shown), Counter())[value] += 1
        return found

    @property
    def kept(self) -> bool:
        """Whether the source keeps what is promised."""
        return self.promise is None or self.promise([self.owned(person) for person in range(len(self.listed))])

    def classed(self, known: Rows | None = None) -> Classed:
        if self.promise is None:
            return Classed(self.classes, self.ways, self.leaves, self.least, whole=self.whole)
        values: dict[Group, Counter[str]] = {}
        for person in range(len(self.listed)):
            for group, own in self.owned(person).items():
                values[group] = values.get(group, Counter()) + own
        plain = Classed(self.classes, self.ways, self.leaves, self.least, whole=self.whole)
        places = [
            tuple(sorted(plain.places.index((of, self.leaves.index(codes))) for of, codes in own))
            for own in self.listed
        ]
        own = None if known is None else self.owned(places.index(known))
        more = {"values": values, "promise": self.promise, "known": own}
        return Classed(self.classes, self.ways, self.leaves, self.least, whole=self.whole, **more)

    def read(
        self, shown: dict[Cell, Numbers | None], asked: Sequence[Cell], known: tuple[Rows, Sequence[Cell]] | None = None
    ) -> dict[Cell, set[tuple[int, int]]]:
        """Every number of rows and of persons that cells have in a source which agrees with all that is published."""
        classed, within = self.classed(None if known is None else known[0]), self.persons.case.within
        inside = {cell: [at for at, (_, leaf) in enumerate(classed.places) if leaf in within[cell]] for cell in asked}
        everybody = sum(map(len, self.classes))
        found: dict[Cell, set[tuple[int, int]]] = {cell: set() for cell in asked}
        for source in classed.agreeing(shown, within, (self.most, everybody, everybody), self.constant, known):
            for cell in asked:
                found[cell].add(count(source, inside[cell]))
        return found

    def alone(self) -> list[tuple[Rows, list[Cell]]]:
        """The rows of each person who is the only one in a cell, by places, and these cells."""
        classed, leaves = self.classed(), self.leaves
        found: dict[Rows, list[Cell]] = {}
        for cell, within in self.persons.case.within.items():
            inside = [own for own in self.listed if any(leaves.index(codes) in within for _, codes in own)]
            if len(inside) == 1:
                kind = tuple(sorted(classed.places.index((of, leaves.index(codes))) for of, codes in inside[0]))
                found.setdefault(kind, []).append(cell)
        return list(found.items())

    def source_of(self, system: System, parts: Parts, numbers: npt.NDArray[np.int64]) -> Source:
        """The source, by places, of numbers of persons by pattern."""
        wholes, classed = system.wholes, self.classed()
        assert wholes is not None
        assert wholes.places is not None
        assert wholes.part is not None
        assert wholes.times is not None
        rows: dict[int, list[int]] = {}
        for pattern, part, times in zip(wholes.part.tolist(), wholes.places, wholes.times.tolist(), strict=True):
            place = classed.places.index((int(parts.of[part]), int(parts.atom[part])))
            rows.setdefault(pattern, []).extend([place] * times)
        assert (numbers >= 0).all()
        return {tuple(sorted(rows[pattern])): int(numbers[pattern]) for pattern in np.flatnonzero(numbers).tolist()}

    def source(self) -> Source:
        """The true source, by places."""
        classed, leaves = self.classed(), self.leaves
        source: Source = {}
        for own in self.listed:
            kind = tuple(sorted(classed.places.index((of, leaves.index(codes))) for of, codes in own))
            source[kind] = source.get(kind, 0) + 1
        return source


def beside(
    seed: object,
    ways: tuple[str, ...],
    shape: Sequence[int] = (2, 3),
    size: int = 4,
    many: int = 2,
    *,
    whole: bool = True,
    constant: Collection[int] = (),
    least: int = 2,
    threshold: int = 3,
    measures: Collection[str] = ("n", "persons"),
) -> Beside:
    """Drawn persons: ``size`` of each class, of one row or two; without ``whole`` a second row is in any class."""
    draw = random.Random(str(seed))
    listed: list[list[tuple[int, Row]]] = []
    for of in range(many):
        for _ in range(size):
            first = [draw.randrange(width) for width in shape]
            own = [(of, tuple(first))]
            if draw.random() < 0.4:
                second = tuple(first[at] if at in constant else draw.randrange(width) for at, width in enumerate(shape))
                own.append((of if whole else draw.randrange(many), second))
            listed.append(own)
    return Beside(listed, ways, threshold, least, measures)
