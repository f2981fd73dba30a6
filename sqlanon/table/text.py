"""Values of a domain as text: written here and not in SQL, because engines write floats differently."""

from __future__ import annotations

import datetime
import decimal


def text_of(value: object) -> str:
    """A domain value as text, the same on every engine.

    >>> text_of(0.1), text_of(True), text_of(datetime.date(2020, 1, 31))
    ('0.1', 'true', '2020-01-31')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return str(value)
