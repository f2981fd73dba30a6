"""Counts about every column of a table, for `sqlanon init`.

Nobody sees values, and only the ends of numbers and dates leave the database.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlanon.engines.base import Engine, Kind, TableRef
from sqlanon.engines.rows import count, numbers
from sqlanon.errors import DatabaseError
from sqlanon.sqltext import statement
from sqlanon.table.extremes import MOST, ends_of, number_of


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Counts of a column.

    Attributes:
        name, type, kind: as the system catalog has it; an enum's type does not contain the values.
        rows: rows of the table.
        nulls: rows that are NULL.
        distinct: distinct values without NULL.
        singles: rows with a value that occurs once.
        top: rows of the most frequent value without NULL.
        comparable: whether values can be compared; if not, they are counted as all different.
        iso: rows with a text that looks like a date that begins with the year.
        dated: rows with a text that looks like another date.
        coded: rows with a text written as numbers of persons and things are.
        worded: rows with a text written as names are.
        bottom, top_value: round ends of the values left without a few values far from all others: see
            `sqlanon.table.extremes`.
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
    iso: int = 0
    dated: int = 0
    coded: int = 0
    worded: int = 0
    bottom: str | None = None
    top_value: str | None = None


def profile(engine: Engine, source: str) -> tuple[ColumnProfile, ...]:
    """Profile every column of a table. Cost: one GROUP BY a column.

    A column of a type that cannot be hashed (such as PostgreSQL's json) is counted by text; a column that cannot be
    compared even so counts as all distinct.
    """
    relation = engine.relation(source)
    profiles = []
    with engine.snapshot():
        rows = count(engine, statement("table/count", engine.dialect, source=relation.ref))
    for column in relation.columns:
        query = statement(
            "table/uniques", engine.dialect, source=relation.ref, column=column.name, as_text=not column.hashable
        )
        comparable = True
        try:
            filled, distinct, singles, top = numbers(engine, query)
        except DatabaseError:
            comparable = False
            filled = distinct = singles = rows
            top = min(rows, 1)
        column_profile = ColumnProfile(
            column.name, column.shown_type, column.kind, rows, rows - filled, distinct, singles, top, comparable
        )
        profiles.append(_add_shapes(engine, relation.ref, column_profile))
    return tuple(profiles)


def _add_shapes(engine: Engine, source: TableRef, column: ColumnProfile) -> ColumnProfile:
    """A column with counts of the shapes of texts, and with round ends of numbers and dates."""
    if column.kind in ("text", "enum") and column.distinct:
        query = statement("table/shapes", engine.dialect, source=source, column=column.name)
        iso, dated, coded, worded = numbers(engine, query)
        return replace(column, iso=iso, dated=dated, coded=coded, worded=worded)
    if column.kind in ("integer", "float", "decimal", "date", "timestamp") and column.distinct >= 2 * MOST:
        query = statement("table/ends", engine.dialect, source=source, column=column.name, most=MOST)
        try:
            cells = engine.fetch(query)
            low = sorted((value for top, value in cells if not top), key=number_of)
            high = sorted((value for top, value in cells if top), key=number_of, reverse=True)
            bottom, top_value = ends_of(low, high)
        except (DatabaseError, ArithmeticError, ValueError, TypeError):
            return column  # days beyond Python's, or a number that is none: no end is proposed
        return replace(column, bottom=bottom, top_value=top_value)
    return column
