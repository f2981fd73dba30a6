"""Counts about every column of a table, for `sqlanon init`: no value is looked at by anybody but the database."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import Engine, Kind
from sqlanon.errors import DatabaseError
from sqlanon.sqltext import statement


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column in counts.

    Attributes:
        name, type, kind: as the system catalog has it; an enum's type does not contain its values.
        rows: rows of the table.
        nulls: rows that are NULL.
        distinct: distinct values without NULL.
        singles: rows whose value occurs once.
        top: rows of the most frequent value without NULL.
        comparable: whether values can be compared; if not, they are counted as all different.
    """

    name: str
    type: str
    kind: Kind
    rows: int
    nulls: int
    distinct: int
    singles: int
    top: int
    comparable: bool = True


def profile(engine: Engine, source: str) -> tuple[ColumnProfile, ...]:
    """Profile every column of a table. Cost: one GROUP BY a column.

    A column whose type cannot be hashed (such as PostgreSQL's json) is counted by its text; one that cannot be compared even so
    counts as all distinct.
    """
    relation = engine.relation(source)
    profiles = []
    with engine.snapshot():
        count = statement("table/count", engine.dialect, source=relation.ref)
        rows = int(str(engine.fetch(count)[0][0]))
    for column in relation.columns:
        made = statement(
            "table/uniques",
            engine.dialect,
            source=relation.ref,
            column=column.name,
            as_text=not column.hashable,
        )
        comparable = True
        try:
            filled, distinct, singles, top = (int(str(cell)) for cell in engine.fetch(made)[0])
        except DatabaseError:
            comparable = False
            filled = distinct = singles = rows
            top = min(rows, 1)
        profiles.append(
            ColumnProfile(
                column.name,
                column.shown_type,
                column.kind,
                rows,
                rows - filled,
                distinct,
                singles,
                top,
                comparable,
            )
        )
    return tuple(profiles)
