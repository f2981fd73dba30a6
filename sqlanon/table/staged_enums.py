"""Staging of large tables.

Text columns of few values become a type that lists them, which the engine copies, groups and joins as small integers.

The staged values are the same, and so is everything that is made of them: such a column travels as text, as an enum of
the source does (`Reading.as_text`).
"""

from __future__ import annotations

from dataclasses import replace

from sqlanon.engines.rows import read_integer
from sqlanon.table.reading import Reading, Roles
from sqlanon.table.scratch import Scratch

MANY_ROWS = 100_000
"""Rows below which finding out costs more than it saves."""
FEW_VALUES = 4096
"""A type lists so many values, at most."""


def make_enum_types(scratch: Scratch, roles: Roles, rows: int, *, exact: bool) -> tuple[Roles, bool]:
    """Make the types of nominal quasi columns, and look how the source numbers its rows.

    Args:
        scratch: the run.
        roles: the columns to stage.
        rows: number of rows.
        exact: the format publishes the staged values themselves, so that they keep their type.

    Returns:
        the roles with their types, and whether the engine's row numbers are 0 to rows - 1.

    Cost: a scan of the text columns, and a scan of each that gets a type.
    """
    engine, source = scratch.engine, roles.relation.ref
    able = engine.capabilities
    lists = bool(able.listed_bit) and engine.temporary  # a scratch type is of the session, too
    if rows < MANY_ROWS or not (lists or able.row_numbers) or roles.relation.is_view:
        return roles, False
    texts = [reading for reading in roles.quasi if _is_text(reading)] if lists and not exact else []
    dense, by_bytes, *counts = scratch.fetch(
        "table/storage",
        {"database": source.database, "schema": source.schema, "name": source.name},
        source=source,
        columns=[reading.name for reading in texts],
        numbered=able.row_numbers and all(column.name.lower() != "rowid" for column in roles.relation.columns),
    )[0]
    types = {}
    for reading, count in zip(texts, counts, strict=True):
        if by_bytes and read_integer(count) <= FEW_VALUES:
            types[reading.alias] = scratch.type(f"{reading.alias}_type")
            scratch.execute("table/type", made=types[reading.alias], source=source, column=reading.name)
    quasi = tuple(replace(reading, listed=types.get(reading.alias)) for reading in roles.quasi)
    return replace(roles, quasi=quasi), bool(dense)


def _is_text(reading: Reading) -> bool:
    return reading.treatment == "nominal" and reading.column.type == "VARCHAR"
