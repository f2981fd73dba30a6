"""Requirements over persons, beside those over rows (`persons: rows` and `whole`; docs/persons.md).

Every class has rows of at least k persons, and no value weighs more than 1/l where every person weighs one, split over
its rows in the class: who knows one event of a person is left with k persons, and believes none of their values by more
than 1/l. A bound on the largest part that one person has in a class's rows may be added. With `persons: whole` no
person has rows in two classes: who knows all events of a person is left with the class. NULLs of a person's columns are
settled in the stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import numbers
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement
from sqlanon.privacy.fractions import at_least
from sqlanon.spec import PrivacySpec
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.tally import CompiledFunction, Tally


UNIT = 720_720
"""The weight of a person in integers, as kernels and `below` divide it.

It is exact for persons of up to 16 rows in a class.
"""


_DENSE = 8
"""Possible pairs of person and value a row, up to which a table of them takes less memory than a sort of the rows."""


def of_persons(privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]) -> tuple[Requirement, ...]:
    """Requirements over the persons of each counted identifier; a policy with `person` has one identifier."""
    requirements: list[Requirement] = []
    for i, name in enumerate(persons):
        requirements.append(Persons(Fraction(privacy.k), name, i))
        if privacy.whole:
            requirements.append(PersonClasses(Fraction(1), name, i))
        if privacy.person_share is not None:
            requirements.append(PersonShare(privacy.person_share, name, i))
        if privacy.l is not None:
            requirements += [PersonDiversity(privacy.l, column, j, i) for j, column in enumerate(sensitive)]
    return tuple(requirements)


class _OfPersons(Requirement):
    """A requirement that belongs to `person` and has no key of its own under `privacy`."""

    __slots__ = ()

    counts_persons: ClassVar[bool] = True
    upper: ClassVar[bool] = False
    unites: ClassVar[bool] = True
    asked: Fraction
    place: int

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[_OfPersons]:
        """Those of this kind in `of_persons`."""
        return [
            requirement
            for requirement in of_persons(privacy, sensitive, persons)
            if privacy.of_persons and isinstance(requirement, cls)
        ]

    @property
    def at_most(self) -> bool:
        return self.upper

    @property
    def monotone(self) -> bool:
        return self.unites

    def _tally(self, coded: Coded, adding: CompiledFunction, *bounds: int) -> Tally:
        """A tally of the rows of each person."""
        import numpy as np

        from sqlanon.kernels.tally import Tally
        from sqlanon.privacy.diversity.kernels import clear_values

        room = 2 + coded.person_codes[self.place]
        return Tally(adding, clear_values, coded.persons[self.place], 1, np.array(bounds, np.int64), room)

    def _read_measured(self, engine: Engine, template: str, rows: Grouped) -> Measured:
        """Result of a verifying query that counts persons: a whole number, and the classes that fail."""
        query = statement(
            template,
            engine.dialect,
            {"asked": int(self.asked)},
            target=rows.table,
            classes=list(rows.groups),
            person=rows.persons[self.place],
        )
        reached, failing = numbers(engine, query)
        return Measured(Fraction(reached), failing)


@dataclass(frozen=True, slots=True)
class Persons(_OfPersons):
    """At least ``asked`` persons have rows in every class."""

    name: ClassVar[str] = "persons"
    asked: Fraction
    column: str
    place: int

    def tally(self, coded: Coded) -> Tally:
        from sqlanon.privacy.diversity.kernels import add_distinct

        return self._tally(coded, add_distinct, int(self.asked))

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        scratch.execute(
            "privacy/below_values",
            **rows.parameters(failing, within=()),
            value=rows.persons[self.place],
            distinct=int(self.asked),
        )

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        return self._read_measured(engine, "verify/persons_of_class", rows)


@dataclass(frozen=True, slots=True)
class PersonClasses(_OfPersons):
    """No person has rows in more than ``asked`` classes, which is one."""

    name: ClassVar[str] = "classes of a person"
    across: ClassVar[bool] = True
    upper: ClassVar[bool] = True
    asked: Fraction
    column: str
    place: int

    def tally(self, coded: Coded) -> Tally:
        """Kernels see persons, not their rows."""
        raise NotImplementedError

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`: the groups that have a row of a person who has one in another group, too."""
        scratch.execute(
            "privacy/below_whole",
            made=failing,
            rows=rows.table,
            groups=list(rows.groups),
            person=rows.persons[self.place],
        )

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """See `Requirement.measure`.

        It counts the classes of the person with the most classes, and the classes with rows of persons in several
        classes.
        """
        return self._read_measured(engine, "verify/classes_of_person", rows)


