"""The text of the ``labels`` format, and its reader: ``[20, 29]``, ``20``, ``{F, M}``, a node's label, ``NULL``, ``*``.

Labels are written once per domain value, here and never in SQL, because engines write floats differently.
A value that holds a comma, bracket, brace, quote or newline, has outer spaces, is empty, or reads ``NULL`` or ``*``
is quoted as JSON, so that every label parses back exactly.
"""

from __future__ import annotations

import datetime
import decimal
import json
import re
from typing import Literal

_SPECIAL = re.compile(r'[,\[\]{}"\n\r]')


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


def quote(text: str) -> str:
    """Quote a value's text if it could be read as something else.

    >>> quote("flu"), quote("a, b"), quote("NULL")
    ('flu', '"a, b"', '"NULL"')
    """
    if not text or text != text.strip() or text in ("NULL", "*") or _SPECIAL.search(text):
        return json.dumps(text, ensure_ascii=False)
    return text


Label = tuple[Literal["null", "any", "value", "range", "set"], tuple[str, ...]]


def parse_label(label: str) -> Label:
    """Read a label back.

    >>> parse_label("[20, 29]")
    ('range', ('20', '29'))
    >>> parse_label('{"a, b", c}')
    ('set', ('a, b', 'c'))

    Raises:
        ValueError: it is not a label.
    """
    if label == "NULL":
        return "null", ()
    if label == "*":
        return "any", ()
    if label.startswith("[") and label.endswith("]"):
        values = _split(label[1:-1])
        if len(values) != 2:
            raise ValueError("a range has two ends")
        return "range", tuple(values)
    if label.startswith("{") and label.endswith("}"):
        return "set", tuple(_split(label[1:-1]))
    values = _split(label)
    if len(values) != 1:
        raise ValueError("not a label")
    return "value", tuple(values)


def _split(text: str) -> list[str]:
    values: list[str] = []
    decoder = json.JSONDecoder()
    at = 0
    while True:
        if text.startswith('"', at):
            value, at = decoder.raw_decode(text, at)
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            value, at = text[at:end], end
        values.append(value)
        if at == len(text):
            return values
        if not text.startswith(", ", at):
            raise ValueError("not a label")
        at += 2
