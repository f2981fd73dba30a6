"""Names of tables in Spark: up to three parts, catalog, schema and table; backticks or double quotes around a part."""

from __future__ import annotations

import re

from sqlanon.engines.base import TableRef
from sqlanon.engines.names import split_name
from sqlanon.errors import DatabaseError, PolicyError

_PATH = re.compile(
    r"^(?:[a-z0-9+]+:/|\.{0,2}/)|\.(?:parquet|csv|csv\.gz|json|orc|avro)$|^(?:parquet|csv|json|orc|avro|delta)\.[`\"]",
    re.IGNORECASE,
)


def quote(name: str) -> str:
    """A name as Spark's SQL has it."""
    return "`" + name.replace("`", "``") + "`"


def qualify(table: TableRef) -> str:
    """The full, quoted name of a table."""
    return ".".join(quote(part) for part in (table.database, table.schema, table.name) if part)


def parts_of(name: str) -> list[str]:
    """The parts of a name that a person wrote.

    Raises:
        PolicyError: it is no name.
        DatabaseError: it is a path of files.
    """
    if _PATH.search(name):
        raise DatabaseError(
            f"{name} is a path and no table of Spark's catalog, which a release needs: register it, as in CREATE TABLE "
            "t USING parquet LOCATION '...', and name the table; parquet:PATH names Parquet files of few rows"
        )
    parts = split_name(name.replace("`", '"'))
    if len(parts) > 3:
        raise PolicyError(f"{name!r} has too many parts; write table, schema.table or catalog.schema.table")
    return parts
