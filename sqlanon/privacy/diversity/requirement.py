"""l-diversity of one sensitive attribute (Machanavajjhala et al. 2006), in the two forms the papers here use.

Frequency: no value is more than 1/l of a class (Xiao & Tao; Ghinita et al., section 2). Distinct: at least l values.
With ``within`` they hold for every combination of the other sensitive attributes as well (the multi-attribute form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import numbers
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement, Shape
from sqlanon.spec import PrivacySpec
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints
    from sqlanon.kernels.tally import CompiledFunction, Tally


def _each(privacy: PrivacySpec, sensitive: tuple[str, ...]) -> list[tuple[str, int, tuple[int, ...]]]:
    plain: list[tuple[str, int, tuple[int, ...]]] = [(column, i, ()) for i, column in enumerate(sensitive)]
    if not privacy.joint:
        return plain
    other_columns = [tuple(j for j in range(len(sensitive)) if j != i) for i in range(len(sensitive))]
    return plain + [(column, i, other_columns[i]) for i, column in enumerate(sensitive)]


def _tally(coded: Coded, level: Fraction, value: int, within: tuple[int, ...], adding: CompiledFunction) -> Tally:
    """A tally that counts the values of one column, or of one within every combination of others, by ``adding``."""
    import numpy as np

    from sqlanon.kernels.tally import Tally
    from sqlanon.privacy.diversity import kernels

    items, groups, values = _items(coded, value, within)
    bounds = np.array([level.numerator, level.denominator, groups], np.int64)
    if not within:
        return Tally(adding, kernels.clear_values, items, 1, bounds, 2 + values)
    return Tally(adding, kernels.clear_within, items, 2, bounds, 1 + 2 * groups + values)


def _items(coded: Coded, value: int, within: tuple[int, ...]) -> tuple[Ints, int, int]:
    """Counts of each row, and the number of groups and values.

    See `sqlanon.privacy.diversity.kernels`.
    """
    import numpy as np

    if not within:
        return coded.sensitive[value], 1, coded.codes[value]
    group = np.zeros(coded.rows, np.int64)
    for i in within:
        group = np.unique(group * coded.codes[i] + coded.sensitive[i], return_inverse=True)[1]
    pair = np.unique(group * coded.codes[value] + coded.sensitive[value], return_inverse=True)[1]
    items = np.stack([group, pair], axis=1).astype(np.int32).ravel()
    return items, int(group.max(initial=0)) + 1, int(pair.max(initial=0)) + 1


@dataclass(frozen=True, slots=True)
class FrequencyDiversity(Requirement):
    """No value of ``column`` is more than 1 / ``asked`` of a class; fractions allowed."""

    name: ClassVar[str] = "l"
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...] = ()

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[FrequencyDiversity]:
        """One per sensitive column, and one more each if joint."""
        return [cls(privacy.l, *each) for each in _each(privacy, sensitive)] if privacy.l is not None else []

    @property
    def shape(self) -> Shape:
        return Shape("frequency", self.asked.numerator, self.asked.denominator, self.value, self.within)

    def tally(self, coded: Coded) -> Tally:
        from sqlanon.privacy.diversity import kernels

        adding = kernels.add_frequency_within if self.within else kernels.add_frequency
        return _tally(coded, self.asked, self.value, self.within, adding)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        p, q, parameters = (
            self.asked.numerator,
            self.asked.denominator,
            rows.parameters(failing, self.value, self.within),
        )
        scratch.execute("privacy/below_values", **parameters, distinct=None, p=p, q=q)

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        query = statement(
            "verify/frequency_l",
            engine.dialect,
            {"p": self.asked.numerator, "q": self.asked.denominator},
            target=rows.table,
            classes=list(rows.groups),
            within=[rows.names[i] for i in self.within],
            sensitive=rows.names[self.value],
            count=rows.count,
        )
        total, top, failing = numbers(engine, query) or (0, 1, 0)
        return Measured(Fraction(total, top), failing)


@dataclass(frozen=True, slots=True)
class DistinctDiversity(Requirement):
    """At least ``asked`` distinct values of ``column`` in a class; NULL is a value."""

    name: ClassVar[str] = "distinct_l"
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...] = ()

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[DistinctDiversity]:
        """One per sensitive column, and one more each if joint."""
        if privacy.distinct_l is None:
            return []
        return [cls(Fraction(privacy.distinct_l), *each) for each in _each(privacy, sensitive)]

    @property
    def shape(self) -> Shape:
        return Shape("distinct", self.asked.numerator, self.asked.denominator, self.value, self.within)

    def tally(self, coded: Coded) -> Tally:
        from sqlanon.privacy.diversity import kernels

        adding = kernels.add_distinct_within if self.within else kernels.add_distinct
        return _tally(coded, self.asked, self.value, self.within, adding)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        parameters = rows.parameters(failing, self.value, self.within)
        scratch.execute("privacy/below_values", **parameters, distinct=int(self.asked), p=0, q=0)

    def measure(self, engine: Engine, rows: Grouped) -> Measured:
        query = statement(
            "verify/distinct_l",
            engine.dialect,
            {"asked": int(self.asked)},
            target=rows.table,
            classes=list(rows.groups),
            within=[rows.names[i] for i in self.within],
            sensitive=rows.names[self.value],
        )
        reached, failing = numbers(engine, query)
        return Measured(Fraction(reached), failing)
