"""Columns whose sums are published: their units, ranges and rules, in whole numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError
from sqlanon.statistics_spec import SumMeasure

if TYPE_CHECKING:
    from sqlanon.table.reading import Reading

MOST_SUM = 10**14
"""Absolute values add up to this many units, at most: SQL multiplies them by 10,000 in 64 bits."""
MOST_SCALE = 9
"""Digits after the point, at most."""


@dataclass(frozen=True, slots=True)
class ShapeSum:
    """A column whose sums are published.

    Attributes:
        name: in the view.
        alias: name of the values in the staged table.
        place: from 1.
        scale: digits after the point.
        low, high: the range of a row, in units.
        percent, dominant, share: see `sqlanon.statistics_spec.SumMeasure`.
    """

    name: str
    alias: str
    place: int
    scale: int
    low: int
    high: int
    percent: int
    dominant: int
    share: int

    @property
    def factor(self) -> int:
        """Units of one."""
        return int(10**self.scale)

    @property
    def unit(self) -> str:
        """A unit, as a decimal text."""
        return f"0.{'1'.zfill(self.scale)}" if self.scale else "1"

    @property
    def type(self) -> str:
        """SQL type of the published numbers."""
        return f"DECIMAL(18, {self.scale})" if self.scale else "BIGINT"

    def context(self) -> dict[str, Any]:
        """As templates take it."""
        return {
            "name": self.name,
            "low_name": f"{self.name}_low",
            "high_name": f"{self.name}_high",
            "tight_name": f"{self.name}_tight",
            "alias": self.alias,
            "place": self.place,
            "factor": self.factor,
            "unit": self.unit,
            "type": self.type,
            "low": self.low,
            "high": self.high,
            "most": MOST_SUM,
            "percent": self.percent,
            "dominant": self.dominant,
            "share": self.share,
        }


def shape_sums(release: str, measures: Sequence[SumMeasure], readings: Sequence[Reading]) -> tuple[ShapeSum, ...]:
    """The sums of a release.

    Args:
        release: its name, for messages.
        measures: the sums, in the order of their columns.
        readings: the columns as they are read.

    Raises:
        PolicyError: a column's values cannot be added up exactly, or a range is finer than they are.
    """
    sums = []
    for place, (measure, reading) in enumerate(zip(measures, readings, strict=True), 1):
        column = reading.column
        digits = re.search(r"\(\s*\d+\s*,\s*(\d+)\s*\)", column.type) if column.kind == "decimal" else None
        if column.kind != "integer" and (digits is None or int(digits[1]) > MOST_SCALE):
            raise PolicyError(
                f"{release}: column {measure.column} has type {column.shown_type}: sums are of integers and decimals "
                f"with at most {MOST_SCALE} declared digits after the point, which add up exactly; cast it in a view, "
                "to DECIMAL(12, 2) for example"
            )
        sums.append(_shape_sum(measure, reading.alias, place, int(digits[1]) if digits is not None else 0))
        for end in (measure.low, measure.high):
            if (Fraction(end) * sums[-1].factor).denominator != 1:
                raise PolicyError(
                    f"{release}: the range of {measure.name} has more digits after the point than column "
                    f"{measure.column}"
                )
    return tuple(sums)


def read_stored_sums(stored: Sequence[Mapping[str, Any]], scales: Sequence[int]) -> tuple[ShapeSum, ...]:
    """The sums of a version, as the catalog keeps them."""
    return tuple(
        _shape_sum(SumMeasure(**fields), "", place, scale)
        for place, (fields, scale) in enumerate(zip(stored, scales, strict=True), 1)
    )


def _shape_sum(measure: SumMeasure, alias: str, place: int, scale: int) -> ShapeSum:
    low, high = (int(Fraction(end) * 10**scale) for end in (measure.low, measure.high))
    return ShapeSum(measure.name, alias, place, scale, low, high, measure.percent, measure.dominant, measure.share)
