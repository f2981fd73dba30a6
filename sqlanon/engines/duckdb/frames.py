"""Data frames into DuckDB and out of it: pandas, polars and Arrow, by the library that the caller has, or by the Arrow capsule.

No library of frames is imported to read one: DuckDB reads pandas itself, and all others by ``__arrow_c_stream__``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb

from sqlanon.engines.abilities import FrameKind
from sqlanon.engines.base import Column, Row
from sqlanon.engines.duckdb.connection import quoted
from sqlanon.engines.duckdb.errors import meaning
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_VIEW = "_sqlanon_frame"
_INEXACT = ("DECIMAL", "HUGEINT", "UHUGEINT")
"""Types that DuckDB hands to pandas as floating point."""


class Stream:
    """What has an Arrow stream, and nothing else: DuckDB then reads it without any other library."""

    def __init__(self, source: Any) -> None:  # noqa: ANN401 - whatever has a stream
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def kind_of(frame: object) -> FrameKind | None:
    """Which kind of frame an object is, by its type alone; None: it is none."""
    home = type(frame).__module__.partition(".")[0]
    if home == "pandas" and hasattr(frame, "columns"):
        return "pandas"
    if hasattr(frame, "__arrow_c_stream__"):
        return "polars" if home == "polars" else "arrow"
    return None


def read(connection: duckdb.DuckDBPyConnection, frame: Any, table: str) -> None:  # noqa: ANN401
    """Load a frame into a new table. Its index, if it has one, is not read.

    Args:
        connection: where to.
        frame: pandas, polars, or anything with an Arrow stream.
        table: the quoted name of the table.

    Raises:
        PolicyError: a column has no name, or the name of another one, or a type that DuckDB lacks.
        DatabaseError: DuckDB cannot read it.

    Cost: one pass over the frame; a second one over columns of Python objects, whose type is that of all their values.
    """
    pandas = kind_of(frame) == "pandas"
    if pandas:
        _check_names(list(frame.columns))
    try:
        if pandas:
            connection.execute(f"SET pandas_analyze_sample = {max(len(frame), 1)}")
        connection.register(_VIEW, frame if pandas else Stream(frame))
        try:
            described = connection.execute(f"DESCRIBE {_VIEW}").fetchall()
            if not pandas:
                _check_names(_arrow_names(frame) or [row[0] for row in described])
            orders = _orders(frame, pandas=pandas)
            columns = ", ".join(_read(str(name), str(kind), orders) for name, kind, *_ in described)
            connection.execute(f"CREATE TABLE {table} AS SELECT {columns} FROM {_VIEW}")  # noqa: S608
        finally:
            connection.unregister(_VIEW)
    except duckdb.NotImplementedException as error:
        raise PolicyError(_no_type(connection, frame, pandas=pandas)) from error
    except duckdb.Error as error:
        raise DatabaseError(f"DuckDB could not read the frame: {meaning(error)}") from error


def _arrow_names(frame: Any) -> list[object]:  # noqa: ANN401
    """The names that the frame itself has: DuckDB renames a second column of the same name without a word."""
    schema = getattr(frame, "schema", None)
    names = getattr(schema, "names", None) or getattr(frame, "columns", None)
    names = names() if callable(names) else names
    return list(names) if isinstance(names, (list, tuple)) else []


def _check_names(names: Sequence[object]) -> None:
    wrong = [str(name) for name in names if not isinstance(name, str) or not name.strip()]
    if wrong:
        raise PolicyError(
            f"the frame has {len(wrong)} column(s) whose name is no text, or empty; rename them, or reset the levels of its columns"
        )
    folded = [str(name).casefold() for name in names]
    twice = sorted({str(name) for name in names if folded.count(str(name).casefold()) > 1})
    if twice:
        raise PolicyError(
            f"the frame has columns whose names differ in their case at most: {', '.join(twice)}; rename them"
        )


def _orders(frame: Any, *, pandas: bool) -> Mapping[str, Sequence[str] | None]:  # noqa: ANN401
    """Categories by their column: in their order where they have one, else None."""
    if pandas:
        found = {name: dtype for name, dtype in frame.dtypes.items() if str(dtype) == "category"}
        return {
            str(name): [str(value) for value in dtype.categories] if dtype.ordered else None
            for name, dtype in found.items()
        }
    if type(frame).__module__.partition(".")[0] != "polars":
        return {}
    return {
        name: [str(value) for value in dtype.categories]
        for name, dtype in frame.schema.items()
        if type(dtype).__name__ == "Enum"
    }


def _read(name: str, kind: str, orders: Mapping[str, Sequence[str] | None]) -> str:
    """A column as it is stored: categories as text, unless their order is declared."""
    if name not in orders:
        return quoted(name)
    order = orders[name]
    if order is None:
        return (
            f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if kind.startswith("ENUM") else quoted(name)
        )
    labels = ", ".join("'" + label.replace("'", "''") + "'" for label in order)
    return (
        f"CAST(CAST({quoted(name)} AS VARCHAR) AS ENUM({labels})) AS {quoted(name)}"
        if order
        else quoted(name)
    )


def _no_type(connection: duckdb.DuckDBPyConnection, frame: Any, *, pandas: bool) -> str:  # noqa: ANN401
    """Which columns have a type that DuckDB lacks."""
    refused = []
    for name in frame.columns if pandas else ():
        try:
            connection.register(_VIEW, frame[[name]].head(0))
            connection.execute(f"DESCRIBE {_VIEW}").fetchall()
        except duckdb.NotImplementedException:
            refused.append(f"{name} ({frame[name].dtype})")
        finally:
            connection.unregister(_VIEW)
    which = f"columns of the frame have a type that DuckDB lacks: {', '.join(refused)}" if refused else (
        "a column of the frame has a type that DuckDB lacks"
    )  # fmt: skip
    return f"{which}; cast them to text, a number or a timestamp"


def load(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Column], rows: Sequence[Row]
) -> None:
    """Load rows of another engine into a new table.

    Args:
        connection: where to.
        table: the quoted name of the table.
        columns: as the other engine has them.
        rows: values as its driver gives them.
    """
    arrays = {str(i): _array([row[i] for row in rows]) for i in range(len(columns))}
    kinds = [_type(column, [row[i] for row in rows]) for i, column in enumerate(columns)]
    read = ", ".join(
        f'CAST("{i}" AS {kind}) AS {quoted(column.name)}'
        for i, (column, kind) in enumerate(zip(columns, kinds, strict=True))
    )
    connection.execute(f"SET pandas_analyze_sample = {max(len(rows), 1)}")
    connection.register(_VIEW, arrays)
    try:
        connection.execute(f"CREATE TABLE {table} AS SELECT {read} FROM {_VIEW}")  # noqa: S608
    finally:
        connection.unregister(_VIEW)


def _array(values: Iterable[object]) -> npt.NDArray[np.object_]:
    """Values as objects that DuckDB casts to the type: numbers, booleans, lists, and texts of all others."""
    import numpy as np

    kept = (int, float, list)
    listed = [value if value is None or isinstance(value, kept) else str(value) for value in values]
    return np.fromiter(listed, dtype=object, count=len(listed))


def _type(column: Column, values: Iterable[object]) -> str:
    """DuckDB's type for a column of another engine."""
    if column.kind in ("integer", "float", "boolean", "date"):
        return column.type
    if column.kind == "timestamp":
        return "TIMESTAMPTZ" if "with time zone" in column.type else "TIMESTAMP"
    if column.kind == "decimal":
        return column.type if "(" in column.type else _decimal(values)
    return "VARCHAR[]" if column.type.endswith("[]") else "VARCHAR"


