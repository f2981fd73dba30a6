"""A DuckDB connection: look-up of names, statements, transactions, and errors without values.

A macro in a DuckDB file takes the place of any function, operator or table function of the same name, wherever a name
is looked up in that file. So our statements run where an empty database of our own is current, and name the user's
database.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import cast

import duckdb

from sqlanon.engines.base import PRIVATE_SCHEMA, Bind, Row, Statement, TableRef
from sqlanon.engines.duckdb import answers
from sqlanon.engines.duckdb.errors import translate_error
from sqlanon.engines.duckdb.meter import MeteredConnection
from sqlanon.engines.duckdb.spill import Spill, spill
from sqlanon.engines.duckdb.statement_cache import ParsedStatements
from sqlanon.errors import DatabaseError
from sqlanon.usage import Usage

log = logging.getLogger("sqlanon.sql")

_ZONED = "TIMESTAMP WITH TIME ZONE"
_OPTIMIZES = "SELECT CURRENT_SETTING('enable_optimizer') AND NOT CURRENT_SETTING('lock_configuration')"


def split_batches(statements: Iterable[Statement]) -> Iterator[list[Statement]]:
    """Statements that may go together, in their order: only the last one of a call has values."""
    together: list[Statement] = []
    for statement in statements:
        together.append(statement)
        if statement.binds:
            yield together
            together = []
    if together:
        yield together


def join_statements(statements: Sequence[Statement]) -> Statement:
    """Several statements together, named after all of them."""
    if len(statements) == 1:
        return statements[0]
    names = ", ".join(dict.fromkeys(statement.name for statement in statements))
    # A comment at a statement's end ends with its line.
    return Statement(names, "\n;\n".join(statement.text for statement in statements), statements[-1].binds)


def quote(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


class Connection:
    """A connection to one database of the user's, with an empty database of our own beside it."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: str | None,
        database: str | None = None,
        *,
        spills: bool = False,
    ) -> None:
        """Take over a connection.

        Args:
            connection: it is closed with the engine.
            path: the file's; None in memory.
            database: the database of unqualified table names; None: the connection's current one.
            spills: the spill folder is ours to choose.
        """
        self._metered = MeteredConnection(connection)
        self._connection = cast("duckdb.DuckDBPyConnection", self._metered)
        self._path = path
        self._spill: Spill | None = None
        self._parsed = ParsedStatements(connection.extract_statements)
        # The only builtin that is looked up among the file's macros; a macro cannot take the place of its full name.
        self._database = database or str(self._fetch_one("SELECT system.main.current_database()"))
        if self._database.lower() == PRIVATE_SCHEMA:
            # A view's text loses the database's name: in it, _sqlanon.t would mean two things.
            raise DatabaseError(f"{path}: a file of this name cannot hold the schema {PRIVATE_SCHEMA}; rename the file")
        self._empty = f"_sqlanon_empty_{secrets.token_hex(4)}"
        self._current = ""
        connection.execute(f"ATTACH ':memory:' AS {self._empty} (READ_WRITE)")
        self._use(self._empty)
        if spills:
            self._spill = spill(connection, path)

    def _fetch_one(self, text: str) -> object:
        row = self._connection.execute(text).fetchone()
        return row[0] if row else None

    def _use(self, database: str) -> None:
        """Make a database current, for names without a database."""
        if self._current != database:
            self._connection.execute(f"USE {quote(database)}.main")
            self._current = database

    def _qualify(self, table: TableRef) -> str:
        database = table.database or (self._database if table.schema else None)
        return ".".join(quote(part) for part in (database, table.schema, table.name) if part)

    @contextmanager
    def _translate_errors(self, name: str, text: str = "") -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        except duckdb.InterruptException as error:
            raise KeyboardInterrupt from error
        except duckdb.Error as error:
            raise translate_error(name, error, text) from error
        except RuntimeError as error:
            raise KeyboardInterrupt from error  # how DuckDB reports an interrupt
        log.debug("%s %.3f s", name, time.perf_counter() - start)

    def _run(self, statement: Statement | str) -> duckdb.DuckDBPyConnection:
        """Run a statement: ours among builtins alone, a text of the caller's among the names of the user's database."""
        if isinstance(statement, str):
            self._parsed.forget()
            self._use(self._database)
            return self._connection.execute(statement)
        self._use(self._empty)
        return self._send(statement.text, statement.binds)

    def _send(self, text: str, binds: Mapping[str, Bind] | None = None) -> duckdb.DuckDBPyConnection:
        """Execute a text of ours."""
        parsed = self._parsed.of(text)
        if binds:
            return self._connection.execute(parsed, dict(binds))
        return self._connection.execute(parsed)

    def execute(self, statement: Statement | str) -> None:
        with self._translate_errors(_name(statement), _text(statement)):
            self._run(statement)

    def execute_all(self, statements: Sequence[Statement]) -> None:
        for together in split_batches(statements):
            self.execute(join_statements(together))

    def fetch(
        self, statement: Statement | str, *, max_rows: int = 100_000, first: Sequence[Statement] = ()
    ) -> list[Row]:
        if first and isinstance(statement, Statement):
            *before, last = split_batches([*first, statement])
            for together in before:
                self.execute(join_statements(together))
            statement = join_statements(last)
        with self._translate_errors(_name(statement), _text(statement)):
            result = self._run(statement)
            zoned = [i for i, field in enumerate(result.description or ()) if str(field[1]) == _ZONED]
            rows = (
                answers.fetch_zoned(self._connection, statement, zoned, max_rows)
                if zoned
                else result.fetchmany(max_rows + 1)
            )
        if len(rows) > max_rows:
            raise DatabaseError(f"{_name(statement)} returned more than {max_rows} rows")
        return rows

    def describe(self, text: str) -> tuple[str, ...]:
        """See `Engine.describe`: DESCRIBE binds a query and does not optimize it, so that no constant is computed."""
        with self._translate_errors("the query"):
            if len(self._connection.extract_statements(text)) != 1:
                raise DatabaseError("one query is described at a time")
            self._use(self._empty)
            rows = self._connection.execute(f"DESCRIBE {text}").fetchall()
        return tuple(str(row[1]) for row in rows)

    def reason(self, error: DatabaseError) -> str:
        cause = error.__cause__
        return answers.reason(cause) if isinstance(cause, duckdb.Error) else str(error)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._translate_errors("BEGIN"):
            self._connection.execute("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            with suppress(duckdb.Error):  # the caller must hear of the first error
                self._connection.execute("ROLLBACK")
            raise
        with self._translate_errors("COMMIT"):
            self._connection.execute("COMMIT")

    def snapshot(self, *, whole: bool = False) -> AbstractContextManager[None]:
        return self._transaction()

    publishing = _transaction

    @contextmanager
    def few_rows(self) -> Iterator[None]:
        """See `Engine.few_rows`: to optimize a plan takes a third of the time of a small statement.

        Changes by another run are left to that run to undo; a locked configuration is not changed.
        """
        with self._translate_errors("PRAGMA"):
            self._use(self._empty)
            optimized = self._send(_OPTIMIZES).fetchall()[0][0]
            if optimized:
                self._connection.execute("PRAGMA disable_optimizer")
        try:
            yield
        finally:
            if optimized:
                with suppress(duckdb.Error):  # as for a transaction
                    self._connection.execute("PRAGMA enable_optimizer")

    def usage(self) -> Usage:
        """See `Engine.usage`."""
        return self._metered.usage()

    def cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        with self._translate_errors("to close the database"):
            try:
                with suppress(duckdb.Error):  # broken, or closed already: then it goes with the connection
                    self._use(self._database)
                    self._connection.execute(f"DETACH {self._empty}")
            finally:
                folder, self._spill = self._spill, None
                if folder is not None:
                    folder.close(self._connection)
                else:
                    self._connection.close()


def _name(statement: Statement | str) -> str:
    return statement.name if isinstance(statement, Statement) else "a statement"


def _text(statement: Statement | str) -> str:
    return statement.text if isinstance(statement, Statement) else ""
