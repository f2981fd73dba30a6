"""The values of a source's columns as generators draw them, and as literals of SQL.

They are cells: they are in the SQL of a generated query and nowhere else, never in a query's name, report or error.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Sequence
from typing import Any

from sqlanon.column_spec import Hierarchy, Rule
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.rows import read_integer
from sqlanon.errors import UnsupportedError
from sqlanon.evaluate.subject import Subject
from sqlanon.query.sql.text_order import in_bytes
from sqlanon.sqltext import identifier, literal, statement
from sqlanon.table.reading import Reading

MOST_VALUES = 1_000_000


class Values:
    """The values of a subject's source, read once a column."""

    def __init__(self, engine: Engine, subject: Subject) -> None:
        self._engine = engine
        self._source = subject.roles.relation
        self._readings = {reading.name: reading for reading in subject.roles.quasi}
        self._found: dict[tuple[str, int], tuple[list[Any], int]] = {}
        self._in_bytes: dict[str, bool] = {}

    def of(self, column: str) -> list[Any]:
        """The distinct values without NULL, in their order: leaves by the tree, text as declared or by bytes.

        Of more than `MOST_VALUES` at most so many, evenly over the engine's order.
        """
        return self._read(column, MOST_VALUES)[0]

    def few(self, column: str, most: int) -> bool:
        """Whether there are at most so many."""
        return self._read(column, most)[1] <= most

    def _read(self, column: str, most: int) -> tuple[list[Any], int]:
        key = column, most
        if key not in self._found:
            query = statement(
                "workload/values", self._engine.dialect, {"most": most}, source=self._source.ref, column=column
            )
            rows = self._engine.fetch(query, max_rows=most)
            values = _in_order(self._readings.get(column), [row[0] for row in rows])
            self._found[key] = values, read_integer(rows[0][1]) if rows else 0
        return self._found[key]

    def column(self, name: str) -> Column:
        """The source's column."""
        return next(column for column in self._source.columns if column.name == name)

    def run(self, column: str, values: Sequence[Any]) -> str:
        """A predicate that holds for these values, which follow each other in the column's order."""
        reading = self._readings.get(column)
        name = identifier(column)
        shown = [write_literal(value, self._engine.capabilities.timestamp) for value in values]
        if (
            len(shown) > 1
            and reading is not None
            and (reading.treatment == "ordered" or isinstance(reading.spec.hierarchy, Rule))
            and self._on_a_line(reading)
        ):
            return f"{name} BETWEEN {shown[0]} AND {shown[-1]}"
        return f"{name} = {shown[0]}" if len(shown) == 1 else f"{name} IN ({', '.join(shown)})"

    def _on_a_line(self, reading: Reading) -> bool:
        """Whether BETWEEN means the values that follow each other in the order that a release has them in."""
        column = self.column(reading.name)
        if column.kind == "text" and not isinstance(reading.spec.ordered, tuple):
            if column.name not in self._in_bytes:
                self._in_bytes[column.name] = in_bytes(self._engine, column.collation)
            return self._in_bytes[column.name]
        return column.kind in ("integer", "float", "decimal", "date", "timestamp")


def _in_order(reading: Reading | None, values: list[Any]) -> list[Any]:
    if reading is not None and isinstance(reading.spec.hierarchy, Hierarchy):
        place = {path[0]: rank for rank, path in enumerate(reading.spec.hierarchy.levels)}
        return sorted(values, key=lambda value: (place.get(str(value), -1), str(value)))
    if reading is not None and isinstance(reading.spec.ordered, tuple):
        rank = {value: place for place, value in enumerate(reading.spec.ordered)}
        return sorted(values, key=lambda value: rank.get(value, -1))
    if all(isinstance(value, str) for value in values):
        return sorted(values, key=str.encode)
    try:
        return sorted(values, key=lambda value: (_is_nan(value), 0 if _is_nan(value) else value))
    except TypeError:
        return sorted(values, key=str)


def _is_nan(value: object) -> bool:
    return isinstance(value, float | decimal.Decimal) and math.isnan(value)


def write_literal(value: object, timestamp: str = "TIMESTAMP") -> str:
    """A value as SQL that engines read alike, except times, which have types of other names on Spark.

    ``timestamp``: the type of a time without a zone.

    >>> write_literal(3), write_literal("it's"), write_literal(datetime.date(2020, 1, 31))
    ('3', "'it''s'", "DATE '2020-01-31'")

    Raises:
        UnsupportedError: values of this kind cannot be written.
    """
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float() | decimal.Decimal() if not math.isfinite(value):
            return f"CAST('{value}' AS DOUBLE PRECISION)"
        case float():
            return repr(value)
        case decimal.Decimal():
            return format(value, "f")
        case datetime.datetime():
            kind = timestamp if value.tzinfo is None else "TIMESTAMPTZ" if timestamp == "TIMESTAMP" else "TIMESTAMP"
            return f"{kind} '{value.isoformat(sep=' ')}'"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return literal(value)
        case _:
            raise UnsupportedError(f"values of type {type(value).__name__} cannot be written in a generated query")
