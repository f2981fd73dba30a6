"""A PostgreSQL session: settings, errors without values, transactions and locks."""

from __future__ import annotations

import logging
import re
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

import psycopg

from sqlanon.engines.base import Statement
from sqlanon.engines.postgres import rights
from sqlanon.engines.postgres.connect import translate_errors
from sqlanon.engines.postgres.meter import TableMeter, query_sizes
from sqlanon.engines.postgres.names import Names
from sqlanon.engines.postgres.settings import SETTINGS
from sqlanon.errors import DatabaseError, LockedError
from sqlanon.usage import Usage

log = logging.getLogger("sqlanon.sql")

SWAP_SECONDS = 30.0
"""How long a swap is tried while readers hold the views."""
PUBLISHING = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '10s'; "
    # Verify groups the rows of the release: workers may do that for a table of this transaction, and give few rows
    # each.
    "SET LOCAL parallel_tuple_cost = 0.01"
)
CANCELLATIONS = 5
"""Cancellations that the end of a transaction meets, at most: a deadline sends some now and then."""
WAIT_SECONDS = 30.0
"""How long a lock is waited for that is held for moments only."""


class Session:
    """A connection that runs statements on the safe search path, in transactions and under locks."""

    def __init__(self, connection: psycopg.Connection, *, read_only: bool = False) -> None:
        self._connection = connection
        self._metered = TableMeter()
        connection.cursor_factory = self._metered.make_cursors()
        self._read_only = read_only
        self._by_default: bool | None = None
        """Whether default privileges give others rights on new tables; None: not looked up yet."""
        self._unanalyzed: list[str] = []
        """Loaded temporary tables without statistics."""
        with self._translate_errors("session settings"):
            for setting in SETTINGS:
                connection.execute(setting)
            if connection.info.server_version >= 170000:
                connection.execute("SET transaction_timeout = 0")
            self._names = Names(connection)

    @contextmanager
    def _translate_errors(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        with translate_errors(self._connection, name):
            yield
        log.debug("%s %.3f s", name, time.perf_counter() - start)

    @contextmanager
    def _run(self, statement: Statement | str) -> Iterator[psycopg.Cursor]:
        """Run ours on the safe path, and SQL that the caller wrote (a plain string) on his own."""
        with self._translate_errors(name_statement(statement)):
            if isinstance(statement, Statement):
                self._ready(statement.text)
                yield self._connection.execute(statement.text, dict(statement.binds) or None)
                return
            with self._names.as_written():
                yield self._connection.execute(statement)

    def _take_unanalyzed(self) -> list[str]:
        """Statements that give loaded tables statistics, before the next statement that may read them."""
        tables, self._unanalyzed = self._unanalyzed, []
        return [f"ANALYZE {', '.join(tables)}"] if tables else []

    def _bring(self, *texts: str) -> None:
        """Make the tables that statements name and that are made of rows elsewhere; here there are none."""

    def _ready(self, statement: str) -> None:
        self._bring(statement)
        for text in self._take_unanalyzed():
            self._connection.execute(text)

    def _control(self, name: str, text: str) -> None:
        with self._translate_errors(name):
            self._connection.execute(text)

    @contextmanager
    def _transaction(self, begin: str, end: Callable[[], None] | None = None) -> Iterator[None]:
        self._control("BEGIN", begin)
        try:
            yield
            if end is None:
                self._control("COMMIT", "COMMIT")
            else:
                end()
        except BaseException:
            self._unanalyzed = []
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        """End the transaction, also where a late cancellation of the last statement meets the end itself."""
        for _ in range(CANCELLATIONS):
            try:
                self._connection.execute("ROLLBACK")
            except psycopg.errors.QueryCanceled:
                continue
            except psycopg.Error:
                pass  # a lost connection rolls back by itself, and the first error gives the cause
            return

    @contextmanager
    def snapshot(self, *, whole: bool = False) -> Iterator[None]:
        hidden = "; SET LOCAL row_security = off" if whole else ""
        with self._transaction(f"BEGIN ISOLATION LEVEL REPEATABLE READ{hidden}", self._end_snapshot):
            yield

    def _end_snapshot(self) -> None:
        """End a transaction that has read; its end is one call with the look at the sizes of what was read."""
        names = self._metered.list_unknown()
        with self._translate_errors("COMMIT"):
            cursor = self._connection.execute(f"{query_sizes(names)};\nCOMMIT" if names else "COMMIT")
            if names:
                self._metered.learn(cursor.fetchall())

    def publishing(self) -> AbstractContextManager[None]:
        if self._read_only:
            raise DatabaseError("this connection was opened to read only; nothing can be published on it")
        return self._transaction(PUBLISHING)

    @contextmanager
    def lock(self, name: str, *, wait: bool = False) -> Iterator[None]:
        """See `Engine.lock`: a session advisory lock, so it ends with the session even on kill -9.

        Any role of the database can take such a lock; the error names the role that has it.
        """
        key = zlib.crc32(name.encode()) - (1 << 31)
        binds: dict[str, int | float | str | None] = {"space": 0x5A0, "key": key}
        take = Statement("lock", "SELECT pg_try_advisory_lock(%(space)s, %(key)s)", binds)
        end = time.monotonic() + (WAIT_SECONDS if wait else 0)
        while not self._fetch_truth(take):
            if time.monotonic() >= end:
                with self._translate_errors("lock"):
                    holder = rights.lock_holder(self._connection, 0x5A0, key)
                raise LockedError(
                    f"another session{holder} holds the lock {name} for longer than {WAIT_SECONDS:g} seconds; try "
                    "again later"
                    if wait
                    else f"{name} is being run by another session{holder}; try again when it is done"
                )
            time.sleep(0.02)
        failed = True
        try:
            yield
            failed = False
        finally:
            try:
                self._fetch_truth(Statement("unlock", "SELECT pg_advisory_unlock(%(space)s, %(key)s)", binds))
            except DatabaseError:  # the lock ends with the session, and the first error gives the cause
                if not failed:
                    raise

    def _fetch_truth(self, statement: Statement) -> bool:
        with self._run(statement) as cursor:
            row = cursor.fetchone()
        return row is not None and bool(row[0])

    def run_swap(self, action: Callable[[], None]) -> None:
        """See `Engine.run_swap`.

        A waiting ACCESS EXCLUSIVE lock would make new readers queue, so it waits briefly, often.
        """
        end, pause = time.monotonic() + SWAP_SECONDS, 0.05
        while True:
            self._control("SAVEPOINT", "SAVEPOINT sqlanon_swap; SET LOCAL lock_timeout = '100ms'")
            try:
                action()
            except LockedError:
                self._control("SAVEPOINT", "ROLLBACK TO SAVEPOINT sqlanon_swap")
                if time.monotonic() > end:
                    raise
                time.sleep(pause)
                pause = min(pause * 1.5, 1.0)
            else:
                self._control("SAVEPOINT", "RELEASE SAVEPOINT sqlanon_swap; SET LOCAL lock_timeout = '10s'")
                return

    def usage(self) -> Usage:
        """See `Engine.usage`."""
        return self._metered.usage()

    def cancel(self) -> None:
        """See `Engine.cancel`: by a second connection; if that is lost, the statement runs on."""
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=5.0)

    def close(self) -> None:
        with suppress(psycopg.Error):  # the server ends the transaction of a lost connection
            self._connection.close()


def name_statement(statement: Statement | str) -> str:
    """The name of a statement in errors."""
    return re.sub(r"\s+", " ", statement.name) if isinstance(statement, Statement) else "a statement"
