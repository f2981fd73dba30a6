"""All that a DuckDB database holds, so that a copy of it can be compared: what its catalog lists, and of each table rows and a checksum.

The catalog is read through every ``duckdb_*()`` function that says to which database its rows belong: also those that a later DuckDB adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb

from sqlanon.engines.duckdb.connection import quoted

_LISTINGS = """
SELECT DISTINCT function_name
FROM duckdb_functions()
WHERE function_name LIKE 'duckdb\\_%' ESCAPE '\\' AND function_type = 'table' AND len(parameters) = 0
    AND function_name <> 'duckdb_databases'
ORDER BY function_name
"""
_PASSING = {"database_name", "data_type_id", "constraint_index", "estimated_size", "is_bound"}
"""What differs between two files of the same content, or depends on what was asked before; so do all columns whose names end with ``oid``."""
_TABLES = """
SELECT t.schema_oid, t.table_name, list(c.column_name ORDER BY c.column_index) FILTER (NOT c.is_generated)
FROM duckdb_tables() AS t
JOIN duckdb_columns() AS c ON c.database_name = t.database_name AND c.table_oid = t.table_oid
WHERE t.database_name = $database
GROUP BY ALL
"""

Facts = tuple[str, str, tuple[str, ...]]
"""A kind, the name of an object of it, and what is known of it."""


def inventory(connection: duckdb.DuckDBPyConnection, database: str) -> Counter[Facts]:
    """What a database holds.

    Args:
        connection: looks builtin names up where only builtin ones are.
        database: one that is attached.

    Returns:
        how often each fact holds: two databases of the same content have equal ones.
    """
    return Counter([*_catalog(connection, database), *_rows(connection, database)])


def lacking(old: Counter[Facts], new: Counter[Facts]) -> list[str]:
    """The objects of which the two say different things, as kind and name; never what they say, which may be values."""
    different = {(kind, name) for kind, name, _ in (old - new) + (new - old)}
    return [f"{kind} {name}" for kind, name in sorted(different)]


def _catalog(connection: duckdb.DuckDBPyConnection, database: str) -> Iterator[Facts]:
    for (function,) in connection.execute(_LISTINGS).fetchall():
        columns = [str(row[0]) for row in connection.execute(f"DESCRIBE FROM {function}()").fetchall()]
        if "database_name" not in columns:
            continue
        kept = [name for name in columns if name not in _PASSING and not name.endswith("oid")]
        names = [i for i, name in enumerate(kept) if name.endswith("_name")]
        listed = ", ".join(map(quoted, kept))
        text = f"SELECT {listed} FROM {function}() WHERE database_name = $database"  # noqa: S608
        kind = str(function).removeprefix("duckdb_").replace("_", " ")
        for row in connection.execute(text, {"database": database}).fetchall():
            yield kind, ".".join(str(row[i]) for i in names if row[i] is not None), tuple(map(repr, row))


def _rows(connection: duckdb.DuckDBPyConnection, database: str) -> Iterator[Facts]:
    schemas = {
        oid: (str(name), parent)
        for oid, name, parent in connection.execute(
            "SELECT oid, schema_name, parent_schema_oid FROM duckdb_schemas() WHERE database_name = $database",
            {"database": database},
        ).fetchall()
    }

    def path(oid: object) -> list[str]:
        name, parent = schemas[oid]
        return [*([] if parent is None else path(parent)), name]

    for schema, name, columns in connection.execute(_TABLES, {"database": database}).fetchall():
        parts = [*path(schema), str(name)]
        hashed = ", ".join(f"_sqlanon_row.{quoted(column)}" for column in columns)
        table = ".".join(map(quoted, [database, *parts]))
        text = f"SELECT count(*), sum(hash({hashed})) FROM {table} AS _sqlanon_row"  # noqa: S608
        yield "rows of", ".".join(parts), tuple(map(repr, connection.execute(text).fetchall()))


__all__ = ["Facts", "inventory", "lacking"]
