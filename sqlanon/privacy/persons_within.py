"""l over persons within every combination of other sensitive columns (`joint` with `person`).

Who knows these values of an event is left with the rows of the class that have them: each person of these weighs one,
split over its rows there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Coded, Grouped, Measured
from sqlanon.privacy.persons import PersonDiversity
from sqlanon.privacy.reference import fresh_table
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.kernels.tally import Tally


def within_others(
    privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
) -> tuple[PersonDiversityWithin, ...]:
    """One per counted identifier and sensitive column, where a policy asks for l and says joint."""
    if privacy.l is None or not privacy.joint:
        return ()
    places = range(len(sensitive))
    return tuple(
        PersonDiversityWithin(privacy.l, column, j, i, tuple(place for place in places if place != j))
        for i in range(len(persons))
        for j, column in enumerate(sensitive)
    )


@dataclass(frozen=True, slots=True)
class PersonDiversityWithin(PersonDiversity):
    """The same requirement within every combination of other sensitive columns.

    It counts the rows of a class with that combination, and their persons.

    Methods do without it, as kernels do not count it.
    """

    afterwards: ClassVar[bool] = True
    within: tuple[int, ...]

    def tally(self, coded: Coded) -> Tally:
        """Kernels do not count it: see `Requirement.afterwards`."""
        raise NotImplementedError

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        below = fresh_table(scratch, "within")
        within = [*rows.groups, *(rows.names[i] for i in self.within)]
        PersonDiversity.below(self, scratch, below, replace(rows, groups=within))
        scratch.execute("privacy/below_within", made=failing, below=below, groups=list(rows.groups))
        scratch.drop(below)

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        within = [*rows.groups, *(rows.names[i] for i in self.within)]
        return PersonDiversity.measure(self, engine, replace(rows, groups=within))
