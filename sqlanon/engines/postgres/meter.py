"""Counts the statements of a session, and the bytes of the tables that they name.

PostgreSQL before 18 has no counters of one session. A statement reads each table that it names after FROM, JOIN or
USING as a whole, and CREATE TABLE AS writes the whole table: `pg_table_size`, with the toasted values and without the
indexes. Sizes are asked for in calls that are sent anyway, of tables that the transaction holds already, so that
nothing waits. Tables beneath a view, and small tables that are never looked at so, are not counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from sqlanon.usage import Usage

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef

_NAME = r'(?:"(?:[^"]|"")+"\.)?"(?:[^"]|"")+"'
_READING = re.compile(rf"\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+|LATERAL\s+)?({_NAME})", re.IGNORECASE)
_CREATING = re.compile(rf"\bCREATE\s+(?:TEMPORARY\s+|TEMP\s+)?TABLE\s+({_NAME})\s+AS\b", re.IGNORECASE)
_DROPPING = re.compile(rf"\bDROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?({_NAME})", re.IGNORECASE)
_ENDING = ("BEGIN", "COMMIT", "ROLLBACK")
_SIZES = """
SELECT t.name, NULL::oid, COALESCE(
    (SELECT sum(pg_table_size(p.relid)) FROM pg_partition_tree(to_regclass(t.name)) AS p),
    pg_table_size(to_regclass(t.name))
)::text
FROM unnest({}::text[]) AS t(name)
"""


class TableMeter:
    """Counters of a session."""

    def __init__(self) -> None:
        self._statements = self._read = self._written = 0
        self._active = False
        """Somebody has asked for bytes."""
        self._sizes: dict[str, int] = {}
        self._unread: Counter[str] = Counter()
        """How often tables of unknown size were read."""
        self._held: set[str] = set()
        """Tables of unknown size that the open transaction has read."""
        self._unwritten: set[str] = set()
        """Tables of unknown size that a statement has created and filled."""

    def make_cursors(self) -> type[psycopg.Cursor[Any]]:
        """A kind of cursors with counted statements."""
        meter = self

        class CountingCursor(psycopg.Cursor[Any]):
            def execute(self, query: Any, *values: Any, **options: Any) -> Any:  # noqa: ANN401 - as the driver's
                meter.note(query, self.connection)
                return super().execute(query, *values, **options)

            def copy(self, statement: Any, *values: Any, **options: Any) -> Any:  # noqa: ANN401 - as the driver's
                meter.note(statement, self.connection)
                return super().copy(statement, *values, **options)

        return CountingCursor

    def note(self, query: str | bytes | sql.Composable, connection: psycopg.Connection[Any]) -> None:
        """Count a text that is sent on a connection."""
        self._statements += 1
        if not self._active:
            return
        text = query if isinstance(query, str) else query.decode() if isinstance(query, bytes) else query.as_string()
        if text.startswith(_ENDING):
            self._held.clear()
            return
        self._unwritten.update(_CREATING.findall(text))
        is_held = connection.info.transaction_status == TransactionStatus.INTRANS
        for name in _READING.findall(text):
            if name in self._sizes:
                self._read += self._sizes[name]
                continue
            self._unread[name] += 1
            if is_held:
                self._held.add(name)
        for name in _DROPPING.findall(text):
            self._forget(name)

    def _forget(self, name: str) -> None:
        """Forget a table that is dropped."""
        self._sizes.pop(name, None)
        self._unread.pop(name, None)
        self._unwritten.discard(name)
        self._held.discard(name)

    def list_unknown(self, text: str = "") -> list[str]:
        """Tables that the open transaction holds, or that a text is about to read, and that have no size yet."""
        if not self._active:
            return []
        return sorted(self._held | {name for name in _READING.findall(text) if name not in self._sizes})

    def query_size(self, name: str) -> str:
        """A query of the size of a table that was filled; empty: nobody has asked for bytes."""
        self._unwritten.add(name)
        return query_sizes([name]) if self._active else ""

    def learn(self, sizes: Iterable[tuple[object, ...]]) -> None:
        """Take rows of `query_sizes`; a table that is gone has none."""
        for name, _, size in sizes:
            if size is not None:
                self._resolve(str(name), int(str(size)))

    def load(self, table: TableRef, size: int) -> None:
        """Count a table that this process has filled."""
        name = sql.Identifier(*(part for part in (table.schema, table.name) if part)).as_string()
        self._written += size
        self._resolve(name, self._sizes.get(name, 0) + size)

    def _resolve(self, name: str, size: int) -> None:
        self._sizes[name] = size
        if name in self._unwritten:
            self._unwritten.discard(name)
            self._written += size
        self._read += size * self._unread.pop(name, 0)
        self._held.discard(name)

    def usage(self) -> Usage:
        """Statements and bytes so far."""
        self._active = True
        return Usage(self._statements, self._read, self._written)


def query_sizes(names: Iterable[str]) -> str:
    """A query, without values, of the sizes of tables; ``names``: as SQL."""
    return _SIZES.format(sql.Literal(list(names)).as_string(None))
