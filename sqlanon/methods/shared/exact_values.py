"""Values of ordered columns as exact integers.

They let an extent in a column's own units be compared without rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sqlanon.engines.rows import read_integer
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch

_MOST_VALUES = 50_000_000
_DAY = 86_400_000_000
"""Microseconds of a day."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The values of an ordered column, without NULL, in the order of their codes.

    Attributes:
        values: exact integers, ascending; None for infinities and NaN.
        unit: how much of them is a unit of the column (1, a day, a step between values of text).
    """

    values: Sequence[int | None]
    unit: int

    @property
    def range(self) -> int:
        """The largest finite value less the smallest."""
        finite = [value for value in self.values if value is not None]
        return finite[-1] - finite[0] if finite else 0

    def last_within(self, extent: Fraction) -> list[int]:
        """Per value the last value that lies within ``extent`` of the column's units above it. Cost: O(values)."""
        limit = extent.numerator * self.unit // extent.denominator
        out, last = [], 0
        for index, low in enumerate(self.values):
            last = max(last, index)
            while low is not None and last + 1 < len(self.values):
                high = self.values[last + 1]
                if high is None or high - low > limit:
                    break
                last += 1
            out.append(last)
        return out


def read_measures(scratch: Scratch, domain: Domain) -> Measures:
    """Read an ordered domain. Floats count as they are printed: from 0.1 to 0.4 it is 0.3."""
    kind = domain.reading.column.kind
    if kind in ("text", "enum"):
        return Measures(range(domain.size), 1)
    if kind in ("date", "timestamp"):
        moments = scratch.table(f"{domain.code}_moments")
        nanoseconds = domain.reading.column.type == "TIMESTAMP_NS"
        scratch.execute(
            "table/ordinals", ordinals=moments, values=domain.table, kind=kind, ranks=None, nanoseconds=nanoseconds
        )
        rows = scratch.engine.fetch(
            scratch.sql("table/domain_moments", domain=domain.table, ordinals=moments), max_rows=_MOST_VALUES
        )
        scratch.drop(moments)
        moment = [None if item is None else read_integer(item) for _, item in sorted(rows, key=_code)]
        return Measures(moment, 1 if kind == "date" else _DAY * (1000 if nanoseconds else 1))
    rows = scratch.engine.fetch(
        scratch.sql("recode/domain_values", domain=domain.table, zoned=False), max_rows=_MOST_VALUES
    )
    numbers = [_number(value) for _, value in sorted(rows, key=_code)]
    digits = max((_digits(number) for number in numbers if number is not None), default=0)
    return Measures([None if number is None else _scale(number, digits) for number in numbers], 10**digits)


def _code(row: tuple[object, ...]) -> int:
    return read_integer(row[0])


def _number(value: object) -> int | Decimal | None:
    """A cell as an exact number, None if it is not finite."""
    if isinstance(value, int):
        return int(value)
    number = value if isinstance(value, Decimal) else Decimal(repr(float(str(value))))
    return number if number.is_finite() else None


def _digits(number: int | Decimal) -> int:
    """Digits behind the point."""
    exponent = number.as_tuple().exponent if isinstance(number, Decimal) else 0
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _scale(number: int | Decimal, digits: int) -> int:
    """The number times 10 ** ``digits``, which is an integer."""
    if isinstance(number, int):
        return int(number * 10**digits)
    sign, figures, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    whole = int("".join(map(str, figures))) * int(10 ** (digits + exponent))
    return -whole if sign else whole
