"""Bind values of statements, kept in views.

Spark shows the literals of a plan in the user interface and the event log.

A text or a float is a column of a local relation of one row, which plans name and do not show, and the statement
selects it. Whole numbers and NULL are written into the text: they are numbers of rows, versions and classes. If the
texts and numbers of a query are values of the source (`Engine.conceals`) they are in arrays of such a relation.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlanon.engines.base import Apart, Bind, Row, Statement

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`|--[^\n]*|::|:([^\W\d]\w*)""", re.DOTALL)
"""A placeholder, or a token that contains none."""


class Binds:
    """The bind values of a session's statements, in temporary views of the session.

    The view of the last statement stays until the next statement or the end.
    """

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._bound = f"_sqlanon_values_{secrets.token_hex(4)}"
        self._written = f"{self._bound}_written"
        self._apart: Apart | None = None

    def text(self, statement: Statement) -> str:
        """A statement without placeholders: the values are in a view."""
        import pyarrow as pa

        text, hidden = _replace_placeholders(statement.text, statement.binds, self._bound)
        if hidden:
            rows = pa.table({name: pa.array([value]) for name, value in hidden.items()})
            frame_of(self._session, rows).createOrReplaceTempView(self._bound)
        return self.conceal_literals(text)

    def conceal_literals(self, text: str) -> str:
        """A query with literals from a view, with Spark's types of the literals, if asked."""
        if self._apart is None:
            return text
        import pyarrow as pa

        query, values = self._apart(text, self._written)
        if values:
            rows = pa.table({column: pa.array([texts]) for column, (_, texts) in values.items()})
            typed = (f"CAST({column} AS ARRAY<{kind}>) AS {column}" for column, (kind, _) in values.items())
            frame_of(self._session, rows).selectExpr(*typed).createOrReplaceTempView(self._written)
        return query

    @contextmanager
    def conceals(self, apart: Apart) -> Iterator[None]:
        before, self._apart = self._apart, apart
        try:
            yield
        finally:
            self._apart = before

    def drop(self) -> None:
        """Drop the last statement's values."""
        for view in (self._bound, self._written):
            self._session.catalog.dropTempView(view)


def frame_of(session: SparkSession, rows: pa.Table) -> DataFrame:
    """A local relation of Arrow's rows; Spark Connect does not find the types of none."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = None if rows.num_rows else from_arrow_schema(rows.schema)
    created: Any = session.createDataFrame(rows, schema)  # type: ignore[call-overload, unused-ignore]
    frame: DataFrame = created
    return frame


def list_rows(frame: DataFrame) -> list[Row]:
    """The rows of a query.

    They come as Arrow's; decimals of another scale than the server declares, as of Sail, come one by one.
    """
    import pyarrow as pa

    try:
        table = frame.toArrow()
    except pa.ArrowInvalid:
        return [tuple(row) for row in frame.collect()]
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True)) if table.num_columns else []


def _replace_placeholders(text: str, binds: Mapping[str, Bind], view: str) -> tuple[str, dict[str, str | float]]:
    """The statement without placeholders, and the values that the view must hold.

    Args:
        text: SQL of Spark with ``:name`` for values.
        binds: the values.
        view: the name of the view.
    """
    hidden: dict[str, str | float] = {}

    def value(token: re.Match[str]) -> str:
        name = token[1]
        if name is None or name not in binds:
            return token[0]
        bound = binds[name]
        if bound is None:
            return "NULL"
        if isinstance(bound, int):
            return str(int(bound))
        hidden[name] = bound
        return f"(SELECT {name} FROM {view})"  # noqa: S608 - a name of ours

    return _TOKEN.sub(value, text), hidden
