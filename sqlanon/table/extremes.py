"""Finds numbers and dates far from all others.

Examples are 999 and 9999-12-31, which often mean a missing value.

A single such value makes every range look narrow beside the whole. The proposed `bottom` and `top` are round numbers
beyond the values that are left, no values of the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

MOST = 6
"""Values that are looked at, at each end."""
_FAR = 3
"""Of these as many may be far from the others."""
_WIDE = 2
"""How many times as wide as all that is left the step to them is, at least."""
_ROUND = (1, 2, 5, 10)
_TAKEN = re.compile(r"-?\d{1,15}(\.\d{1,9})?|\d{4}-\d\d-\d\d")
"""Ends that a policy takes."""


def ends_of(least: Sequence[object], greatest: Sequence[object]) -> tuple[str | None, str | None]:
    """Round ends of the values left without those that are far from all others; None: no far values at that end.

    A value is far where the step to it is twice as wide as the range of the values left, or where it is the only value
    below 0 and is written with nines or as -1.

    Args:
        least: the least different values, ascending, at most `MOST`.
        greatest: the greatest different values, descending, as many.
    """
    low, high = [number_of(value) for value in least], [number_of(value) for value in greatest]
    if len(low) < MOST or len(high) < MOST or set(low) & set(high) or not all(map(math.isfinite, low + high)):
        return None, None
    bottom, top = _ends(low, high, dates=isinstance(least[0], date))
    return _read_end(bottom), _read_end(top)


def _ends(low: Sequence[float], high: Sequence[float], *, dates: bool) -> tuple[str | None, str | None]:
    top = next((i for i in range(_FAR, 0, -1) if high[i - 1] - high[i] >= _WIDE * (high[i] - low[_FAR])), 0)
    bottom = next((i for i in range(_FAR, 0, -1) if low[i] - low[i - 1] >= _WIDE * (high[_FAR] - low[i])), 0)
    if not bottom and not dates and low[0] < 0 <= low[1] and _marks(low[0]):
        return "0", _round_up(high[top]) if top else None
    if dates:
        return _day(low[bottom], -1) if bottom else None, _day(high[top], 1) if top else None
    return _round_down(low[bottom]) if bottom else None, _round_up(high[top]) if top else None


def _read_end(end: str | None) -> str | None:
    return end if end is not None and _TAKEN.fullmatch(end) else None


def number_of(value: object) -> float:
    """A number, or a date in days, by which values are compared."""
    return float(value.toordinal()) if isinstance(value, date) else float(Decimal(str(value)))


def _marks(value: float) -> bool:
    return value == -1 or set(f"{-value:g}") <= {"9"}


def _round_up(value: float) -> str:
    """The least of 1, 2, 5, 10, 20, .. that is not below a number.

    For a negative number it is the negative of the greatest that is not above.
    """
    if value <= 0:
        return "0" if value > -1 else f"-{_format_end(-value, up=False)}"
    return _format_end(value, up=True)


def _round_down(value: float) -> str:
    if value >= 0:
        return "0" if value < 1 else _format_end(value, up=False)
    return f"-{_format_end(-value, up=True)}"


def _format_end(value: float, *, up: bool) -> str:
    power = 10 ** math.floor(math.log10(value))
    fits = [step * power for step in _ROUND if (step * power >= value if up else step * power <= value)]
    return format(Decimal(f"{min(fits) if up else max(fits):.15g}"), "f")


def _day(value: float, step: int) -> str:
    """The first day of a year, beyond a day."""
    year = date.fromordinal(round(value)).year
    return date(max(year, 1) if step < 0 else min(year + 1, date.max.year), 1, 1).isoformat()
