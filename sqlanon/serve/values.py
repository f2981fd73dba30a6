"""Values as PostgreSQL sends them, in text and in binary form, by psycopg's own adapters."""

from __future__ import annotations

import datetime
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from psycopg import DataError, adapters
from psycopg.pq import Format
from psycopg.types.numeric import NumericBinaryLoader

from sqlanon.serve.arrays import read_list, write_list
from sqlanon.serve.notices import Notice
from sqlanon.serve.refusals import BAD_TEXT, NOT_SUPPORTED, ServeError
from sqlanon.serve.value_texts import write_text


@dataclass(frozen=True)
class Type:
    """A type of PostgreSQL.

    Attributes:
        oid: number of the type, which clients know.
        size: bytes of a value; -1: it varies.
        name: name in SQL.
    """

    oid: int
    size: int
    name: str


BOOL = Type(16, 1, "boolean")
INT2 = Type(21, 2, "smallint")
INT4 = Type(23, 4, "integer")
INT8 = Type(20, 8, "bigint")
OID = Type(26, 4, "oid")
FLOAT8 = Type(701, 8, "double precision")
NUMERIC = Type(1700, -1, "numeric")
TEXT = Type(25, -1, "text")
DATE = Type(1082, 4, "date")
TIME = Type(1083, 8, "time without time zone")
INTERVAL = Type(1186, 16, "interval")
TIMESTAMP = Type(1114, 8, "timestamp without time zone")
TIMESTAMPTZ = Type(1184, 8, "timestamp with time zone")
TEXTS = Type(1009, -1, "text[]")

NUMBERS = frozenset({INT2, INT4, INT8, FLOAT8, NUMERIC})

_BY_NAME = (
    ("timestamp with time zone", TIMESTAMPTZ),
    ("timestamptz", TIMESTAMPTZ),
    ("timestamp", TIMESTAMP),
    ("time with time zone", TEXT),
    ("time_ns", TEXT),
    ("time", TIME),
    ("interval", INTERVAL),
    ("date", DATE),
    ("boolean", BOOL),
    ("bool", BOOL),
    ("utinyint", INT2),
    ("tinyint", INT2),
    ("smallint", INT2),
    ("int2", INT2),
    ("usmallint", INT4),
    ("uinteger", OID),
    ("integer", INT4),
    ("int4", INT4),
    ("ubigint", NUMERIC),
    ("hugeint", NUMERIC),
    ("uhugeint", NUMERIC),
    ("bigint", INT8),
    ("long", INT8),
    ("int8", INT8),
    ("int", INT4),
    ("decimal", NUMERIC),
    ("numeric", NUMERIC),
    ("double", FLOAT8),
    ("float", FLOAT8),
    ("real", FLOAT8),
    ("oid", OID),
)
_LISTS = {
    kind: Type(oid, -1, f"{kind.name}[]")
    for kind, oid in (
        (BOOL, 1000),
        (INT2, 1005),
        (INT4, 1007),
        (INT8, 1016),
        (OID, 1028),
        (FLOAT8, 1022),
        (NUMERIC, 1231),
        (DATE, 1182),
        (TIMESTAMP, 1115),
        (TIMESTAMPTZ, 1185),
    )
} | {TEXT: TEXTS}
_ELEMENTS = {list_type.oid: kind for kind, list_type in _LISTS.items()} | {1015: Type(1043, -1, "character varying")}
"""The types of the items of lists, by the numbers of the lists' types."""


def find_type(name: str) -> Type:
    """The type for an engine's type name; other types are sent as text."""
    folded = name.lower().strip()
    if folded.endswith("[]"):
        return list_of(find_type(folded[:-2]))
    return next((type_ for prefix, type_ in _BY_NAME if folded.startswith(prefix)), TEXT)


def list_of(kind: Type) -> Type:
    """The type of lists of a type."""
    return _LISTS.get(kind, TEXTS)


def element_of(oid: int) -> Type | None:
    """The type of the items of a list, by the number of the list's type; None: it is no list."""
    return _ELEMENTS.get(oid)


def type_of(values: Sequence[object]) -> Type:
    """The type of a column, from the values alone."""
    first = next((value for value in values if value is not None), None)
    kinds = (
        (bool, BOOL),
        (int, INT8),
        (float, FLOAT8),
        (Decimal, NUMERIC),
        (datetime.datetime, TIMESTAMP),
        (datetime.date, DATE),
        (datetime.time, TIME),
        (datetime.timedelta, INTERVAL),
    )
    return next((type_ for kind, type_ in kinds if isinstance(first, kind)), TEXT)


