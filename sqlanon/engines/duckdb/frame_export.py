"""Tables of DuckDB as data frames, each read back and compared with the table before it is handed out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import duckdb

from sqlanon.engines.abilities import FrameKind
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.file_columns import ARROW, PANDAS, POLARS, CarriedColumn, carry_columns, compare
from sqlanon.engines.duckdb.frames import Stream
from sqlanon.errors import PolicyError, UnsupportedError

_FRAME = "_sqlanon_written_frame"
_TARGETS = {"pandas": PANDAS, "polars": POLARS, "arrow": ARROW}
_OBJECTS = ("decimal", "hugeint", "uhugeint", "blob", "list", "array", "struct", "map")
"""Types that DuckDB hands to pandas as floating point, as arrays, or not at all; Python's own values are exact."""


def write_frame(connection: duckdb.DuckDBPyConnection, table: str, kind: FrameKind) -> object:
    """The rows of a table as a frame that holds the same values.

    Args:
        connection: where the table is.
        table: the quoted name of the table.
        kind: of the frame.

    Raises:
        UnsupportedError: the library of that kind is not installed.
        PolicyError: such a frame cannot hold every value of a column.
        PrivacyViolation: the frame differs from the table.

    Cost: one scan for the frame and one to compare.
    """
    _check_installed(kind)
    columns = carry_columns(connection, table, _TARGETS[kind])
    if kind == "pandas":
        _check_missing(connection, table, columns)
        frame = _pandas(connection, table, columns)
    elif kind == "polars":
        frame = _polars(connection, table, columns)
    else:
        frame = _select_columns(connection, table, columns).to_arrow_table()
    if kind == "pandas":
        connection.execute(f"SET pandas_analyze_sample = {max(len(frame), 1)}")
    connection.register(_FRAME, frame if kind == "pandas" else Stream(frame))
    try:
        compare(connection, table, columns, _FRAME)
    finally:
        connection.unregister(_FRAME)
    return frame


def _check_installed(kind: FrameKind) -> None:
    try:
        if kind == "pandas":
            import pandas  # noqa: F401 - only asked whether it is there
        elif kind == "polars":
            import polars  # noqa: F401
        else:
            import pyarrow  # noqa: F401
    except ImportError as error:
        package = {"arrow": "pyarrow"}.get(kind, kind)
        raise UnsupportedError(f"to_{kind} needs the package {package}, which is not installed") from error


def _select_columns(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[CarriedColumn]
) -> duckdb.DuckDBPyRelation:
    return connection.query(f"SELECT {', '.join(column.expression for column in columns)} FROM {table}")  # noqa: S608


def _check_missing(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[CarriedColumn]) -> None:
    """Pandas has one missing value for NULL and NaN: a column has at most either.

    Raises:
        PolicyError: it has both.
    """
    floats = [column.name for column in columns if column.type.id in ("float", "double")]
    if not floats:
        return
    counts = ", ".join(
        f"count(*) FILTER ({quote(name)} IS NULL) > 0 AND count(*) FILTER (isnan({quote(name)})) > 0" for name in floats
    )
    row = connection.execute(f"SELECT {counts} FROM {table}").fetchall()[0]  # noqa: S608
    both = [name for name, has_both in zip(floats, row, strict=True) if has_both]
    if both:
        raise PolicyError(
            f"pandas has one missing value for the NULL and the NaN of {', '.join(both)}: use to_arrow or to_polars, "
            "or make them one in the source"
        )


def _pandas(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[CarriedColumn]) -> Any:  # noqa: ANN401
    """DuckDB's frame, but with Python's decimals and integers of more than 64 bits, and tuples as sets and lists."""
    import pandas as pd

    objects = [
        column
        for column in columns
        if column.carried == str(column.type) or column.type.id in ("list", "array", "struct", "map")
    ]
    objects = [column for column in objects if column.type.id in _OBJECTS and column.carried != "VARCHAR"]
    names = [column.name for column in objects]
    rest = [column for column in columns if column.name not in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # DuckDB calls functions that a newer pandas deprecates
        frames = _select_columns(connection, table, rest).df() if rest else {}
    values = {}
    for column in objects:
        rows = _select_columns(connection, table, [column]).fetchall()
        values[column.name] = pd.Series([_hashable(row[0]) for row in rows], dtype=object)
    return pd.DataFrame(
        {column.name: values[column.name] if column.name in values else frames[column.name] for column in columns}
    )


def _hashable(value: object) -> object:
    """A value as pandas can group and merge by it."""
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _polars(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[CarriedColumn]) -> Any:  # noqa: ANN401
    """By the Arrow stream; an interval is a Duration, as polars has no other."""
    import polars as pl

    spans = [column.name for column in columns if column.carried == "INTERVAL"]
    shown = (
        f"EPOCH_US({quote(column.name)}) AS {quote(column.name)}" if column.name in spans else column.expression
        for column in columns
    )
    frame = pl.DataFrame(Stream(connection.query(f"SELECT {', '.join(shown)} FROM {table}")))  # noqa: S608
    return frame.with_columns(pl.col(name).cast(pl.Duration("us")) for name in spans) if spans else frame
