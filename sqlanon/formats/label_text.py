"""Text of the ``labels`` format, and the reader: ``[20, 29]``, ``20``, ``{F, M}``, a node's label, ``NULL``, ``*``.

Labels are written once per domain value, here and never in SQL, because engines write floats differently.
A value that holds a comma, bracket, brace, quote or newline, has outer spaces, is empty, or reads ``NULL`` or ``*``
is quoted as JSON, so that every label parses back exactly.
"""

from __future__ import annotations

import json
import re
from typing import Literal

_SPECIAL = re.compile(r'[,\[\]{}"\n\r]')


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
    position = 0
    while True:
        if text.startswith('"', position):
            value, position = decoder.raw_decode(text, position)
        else:
            end = text.find(", ", position)
            end = len(text) if end < 0 else end
            value, position = text[position:end], end
        values.append(value)
        if position == len(text):
            return values
        if not text.startswith(", ", position):
            raise ValueError("not a label")
        position += 2
