"""A reader of rows by class and of counted persons: every source of persons whose rows are in classes, one by one.

Of each class the reader sees what `class_reader` sees of it, and knows by the policy that it has rows of so many
persons at least, and whether all rows of a person are in one class. Where the rows publish a further value of each row,
and promise something of the values of persons, the reader excludes every source in which there is no way to give the
values to the rows of persons that keeps the promise. It shares no code with sqlanon, and is for tiny sources.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from tests.oracle.class_reader import ENDS, MEMBERS, SHOWN, Row, see
from tests.oracle.person_reader import Rows, Source, sources
from tests.oracle.table_reader import Cell

Numbers = tuple[int | None, int | None]
Place = tuple[int, int]
"""A class, and a finest combination."""
Group = tuple[int, Row]
"""A class, and the codes of the columns that it shows as they are."""
Owned = Mapping[Group, Counter[str]]
"""The values of a person's rows."""
Promise = Callable[[Sequence[Owned]], bool]
"""What the rows promise of the values of all persons."""


def weigh(persons: Sequence[Owned], of: int | None = None) -> dict[str, Fraction]:
    """The share of each value in a class, or in all rows, where every person weighs one, split over the rows there."""
    weights: dict[str, Fraction] = {}
    inside = 0
    for owned in persons:
        values: Counter[str] = sum((own for (at, _), own in owned.items() if of in (None, at)), Counter())
        inside += bool(values)
        for value, many in values.items():
            weights[value] = weights.get(value, Fraction(0)) + Fraction(many, values.total())
    return {value: weight / inside for value, weight in weights.items()}


def has_l(persons: Sequence[Owned], asked: Fraction) -> bool:
    """No value weighs more than 1 / ``asked`` of a class."""
    classes = {at for owned in persons for at, _ in owned}
    return all(share * asked <= 1 for at in classes for share in weigh(persons, at).values())


def has_t(persons: Sequence[Owned], asked: Fraction) -> bool:
    """The values of each class are at most ``asked`` away from those of all rows, by half the sum of differences."""
    everybody = weigh(persons)
    for at in {at for owned in persons for at, _ in owned}:
        inside = weigh(persons, at)
        if sum(abs(inside.get(value, Fraction(0)) - share) for value, share in everybody.items()) > 2 * asked:
            return False
    return True


class Classed:
    """What readers know of the classes.

    Args:
        classes: of each class the combinations of its rows, by codes.
        how: how classes show each column.
        leaves: the combinations that occur.
        least: persons of a class, at least.
        whole: all rows of a person are in one class.
        values: of each class and of the shown columns the values of the rows; None: there are none.
        promise: what is promised of them.
        known: a reader's own rows and their values.
    """

    def __init__(
        self,
        classes: Sequence[Sequence[Row]],
        how: Sequence[str],
        leaves: Sequence[Row],
        least: int,
        *,
        whole: bool,
        values: Owned | None = None,
        promise: Promise | None = None,
        known: Owned | None = None,
    ) -> None:
        self.values, self.promise, self.known = values, promise, known
        self._kept: dict[tuple[tuple[tuple[Group, int], ...], ...], bool] = {}
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
        return self.promise is None or self.keeps(source)

    def group(self, at: int) -> Group:
        """The class of a place, and the codes that it shows as they are."""
        of, leaf = self.places[at]
        return of, tuple(code for code, way in zip(self.leaves[leaf], self.how, strict=True) if way == SHOWN)

    def keeps(self, source: Source) -> bool:
        """Whether the published values can be given to the rows of persons so that the promise holds."""
        persons = [Counter(self.group(at) for at in kind) for kind, many in source.items() for _ in range(many)]
        key = tuple(sorted(tuple(sorted(groups.items())) for groups in persons))
        if key not in self._kept:
            assert self.values is not None
            left = {group: Counter(values) for group, values in self.values.items()}
            self._kept[key] = self._give([dict(groups) for groups in key], [], left)
        return self._kept[key]

    def _give(
        self, persons: Sequence[Mapping[Group, int]], given: list[Owned], left: dict[Group, Counter[str]]
    ) -> bool:
        """Whether the values that are left can be given to the persons that follow."""
        assert self.promise is not None
        if len(given) == len(persons):
            return (self.known is None or self.known in given) and self.promise(given)
        groups = persons[len(given)]
        ways = [_choose(left[group], times) for group, times in groups.items()]
        for chosen in itertools.product(*ways):
            owned = dict(zip(groups, chosen, strict=True))
            for group, values in owned.items():
                left[group] = left[group] - values
            able = self._give(persons, [*given, owned], left)
            for group, values in owned.items():
                left[group] = left[group] + values
            if able:
                return True
        return False


def _choose(values: Counter[str], times: int) -> list[Counter[str]]:
    """All ways to take so many of some values."""
    return [Counter(some) for some in set(itertools.combinations(sorted(values.elements()), times))]