@dataclass(frozen=True)
class Column:
    """A column of a result."""

    name: str
    type: Type


@dataclass(frozen=True)
class Result:
    """Result of a statement.

    Attributes:
        tag: tag that reports the statement as done.
        columns: columns of the rows; None: no rows, as for SET.
        rows: a value for each column.
        notices: notices about the rows.
    """

    tag: str
    columns: tuple[Column, ...] | None = None
    rows: Sequence[Sequence[object]] = ()
    notices: tuple[Notice, ...] = field(default=())


def _whole(value: float) -> int:
    """The same number, if it is whole."""
    number = int(value)
    if number != value:
        raise ValueError("a number with a fraction")
    return number


_WRITTEN = (float, Decimal, datetime.datetime, datetime.time, datetime.timedelta)
"""Values with texts that the adapters write otherwise than PostgreSQL."""
_AS: Mapping[Type, Callable[[Any], object]] = {
    BOOL: bool,
    **dict.fromkeys((INT2, INT4, INT8, OID), _whole),
    FLOAT8: float,
    NUMERIC: lambda value: value if isinstance(value, Decimal) else Decimal(str(value)),
    TEXT: write_text,
}


def encode(value: object, kind: Type, binary: bool) -> bytes | None:
    """A value on the wire; None: NULL.

    Raises:
        ServeError: no such value in that form.
    """
    if value is None:
        return None
    try:
        if kind.oid in _ELEMENTS and isinstance(value, list) and binary:
            element = _ELEMENTS[kind.oid]
            return write_list(value, element.oid, lambda item: encode(item, element, binary))
        converted = _AS[kind](value) if kind in _AS else value
        if not binary and isinstance(
            converted, float | Decimal | datetime.datetime | datetime.time | datetime.timedelta
        ):
            return write_text(converted).encode()
        dumper = adapters.get_dumper_by_oid(kind.oid, Format.BINARY if binary else Format.TEXT)
        return bytes(dumper(type(converted), None).dump(converted) or b"")
    except (DataError, ArithmeticError, TypeError, ValueError, UnicodeError) as error:
        raise ServeError(NOT_SUPPORTED, f"a value of the answer is no {kind.name}") from error


def decode(data: bytes, oid: int, binary: bool) -> object:
    """The value of a parameter.

    Raises:
        ServeError: the bytes are no value of that type.
    """
    if binary and oid in _ELEMENTS:
        element = _ELEMENTS[oid].oid
        try:
            return read_list(data, element, lambda item: decode(item, element, binary))
        except (struct.error, ValueError) as error:
            raise ServeError(BAD_TEXT, f"a parameter is no value of the type with number {oid}") from error
    loader = adapters.get_loader(oid, Format.BINARY if binary else Format.TEXT)
    if loader is None or (binary and oid not in _BINARY):
        form = "in binary form " if binary else ""
        raise ServeError(NOT_SUPPORTED, f"parameters of the type with number {oid} are not answered {form}here")
    size = _BINARY[oid] if binary else 0
    if not binary and oid in _CUT and len(data) < _MOMENT and (match := _CUT[oid].fullmatch(data)):
        data = match[1]
    try:
        if size and len(data) != size:
            raise ValueError("another length")  # noqa: TRY301 - loaders in C read that many bytes, unasked
        decoder = NumericBinaryLoader if binary and oid == NUMERIC.oid else loader  # in Python, which checks lengths
        return decoder(oid, None).load(data)
    except Exception as error:
        raise ServeError(BAD_TEXT, f"a parameter is no value of the type with number {oid}") from error


_ZONE = rb" ?(?:[+-][\d:]+|Z)?"
_CUT = {
    DATE.oid: re.compile(rb"(\d+-\d\d-\d\d)(?:[ T][\d:.]+)?" + _ZONE),
    TIMESTAMP.oid: re.compile(rb"(\d+-\d\d-\d\d[ T][\d:.]+)" + _ZONE),
}
"""Parts of a text that PostgreSQL ignores: the JDBC driver sends dates with a time or zone for any column."""
_MOMENT = 64
"""Bytes of a date or time, at most: a longer text is none."""
_BINARY = {
    **{kind.oid: kind.size for kind in (BOOL, INT2, INT4, INT8, OID, FLOAT8, DATE, TIME, TIMESTAMP, TIMESTAMPTZ)},
    700: 4,
    2950: 16,
    **dict.fromkeys((NUMERIC.oid, TEXT.oid, 18, 19, 705, 1042, 1043), 0),
}
"""The types with values that may come in binary form, with their bytes; 0: any number."""
