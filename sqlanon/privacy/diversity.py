"""l-diversity of one sensitive attribute (Machanavajjhala et al. 2006), in the two forms the papers here use.

Frequency: no value is more than 1/l of a class (Xiao & Tao; Ghinita et al., section 2). Distinct: at least l values.
With ``within`` they hold for every combination of the other sensitive attributes as well (the multi-attribute form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Check, Measured
from sqlanon.spec import PrivacySpec
from sqlanon.sqltext import statement


@dataclass(frozen=True, slots=True)
class _Diversity:
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...] = ()

    monotone: ClassVar[bool] = True
    name: ClassVar[str]
    kind: ClassVar[Literal["frequency", "distinct"]]

    def check(self) -> Check:
        """See `Requirement.check`."""
        return Check(self.kind, self.asked.numerator, self.asked.denominator, self.value, self.within)


def _each(privacy: PrivacySpec, sensitive: tuple[str, ...]) -> list[tuple[str, int, tuple[int, ...]]]:
    plain: list[tuple[str, int, tuple[int, ...]]] = [(column, i, ()) for i, column in enumerate(sensitive)]
    if not privacy.joint:
        return plain
    others = [tuple(j for j in range(len(sensitive)) if j != i) for i in range(len(sensitive))]
    return plain + [(column, i, others[i]) for i, column in enumerate(sensitive)]


@dataclass(frozen=True, slots=True)
class FrequencyDiversity(_Diversity):
    """No value of ``column`` is more than 1 / ``asked`` of a class; fractions allowed."""

    name: ClassVar[str] = "l"
    kind: ClassVar[Literal["frequency", "distinct"]] = "frequency"

    @classmethod
    def asked_by(cls, privacy: PrivacySpec, sensitive: tuple[str, ...]) -> Sequence[FrequencyDiversity]:
        """One per sensitive column, and one more each if joint."""
        return [cls(privacy.l, *each) for each in _each(privacy, sensitive)] if privacy.l is not None else []

    def measure(
        self,
        engine: Engine,
        target: TableRef,
        classes: Sequence[str],
        names: Sequence[str],
        count: str | None = None,
    ) -> Measured:
        """See `Requirement.measure`."""
        rows = engine.fetch(
            statement(
                "verify/frequency_l",
                engine.dialect,
                {"p": self.asked.numerator, "q": self.asked.denominator},
                target=target,
                classes=list(classes),
                within=[names[i] for i in self.within],
                sensitive=names[self.value],
                count=count,
            )
        )
        if not rows:
            return Measured(Fraction(0), 0)
        total, top, failing = (int(str(cell)) for cell in rows[0])
        return Measured(Fraction(total, top), failing)


@dataclass(frozen=True, slots=True)
class DistinctDiversity(_Diversity):
    """At least ``asked`` distinct values of ``column`` in a class; NULL is a value."""

    name: ClassVar[str] = "distinct_l"
    kind: ClassVar[Literal["frequency", "distinct"]] = "distinct"

    @classmethod
    def asked_by(cls, privacy: PrivacySpec, sensitive: tuple[str, ...]) -> Sequence[DistinctDiversity]:
        """One per sensitive column, and one more each if joint."""
        if privacy.distinct_l is None:
            return []
        return [cls(Fraction(privacy.distinct_l), *each) for each in _each(privacy, sensitive)]

    def measure(
        self,
        engine: Engine,
        target: TableRef,
        classes: Sequence[str],
        names: Sequence[str],
        count: str | None = None,
    ) -> Measured:
        """See `Requirement.measure`."""
        row = engine.fetch(
            statement(
                "verify/distinct_l",
                engine.dialect,
                {"asked": int(self.asked)},
                target=target,
                classes=list(classes),
                within=[names[i] for i in self.within],
                sensitive=names[self.value],
            )
        )[0]
        return Measured(Fraction(int(str(row[0]))), int(str(row[1])))
