"""Numbers and names as people read them, on a screen and in reports."""

from __future__ import annotations


def count(number: int) -> str:
    """``1,200``."""
    return f"{number:,}"


def measure(number: float) -> str:
    """A requirement's or a risk's value: ``10``, ``3.25``, ``1.2e+09``."""
    if number == int(number) and abs(number) < 1e15:
        return count(int(number))
    return f"{number:,.4g}"


def share(part: float, whole: float) -> str:
    """``12.5 %``, and never 0 or 100 unless exactly so."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if 99.99 < percent < 100:
        return "> 99.99 %"
    return f"{percent:.4g} %"


def safe(text: object) -> str:
    """A name or a released value with anything a terminal would obey replaced."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(text))
