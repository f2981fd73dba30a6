"""Values of data frames that DuckDB would change while it reads them.

They are made exact where possible; otherwise their columns are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any

from sqlanon.errors import PolicyError

DIGITS = 38
_FINE = "values finer than a microsecond, which the type that DuckDB reads them as does not have; round them"
_LONG = f"decimals of more than {DIGITS} digits, or infinite ones; round them, or make them floating point or text"
_OBJECTS = "Python objects, which have no type; make them text or numbers"
_MIXED = "numbers of several kinds, of which no type holds all exactly; make them one kind, or text"


def convert_objects(frame: Any) -> tuple[Any, Mapping[str, str]]:  # noqa: ANN401 - of a library that is not imported here
    """A pandas frame with columns of Python objects that DuckDB reads unchanged.

    Args:
        frame: pandas.

    Returns:
        the frame, with texts in the place of decimals; and the types to cast these columns to.

    Raises:
        PolicyError: values of a column would become others; the text names the column.

    Cost: a look at the type of each object, and at the value where there are numbers of several kinds, or decimals.
    """
    converted, casts, refused = frame, {}, []
    for name, dtype in frame.dtypes.items():
        column = frame[name]
        if str(dtype).startswith("timedelta64[ns") and (column.dropna().astype("int64") % 1000).any():
            refused.append(f"{name}: {_FINE}")
        if str(dtype) != "object":
            continue
        kinds = set(map(type, column))
        if any(hasattr(kind, "nanosecond") or hasattr(kind, "nanoseconds") for kind in kinds) and any(
            map(_fine, column)
        ):
            refused.append(f"{name}: {_FINE}")
        if any(map(_prints_address, kinds)):
            refused.append(f"{name}: {_OBJECTS}")  # their addresses in memory would be published
        if not kinds & {Decimal, float}:
            continue
        values = [None if gone else value for value, gone in zip(column, column.isna(), strict=True)]
        if not all(
            isinstance(value, Decimal | int) and not isinstance(value, bool) for value in values if value is not None
        ):
            refused += [] if all(map(_floats, values)) else [f"{name}: {_MIXED}"]
        elif kind := decimal_type(values):
            texts = [None if value is None else f"{Decimal(value):f}" for value in values]
            converted = converted.assign(**{name: type(column)(texts, index=column.index, dtype=object)})
            casts[str(name)] = kind
        else:
            refused.append(f"{name}: {_LONG}")
    if refused:
        raise PolicyError(f"columns of the frame would change when DuckDB reads them. {'. '.join(refused)}")
    return converted, casts


def _prints_address(kind: type) -> bool:
    """Whether the text of such an object is the object's address."""
    return all(vars(object)[name] is getattr(kind, name) for name in ("__str__", "__repr__"))


def _fine(value: object) -> bool:
    """Whether an instant or a duration of pandas has nanoseconds that are no whole microseconds."""
    parts = (getattr(value, name, 0) for name in ("nanosecond", "nanoseconds"))
    return any(isinstance(part, int) and part % 1000 for part in parts)


def _floats(value: object) -> bool:
    """Whether a number keeps the value as floating point; a value that is no number is text, or refused by DuckDB."""
    if isinstance(value, Decimal):
        return value.is_finite() and Decimal(repr(float(value))) == value
    return not isinstance(value, int) or (abs(value) < 2**1000 and int(float(value)) == value)


def decimal_type(values: Sequence[object]) -> str | None:
    """The least decimal type that holds all decimals and integers exactly; None: there is none."""
    numbers = [Decimal(str(value)) for value in values if value is not None]
    if not all(number.is_finite() for number in numbers):
        return None
    scale = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
    whole = max((number.adjusted() + 1 for number in numbers if number), default=1)
    digits = max(scale, 0) + max(whole, 1)
    return f"DECIMAL({digits}, {max(scale, 0)})" if digits <= DIGITS else None


def check_arrow(frame: Any, described: Mapping[str, str]) -> None:  # noqa: ANN401
    """Columns of polars and pyarrow that DuckDB would change.

    Args:
        frame: with an Arrow stream.
        described: the type that DuckDB reads each column as.

    Raises:
        PolicyError: values of a column would become others; the text names the column.
    """
    home = type(frame).__module__.partition(".")[0]
    refused = []
    if home == "polars":
        for name, dtype in frame.schema.items():
            if str(dtype) == "Object":  # their addresses in memory would be published
                refused.append(f"{name}: {_OBJECTS}")
            if (
                "time_unit='ns'" in str(dtype)
                and described.get(name) == "INTERVAL"
                and (frame[name].dt.total_nanoseconds() % 1000 != 0).any()
            ):
                refused.append(f"{name}: {_FINE}")
    if home == "pyarrow":
        spans = [name for name, kind in described.items() if kind == "INTERVAL"]
        for name in spans:
            values = (
                chain.from_iterable(chunk for chunk in frame.column(name).chunks) if hasattr(frame, "schema") else ()
            )
            if any(_nanoseconds(value) % 1000 for value in values if value.is_valid):
                refused.append(f"{name}: {_FINE}")
    if refused:
        raise PolicyError(f"columns of the frame would change when DuckDB reads them. {'. '.join(refused)}")


def _nanoseconds(value: Any) -> int:  # noqa: ANN401 - a scalar of pyarrow
    """The nanoseconds of a duration of these, or of an interval; 0 where the unit is coarser."""
    if str(value.type) == "duration[ns]":
        return int(value.value)
    return int(value.as_py().nanoseconds) if str(value.type) == "month_day_nano_interval" else 0
