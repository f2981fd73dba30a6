"""PostgreSQL >= 14 through ``psycopg`` 3; arrays travel by binary COPY; scratch tables are temporary tables."""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Self

import numpy as np
import psycopg
from psycopg import sql

from sqlanon.engines.base import (
    Capabilities,
    Files,
    Found,
    Relation,
    Row,
    SecondFile,
    Statement,
    TableRef,
)
from sqlanon.engines.names import split_name
from sqlanon.engines.postgres import private, rights
from sqlanon.engines.postgres import reasons as answers
from sqlanon.engines.postgres.binary import END, SIGNATURE, arrays, copy_out, receive, record_type
from sqlanon.engines.postgres.connect import is_failed, open_session, translated
from sqlanon.engines.postgres.names import Names
from sqlanon.engines.postgres.settings import SETTINGS
from sqlanon.engines.postgres.tables import Tables, ident, named
from sqlanon.errors import DatabaseError, LockedError, PolicyError

if TYPE_CHECKING:
    import numpy.typing as npt

log = logging.getLogger("sqlanon.sql")

SWAP_SECONDS = 30.0
"""How long a swap is tried while readers hold the views."""
PUBLISHING = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '10s'; "
    # Verify groups the rows of the release: workers may do that for a table of this transaction, and give few rows each.
    "SET LOCAL parallel_tuple_cost = 0.01"
)
WAIT_SECONDS = 30.0
"""How long a lock is waited for that is held for moments only."""


def _granted(role: str, refused: str | None) -> None:
    if refused:
        raise DatabaseError(
            f"cannot let role {role} read {refused}: somebody else owns it; ask for GRANT .. WITH GRANT OPTION, or have "
            f"its owner grant it, or take {role} out of the policy's readers"
        )


