"""Names that people write: split into parts, matched against the catalog, never guessed silently."""

from __future__ import annotations

from functools import lru_cache

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.lack import notimpl
from sqlanon.lake_names import lake_of

LAKES = "source: delta:.."
"""The feature, as `sqlanon.engines.lacks.FEATURES` has it."""
TO_LAKES = "publish: delta:.."
"""Likewise, of published tables."""
ELSEWHERE = "publish_to"
"""Likewise, of a release in another database."""
NO_LAKES = notimpl(
    "Spark reads files without a version that all statements of a run hold, and Delta and Iceberg by jars of its own: "
    "register the table in its catalog (CREATE TABLE t USING parquet LOCATION '...') and name it, or connect to DuckDB "
    "or PostgreSQL, such as duckdb:///release.duckdb"
)


def split_name(text: str) -> list[str]:
    """Split ``a.b`` or ``"a.x"."b"`` into parts; doubled quotes inside quotes mean one.

    >>> split_name('main."odd.table"')
    ['main', 'odd.table']
    >>> split_name('my table')
    ['my table']

    Raises:
        PolicyError: a quote is not closed or a part is empty.
        UnsupportedError: it is the name of a lake table, on an engine that reads none.
    """
    if lake_of(text):
        raise UnsupportedError(f"{text}: {LAKES}: {NO_LAKES.why}")
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
