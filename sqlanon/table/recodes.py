"""Finds columns that can be rounded and coded at their ends; table/stage does it before other code sees values."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.column_spec import Recode
    from sqlanon.engines.base import Column

_DATES = ("date", "timestamp")
_NUMBERS = ("integer", "float", "decimal")
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "INT": 32, "BIGINT": 64}


def recode_refusal(recode: Recode, column: Column) -> str | None:
    """Why a column cannot be recoded so; None: it can."""
    kind, type_name = column.kind, column.shown_type
    if recode.other is not None:
        return None
    ends = [end for end in (recode.bottom, recode.top) if end is not None]
    if kind not in _DATES + _NUMBERS:
        return f"bottom, top and round are for numbers, dates and timestamps, and the column is {type_name}"
    if any(bool(re.fullmatch(r"\d{4}-\d\d-\d\d", end)) != (kind in _DATES) for end in ends):
        return f"bottom and top of {type_name} are {'dates, as 2000-01-31' if kind in _DATES else 'numbers'}"
    if recode.round is not None and kind in _DATES:
        return f"round is for numbers, and the column is {type_name}; a hierarchy of steps or the calendar is for dates"
    if kind == "float":
        return None
    scale = re.search(r"(\d+)\s*,\s*(\d+)\s*\)", column.type) if kind == "decimal" else None
    digits = int(scale[2]) if scale else 0 if kind == "integer" else None
    numbers = [] if kind in _DATES else [*ends, *([recode.round] if recode.round is not None else [])]
    if kind == "integer" and any("." in number for number in numbers):
        return f"bottom, top and round of {type_name} are whole numbers, written without decimals"
    if digits is not None and any((Fraction(number) * 10**digits).denominator > 1 for number in numbers):
        return f"bottom, top and round have more decimals than {type_name}"
    if scale and any(abs(Fraction(end)) >= 10 ** (int(scale[1]) - int(scale[2])) for end in ends):
        return f"bottom or top has more digits than {type_name}"
    bits = _BITS.get(column.type.upper()) if kind == "integer" else None
    if bits and any(not -(2 ** (bits - 1)) <= int(end) < 2 ** (bits - 1) for end in ends):
        return f"bottom or top does not fit into {type_name}"
    return None


def find_limits(recode: Recode, column: Column) -> tuple[str | None, str | None]:
    """The limits between which the column's type can hold the rounded value: from the first, below the second.

    None if no value is outside.

    A value x becomes floor(x / step + 1/2) * step, unless an end takes its place.
    """
    if recode.round is None:
        return None, None
    scale = re.search(r"(\d+)\s*,\s*(\d+)\s*\)", column.type) if column.kind == "decimal" else None
    bits = _BITS.get(column.type.upper()) if column.kind == "integer" else None
    if scale is None and bits is None:
        return None, None
    digits = int(scale[2]) if scale else 0
    unit = Fraction(1, 10**digits)
    most = 10 ** int(scale[1]) * unit - unit if scale else Fraction(2 ** (int(bits or 0) - 1) - 1)
    least = -most if scale else -most - 1
    step, half = Fraction(recode.round), Fraction(1, 2)
    low = math.ceil((math.ceil(least / step) - half) * step / unit) * unit
    high = math.ceil((math.floor(most / step) + half) * step / unit) * unit
    limits = [f"{Decimal(int(end / unit)).scaleb(-digits):f}" for end in (low, high)]
    return (
        limits[0] if recode.bottom is None and low > least else None,
        limits[1] if recode.top is None and high <= most else None,
    )
