"""A reader of rows by class and of counted persons: every source of persons whose rows are in classes, one by one.

Of each class the reader sees what `class_reader` sees of it, and knows by the policy that it has rows of so many
persons at least, and whether all rows of a person are in one class. It shares no code with sqlanon, and is for tiny
sources.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from tests.oracle.class_reader import ENDS, MEMBERS, SHOWN, Row, see
from tests.oracle.person_reader import Rows, Source, sources
from tests.oracle.table_reader import Cell

Numbers = tuple[int | None, int | None]
Place = tuple[int, int]
"""A class, and a finest combination."""


class Classed:
    """What readers know of the classes.

    Args:
        classes: of each class the combinations of its rows, by codes.
        how: how classes show each column.
        leaves: the combinations that occur.
        least: persons of a class, at least.
        whole: all rows of a person are in one class.
    """

    def __init__(
        self, classes: Sequence[Sequence[Row]], how: Sequence[str], leaves: Sequence[Row], least: int, *, whole: bool
    ) -> None:
        self.classes, self.how, self.leaves, self.least, self.whole = classes, how, leaves, least, whole
        self.seen = [see(rows, how) for rows in classes]
        self.places: list[Place] = [
            (of, leaf)
            for of, rows in enumerate(classes)
            for leaf, codes in enumerate(leaves)
            if all(self._fits(rows, at, codes[at]) for at in range(len(how)))
        ]

    def _fits(self, rows: Sequence[Row], at: int, value: int) -> bool:
        values = [row[at] for row in rows]
        if self.how[at] == ENDS:
            return min(values) <= value <= max(values)
        return value in values if self.how[at] in (MEMBERS, SHOWN) else True

    def agreeing(
        self,
        shown: Mapping[Cell, Numbers | None],
        within: Mapping[Cell, Sequence[int]],
        most: tuple[int, int, int],
        constant: Sequence[int],
        known: tuple[Rows, Sequence[Cell]] | None = None,
    ) -> Iterator[Source]:
        """Every source, as numbers of persons by their places.

        Args:
            shown: see `tests.oracle.person_reader.sources`.
            within: of each cell its combinations.
            most: rows of a person, persons with equal rows, and persons, at most.
            constant: columns of which nobody has two values.
            known: see there; rows are places.
        """
        cells: dict[Cell, Numbers | None] = dict(shown)
        inside = {
            cell: [at for at, (_, leaf) in enumerate(self.places) if leaf in set(own)] for cell, own in within.items()
        }
        for of, rows in enumerate(self.classes):
            here = [at for at, (own, _) in enumerate(self.places) if own == of]
            self._add(cells, inside, ("class", of), here, (len(rows), None))
            for column, way in enumerate(self.how):
                values = [row[column] for row in rows]
                ranks = {SHOWN: set(values), MEMBERS: set(values), ENDS: {min(values), max(values)}}.get(way, set())
                for value in ranks:
                    some = [at for at in here if self.leaves[self.places[at][1]][column] == value]
                    number = (values.count(value), None) if way == SHOWN else None
                    self._add(cells, inside, ("class", of, column, value), some, number)
        kinds = [
            kind
            for many in range(1, most[0] + 1)
            for kind in itertools.combinations_with_replacement(range(len(self.places)), many)
            if self.able(kind, constant)
        ]
        for source in sources(len(self.places), cells, inside, most, kinds, known):
            if self.has_classes(source):
                yield source

    @staticmethod
    def _add(
        cells: dict[Cell, Numbers | None],
        inside: dict[Cell, list[int]],
        name: Cell,
        places: list[int],
        number: Numbers | None,
    ) -> None:
        cells[name], inside[name] = number, places

    def able(self, kind: Rows, constant: Sequence[int]) -> bool:
        """Whether a person may have these rows."""
        codes = [self.leaves[self.places[at][1]] for at in kind]
        one_class = len({self.places[at][0] for at in kind}) == 1
        return (one_class or not self.whole) and all(len({row[at] for row in codes}) == 1 for at in constant)

    def has_classes(self, source: Source) -> bool:
        """Whether the classes of a source show what is published, and have the persons that are promised."""
        for of, seen in enumerate(self.seen):
            rows: list[Row] = []
            persons = 0
            for kind, many in source.items():
                own = [self.leaves[self.places[at][1]] for at in kind if self.places[at][0] == of]
                rows += own * many
                persons += many if own else 0
            if persons < self.least or see(rows, self.how) != seen:
                return False
        return True
