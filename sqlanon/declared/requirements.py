"""Requirements as policies know them: the key under `privacy`, what it takes, and where the code is.

Every list of requirements outside `sqlanon.privacy` is read from here: policies, catalog, differences between policies,
history, reports and docs. The dbt package, which needs no sqlanon, has a macro of each (`dbt/macros/privacy.sql`); a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from sqlanon.declared.registry import Registry

_LARGEST = 10**9
"""Numerators and denominators, at most: rows x a bound fits 64 bits."""


class Value(Protocol):
    """What a key takes."""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The allowed values as JSON Schema."""

    def read(self, value: object) -> Any:  # noqa: ANN401 - a requirement's own kind of value
        """The value, of a policy or of the catalog's JSON, in a form that does not change and that can be compared.

        Raises:
            ValueError: not an allowed one; the message does not repeat it.
        """


@dataclass(frozen=True, slots=True)
class Number:
    """A number from ``low`` to ``high``, taken exactly as it is written; as text it may be a fraction, ``5/2``."""

    low: Fraction
    high: Fraction | None = None
    whole: bool = False

    @property
    def allowed(self) -> str:
        """See `Value.allowed`."""
        kind = "a whole number" if self.whole else "a number such as 2.5, or a fraction such as 5/2,"
        return f"{kind} {f'from {self.low} to {self.high}' if self.high is not None else f'of at least {self.low}'}"

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`."""
        high = self.high if self.high is not None else Fraction(_LARGEST)
        if self.whole:
            return {"type": "integer", "minimum": int(self.low), "maximum": int(high)}
        number = {"type": "number", "minimum": float(self.low), "maximum": float(high)}
        return {"anyOf": [number, {"type": "string"}]}

    def read(self, value: object) -> int | Fraction:
        """See `Value.read`."""
        if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
            raise ValueError("not a number")  # noqa: TRY004 - a mistake in a policy, not in code
        try:
            number = Fraction(str(value).strip()[:40])
        except (ValueError, ZeroDivisionError):
            raise ValueError("not a number") from None
        if self.whole and number.denominator != 1:
            raise ValueError("not a whole number")
        if number < self.low:
            raise ValueError("too small")
        if self.high is not None and number > self.high:
            raise ValueError("too large")
        if max(number.numerator, number.denominator) > _LARGEST:
            raise ValueError("too large or too precise")
        return int(number) if self.whole else number


@dataclass(frozen=True, slots=True)
class RequirementDeclaration:
    """A requirement as policies know it.

    Attributes:
        name: the key under `privacy`, and the name in reports.
        about: what it asks for, for the reference and for editors.
        code: ``module:class`` of a `sqlanon.privacy.base.Requirement`, or the class itself.
        value: what the key takes.
        at_most: a smaller value asks for more.
        sensitive: sensitive columns that it needs, at least.
        persons: identifiers without `accept_repeats` that it needs, at least, in a release with `rows_are: events`: it counts
            the persons that they name.
        joint: `joint` asks for it within every value of the other sensitive columns as well.
        tally: kernels can count it; else only methods that name it take it.
        monotone: the union of classes that each meet it meets it, whatever they hold and in whatever table they are; methods that
            merge classes, or that look for the finest of nested divisions, may rely on it.
        nothing: the value that asks for nothing; None: there is none.
    """

    name: str
    about: str
    code: str | type[Any]
    value: Value
    at_most: bool = False
    sensitive: int = 1
    persons: int = 0
    joint: bool = False
    tally: bool = True
    monotone: bool = True
    nothing: Any = None

    def weaker(self, old: object, new: object) -> bool:
        """Whether ``new`` asks for less than ``old``; both as the catalog keeps them, None: not asked."""
        if old is None or new is None:
            return old is not None
        before, after = self.value.read(old), self.value.read(new)
        return bool(after > before if self.at_most else after < before)


REQUIREMENTS: Registry[RequirementDeclaration] = Registry(
    "requirement",
    (
        RequirementDeclaration(
            name="k",
            about="Rows in a class, at least; 1 publishes rows as they are. Required, except with `maximize` (see "
            "`at_least`) and with the format anatomy.",
            code="sqlanon.privacy.kanonymity:KAnonymity",
            value=Number(Fraction(1), whole=True),
            sensitive=0,
            nothing=1,
        ),
        RequirementDeclaration(
            name="l",
            about="Frequency l-diversity: no value of a sensitive column makes up more than 1/l of a class. "
            'A number of at least 1 or a fraction such as "5/2".',
            code="sqlanon.privacy.diversity:FrequencyDiversity",
            value=Number(Fraction(1)),
            joint=True,
        ),
        RequirementDeclaration(
            name="distinct_l",
            about="Different values of each sensitive column in a class, at least.",
            code="sqlanon.privacy.diversity:DistinctDiversity",
            value=Number(Fraction(1), whole=True),
            joint=True,
        ),
    ),
    "sqlanon.requirements",
)
"""Every requirement by its key; `k` first, so that what counts rows is measured first."""
