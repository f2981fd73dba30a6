"""Compaction on PostgreSQL: VACUUM FULL of private tables, which writes a new file for each."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

import psycopg
from psycopg import sql

from sqlanon.engines.postgres.session import Session
from sqlanon.engines.values import CompactionResult, TableRef
from sqlanon.errors import DatabaseError

_FILES = """
SELECT t.schema, t.name, pg_relation_filenode(c.oid), pg_total_relation_size(c.oid)
FROM unnest(%(schemas)s::text[], %(names)s::text[]) AS t(schema, name)
JOIN pg_namespace AS n ON n.nspname = t.schema
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = t.name
"""
_MAY_CHECKPOINT = """
SELECT r.rolsuper OR EXISTS (
    SELECT FROM pg_roles AS g WHERE g.rolname = 'pg_checkpoint' AND pg_has_role(r.oid, g.oid, 'USAGE')
)
FROM pg_roles AS r WHERE r.rolname = current_user
"""
_NUMBER = re.compile(r"\d+")
_PATIENCE = "10s"
SEEN_SECONDS = 30.0
"""How long tables are written anew while an older transaction still sees rows that were deleted from them."""
_PAUSE = 0.5

LEAVES = (
    "values of deleted rows and dropped tables can stay in free space of tables until they are overwritten, in the "
    "write-ahead log and in backups; --compact writes the private tables anew (VACUUM FULL)"
)
STAYS = (
    "the write-ahead log and its archive, replicas and backups have what was dropped until their own retention ends",
    "the source is not sqlanon's: rows that were deleted from it stay in its files until VACUUM FULL of it",
    (
        "statistics of dropped tables stay in free space of pg_statistic until its VACUUM FULL, by a superuser or the "
        "owner of the database"
    ),
)
UNTIL = (
    "files of dropped tables are removed at the server's next checkpoint: CHECKPOINT is for superusers and members of "
    "pg_checkpoint"
)


class TableCompaction(Session):
    """The part of a session that writes private tables anew."""

    leaves = LEAVES

    @property
    def compaction(self) -> Self:
        return self

    def swept(self) -> list[str]:
        """See `Compaction.swept`: it makes no copies."""
        return []

    def check_compaction(self) -> None:
        if self._read_only:
            raise DatabaseError("this connection was opened to read only; nothing can be compacted on it")

    def compact(self, tables: Sequence[TableRef]) -> CompactionResult:
        """See `Compaction.compact`: VACUUM FULL of each table, then CHECKPOINT where this role may."""
        self.check_compaction()
        before = self._files_of(tables)
        with self._waiting_briefly():
            tables_left = self._write_anew(tables)
        after = self._files_of(tables)
        # Of a table that is another role's the server only warns.
        same = [str(table) for table in tables if before[table][0] == after[table][0]]
        if same:
            raise DatabaseError(
                f"PostgreSQL has not written {', '.join(same)} anew: VACUUM FULL is for the owner of a table; run as "
                "the role that owns them"
            )
        if tables_left:
            raise DatabaseError(
                f"rows that were deleted from {', '.join(map(str, tables_left))} are still in its file: a transaction "
                "on this server that began before may see them; end it (pg_stat_activity, pg_prepared_xacts and "
                "pg_replication_slots list those that are open), and compact again"
            )
        with self._translate_errors("CHECKPOINT"):
            may = self._connection.execute(_MAY_CHECKPOINT).fetchone()
            if may and may[0]:
                self._connection.execute("CHECKPOINT")
        return CompactionResult(
            tuple(map(str, tables)),
            sum(size for _, size in before.values()),
            sum(size for _, size in after.values()),
            STAYS if may and may[0] else (UNTIL, *STAYS),
        )

    def _write_anew(self, tables: Sequence[TableRef]) -> list[TableRef]:
        """VACUUM FULL of each table, again while deleted rows stay in it; returns those in which they do.

        VACUUM FULL keeps deleted rows that the oldest transaction of the *server* may see: a transaction in another
        database holds them too.
        """
        end, remaining, pause = time.monotonic() + SEEN_SECONDS, list(tables), _PAUSE
        while True:
            remaining = [table for table in remaining if self._vacuum(table)]
            if not remaining or time.monotonic() > end:
                return remaining
            time.sleep(pause)
            pause *= 2  # readers of a large table wait while it is written

    def _vacuum(self, table: TableRef) -> int:
        """VACUUM FULL of a table; returns the number of deleted rows that stay."""
        details: list[str] = []

        def hear(diagnostic: psycopg.errors.Diagnostic) -> None:
            details.append(diagnostic.message_detail or "")

        name = sql.Identifier(str(table.schema), table.name)
        self._connection.add_notice_handler(hear)
        try:
            with self._translate_errors(f"VACUUM FULL of {table}"):
                self._connection.execute(sql.SQL("VACUUM (FULL, VERBOSE) {}").format(name))
        finally:
            self._connection.remove_notice_handler(hear)
        # In every language of the server the first number of the only detail is that of the rows that are kept.
        return sum(int(number.group()) for number in map(_NUMBER.search, details) if number)

    def _files_of(self, tables: Sequence[TableRef]) -> dict[TableRef, tuple[int, int]]:
        """For each table the number of the file, and the bytes with indexes."""
        binds = {"schemas": [table.schema for table in tables], "names": [table.name for table in tables]}
        with self._translate_errors("catalog lookup"):
            rows = self._connection.execute(_FILES, binds).fetchall()
        return {TableRef(schema, name): (int(file), int(size)) for schema, name, file, size in rows}

    @contextmanager
    def _waiting_briefly(self) -> Iterator[None]:
        """No statement inside waits for long for a reader, behind which other readers would queue."""
        self._control("settings", f"SET lock_timeout = '{_PATIENCE}'")
        try:
            yield
        finally:
            if not self._connection.closed:
                self._control("settings", "SET lock_timeout = 0")
