"""Rows of a table of Spark as texts that other engines read; see `sqlanon.engines.abilities.Transfer`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from sqlanon.engines.base import Column
from sqlanon.engines.portable import Portable, write_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TYPES: Mapping[str, str] = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "REAL": "float32",
    "DOUBLE": "float64",
    "BOOLEAN": "boolean",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "zoned",
    "BLOB": "bytes",
}
"""The portable type of each of Spark's, by the names of templates."""
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


def read_type(column: Column) -> Portable | None:
    """See `Transfer.read_type`."""
    array = column.type.endswith("[]")
    kind = column.type.removesuffix("[]")
    if match := _DECIMAL.fullmatch(kind):
        return Portable("decimal", int(match[1]), int(match[2]), array)
    name = _TYPES.get(kind)
    return None if name is None else Portable(name, array=array)


def stream_rows(frame: DataFrame, block: int) -> Iterator[Sequence[str]]:
    """The rows of a frame in blocks of lines.

    The driver has those of a partition, or of a batch of Spark Connect, at a time.
    """
    rows = iter(frame.toLocalIterator())
    while some := [write_line(row) for row in islice(rows, block)]:
        yield some
