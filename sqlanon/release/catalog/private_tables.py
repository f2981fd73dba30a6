"""The private schema: names of tables, and the statement that makes a schema."""

from __future__ import annotations

import hashlib

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, Statement, TableRef
from sqlanon.sqltext import identifier, statement

METADATA = "_metadata"
"""Suffix of the metadata of a view or a table."""
SENSITIVE = "_sensitive"
"""Suffix of a second table, which holds the sensitive values."""
SYNTHETIC = "_synthetic"
"""Suffix of a second table, which holds rows drawn of noisy statistics."""


def schema_of(engine: Engine, ref: TableRef) -> Statement:
    """Statement that makes the schema of a table if it is missing."""
    schema = ".".join(identifier(part) for part in (ref.database, ref.schema) if part)
    return statement("publish/schema", engine.dialect, schema=schema)


def private_table(engine: Engine, name: str) -> TableRef:
    """A table of the private schema, by the exact name."""
    return engine.target(f"{identifier(PRIVATE_SCHEMA)}.{identifier(name)}")


def physical_name(release: str, version: int) -> str:
    """The versioned table's name: readable, and short enough for every engine whatever the release is called."""
    plain = "".join(char if char.isascii() and char.isalnum() else "_" for char in release)[:24].strip("_").lower()
    return f"{plain or 'release'}_{hashlib.sha256(release.encode()).hexdigest()[:8]}_v{version}"
