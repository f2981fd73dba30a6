"""The columns of a data frame before DuckDB reads it: which are read, and which have a type that it cannot read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlanon.engines.base import ColumnReading
from sqlanon.errors import PolicyError

_LACKED = "columns of the frame have a type that DuckDB lacks"
_LEFT_OUT = "or leave them out: rest='drop' does not read a column that is not named"
UNKNOWN = f"{_LACKED}; cast them to text, a number or a timestamp; {_LEFT_OUT}"
"""The text for columns that cannot be identified."""


def select_columns(frame: Any, columns: ColumnReading, *, pandas: bool) -> Any:  # noqa: ANN401 - of another library
    """The frame with the columns that are wanted; all of them where the library has no way to take some.

    Args:
        frame: pandas, polars, or anything with an Arrow stream.
        columns: which are wanted.
        pandas: it is of pandas.

    Raises:
        PolicyError: it has none of them.
    """
    if columns.wanted is None:
        return frame
    if pandas:
        is_kept = [isinstance(name, str) and columns.wants(name) for name in frame.columns]
        _check_some(is_kept)
        return frame if all(is_kept) else frame.loc[:, is_kept]
    names = arrow_names(frame)
    is_kept = [isinstance(name, str) and columns.wants(name) for name in names]
    if not names or all(is_kept):
        return frame
    _check_some(is_kept)
    places = [index for index, is_wanted in enumerate(is_kept) if is_wanted]
    if type(frame).__module__.partition(".")[0] == "polars":
        return frame.select([names[place] for place in places])
    if hasattr(frame, "read_next_batch") and hasattr(
        type(frame), "from_batches"
    ):  # a reader of pyarrow, which is read once
        schema = frame.schema.empty_table().select(places).schema
        return type(frame).from_batches(schema, (batch.select(places) for batch in frame))
    return frame.select(places) if find_library(frame) == "pyarrow" else frame


def find_library(frame: object) -> str:
    """The library that a frame is of."""
    return type(frame).__module__.partition(".")[0]


def arrow_names(frame: Any) -> list[object]:  # noqa: ANN401
    """The names that the frame itself has: DuckDB renames a second column of the same name without a word."""
    schema = getattr(frame, "schema", None)
    names = getattr(schema, "names", None) or getattr(frame, "columns", None)
    names = names() if callable(names) else names
    return list(names) if isinstance(names, (list, tuple)) else []


def check_names(names: Sequence[object]) -> None:
    """Every column has a name, and no two the same.

    Raises:
        PolicyError: it is not so.
    """
    wrong = [str(name) for name in names if not isinstance(name, str) or not name.strip()]
    if wrong:
        raise PolicyError(
            f"the frame has {len(wrong)} column(s) whose name is no text, or empty; rename them, or reset the levels "
            "of its columns"
        )
    folded = [str(name).casefold() for name in names]
    twice = sorted({str(name) for name in names if folded.count(str(name).casefold()) > 1})
    if twice:
        raise PolicyError(
            f"the frame has columns whose names differ in their case at most: {', '.join(twice)}; rename them"
        )


def with_texts(frame: Any) -> Any:  # noqa: ANN401
    """A pandas frame with texts as categories in place of intervals or periods, in the same order (`pandas.cut`)."""
    texted = frame
    for name, dtype in frame.dtypes.items():
        if str(dtype) != "category" or not str(dtype.categories.dtype).startswith(("interval", "period")):
            continue
        texts = [str(value) for value in dtype.categories]
        if len(set(texts)) == len(texts):
            texted = texted.assign(**{name: frame[name].cat.rename_categories(texts)})
    return texted


def describe_refused(frame: Any, reads: Callable[[Any], bool], *, pandas: bool) -> str | None:  # noqa: ANN401
    """A text about columns that DuckDB does not read; None if they cannot be identified.

    Args:
        frame: the frame.
        reads: whether DuckDB reads a frame.
        pandas: it is of pandas.
    """
    refused = []
    if pandas:
        refused = [f"{name} ({frame[name].dtype})" for name in frame.columns if not reads(frame[[name]].head(0))]
        how = "make them text, frame[column].astype(str), or numbers, dates or timestamps"
    else:
        polars = find_library(frame) == "polars"
        cast = "cast(pl.String) or cast(pl.Decimal(38, 0))" if polars else "cast(pyarrow.string())"
        how = (
            "cast them to text, integers of 64 bits, floating point, decimals of at most 38 digits, dates or "
            f"timestamps, such as {cast}"
        )
        empty = frame.schema.empty_table() if hasattr(frame, "read_next_batch") else frame
        for index, name in enumerate(arrow_names(empty) if hasattr(empty, "select") else ()):
            column = empty.select([name] if polars else [index]).slice(0, 0)
            if not reads(column):
                shown = column.schema.dtypes() if polars else column.schema.types
                refused.append(f"{name} ({shown[0]})")
    return f"{_LACKED}: {', '.join(refused)}; {how}; {_LEFT_OUT}" if refused else None


def _check_some(flags: Sequence[bool]) -> None:
    if not any(flags):
        raise PolicyError("the frame has none of the columns that are named")
