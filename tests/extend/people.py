"""A requirement of an extension that counts persons: every class has rows of at least so many, by each identifier.

A person may have several rows. The identifiers are those of a release of events that do not accept repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.declared import Number, RequirementDeclaration
from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import numbers
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement
from sqlanon.spec import PrivacySpec
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.kernels.tally import Tally


@dataclass(frozen=True, slots=True)
class People(Requirement):
    """At least ``asked`` persons by the identifier ``column``: so many distinct values, counted like l."""

    name: ClassVar[str] = "people"
    counts_persons: ClassVar[bool] = True
    asked: Fraction
    column: str
    place: int

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[People]:
        """One per counted identifier."""
        asked = privacy.value("people")
        return [] if asked is None else [cls(Fraction(asked), name, i) for i, name in enumerate(persons)]

    def tally(self, coded: Coded) -> Tally:
        """See `Requirement.tally`."""
        import numpy as np

        from sqlanon.kernels.tally import Tally
        from sqlanon.privacy.diversity.kernels import add_distinct, clear_values

        bounds = np.array([int(self.asked)], np.int64)
        items, codes = coded.persons[self.place], coded.person_codes[self.place]
        return Tally(add_distinct, clear_values, items, 1, bounds, 2 + codes)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`."""
        scratch.execute(
            "privacy/below_values",
            made=failing,
            rows=rows.table,
            groups=list(rows.groups),
            within=[],
            value=rows.persons[self.place],
            count=rows.count,
            distinct=int(self.asked),
        )

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        """See `Requirement.measure`."""
        made = statement(
            "verify/distinct_l",
            engine.dialect,
            {"asked": int(self.asked)},
            target=rows.table,
            classes=list(rows.groups),
            within=[],
            sensitive=rows.persons[self.place],
        )
        reached, failing = numbers(engine, made)
        return Measured(Fraction(reached), failing)


DECLARED = RequirementDeclaration(
    name="people",
    about="Persons in a class, at least, by each identifier that does not accept repeats.",
    code="tests.extend.people:People",
    value=Number(Fraction(1), whole=True),
    sensitive=0,
    persons=1,
)
