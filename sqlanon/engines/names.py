"""Names that people write: split into parts, matched against the catalog, never guessed silently."""

from __future__ import annotations

from functools import lru_cache

from sqlanon.errors import PolicyError

LAKES = "source: delta:.."
"""The feature, as `sqlanon.engines.lacks.FEATURES` has it."""
TO_LAKES = "publish: delta:.."
"""Likewise, of published tables."""
ELSEWHERE = "publish_to"
"""Likewise, of a release in another database."""


def split_name(text: str) -> list[str]:
    """Split ``a.b`` or ``"a.x"."b"`` into parts; doubled quotes inside quotes mean one.

    >>> split_name('main."odd.table"')
    ['main', 'odd.table']
    >>> split_name('my table')
    ['my table']

    Raises:
        PolicyError: a quote is not closed or a part is empty.
    """
    return list(_split(text))


@lru_cache(maxsize=1024)
def _split(text: str) -> tuple[str, ...]:
    parts: list[str] = []
    current: list[str] = []
    quoted = False
    i = 0
    while i < len(text):
        char = text[i]
        if char == '"':
            if quoted and text[i + 1 : i + 2] == '"':
                current.append('"')
                i += 1
            else:
                quoted = not quoted
        elif char == "." and not quoted:
            parts.append("".join(current))
            current = []
        else:
            current.append(char)
        i += 1
    parts.append("".join(current))
    if quoted or not all(parts):
        raise PolicyError(f'{text!r} is not a table name; write table, schema.table, or quote parts with "')
    return tuple(parts)
