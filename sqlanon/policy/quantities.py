"""Checks of one quantity: a whole number, a fraction, an amount, a size in bytes or a time span.

See `fields` for their common rules.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import BeforeValidator, Field

from sqlanon.declared import values
from sqlanon.declared.values import LARGEST_PART
from sqlanon.policy.fields import wrong, wrong_kind

LARGEST = 2**63 - 1
"""The largest whole number a policy may hold: every engine's BIGINT holds it."""

LARGEST_AMOUNT = 10**39
"""The largest number that is not whole, such as an extent: every engine's widest integers and decimals are below it."""

_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([a-z]*)", re.IGNORECASE)
_DURATION = re.compile(r"([0-9]{1,6})\s*([mhdw])", re.IGNORECASE)
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_UNITS = {
    unit: base**power
    for power, letter in enumerate(("", "k", "m", "g", "t"))
    for unit, base in ((f"{letter}b", 1000), (f"{letter}ib" if letter else "", 1024))
}

A_FRACTION = "a number such as 3 or 2.5, or a fraction such as 5/2, at least 1"
A_DURATION = "a number with its unit: 30m, 24h, 7d or 2w"
A_SIZE = "a size such as 4GB or 512MiB, or a number of bytes"


def whole(low: int, high: int = LARGEST) -> BeforeValidator:
    """A whole number from ``low`` to ``high``."""
    allowed = f"a whole number from {low} to {high}"
    if high in (low, LARGEST):
        allowed = str(low) if high == low else f"a whole number of at least {low}"

    def check(value: object) -> int:
        try:
            return values.whole(value, low, high)
        except ValueError as error:
            raise wrong(wrong_kind(value, str(error)), allowed) from None

    return BeforeValidator(check, json_schema_input_type=Annotated[int, Field(ge=low, le=high)])


def _exact(value: object, allowed: str) -> Fraction:
    try:
        return values.exact(value)
    except ValueError:
        raise wrong(wrong_kind(value, "not a number or fraction"), allowed) from None


def fraction(value: object) -> Fraction:
    """A number of at least 1, exactly: ``2.5`` is 5/2 by its decimal text, never by its binary value.

    Example:
        >>> fraction(2.1), fraction("5/2")
        (Fraction(21, 10), Fraction(5, 2))
    """
    number = _exact(value, A_FRACTION)
    if number < 1:
        raise wrong("too small", A_FRACTION)
    if max(number.numerator, number.denominator) > LARGEST_PART:
        raise wrong("too large or too precise", f"{A_FRACTION}, both parts at most {LARGEST_PART}")
    return number


def amount(high: int = LARGEST_AMOUNT) -> BeforeValidator:
    """A number or fraction from 0 to ``high``, exactly, by its decimal text as `fraction`."""
    allowed = f"a number of at least 0{'' if high == LARGEST_AMOUNT else f' and at most {high}'}, such as 0.3 or 3/10"

    def check(value: object) -> Fraction:
        number = _exact(value, allowed)
        if number < 0:
            raise wrong("too small", allowed)
        if number > high:
            raise wrong("too large", f"{allowed}, at most 10^39" if high == LARGEST_AMOUNT else allowed)
        if number.denominator > LARGEST_PART:
            raise wrong("too precise", f"{allowed}, its denominator at most {LARGEST_PART}")
        return number

    return BeforeValidator(check, json_schema_input_type=Annotated[float, Field(ge=0, le=high)] | str)


def size(value: object) -> int:
    """A number of bytes, with a decimal (GB) or binary (GiB) unit.

    Example:
        >>> size("4GB"), size("512MiB")
        (4000000000, 536870912)
    """
    written = "" if isinstance(value, bool) else str(value)
    found = _SIZE.fullmatch(written)
    if found is None or found[2].casefold() not in _UNITS:
        raise wrong(wrong_kind(value, "not a size"), A_SIZE)
    number = int(Decimal(found[1]) * _UNITS[found[2].casefold()])
    if not 1 <= number <= LARGEST:
        raise wrong("too small" if number < 1 else "too large", A_SIZE)
    return number


def duration(value: object) -> int:
    """A time span in seconds, written as ``30m``, ``24h``, ``7d`` or ``2w``.

    Example:
        >>> duration("24h")
        86400
    """
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not found:
        raise wrong(wrong_kind(value, "not a time span"), A_DURATION)
    seconds = int(found[1]) * _SECONDS[found[2].lower()]
    if not seconds:
        raise wrong("too small", A_DURATION)
    return seconds
