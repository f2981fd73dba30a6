"""Text columns with a comparison other than bytes; their published cells compare by bytes."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.engines.base import Engine, Relation
from sqlanon.sqltext import statement
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch


def find_collated(engine: Engine, roles: Roles) -> dict[str, list[str]]:
    """The fact ``equal_unlike`` of the metadata: columns that readers cannot compare as the source does.

    The collation holds several texts equal; a class publishes any of them.

    Args:
        engine: the source's database.
        roles: the source's columns.

    Returns:
        The names; empty if the system catalog shows collations. Cost: a query that reads no row.
    """
    text_columns = [reading.name for reading in roles.quasi if reading.column.kind == "text"]
    if not text_columns or not engine.capabilities.hidden_collations:
        return {}
    query = statement("table/collated", engine.dialect, source=roles.relation.ref, columns=text_columns)
    row = engine.fetch(query)[0]
    return {"equal_unlike": [name for name, is_collated in zip(text_columns, row, strict=True) if is_collated]}


def mark_collated(scratch: Scratch, source: Relation) -> Relation:
    """A source with the text columns marked that hold texts of other bytes equal, where the catalog does not show them.

    Returns:
        The same, with `Column.deterministic` false for these columns. Cost: a query that reads no row.
    """
    text_columns = [column.name for column in source.columns if column.kind == "text"]
    if not text_columns or not scratch.engine.capabilities.hidden_collations:
        return source
    row = scratch.fetch("table/collated", source=source.ref, columns=text_columns)[0]
    collated = {name for name, is_collated in zip(text_columns, row, strict=True) if is_collated}
    columns = tuple(
        replace(column, deterministic=False) if column.name in collated else column for column in source.columns
    )
    return replace(source, columns=columns)
