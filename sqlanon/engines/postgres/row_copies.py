"""Rows of Python values for PostgreSQL's binary COPY.

Of a COPY that ends early, as by a cancellation, the server's log has the last row that it has read, unless the COPY is
binary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from psycopg import DataError
from psycopg.adapt import PyFormat, Transformer

from sqlanon.engines.base import Row

Convert = Callable[[object], object]


def _take(kinds: tuple[type, ...], low: int = 0, high: int = 0) -> Convert:
    """What takes values of these types, and whole numbers between two bounds.

    An error has no value: psycopg sends the error's text to the server, which logs it.
    """

    def convert(value: object) -> object:
        if not isinstance(value, kinds) or (high and not low <= value <= high):  # type: ignore[operator]
            raise DataError(f"a value of type {type(value).__name__} is not of the column's type, or too large")
        return int(value) if high else value  # type: ignore[call-overload]

    return convert


_TYPES: Mapping[str, tuple[str, Convert | None]] = {
    "smallint": ("int2", _take((int, np.integer), -(1 << 15), (1 << 15) - 1)),
    "integer": ("int4", _take((int, np.integer), -(1 << 31), (1 << 31) - 1)),
    "bigint": ("int8", _take((int, np.integer), -(1 << 63), (1 << 63) - 1)),
    "double precision": ("float8", _take((float, int))),
    "boolean": ("bool", _take((bool,))),
    "text": ("text", None),
}
"""The types that have a binary form here, each with psycopg's name and what makes its values."""


def is_binary(kinds: Iterable[str]) -> bool:
    """Whether each of these types has a binary form here; the values of others go as texts, which the server casts."""
    return all(_plain(kind) in _TYPES for kind in kinds)


def list_type_names(kinds: Iterable[str]) -> list[str]:
    """The types as psycopg calls them."""
    return [_TYPES[_plain(kind)][0] for kind in kinds]


def convert_rows(kinds: Sequence[str], rows: Iterable[Row]) -> Iterator[Sequence[object]]:
    """Rows with the values that the binary form of their types takes; of a text column any value as a text."""
    spell = _Speller()
    converts = [_TYPES[_plain(kind)][1] or spell for kind in kinds]
    for row in rows:
        yield [None if value is None else convert(value) for convert, value in zip(converts, row, strict=True)]


class _Speller:
    """The text of a value, as a COPY of texts has it."""

    def __init__(self) -> None:
        self._transformer = Transformer()

    def __call__(self, value: object) -> object:
        if isinstance(value, str):
            return value
        text = self._transformer.get_dumper(value, PyFormat.TEXT).dump(value)
        return None if text is None else bytes(text).decode()


def _plain(kind: str) -> str:
    """A type without collation."""
    return kind.lower().partition(" collate ")[0]
