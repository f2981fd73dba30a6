"""The private schema: the names of its tables, and what makes a schema."""

from __future__ import annotations

import hashlib

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, Statement, TableRef
from sqlanon.sqltext import identifier, statement

METADATA = "_metadata"
"""What the name of the metadata of a view or a table ends with."""
SENSITIVE = "_sensitive"
"""What the name of a second table ends with, which holds the sensitive values."""


def schema_of(engine: Engine, ref: TableRef) -> Statement:
    """The statement that makes the schema of a table, where it is missing."""
    schema = ".".join(identifier(part) for part in (ref.database, ref.schema) if part)
    return statement("publish/schema", engine.dialect, schema=schema)


def private_table(engine: Engine, name: str) -> TableRef:
    """A table of the private schema, by its exact name."""
    return engine.target(f"{identifier(PRIVATE_SCHEMA)}.{identifier(name)}")


def physical_name(release: str, version: int) -> str:
    """The versioned table's name: readable, and short enough for every engine whatever the release is called."""
    plain = "".join(char if char.isascii() and char.isalnum() else "_" for char in release)[:24].strip("_").lower()
    return f"{plain or 'release'}_{hashlib.sha256(release.encode()).hexdigest()[:8]}_v{version}"
