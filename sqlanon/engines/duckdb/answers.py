"""Reasons of DuckDB's refusals without values, and times with a zone without another package.

DuckDB's driver gives neither by itself.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import duckdb

from sqlanon.engines.base import NOT_THERE, OUT_OF_RANGE, Row, Statement
from sqlanon.engines.duckdb.errors import is_dropped

_FUNCTION = re.compile(r"(?:Function with name \"?|argument types ')([A-Za-z_]\w*)")
_REASONS: tuple[tuple[type[duckdb.Error], str], ...] = (
    (duckdb.ParserException, "DuckDB cannot parse it"),
    (duckdb.BinderException, "a name is not there, or types do not fit, in DuckDB"),
    (duckdb.CatalogException, "a name is not there in DuckDB"),
    (duckdb.ConversionException, "a value cannot be read as the type that it is cast to"),
    (duckdb.OutOfRangeException, OUT_OF_RANGE),
    (duckdb.OutOfMemoryException, "DuckDB has not memory enough for it"),
    (
        duckdb.InvalidInputException,
        "a function is given a value that it does not take, or a number is divided by zero",
    ),
)
"""Why DuckDB refused, most special first, without DuckDB's words: they quote values."""


def reason(cause: duckdb.Error) -> str:
    """See `Engine.reason`; ``cause`` is the driver's error."""
    called = _FUNCTION.search(str(cause))
    if called and isinstance(cause, duckdb.CatalogException):
        return f"there is no function {called.group(1).lower()} in DuckDB"
    if called and isinstance(cause, duckdb.BinderException):
        return f"there is no function {called.group(1).lower()} for these types in DuckDB"
    if is_dropped(cause):
        return NOT_THERE
    return next((words for kind, words in _REASONS if isinstance(cause, kind)), "DuckDB cannot compute it")


def fetch_zoned(
    connection: duckdb.DuckDBPyConnection, statement: Statement | str, places: Sequence[int], max_rows: int
) -> list[Row]:
    """Rows of a query with times of a zone in some places, for which the driver wants a package.

    The query is run again, with these times in UTC.
    """
    text, binds = (statement, {}) if isinstance(statement, str) else (statement.text, dict(statement.binds))
    names = [f"c{i}" for i in range(len(connection.description or ()))]
    listed = ", ".join(f"timezone('UTC', {n})" if i in places else n for i, n in enumerate(names))
    query = f"SELECT {listed} FROM ({text}) AS q({', '.join(names)})"  # noqa: S608 - a query of ours
    return [
        tuple(
            cell.replace(tzinfo=datetime.UTC) if i in places and isinstance(cell, datetime.datetime) else cell
            for i, cell in enumerate(row)
        )
        for row in connection.execute(query, binds or None).fetchmany(max_rows + 1)
    ]
