"""Names and literals as SQL text. Nothing else in the project puts a name or a value into SQL."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.engines.base import TableRef


_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")


@lru_cache(maxsize=4096)
def identifier(name: str) -> str:
    """``name`` quoted, as the standard has it; `respell` makes Spark's quotes of it.

    >>> identifier('a"b')
    '"a""b"'
    """
    if "\x00" in name:
        raise ValueError("a name cannot hold a NUL byte")
    return '"' + name.replace('"', '""') + '"'


def respell(quoted: str, dialect: str) -> str:
    r"""A quoted name or text of the standard as a dialect has it.

    >>> print(respell('"a""b"', "spark"), respell("'a''b'", "spark"))
    `a"b` 'a\'b'
    """
    if dialect != "spark":
        return quoted
    if quoted.startswith('"'):
        name = quoted[1:-1].replace('""', '"')
        return "`" + name.replace("`", "``") + "`"
    if quoted.startswith("'"):
        text = quoted[1:-1].replace("''", "'")
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return quoted


def in_dialect(text: str, dialect: str) -> str:
    r"""SQL with standard names and texts, in the quotes of a dialect.

    Everything else must be alike in both.

    >>> print(in_dialect('SELECT "a""b" FROM t WHERE c = \'it\'\'s\'', "spark"))
    SELECT `a"b` FROM t WHERE c = 'it\'s'
    """
    return _QUOTED.sub(lambda match: respell(match[0], dialect), text)


def type_name(shown: str) -> str:
    """The name of a type, as the engine shows it, for SQL in DuckDB's dialect.

    A numeric of PostgreSQL without precision, which is held exactly, would be read as DuckDB's of three digits after
    the point; one that rounds before the point would not be read.

    >>> type_name("numeric"), type_name("numeric(5,-2)"), type_name("numeric(10,2)")
    ('pg_catalog.numeric', 'pg_catalog.numeric', 'numeric(10,2)')
    """
    return "pg_catalog.numeric" if shown == "numeric" or (shown.startswith("numeric(") and "-" in shown) else shown


def table_name(table: TableRef) -> str:
    """The qualified, quoted name of a table."""
    return ".".join(identifier(part) for part in (table.database, table.schema, table.name) if part)


def scratch_table(table: TableRef) -> str:
    """Kind of table that CREATE makes for scratch: a temporary one, or one in the schema where the run has its own."""
    return f"{'TABLE' if table.schema else 'TEMPORARY TABLE'} {table_name(table)}"


def link_of(hashed: Sequence[tuple[str, bool]], table: str) -> str:
    """The link from a staged row to its source row.

    It is the table's column ``link``, or the hash of the columns from which it would be made.

    >>> link_of([("q1", False), ("q2", True)], "s")
    'HASH(s.q1, CAST(s.q2 AS VARCHAR))'
    """
    columns = [f"CAST({table}.{alias} AS VARCHAR)" if text else f"{table}.{alias}" for alias, text in hashed]
    return f"HASH({', '.join(columns)})" if columns else f"{table}.link"


def literal(value: str | int | None) -> str:
    """A literal, for the few places where SQL allows no bound value (views) or needs one at planning time."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"
