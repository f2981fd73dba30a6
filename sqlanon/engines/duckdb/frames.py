"""Data frames into DuckDB: pandas, polars and Arrow, by the library that the caller has, or by the Arrow capsule.

No library of frames is imported to read a frame: DuckDB reads pandas itself, and all others by ``__arrow_c_stream__``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb

from sqlanon.engines.abilities import FrameKind
from sqlanon.engines.base import Column, ColumnReading, Row
from sqlanon.engines.duckdb import frame_columns, frame_values
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.errors import explain
from sqlanon.errors import DatabaseError, PolicyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_VIEW = "_sqlanon_frame"
_DECLARED = re.compile(r"\((\d+),\s*(\d+)\)")


class Stream:
    """An object with an Arrow stream and nothing else: DuckDB then reads it without any other library."""

    def __init__(self, source: Any) -> None:  # noqa: ANN401 - whatever has a stream
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def kind_of(frame: object) -> FrameKind | None:
    """Which kind of frame an object is, by type alone; None: it is no frame."""
    home = type(frame).__module__.partition(".")[0]
    if home == "pandas" and hasattr(frame, "columns"):
        return "pandas"
    if hasattr(frame, "__arrow_c_stream__"):
        return "polars" if home == "polars" else "arrow"
    return None


def read(
    connection: duckdb.DuckDBPyConnection,
    frame: Any,  # noqa: ANN401
    table: str,
    columns: ColumnReading,
) -> None:
    """Load a frame into a new table, without the index.

    Args:
        connection: where to.
        frame: pandas, polars, or anything with an Arrow stream.
        table: the quoted name of the table.
        columns: which columns are read; nothing is asked of the others.

    Raises:
        PolicyError: a column has no name, or that of another column, a type that DuckDB lacks, or values that it would
            change.
        DatabaseError: DuckDB cannot read it.

    Cost: one pass over the frame; a second one over columns of Python objects, to find the type of all values.
    """
    pandas = kind_of(frame) == "pandas"
    frame = frame_columns.select_columns(frame, columns, pandas=pandas)
    casts: Mapping[str, str] = {}
    if pandas:
        frame_columns.check_names(list(frame.columns))
        frame, casts = frame_values.convert_objects(frame_columns.with_texts(frame))
    try:
        if pandas:
            connection.execute(f"SET pandas_analyze_sample = {max(len(frame), 1)}")
        connection.register(_VIEW, frame if pandas else Stream(frame))
        try:
            described = connection.execute(f"DESCRIBE {_VIEW}").fetchall()
            if not pandas:
                frame_columns.check_names(
                    frame_columns.arrow_names(frame) or [row[0] for row in described if columns.wants(str(row[0]))]
                )
                frame_values.check_arrow(frame, {str(name): str(kind) for name, kind, *_ in described})
            orders = _orders(frame, pandas=pandas)
            shown = ", ".join(
                f"CAST({quote(name)} AS {casts[name]}) AS {quote(name)}"
                if name in casts
                else _read(name, str(kind), orders)
                for name, kind in ((str(row[0]), row[1]) for row in described)
                if columns.wants(name)
            )
            connection.execute(f"CREATE TABLE {table} AS SELECT {shown} FROM {_VIEW}")  # noqa: S608
        finally:
            connection.unregister(_VIEW)
    except duckdb.Error as error:
        reads = partial(_reads, connection)
        refused = frame_columns.describe_refused(frame, reads, pandas=pandas)
        if refused or isinstance(error, duckdb.NotImplementedException):
            raise PolicyError(refused or frame_columns.UNKNOWN) from error
        raise DatabaseError(f"DuckDB could not read the frame: {explain(error)}") from error


def _orders(frame: Any, *, pandas: bool) -> Mapping[str, Sequence[str] | None]:  # noqa: ANN401
    """Categories by their column: in their order if any, else None."""
    if pandas:
        categories = {name: dtype for name, dtype in frame.dtypes.items() if str(dtype) == "category"}
        return {
            str(name): [str(value) for value in dtype.categories] if dtype.ordered else None
            for name, dtype in categories.items()
        }
    if type(frame).__module__.partition(".")[0] != "polars":
        return {}
    return {
        name: [str(value) for value in dtype.categories]
        for name, dtype in frame.schema.items()
        if type(dtype).__name__ == "Enum"
    }


def _read(name: str, kind: str, orders: Mapping[str, Sequence[str] | None]) -> str:
    """A column as it is stored: categories as text, unless their order is declared; a column of NULL alone as text."""
    if kind.strip('"').upper() == "NULL":
        return f"CAST(NULL AS VARCHAR) AS {quote(name)}"
    if name not in orders:
        return quote(name)
    order = orders[name]
    if order is None:
        return f"CAST({quote(name)} AS VARCHAR) AS {quote(name)}" if kind.startswith("ENUM") else quote(name)
    labels = ", ".join("'" + label.replace("'", "''") + "'" for label in order)
    return f"CAST(CAST({quote(name)} AS VARCHAR) AS ENUM({labels})) AS {quote(name)}" if order else quote(name)


def _reads(connection: duckdb.DuckDBPyConnection, frame: Any) -> bool:  # noqa: ANN401
    """Whether DuckDB has the types of a frame."""
    try:
        connection.register(_VIEW, frame if kind_of(frame) == "pandas" else Stream(frame))
        connection.execute(f"DESCRIBE {_VIEW}").fetchall()
    except duckdb.Error:
        return False
    finally:
        connection.unregister(_VIEW)
    return True


def load(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """Load rows of another engine into a new table.

    Args:
        connection: where to.
        table: the quoted name of the table.
        columns: as the other engine has them.
        rows: values as the driver gives them.
    """
    cells = [[_cell(row[i], column) for row in rows] for i, column in enumerate(columns)]
    arrays = {str(i): _array(values) for i, values in enumerate(cells)}
    kinds = [_type(column, values) for column, values in zip(columns, cells, strict=True)]
    selection = ", ".join(
        f'CAST("{i}" AS {kind}) AS {quote(column.name)}'
        for i, (column, kind) in enumerate(zip(columns, kinds, strict=True))
    )
    connection.execute(f"SET pandas_analyze_sample = {max(len(rows), 1)}")
    connection.register(_VIEW, arrays)
    try:
        connection.execute(f"CREATE TABLE {table} AS SELECT {selection} FROM {_VIEW}")  # noqa: S608
    finally:
        connection.unregister(_VIEW)


def _cell(value: object, column: Column) -> object:
    """A value as DuckDB casts it to the column's type.

    Whole numbers and lists are cast as they are, all others by their texts.
    """
    if value is None or isinstance(value, int | list):
        return value
    if isinstance(value, bytes | bytearray):
        return "".join(f"\\x{byte:02X}" for byte in value)  # how DuckDB writes and reads them
    text = str(value)
    if column.kind in ("date", "timestamp") and text.endswith(" BC"):
        # How PostgreSQL writes a year before 1; DuckDB has the mark after the date.
        day, space, time = text[: -len(" BC")].partition(" ")
        return f"{day} (BC){space}{time}"
    return text


def _array(values: Sequence[object]) -> npt.NDArray[np.object_]:
    import numpy as np

    return np.fromiter(values, dtype=object, count=len(values))


def _type(column: Column, values: Sequence[object]) -> str:
    """DuckDB's type for a column of another engine, of which there are these values."""
    if column.kind in ("integer", "float", "boolean", "date"):
        return column.type
    if column.kind == "timestamp":
        return "TIMESTAMPTZ" if "with time zone" in column.type else "TIMESTAMP"
    if column.kind == "decimal":
        least = frame_values.decimal_type(values)
        declared = _DECLARED.search(column.type)
        if least and declared and int(declared[2]) <= int(declared[1]) <= frame_values.DIGITS:
            return f"DECIMAL({declared[1]}, {declared[2]})"
        return least or "VARCHAR"
    return "VARCHAR[]" if any(isinstance(value, list) for value in values) else "VARCHAR"
