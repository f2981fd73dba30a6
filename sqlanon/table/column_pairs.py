"""Counts about several columns of a table together, for `sqlanon init`.

They show the owners of rows, and columns that are the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Engine
from sqlanon.engines.rows import count, numbers
from sqlanon.errors import DatabaseError
from sqlanon.sqltext import statement


def count_varying(engine: Engine, source: str, key: str, columns: Sequence[str]) -> tuple[int, dict[str, int]] | None:
    """The values of a key in several rows, and by column how many of them have different values of it.

    None if they cannot be compared.

    Cost: one GROUP BY.
    """
    ref = engine.relation(source).ref
    query = statement("table/varying", engine.dialect, source=ref, key=key, columns=list(columns))
    try:
        groups, *varied = numbers(engine, query)
    except DatabaseError:
        return None
    return groups, dict(zip(columns, varied, strict=True))


def count_pairs(engine: Engine, source: str, first: str, other: str) -> int:
    """How many different pairs of values two columns have, NULL being a value. Cost: one GROUP BY."""
    query = statement("table/pairs", engine.dialect, source=engine.relation(source).ref, one=first, other=other)
    return count(engine, query)


def count_owned(engine: Engine, source: str, column: str, person: str) -> int:
    """Rows with a value of a column that only one person has. Cost: one GROUP BY."""
    query = statement("table/owned", engine.dialect, source=engine.relation(source).ref, column=column, person=person)
    return count(engine, query)


def group_equal(engine: Engine, source: str, names: Sequence[str], values: int) -> list[list[str]]:
    """Groups among columns of equally many values that determine each other.

    Args:
        engine: the database.
        source: the table.
        names: columns that have as many values, NULL counted as a value where they have it.
        values: how many.

    Cost: one GROUP BY for each column and group.
    """
    groups: list[list[str]] = []
    for name in names:
        for group in groups:
            if count_pairs(engine, source, group[0], name) == values:
                group.append(name)
                break
        else:
            groups.append([name])
    return [group for group in groups if len(group) > 1]
