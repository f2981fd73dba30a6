"""Spark's types by the names that they have in templates (DuckDB's), by kind, and as Arrow's."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlanon.engines.base import Column, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from pyspark.sql.types import StructField

_NAMES = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "REAL",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "string": "VARCHAR",
    "binary": "BLOB",
}
_KINDS: dict[str, Kind] = {
    "TINYINT": "integer",
    "SMALLINT": "integer",
    "INTEGER": "integer",
    "BIGINT": "integer",
    "REAL": "float",
    "DOUBLE": "float",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "TIMESTAMP": "timestamp",
    "VARCHAR": "text",
}
_TEXT = re.compile(r"(string collate .*|(var)?char\(\d+\))$")
_ARRAY = re.compile(r"array<(.*)>$")


@lru_cache(maxsize=256)
def name_of(type_text: str) -> str:
    """The name of a type in templates; ``type_text`` is Spark's short name of it.

    >>> name_of("int"), name_of("array<string>"), name_of("decimal(5,2)")
    ('INTEGER', 'VARCHAR[]', 'DECIMAL(5,2)')
    """
    array = _ARRAY.match(type_text)
    if array:
        return f"{name_of(array[1])}[]"
    if _TEXT.match(type_text):
        return "VARCHAR"
    return _NAMES.get(type_text, type_text.upper())


@lru_cache(maxsize=256)
def kind_of(name: str) -> Kind:
    """The kind of a type by the name in templates."""
    if name.startswith("DECIMAL(") and not name.endswith("[]"):
        return "decimal"
    return _KINDS.get(name, "other")


@lru_cache(maxsize=256)
def is_hashable(type_text: str) -> bool:
    """Whether Spark hashes and groups values of a type; it does neither with maps and variants."""
    return not re.search(r"\b(map|variant)\b", type_text)


def collation_of(type_text: str) -> str | None:
    """The collation of a text column, if it is not that of bytes."""
    match = re.match(r"string collate (\S+)", type_text)
    return match[1] if match and match[1].upper() != "UTF8_BINARY" else None


def arrow_type(name: str) -> pa.DataType:
    """The Arrow type of a column that is loaded row by row: a few types only."""
    import pyarrow as pa

    upper = name.upper()
    arrow_types = {
        "INTEGER": pa.int32(),
        "INT": pa.int32(),
        "SMALLINT": pa.int16(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "DOUBLE PRECISION": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "DATE": pa.date32(),
    }
    return arrow_types.get(upper, pa.string())


def read_fields(fields: Iterable[StructField]) -> tuple[Column, ...]:
    """The columns of a table."""
    columns = []
    for field in fields:
        text = field.dataType.simpleString()
        collation = collation_of(text)
        columns.append(
            Column(
                field.name,
                name_of(text),
                kind_of(name_of(text)),
                collation=collation,
                deterministic=collation is None,
                hashable=is_hashable(text),
            )
        )
    return tuple(columns)
