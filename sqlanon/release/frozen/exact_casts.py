"""Texts in a list of keys, and whether a text is exactly the value that a database reads from it.

Casts round, cut, and guess.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation

from sqlanon.engines.base import Column
from sqlanon.errors import PolicyError

_FRACTION = re.compile(r"\.(\d+)")


def keys_as_texts(release: str, keys: Sequence[Mapping[str, object]]) -> tuple[list[str], list[list[str]]]:
    """The columns of a list of keys, and the keys as texts.

    Raises:
        PolicyError: a key has other columns than the first key, or no value.
    """
    names = list(keys[0]) if keys else []
    if any(row.keys() != keys[0].keys() or None in row.values() for row in keys):
        raise PolicyError(f"{release}: every key of the list has a value of each of {', '.join(names)}")
    return names, [[str(row[name]) for name in names] for row in keys]


def says(column: Column, text: str, typed: str | None) -> bool:
    """Whether a text equals the result of the cast to the column's type.

    Numbers are compared as decimals, dates and times as ISO 8601 has them, all else as the database prints it. So a
    text that a cast rounds (30.6 as an integer), cuts (a text for varchar(n), the time of a date) or guesses
    (05/01/2024) does not equal the result.

    Args:
        column: of the key.
        text: as the list has it.
        typed: the result, as the database prints it; None if the cast gave NULL.
    """
    if typed is None:
        return False
    if text == typed or column.kind == "boolean":  # a cast to two values takes no other text
        return True
    try:
        return _EQUAL.get(column.kind, _differs)(column, text, typed)
    except (ValueError, InvalidOperation):
        return False


def _numbers(_: Column, text: str, typed: str) -> bool:
    return Decimal(text) == Decimal(typed)


def _times(_: Column, text: str, typed: str) -> bool:
    """Fractions of seconds are compared as texts: Python keeps six digits."""
    text_fraction, cast_fraction = (_FRACTION.search(value) for value in (text, typed))
    if (text_fraction[1].rstrip("0") if text_fraction else "") != (
        cast_fraction[1].rstrip("0") if cast_fraction else ""
    ):
        return False
    left, right = (datetime.fromisoformat(_FRACTION.sub("", value, count=1).strip()) for value in (text, typed))
    if left.tzinfo is None:  # in the zone of the session, in which the database prints it
        right = right.replace(tzinfo=None)
    return left == right  # never where the text alone has a zone: the type does not keep it


def _texts(column: Column, text: str, typed: str) -> bool:
    """Blanks at the end are no part of a char(n)."""
    padded = re.match(r"(character|char|bpchar)\b(?! varying)", column.type)
    return padded is not None and text.rstrip(" ") == typed.rstrip(" ")


def _differs(column: Column, text: str, typed: str) -> bool:
    return column.type.lower() == "uuid" and uuid.UUID(text) == uuid.UUID(typed)


_EQUAL: dict[str, Callable[[Column, str, str], bool]] = {
    "integer": _numbers,
    "decimal": _numbers,
    "float": _numbers,
    "date": _times,
    "timestamp": _times,
    "text": _texts,
}
