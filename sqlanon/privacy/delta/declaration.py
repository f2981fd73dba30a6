"""delta-disclosure privacy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlanon.declared.parameters import Delta
from sqlanon.declared.records import ByColumn, Part, Record
from sqlanon.declared.requirements import RequirementDeclaration
from sqlanon.declared.values import Number, OneOf
from sqlanon.privacy.declaration import NO_SHARES_WITHIN


def _absent_violates(levels: Any) -> bool:  # noqa: ANN401 - a value of delta_disclosure
    """Whether a class may lack no value, of no column."""
    return all(limit.absent == "violates" for limit in _each(levels))


def _each(levels: Any) -> list[Any]:  # noqa: ANN401 - a value by column
    """The values of all columns."""
    return list(levels.values()) if isinstance(levels, Mapping) else [levels]


DELTA_DISCLOSURE = RequirementDeclaration(
    name="delta_disclosure",
    about="delta-disclosure privacy: the logarithm, to base 2, of a value's share of a class by its share of the "
    "release is nearer to 0 than delta. A class that lacks a value violates it; `{max: 1.5, absent: ignored}` looks at "
    "the values that it has.",
    code="sqlanon.privacy.delta.requirement:DeltaDisclosure",
    compares=True,
    joint=NO_SHARES_WITHIN,
    value=ByColumn(
        Record(
            Delta,
            {
                "max": Part(Number(Fraction(0), above=True), at_most=True),
                "absent": Part(OneOf(("violates", "ignored")), default="violates"),
            },
            "max",
        )
    ),
    at_most=True,
    monotone=_absent_violates,
    of_persons=True,
)