class PostgresEngine(Tables):
    """One PostgreSQL session."""

    dialect = "postgres"
    few_rows = None
    transactions = temporary = updates = ordered = True
    second_file: SecondFile | None = None
    files: Files | None = None
    capabilities = Capabilities(
        max_identifier=63,
        text_type='text COLLATE "C"',
        contains="%(value)s = ANY(%(array)s)",
        temporary_functions="pg_temp",
        collations=True,
        block_rows=1,
        grouping_sets=True,
        arrays_by_row=True,
        codes_on_the_way=True,
        distinct_numbers=True,
        sequences=True,
        max_columns=1600,
        max_row_bytes=8160,
    )

    def __init__(self, connection: psycopg.Connection, *, read_only: bool = False) -> None:
        self._connection = connection
        self._read_only = read_only
        self._by_default: bool | None = None
        self._unanalyzed: list[str] = []
        with self._translated("session settings"):
            for setting in SETTINGS:
                connection.execute(setting)
            if connection.info.server_version >= 170000:
                connection.execute("SET transaction_timeout = 0")
            self._names = Names(connection)

    @classmethod
    def open(cls, url: str, *, read_only: bool = False) -> PostgresEngine:
        """Connect to ``postgresql://user:password@host:port/database``.

        Args:
            url: as libpq reads it.
            read_only: nothing will be published. Temporary tables are still made where a method needs them.

        Raises:
            DatabaseError: the server cannot be reached or refuses; the text says what to check.
        """
        connection = open_session(url)
        try:
            return cls(connection, read_only=read_only)
        except BaseException:
            connection.close()
            raise

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        with translated(self._connection, name):
            yield
        log.debug("%s %.3f s", name, time.perf_counter() - start)

    @contextmanager
    def _run(self, statement: Statement | str) -> Iterator[psycopg.Cursor]:
        """Run ours on the safe path, and SQL that the caller wrote (a plain string) on his own."""
        with self._translated(named(statement)):
            if isinstance(statement, Statement):
                self._ready()
                yield self._connection.execute(statement.text, dict(statement.binds) or None)
                return
            with self._names.as_written():
                yield self._connection.execute(statement)

    def _control(self, name: str, text: str) -> None:
        with self._translated(name):
            self._connection.execute(text)

    def execute(self, statement: Statement | str) -> None:
        """See `Engine.execute`."""
        if isinstance(statement, Statement):
            self._send([statement])
            return
        with self._run(statement):
            pass

    def fetch(
        self, statement: Statement | str, *, max_rows: int = 100_000, first: Sequence[Statement] = ()
    ) -> list[Row]:
        """See `Engine.fetch`."""
        if first and isinstance(statement, Statement):
            return self._send([*first, statement], answer=max_rows)
        with self._run(statement) as cursor:
            rows = cursor.fetchmany(max_rows + 1)
        if len(rows) > max_rows:
            raise DatabaseError(f"{named(statement)} returned more than {max_rows} rows")
        return rows

    def describe(self, text: str) -> tuple[str, ...]:
        """See `Engine.describe`: the server parses and binds a statement that is prepared, and plans it only to run it."""
        with self._translated("the query"):
            return answers.described(self._connection, text)

    def reason(self, error: DatabaseError) -> str:
        """See `Engine.reason`."""
        cause = error.__cause__
        # Without a state of SQL it is the connection that failed, of which the error says enough.
        return answers.reason(cause) if isinstance(cause, psycopg.Error) and cause.sqlstate else str(error)

    @contextmanager
    def acting_as(self, role: str, seconds: float) -> Iterator[None]:
        """See `Rights.acting_as`."""
        if not self.roles([role]):
            raise DatabaseError(f"there is no role {role}")
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            self._control("the time limit", f"SET LOCAL statement_timeout = {max(1, round(seconds * 1000))}")
            try:
                self._connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
            except psycopg.Error as error:
                raise DatabaseError(
                    f"this session may not act as role {role}: connect as a member of it"
                ) from error
            yield

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """See `Engine.fetch_arrays`: one binary COPY; a row of fixed width is read as one NumPy record."""
        record = record_type(dtypes)
        query = copy_out(statement, dtypes)
        data = bytearray()
        with self._translated(statement.name):
            self._ready()
        with (
            self._translated(statement.name),
            self._connection.cursor() as cursor,
            cursor.copy(query, dict(statement.binds) or None),
        ):
            self._connection.wait(receive(self._connection.pgconn, data))
        return arrays(statement.name, memoryview(data)[len(SIGNATURE) : -END], record, dtypes)

    def stream_arrays(
        self, statement: Statement, dtypes: Sequence[str], rows: int
    ) -> Generator[list[npt.NDArray[np.generic]], None, None]:
        """See `Engine.stream_arrays`: one binary COPY, read as it comes."""
        record = record_type(dtypes)
        data = bytearray()
        start = len(SIGNATURE)
        with self._translated(statement.name):
            self._ready()
        with (
            self._translated(statement.name),
            # Ending a COPY early fails its transaction: a savepoint keeps the one that may be open.
            self._connection.transaction(),
            self._connection.cursor() as cursor,
            cursor.copy(copy_out(statement, dtypes), dict(statement.binds) or None),
        ):
            more = True
            while more:
                stop = start + rows * record.itemsize
                more = self._connection.wait(receive(self._connection.pgconn, data, stop))
                if not more:
                    stop = len(data) - END
                if stop > start:
                    yield arrays(statement.name, data[start:stop], record, dtypes)
                    del data[:stop]
                    start = 0

    def relation(self, name: str) -> Relation:
        """See `Engine.relation`: a name without a schema is looked up on the search path of the connected role."""
        with self._translated("catalog lookup"):
            return self._names.relation(name)

    def look_up(
        self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None
    ) -> Found:
        """See `Engine.look_up`."""
        with self._translated("catalog lookup"):
            return self._names.look_up(tables, names, schema)

    def exists(self, ref: TableRef) -> bool:
        """See `Engine.exists`."""
        with self._translated("catalog lookup"):
            row = self._connection.execute(
                "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.relname = %s AND "
                "(n.nspname = %s::text OR (%s::text IS NULL AND n.oid = pg_my_temp_schema()))",
                [ref.name, ref.schema, ref.schema],
            ).fetchone()
        return row is not None

    def has_schema(self, ref: TableRef) -> bool:
        """See `Engine.has_schema`."""
        return bool(
            self.fetch(
                Statement(
                    "catalog lookup",
                    "SELECT 1 FROM pg_namespace WHERE nspname = %(name)s",
                    {"name": ref.schema},
                )
            )
        )

    def target(self, name: str) -> TableRef:
        """See `Engine.target`."""
        parts = split_name(name)
        if len(parts) > 2:
            raise PolicyError(f"{name!r} has too many parts; write table or schema.table")
        for part in parts:
            if len(part.encode()) > self.capabilities.max_identifier:
                raise PolicyError(f"a part of {name!r} is longer than PostgreSQL's 63 bytes")
        return TableRef(parts[0] if len(parts) == 2 else self._names.first(), parts[-1])

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._control("BEGIN", begin)
        try:
            yield
        except BaseException:
            self._unanalyzed = []
            with suppress(
                psycopg.Error
            ):  # a lost connection rolls back by itself, and the first error says what happened
                self._connection.execute("ROLLBACK")
            raise
        self._control("COMMIT", "COMMIT")

    def snapshot(self) -> AbstractContextManager[None]:
        """See `Engine.snapshot`."""
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ")

    def publishing(self) -> AbstractContextManager[None]:
        """See `Engine.publishing`."""
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
        while not self.fetch(take)[0][0]:
            if time.monotonic() >= end:
                with self._translated("lock"):
                    holder = rights.lock_holder(self._connection, 0x5A0, key)
                raise LockedError(
                    f"another session{holder} holds the lock {name} for longer than {WAIT_SECONDS:g} seconds; try again later"
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
                self.fetch(Statement("unlock", "SELECT pg_advisory_unlock(%(space)s, %(key)s)", binds))
            except DatabaseError:  # the lock ends with the session, and the first error says what happened
                if not failed:
                    raise

    @property
    def rights(self) -> Self:
        """See `Engine.rights`."""
        return self

    def swapping(self, action: Callable[[], None]) -> None:
        """See `Engine.swapping`: a waiting ACCESS EXCLUSIVE lock would make new readers queue, so it waits briefly, often."""
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

    def recorded(self, view: TableRef, columns: Sequence[str]) -> list[Statement]:
        """See `Rights.recorded`."""
        with self._translated("recorded rights"):
            made = rights.recorded(self._connection, view, columns)
        return [Statement("recorded rights", text) for text in made]

    def roles(self, names: Sequence[str]) -> list[str]:
        """See `Rights.roles`."""
        with self._translated("catalog lookup"):
            return rights.roles(self._connection, names)

    def allow(self, views: Sequence[TableRef], role: str) -> None:
        """See `Rights.allow`."""
        with self._translated("GRANT"):
            refused = rights.allow(self._connection, views, role)
        _granted(role, refused)

    def let_in(self, views: Sequence[TableRef], role: str) -> None:
        """See `Rights.let_in`."""
        with self._translated("GRANT"):
            refused = rights.let_in(self._connection, views, role)
        _granted(role, refused)

    def forbid(self, views: Sequence[TableRef], role: str) -> None:
        """See `Rights.forbid`."""
        with self._translated("REVOKE"):
            rights.forbid(self._connection, views, role)

    def reads(self, role: str, ref: TableRef) -> bool:
        """See `Rights.reads`."""
        with self._translated("catalog lookup"):
            return rights.reads(self._connection, role, ref)

    def enters(self, role: str, schema: str) -> bool:
        """See `Rights.enters`."""
        with self._translated("catalog lookup"):
            return rights.enters(self._connection, role, schema)

    def seclude(self, schema: str, *, anew: bool) -> None:
        """See `Rights.seclude`."""
        with self._translated("rights of the private schema"):
            self._by_default = private.check_private(self._connection, schema)
            if anew:
                rights.seclude(self._connection, schema)

    @contextmanager
    def reading(self, table: TableRef) -> Iterator[None]:
        """See `Rights.reading`."""
        with self._translated("rights of the private schema"):
            foreign = private.check_readable(self._connection, table)
            if foreign:
                private.tables_only(self._connection)
        try:
            yield
        finally:
            if foreign and not is_failed(self._connection):
                with self._translated("rights of the private schema"):
                    private.tables_only(self._connection, end=True)

    def hold(self, view: TableRef) -> None:
        """See `Engine.hold`."""
        with self._translated(f"lock {view.name}"):
            self._connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(ident(view)))

    def all_readers(self) -> list[str]:
        """See `Rights.all_readers`."""
        with self._translated("catalog lookup"):
            return private.all_readers(self._connection)

    def drop_statistics(self, tables: Sequence[TableRef]) -> None:
        """See `Rights.drop_statistics`."""
        with self._translated("statistics of private tables"):
            private.drop_statistics(self._connection, tables)

    def grantees(self, schema: str) -> list[str]:
        """See `Rights.grantees`."""
        with self._translated("catalog lookup"):
            return rights.grantees(self._connection, schema)

    def dependents(self, view: TableRef) -> list[str]:
        """See `Engine.dependents`."""
        with self._translated("catalog lookup"):
            return rights.dependents(self._connection, view)

    def relying(self, views: Sequence[TableRef]) -> list[str]:
        """See `Engine.relying`."""
        with self._translated("catalog lookup"):
            return rights.relying(self._connection, views)

    def definition(self, view: TableRef) -> str | None:
        """See `Engine.definition`."""
        with self._translated("catalog lookup"):
            return rights.definition(self._connection, view)

    def close(self) -> None:
        """See `Engine.close`."""
        with suppress(psycopg.Error):  # the server ends what a lost connection had open
            self._connection.close()