@dataclass(frozen=True, slots=True)
class PersonShare(_OfPersons):
    """No person has more than the share ``asked`` of a class's rows."""

    name: ClassVar[str] = "person_share"
    upper: ClassVar[bool] = True
    asked: Fraction
    column: str
    place: int

    @property
    def _exact(self) -> tuple[int, int]:
        """1 / share as p and q of 31 bits: rows of a person times p exceed those of the class times q."""
        return at_least(1 / self.asked).as_integer_ratio()

    def tally(self, coded: Coded) -> Tally:
        from sqlanon.privacy.diversity.kernels import add_frequency

        return self._tally(coded, add_frequency, *self._exact)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        p, q = self._exact
        scratch.execute(
            "privacy/below_values",
            **rows.parameters(failing, within=()),
            value=rows.persons[self.place],
            distinct=None,
            p=p,
            q=q,
        )

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """See `Requirement.measure`: the largest share."""
        p, q = self._exact
        query = statement(
            "verify/frequency_l",
            engine.dialect,
            {"p": p, "q": q},
            target=rows.table,
            classes=list(rows.groups),
            within=[],
            sensitive=rows.persons[self.place],
            count=rows.count,
        )
        total, top, failing = numbers(engine, query) or (1, 0, 0)
        return Measured(Fraction(top, total), failing)

    def largest(self, engine: Engine, rows: Grouped) -> Fraction:
        """The share in the whole table: as it is a mean of the shares in the classes, some class has no less."""
        return self.measure(engine, rows).reached


@dataclass(frozen=True, slots=True)
class PersonDiversity(_OfPersons):
    """No value of ``column`` weighs more than 1 / ``asked`` of a class.

    Every person weighs one, split over the person's rows in the class.

    A union of classes that each meet it may not: a person of both weighs two in them together, and one in the union.
    """

    name: ClassVar[str] = "l of persons"
    unites: ClassVar[bool] = False
    asked: Fraction
    column: str
    value: int
    place: int

    @property
    def _exact(self) -> tuple[int, int]:
        """The asked l as p and q, rounded up to thousandths where it is finer, so that weights times p fit 64 bits."""
        if self.asked.denominator <= 1000:
            return self.asked.as_integer_ratio()
        return Fraction(-(-self.asked.numerator * 1000 // self.asked.denominator), 1000).as_integer_ratio()

    def tally(self, coded: Coded) -> Tally:
        """See `Requirement.tally`.

        Memory: four numbers a person, and two a pair of person and value, for every thread.
        """
        import numpy as np

        from sqlanon.kernels.tally import Tally
        from sqlanon.privacy.kernels.persons import add_weighted, clear_weighted, count_counters

        who, persons = coded.persons[self.place], coded.person_codes[self.place]
        codes, values = coded.sensitive[self.value], coded.codes[self.value]
        value, pair = _pairs(who.astype(np.int64) * values + codes, persons * values, values)
        bounds = np.concatenate([[*self._exact, persons, values], value])
        items = np.stack([who, codes, pair], axis=1)
        return Tally(
            add_weighted,
            clear_weighted,
            np.ascontiguousarray(items.ravel(), np.int32),
            3,
            bounds.astype(np.int64),
            count_counters(persons, values, len(value)),
        )

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        p, q = self._exact
        scratch.execute(
            "privacy/below_weights",
            **rows.parameters(failing, self.value),
            person=rows.persons[self.place],
            unit=UNIT,
            p=p,
            q=q,
        )

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """See `Requirement.measure`.

        Weights are rounded up like those of kernels, so that the result is never too good.
        """
        p, q = self._exact
        query = statement(
            "verify/weighted_l",
            engine.dialect,
            {"p": p, "q": q},
            target=rows.table,
            classes=list(rows.groups),
            person=rows.persons[self.place],
            sensitive=rows.names[self.value],
            count=rows.count,
        )
        whole, top, failing = numbers(engine, query) or (0, 1, 0)
        return Measured(Fraction(whole, top), failing)


def _pairs(key: Longs, keys: int, values: int) -> tuple[Longs, Ints]:
    """Number the pairs of person and value that occur: the value of each, and the number of every row's pair.

    Args:
        key: of every row, its person times ``values`` and its value.
        keys: how many there could be.
        values: how many values there are.
    """
    import numpy as np

    if keys > _DENSE * len(key):
        keys_seen, pair = np.unique(key, return_inverse=True)
        return keys_seen % max(values, 1), pair.reshape(-1).astype(np.int32)
    present = np.zeros(keys, np.bool_)
    present[key] = True
    number = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(present).astype(np.int64) % max(values, 1), number[key]
