"""Contents of a DuckDB database, to compare it with a copy.

They are the entries of the catalog, and the rows and a checksum of each table.

The catalog is read through every ``duckdb_*()`` function that says to which database the rows belong: also those that a
later DuckDB adds. They are named in full, as macros of the database may have their names: some bind expressions of
tables, which may call macros, so that the database has to be current.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from sqlanon.engines.duckdb.connection import quote

_PASSING = {"database_name", "data_type_id", "constraint_index", "estimated_size", "is_bound"}
"""Columns that differ between two files of the same content, or depend on earlier queries.

All columns with names that end with ``oid`` do, too.
"""

Facts = tuple[str, str, tuple[str, ...]]
"""The kind of an object, the name, and the facts about it."""


class Table(NamedTuple):
    """A table: number, name after those of the schemas around it, and the columns that are not generated."""

    number: int
    parts: list[str]
    columns: list[str]

    def qualify(self, database: str) -> str:
        """The name in a database as SQL."""
        return ".".join(map(quote, [database, *self.parts]))


def take_inventory(connection: duckdb.DuckDBPyConnection, database: str, empty: str) -> Counter[Facts]:
    """Contents of a database, as facts.

    Args:
        connection: both databases are attached to it.
        database: the database to list.
        empty: another database, without macros; it is current afterwards.

    Returns:
        the number of times that each fact holds: equal for two databases of the same content.
    """
    connection.execute(f"USE {quote(database)}.main")
    counter = Counter(_catalog(connection, database))
    tables = list_tables(connection, database)
    connection.execute(f"USE {quote(empty)}.main")
    return counter + Counter(_rows(connection, database, table) for table in tables)


def list_lacking(old: Counter[Facts], new: Counter[Facts]) -> list[str]:
    """The objects with different facts in the two, as kind and name; never the facts, which may be values."""
    different = {(kind, name) for kind, name, _ in (old - new) + (new - old)}
    return [f"{kind} {name}" for kind, name in sorted(different)]


def list_tables(connection: duckdb.DuckDBPyConnection, database: str) -> list[Table]:
    """The tables of a database."""
    binds = {"database": database}
    schemas = {
        oid: (str(name), parent)
        for oid, name, parent in connection.execute(
            "SELECT oid, schema_name, parent_schema_oid FROM system.main.duckdb_schemas() WHERE database_name = "
            "$database",
            binds,
        ).fetchall()
    }
    columns: dict[object, list[str]] = {}
    for table, name, generated in connection.execute(
        "SELECT table_oid, column_name, is_generated FROM system.main.duckdb_columns() WHERE database_name = $database "
        "ORDER BY table_oid, column_index",
        binds,
    ).fetchall():
        columns.setdefault(table, []).extend([] if generated else [str(name)])

    def path(oid: object) -> list[str]:
        name, parent = schemas[oid]
        return [*([] if parent is None else path(parent)), name]

    rows = connection.execute(
        "SELECT schema_oid, table_name, table_oid FROM system.main.duckdb_tables() WHERE database_name = $database",
        binds,
    ).fetchall()
    return [Table(table, [*path(schema), str(name)], columns[table]) for schema, name, table in rows]


def _catalog(connection: duckdb.DuckDBPyConnection, database: str) -> Iterator[Facts]:
    for function in _listings(connection):
        listing = f"system.main.{function}()"
        columns = [str(row[0]) for row in connection.execute(f"DESCRIBE FROM {listing}").fetchall()]
        if "database_name" not in columns:
            continue
        columns_kept = [name for name in columns if name not in _PASSING and not name.endswith("oid")]
        names = [i for i, name in enumerate(columns_kept) if name.endswith("_name")]
        text = f"SELECT {', '.join(map(quote, columns_kept))} FROM {listing} WHERE database_name = $database"  # noqa: S608
        kind = function.removeprefix("duckdb_").replace("_", " ")
        for row in connection.execute(text, {"database": database}).fetchall():
            yield kind, ".".join(str(row[i]) for i in names if row[i] is not None), tuple(map(repr, row))


def _listings(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The functions that list objects of all databases; `duckdb_databases` is left out, as it differs between files."""
    rows = connection.execute(
        "SELECT function_name, function_type, parameters FROM system.main.duckdb_functions() WHERE database_name = "
        "'system'"
    ).fetchall()
    names = {str(name) for name, kind, parameters in rows if kind == "table" and not parameters}
    return sorted(name for name in names if name.startswith("duckdb_") and name != "duckdb_databases")


def _rows(connection: duckdb.DuckDBPyConnection, database: str, table: Table) -> Facts:
    hashed = ", ".join(f"_sqlanon_row.{quote(column)}" for column in table.columns)
    text = f"SELECT count(*), sum(hash({hashed})) FROM {table.qualify(database)} AS _sqlanon_row"  # noqa: S608
    return "rows of", ".".join(table.parts), tuple(map(repr, connection.execute(text).fetchall()))