def _decimal(values: Iterable[object]) -> str:
    """A decimal type that holds all values of a column that has none, else floating point."""
    from decimal import Decimal

    numbers = [value for value in values if isinstance(value, Decimal)]
    if not all(number.is_finite() for number in numbers):
        return "DOUBLE"
    scale = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
    whole = max((number.adjusted() + 1 for number in numbers), default=1)
    digits = max(scale, 0) + max(whole, 1)
    return f"DECIMAL({digits}, {max(scale, 0)})" if digits <= 38 else "DOUBLE"


def written(relation: duckdb.DuckDBPyRelation, kind: FrameKind) -> object:
    """The rows of a relation as a frame.

    Raises:
        UnsupportedError: the library of that kind is not installed.
    """
    try:
        if kind == "pandas":
            return _pandas(relation)
        if kind == "polars":
            return _polars(relation)
        import pyarrow  # noqa: F401 - only asked whether it is there
    except ImportError as error:
        package = {"arrow": "pyarrow"}.get(kind, kind)
        raise UnsupportedError(f"to_{kind} needs the package {package}, which is not installed") from error
    return relation.to_arrow_table()


def _pandas(relation: duckdb.DuckDBPyRelation) -> object:
    """As DuckDB makes it, with decimals and integers of more than 64 bits as Python's own, which are exact."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # DuckDB calls what a newer pandas will not have
        frame = relation.df()
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if str(kind).startswith(_INEXACT):
            values = [row[0] for row in relation.project(quoted(name)).fetchall()]
            frame[name] = pd.Series(values, dtype=object)
    return frame


def _polars(relation: duckdb.DuckDBPyRelation) -> object:
    """By the Arrow stream; an interval is a Duration, as polars has no other."""
    import polars as pl

    pairs = list(zip(relation.columns, map(str, relation.types), strict=True))
    spans = [name for name, kind in pairs if kind == "INTERVAL"]
    if spans:
        shown = (
            f"CAST(EPOCH({quoted(name)}) * 1000000 AS BIGINT) AS {quoted(name)}" if name in spans else quoted(name)
            for name, _ in pairs
        )  # fmt: skip
        relation = relation.project(", ".join(shown))
    frame = pl.DataFrame(Stream(relation))
    return frame.with_columns(pl.col(name).cast(pl.Duration("us")) for name in spans) if spans else frame
