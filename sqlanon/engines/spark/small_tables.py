"""Scratch tables of few rows, held in the driver as local relations.

To write such a table, to list its files whenever a statement reads it and to drop it takes Spark longer than the query
itself. A plan shows the columns of a local relation and no rows of it. A result of more rows, or of more bytes than
there is room for, is a table of the private schema, beneath a view.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.engines.base import PRIVATE_SCHEMA, Statement
from sqlanon.engines.spark.binds import Binds, frame_of
from sqlanon.engines.spark.names import quote

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

MOST = 1 << 17
"""Rows of a table that is held, at most."""
MOST_BYTES = 64 << 20
"""Bytes of these, at most; so many, and a row, reach the driver."""
MOST_TOGETHER = 128 << 20
"""Bytes of all tables that are held at the same time, at most: a query names several."""
_BYTES = "_sqlanon_bytes"
"""Column of bytes of a row and of all before it."""
_BITS = {
    "boolean": 1,
    "tinyint": 8,
    "smallint": 16,
    "int": 32,
    "bigint": 64,
    "float": 32,
    "double": 64,
    "decimal": 128,
    "date": 32,
    "timestamp": 64,
    "timestamp_ntz": 64,
}
"""Bits of a value of a type, as Arrow has it."""
_NAME = r"`(_sqlanon_[0-9a-f]{8}_small_\w+)`"
_NOTES = r"(?:--[^\n]*\n|/\*.*?\*/|\s)*"
_CREATE = re.compile(rf"{_NOTES}CREATE TEMPORARY (?:TABLE|VIEW) {_NAME}\s+AS\b", re.DOTALL)
_DROP = re.compile(rf"{_NOTES}DROP VIEW IF EXISTS {_NAME}\s*\Z", re.DOTALL)


class SmallTables:
    """The held tables of a session: temporary views whose names `Scratch.small` gives."""

    def __init__(self, session: SparkSession, send: Callable[[str], DataFrame], catalog: str) -> None:
        """Hold nothing yet.

        Args:
            session: of the engine.
            send: sends a statement.
            catalog: the catalog with the private schema.
        """
        self._session, self._send = session, send
        self._schema = f"{quote(catalog)}.{quote(PRIVATE_SCHEMA)}"
        self._written: set[str] = set()
        self._held: dict[str, int] = {}
        """Bytes of each held table."""
        self._guard = threading.Lock()

    def run(self, statement: Statement, binds: Binds) -> bool:
        """Run a statement that makes or drops a held table; False: it is another statement, which was not run."""
        if _CREATE.match(statement.text):
            text = binds.text(statement)
            head = _CREATE.match(text)
            assert head is not None
            self._make(head[1], text[head.end() :])
            return True
        if drop := _DROP.match(statement.text):
            self._session.catalog.dropTempView(drop[1])
            self._held.pop(drop[1], None)
            if drop[1] in self._written:
                self._send(f"DROP TABLE IF EXISTS {self._schema}.{quote(drop[1])}")
                self._written.discard(drop[1])
            return True
        return False

    def _make(self, name: str, query: str) -> None:
        rows = _fetch(self._send(query), min(MOST_BYTES, MOST_TOGETHER - sum(self._held.values())))
        if rows is not None and self._hold(name, rows.nbytes):
            frame_of(self._session, rows).selectExpr(*map(select_field, rows.schema)).createOrReplaceTempView(name)
            return
        table = f"{self._schema}.{quote(name)}"
        self._written.add(name)
        self._send(f"CREATE TABLE {table} AS {query}")
        self._session.table(table).createOrReplaceTempView(name)

    def _hold(self, name: str, size: int) -> bool:
        """Note the bytes of a table; False: other tables were held meanwhile, and there is no room for it any more."""
        with self._guard:
            room = sum(self._held.values()) + size <= MOST_TOGETHER
            if room:
                self._held[name] = size
            return room


def _fetch(frame: DataFrame, room: int) -> pa.Table | None:
    """The rows of a query; None: they are more than `MOST`, or of more bytes than the room.

    Where all types have a width, it bounds the rows. Else Spark adds up the bytes of the rows in one partition, which
    is named, as Spark warns of a window over all.
    """
    bits, wide = 0, []
    for field in frame.schema.fields:
        kind, column = field.dataType.simpleString(), quote(field.name)
        width = _BITS.get(kind.partition("(")[0])
        if width is None:
            flat = kind in ("string", "binary")
            length = f"OCTET_LENGTH({column})" if flat else f"3 * OCTET_LENGTH(CAST({column} AS STRING))"
            wide.append(f"COALESCE({length}, 0) + 4")
        bits += width or 0
    some = frame.limit(min(MOST, room * 8 // max(bits, 1)) + 1)
    if wide:
        window = "PARTITION BY _sqlanon_part ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
        some = (
            some.coalesce(1)
            .selectExpr(
                "*", "SPARK_PARTITION_ID() AS _sqlanon_part", f"{bits // 8} + {' + '.join(wide)} AS _sqlanon_width"
            )
            .selectExpr("*", f"SUM(_sqlanon_width) OVER ({window}) AS {_BYTES}")
            .where(f"{_BYTES} - _sqlanon_width <= {room}")
            .drop("_sqlanon_part", "_sqlanon_width")
        )
    rows, most = some.toArrow(), 0
    if wide:
        most = max(rows[_BYTES].to_pylist(), default=0)
        rows = rows.drop_columns([_BYTES])
    return rows if rows.num_rows <= MOST and max(most, rows.nbytes) <= room else None


def select_field(field: pa.Field) -> str:
    """A column of a frame as Spark selects it: a time without a zone stays one."""
    column = quote(field.name)
    ours = str(field.type).startswith("timestamp") and getattr(field.type, "tz", None) is None
    return f"CAST({column} AS TIMESTAMP_NTZ) AS {column}" if ours else column
