"""Orders and equality of values that the database has returned: rows of several SELECTs are sorted and merged here.

Python compares numbers, dates, and texts by bytes, as databases do. Others are refused: an enum has an order of its
own, a text a collation, and a timestamp nanoseconds that Python leaves out.
"""

from __future__ import annotations

import datetime
import math
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from sqlglot import exp

from sqlanon.engines.base import Column, Engine, Statement
from sqlanon.engines.rows import read_integer
from sqlanon.query.functions.spellings import is_converted
from sqlanon.query.parse.parse import Query
from sqlanon.query.refusal import refuse
from sqlanon.query.release import Field, ReaderRelease, relation_of
from sqlanon.query.sql.sqltree import table_of
from sqlanon.query.sql.text_order import compares_by_bytes
from sqlanon.sqltext import identifier

NAN = math.nan
"""All NaN of an answer: a single value of engines, above all others."""
_ORDERED = ("text", "date", "timestamp", "boolean", "integer", "decimal", "float")
"""Kinds of columns that are ordered here as in the database."""
_PYTHON = (bool, int, float, Decimal, str, datetime.date, datetime.time, datetime.timedelta, uuid.UUID, bytes)
"""Types of values that are sorted here."""
_FINER = re.compile(r"(?i:TIMESTAMP_NS|TIME_NS|time(\(\d\))? with time zone)|interval.*")
"""Types with values that differ in the database and not in Python; DuckDB's INTERVAL counts months as Python does."""


@dataclass(frozen=True)
class ValueOrder:
    """The order of the database for the values of an answer's columns.

    Attributes:
        engine: the database.
        queries: the SELECTs, in the order of their rows.
        releases: the release that each asks; None: it asks none.
    """

    engine: Engine
    queries: Sequence[Query]
    releases: Sequence[ReaderRelease | None]

    def sort(self, position: int, values: Sequence[Any]) -> list[Any]:
        """The different values of a column, in the engine's order.

        Args:
            position: of the column, from 0.
            values: they have no NULL, and `NAN` for NaN.

        Raises:
            RefusedQueryError: values that may have another order in the database than here.
        """
        if any(not isinstance(value, _PYTHON) for value in values):
            self._refuse(position, "values of several parts, such as lists, are not sorted here")
        different = list(dict.fromkeys(values))
        numbers = [value for value in different if value is not NAN]
        if all(isinstance(value, int | float | Decimal) or type(value) is datetime.date for value in numbers):
            return sorted(numbers) + [NAN] * (len(numbers) < len(different))
        if not isinstance(different[0], str | datetime.datetime):
            return sorted(different)
        collations = {column.collation for column in self._columns(position)} - {None}
        if not isinstance(different[0], str):
            return sorted(different)
        if not self.engine.capabilities.collations:
            return sorted(different, key=lambda value: str(value).encode())
        if len(collations) > 1:
            self._refuse(position, "its texts have several collations")
        return self._sort_texts(different, next(iter(collations), None))

    def _sort_texts(self, values: Sequence[Any], collation: str | None) -> list[Any]:
        binds: dict[str, Any] = {f"v{i}": value for i, value in enumerate(values)}
        marks = [exp.Placeholder(this=name).sql(dialect=self.engine.dialect) for name in binds]
        listed = ", ".join(f"({i}, CAST({mark} AS TEXT))" for i, mark in enumerate(marks))
        order = "x" if collation is None else f"x COLLATE {collation}"
        text = f"SELECT i FROM (VALUES {listed}) AS v(i, x) ORDER BY {order}"  # noqa: S608 - numbers and parameters
        places = self.engine.fetch(Statement("query/order", text, binds), max_rows=len(values))
        return [values[read_integer(row[0])] for row in places]

    def _columns(self, position: int) -> Iterator[Field | Column]:
        """The columns that an item reads, each of a kind that is ordered here."""
        for query, released in zip(self.queries, self.releases, strict=True):
            if query.nothing or position >= len(query.items):
                continue
            item = query.items[position][1]
            for node in item.find_all(exp.Column):
                column = self._find(query, released, node)
                is_text = column is not None and is_converted(node, item)
                if column is None or (column.kind not in _ORDERED and not is_text):
                    self._refuse(
                        position, f"the order of {node.name} is not known here: cast it to text to sort by its letters"
                    )
                if is_finer(column) or not is_compared_by_bytes(self.engine, released, column):
                    self._refuse(position, f"the database does not order {node.name} by what is shown")
                if column.kind == "text":
                    yield column

    def _find(self, query: Query, released: ReaderRelease | None, node: exp.Column) -> Field | Column | None:
        """The column of the release, or of one of the joined tables, that has a name."""
        name = node.name.lower()
        matches: list[Field | Column] = []
        if released is not None:
            matches += [field for field in released.fields if field.name.lower() == name]
        for join in query.joins:
            spelled = ".".join(identifier(p.name) if p.args.get("quoted") else p.name for p in join.this.parts)
            relation = relation_of(self.engine, spelled)
            matches += [column for column in relation.columns if column.name.lower() == name] if relation else []
        alike = {(column.kind, column.collation, is_finer(column)) for column in matches}
        return matches[0] if len(alike) == 1 else None

    def _refuse(self, position: int, reason: str) -> NoReturn:
        text = self.queries[0].text
        refuse(text, None, f"ORDER BY of several SELECTs or groupings, column {position + 1}: {reason}")


def is_finer(column: Field | Column) -> bool:
    """Whether values of a column that differ may be equal in Python, which leaves nanoseconds out of times.

    It compares times of day with a zone as moments, and has months of PostgreSQL's intervals as days.
    """
    shown = column.source_type if isinstance(column, Field) else column.type
    return _FINER.fullmatch(shown) is not None


def is_compared_by_bytes(engine: Engine, released: ReaderRelease | None, column: Field | Column) -> bool:
    """Whether text of a column compares by bytes, where collations go with the column's type alone."""
    if engine.capabilities.collations or column.kind != "text" or not isinstance(column, Field):
        return True
    shown = column.published[0] if column.published else column.name
    if released is None or column.treatment or shown not in [c.name for c in released.view.columns]:
        return True
    view = table_of(released.view.ref, "x")
    return released.once(
        ("by bytes", shown), lambda: compares_by_bytes(engine, exp.column(shown, table="x", quoted=True), view)
    )
