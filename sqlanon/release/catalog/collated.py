"""Text columns with a comparison other than bytes; their published cells compare by bytes."""

from __future__ import annotations

from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch


def find_collated(scratch: Scratch, roles: Roles) -> dict[str, list[str]]:
    """The fact ``equal_unlike`` of the metadata: columns that readers cannot compare as the source does.

    The collation holds several texts equal; a class publishes any of them.

    Args:
        scratch: the database.
        roles: the source's columns.

    Returns:
        The names; empty if the system catalog shows collations. Cost: a query that reads no row.
    """
    asked = [reading.name for reading in roles.quasi if reading.column.kind == "text"]
    if not asked or not scratch.engine.capabilities.hidden_collations:
        return {}
    row = scratch.fetch("table/collated", source=roles.relation.ref, columns=asked)[0]
    return {"equal_unlike": [name for name, found in zip(asked, row, strict=True) if found]}
