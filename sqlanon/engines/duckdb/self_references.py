"""Copies of tables with foreign keys to themselves.

DuckDB checks such a key before the statement that adds the other row has ended.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.inventory import list_tables

_KEYS = """
SELECT table_oid, constraint_column_names, referenced_column_names
FROM system.main.duckdb_constraints()
WHERE database_name = $database AND constraint_type = 'FOREIGN KEY' AND table_name = referenced_table
"""
_WAITING, _NEXT = '"temp"."main"."_sqlanon_waiting"', '"temp"."main"."_sqlanon_next"'

Keys = list[tuple[list[str], list[str]]]
"""Foreign keys: their columns, and those that they refer to."""


def self_references(connection: duckdb.DuckDBPyConnection, database: str) -> dict[int, Keys]:
    """The foreign keys of tables to themselves, by the table's number: a foreign key never leaves the schema."""
    keys: dict[int, Keys] = {}
    for table, columns, referenced in connection.execute(_KEYS, {"database": database}).fetchall():
        keys.setdefault(table, []).append((columns, referenced))
    return keys


def copy_rows(connection: duckdb.DuckDBPyConnection, database: str, copy: str, references: dict[int, Keys]) -> None:
    """Copy the rows of all tables into the empty tables of a copy.

    Args:
        connection: the current database is ``database``.
        database: where the rows are.
        copy: the database where the same tables are, without rows.
        references: see `self_references`.

    Raises:
        duckdb.ConstraintException: rows are left that refer to each other.
    """
    waiting = list_tables(connection, database)
    while waiting:
        postponed, failed = [], None
        for table in waiting:
            old, new = table.qualify(database), table.qualify(copy)
            connection.execute("BEGIN TRANSACTION")
            try:
                _copy_table(connection, old, new, table.columns, references.get(table.number, []))
                connection.execute("COMMIT")
            except duckdb.ConstraintException as error:  # rows of a table that comes later
                connection.execute("ROLLBACK")
                postponed.append(table)
                failed = error
        if failed is not None and len(postponed) == len(waiting):
            raise failed
        waiting = postponed


def _copy_table(connection: duckdb.DuckDBPyConnection, old: str, new: str, columns: Sequence[str], keys: Keys) -> None:
    listed = ", ".join(map(quote, columns))
    copied = f"INSERT INTO {new} ({listed}) SELECT {listed} FROM {old}"  # noqa: S608
    if not keys:
        connection.execute(copied)
        return
    # In rounds: rows with references that are copied already.
    there = " AND ".join(f"({_is_null(columns)} OR {_is_copied(new, columns, to)})" for columns, to in keys)
    connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {_WAITING} AS SELECT rowid AS place FROM {old}")  # noqa: S608
    while True:
        ready = f"SELECT w.place FROM {_WAITING} AS w JOIN {old} AS o ON o.rowid = w.place WHERE {there}"  # noqa: S608
        connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {_NEXT} AS {ready}")
        if connection.execute(f"SELECT 1 FROM {_NEXT} LIMIT 1").fetchone() is None:  # noqa: S608
            break
        condition = f"IN (SELECT place FROM {_NEXT})"  # noqa: S608
        connection.execute(f"{copied} WHERE rowid {condition} ORDER BY rowid")
        connection.execute(f"DELETE FROM {_WAITING} WHERE place {condition}")  # noqa: S608
    if connection.execute(f"SELECT 1 FROM {_WAITING} LIMIT 1").fetchone() is not None:  # noqa: S608
        connection.execute(copied)  # the rows left break the constraint, and the error says so


def _is_null(columns: Sequence[str]) -> str:
    return " OR ".join(f"o.{quote(column)} IS NULL" for column in columns)


def _is_copied(new: str, columns: Sequence[str], referenced: Sequence[str]) -> str:
    equal = " AND ".join(f"n.{quote(there)} = o.{quote(here)}" for here, there in zip(columns, referenced, strict=True))
    return f"EXISTS (SELECT 1 FROM {new} AS n WHERE {equal})"  # noqa: S608
