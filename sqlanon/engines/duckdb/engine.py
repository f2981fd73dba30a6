"""DuckDB >= 2.0: files and memory, through ``duckdb``; scratch tables are its temporary tables.

A macro in a DuckDB file takes the place of any function, operator or table function of its name, wherever a name is looked
up in that file. So our statements run where an empty database of our own is the current one, and name the user's database.
"""

from __future__ import annotations

import itertools
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import duckdb

from sqlanon.engines.base import (
    PRIVATE_SCHEMA,
    Bind,
    Capabilities,
    FileReading,
    Found,
    Relation,
    Rights,
    Row,
    Statement,
    TableRef,
)
from sqlanon.engines.duckdb import answers, files, lookup
from sqlanon.engines.duckdb import views as stored_views
from sqlanon.engines.duckdb.errors import cannot_open, refused
from sqlanon.engines.duckdb.spill import Spill, spill
from sqlanon.engines.names import split_name
from sqlanon.engines.statements import batches, joined
from sqlanon.errors import DatabaseError, LockedError, PolicyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

log = logging.getLogger("sqlanon.sql")

_ZONED = "TIMESTAMP WITH TIME ZONE"
_locks: dict[str, threading.Lock] = {}
_locks_guard = threading.Lock()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class DuckDBEngine:
    """One DuckDB connection. A file has one writing process; readers in it see the last commit."""

    dialect = "duckdb"
    rights: Rights | None = None
    transactions = temporary = updates = ordered = True
    capabilities = Capabilities(
        max_identifier=200,
        text_type="VARCHAR",
        contains="LIST_CONTAINS(%(array)s, %(value)s)",
        temporary_functions="temp.main",
        collations=False,
        block_rows=2048,
    )

    @property
    def second_file(self) -> Self:
        """See `Engine.second_file`."""
        return self

    @property
    def files(self) -> Self:
        """See `Engine.files`."""
        return self

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
            database: the database whose tables plain names mean; None: the connection's current one.
            spills: where it spills is for us to say.
        """
        self._connection = connection
        self._path = path
        self._spill: Spill | None = None
        # The only builtin that is looked up among the file's macros; a macro cannot take the place of its full name.
        self._database = database or str(self._one("SELECT system.main.current_database()"))
        if self._database.lower() == PRIVATE_SCHEMA:
            # A view's text loses the database's name: in it, _sqlanon.t would mean two things.
            raise DatabaseError(
                f"{path}: a file of this name cannot hold the schema {PRIVATE_SCHEMA}; rename the file"
            )
        self._empty = f"_sqlanon_empty_{secrets.token_hex(4)}"
        self._current = ""
        connection.execute(f"ATTACH ':memory:' AS {self._empty} (READ_WRITE)")
        self._use(self._empty)
        if spills:
            self._spill = spill(connection, path)

    @classmethod
    def open(
        cls, url: str, *, threads: int | None, memory: int | None, read_only: bool = False
    ) -> DuckDBEngine:
        """Open ``duckdb:///path`` (an existing file) or ``duckdb:///:memory:``.

        Args:
            url: the database.
            threads: threads that DuckDB may use; None: its default.
            memory: bytes that DuckDB may use; None: its default.
            read_only: other processes may read the file at the same time, and nothing in it can be written. Where this
                process has the file open for writing already, that connection's rights are kept.

        Raises:
            DatabaseError: no such file, no database, or no right to it.
            LockedError: another process holds the file; the text gives its pid.
        """
        match = re.fullmatch(r"duckdb:(?://)?(/?)(.*)", url, re.IGNORECASE | re.DOTALL)
        path = match.group(2) if match else ""
        shown = None
        if path not in ("", ":memory:"):
            if not Path(path).exists():
                raise DatabaseError(
                    f"no DuckDB file at {path}; give the path after duckdb:/// (four slashes for an absolute one)"
                )
            shown = os.path.realpath(path)
            if not _is_database(Path(path)):
                # DuckDB would open a CSV or Parquet file as a database in memory, and the release would be lost.
                raise DatabaseError(
                    f"{path} is not a DuckDB database; to anonymize a file, name it in place of the table, without --db"
                )
        connection = _connect(path if shown else ":memory:", read_only=read_only and shown is not None)
        try:
            engine = cls(connection, shown, spills=True)
        except duckdb.Error as error:
            connection.close()
            raise refused(f"to open {path or 'a database in memory'}", error) from error
        except BaseException:
            connection.close()
            raise
        try:
            with suppress(duckdb.Error):  # a build without time zones has no such setting, and needs none
                connection.execute("SET TimeZone = 'UTC'")
            if threads:
                engine.execute(f"SET threads = {int(threads)}")
            if memory:
                engine.execute(f"SET memory_limit = '{int(memory)}B'")
        except BaseException:
            engine.close()
            raise
        return engine

    def _one(self, text: str) -> object:
        row = self._connection.execute(text).fetchone()
        return row[0] if row else None

    def _use(self, database: str) -> None:
        """Make a database the one where names are looked up that do not say theirs."""
        if self._current != database:
            self._connection.execute(f"USE {_quote(database)}.main")
            self._current = database

    def _qualified(self, table: TableRef) -> str:
        database = table.database or (self._database if table.schema else None)
        return ".".join(_quote(part) for part in (database, table.schema, table.name) if part)

    @contextmanager
    def _translated(self, name: str, text: str = "") -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        except duckdb.InterruptException as error:
            raise KeyboardInterrupt from error
        except duckdb.Error as error:
            raise refused(name, error, text) from error
        except RuntimeError as error:
            raise KeyboardInterrupt from error  # how DuckDB reports an interrupt
        log.debug("%s %.3f s", name, time.perf_counter() - start)

    def _run(self, statement: Statement | str) -> duckdb.DuckDBPyConnection:
        """Run a statement: ours among builtins alone, a text of the caller's among the names of the user's database."""
        if isinstance(statement, str):
            self._use(self._database)
            return self._connection.execute(statement)
        self._use(self._empty)
        if statement.binds:
            return self._connection.execute(statement.text, dict(statement.binds))
        return self._connection.execute(statement.text)

    def execute(self, statement: Statement | str) -> None:
        """See `Engine.execute`."""
        with self._translated(_name(statement), _text(statement)):
            self._run(statement)

    def execute_all(self, statements: Sequence[Statement]) -> None:
        """See `Engine.execute_all`."""
        for together in batches(statements):
            self.execute(joined(together))

    def fetch(
        self, statement: Statement | str, *, max_rows: int = 100_000, first: Sequence[Statement] = ()
    ) -> list[Row]:
        """See `Engine.fetch`."""
        if first and isinstance(statement, Statement):
            *before, last = batches([*first, statement])
            for together in before:
                self.execute(joined(together))
            statement = joined(last)
        with self._translated(_name(statement), _text(statement)):
            result = self._run(statement)
            zoned = [i for i, field in enumerate(result.description or ()) if str(field[1]) == _ZONED]
            rows = (
                answers.zoned(self._connection, statement, zoned, max_rows)
                if zoned
                else result.fetchmany(max_rows + 1)
            )
        if len(rows) > max_rows:
            raise DatabaseError(f"{_name(statement)} returned more than {max_rows} rows")
        return rows

    def describe(self, text: str) -> tuple[str, ...]:
        """See `Engine.describe`: DESCRIBE binds a query and does not optimize it, so that no constant is computed."""
        with self._translated("the query"):
            if len(self._connection.extract_statements(text)) != 1:
                raise DatabaseError("one query is described at a time")
            self._use(self._empty)
            rows = self._connection.execute(f"DESCRIBE {text}").fetchall()
        return tuple(str(row[1]) for row in rows)

    def reason(self, error: DatabaseError) -> str:
        """See `Engine.reason`."""
        cause = error.__cause__
        return answers.reason(cause) if isinstance(cause, duckdb.Error) else str(error)

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """See `Engine.fetch_arrays`."""
        import numpy as np

        with self._translated(statement.name, statement.text):
            arrays = list(self._run(statement).fetchnumpy().values())
        if any(np.ma.is_masked(array) for array in arrays):
            raise DatabaseError(f"{statement.name} returned a NULL where none can be")
        return [array.astype(dtype, copy=False) for array, dtype in zip(arrays, dtypes, strict=True)]

    def stream_arrays(
        self, statement: Statement, dtypes: Sequence[str], rows: int
    ) -> Generator[list[npt.NDArray[np.generic]], None, None]:
        """See `Engine.stream_arrays`: through a temporary table, as NumPy arrays come only of a whole result.

        The table keeps the query's order and spills to disk; DuckDB passes over what an OFFSET skips without reading it.
        """
        spool = _quote(f"_sqlanon_stream_{secrets.token_hex(4)}")
        try:
            self.execute(
                Statement(statement.name, f"CREATE TEMP TABLE {spool} AS {statement.text}", statement.binds)
            )
            for start in itertools.count(0, rows):
                block = self.fetch_arrays(
                    Statement(
                        statement.name,
                        f"SELECT * FROM {spool} LIMIT $rows OFFSET $start",  # noqa: S608
                        {"rows": rows, "start": start},
                    ),
                    dtypes,
                )
                if len(block[0]):
                    yield block
                if len(block[0]) < rows:
                    return
        finally:
            with suppress(duckdb.Error):  # a broken transaction or a closed connection drops it by itself
                self._connection.execute(f"DROP TABLE IF EXISTS {spool}")

    def load_arrays(self, table: TableRef, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """See `Engine.load_arrays`."""
        name, view = self._qualified(table), "_sqlanon_arrays"
        temporary = "TEMP " if table.schema is None else ""
        text = (
            f"CREATE {temporary}TABLE IF NOT EXISTS {name} AS SELECT * FROM {view} LIMIT 0; "  # noqa: S608
            f"INSERT INTO {name} BY NAME SELECT * FROM {view}"
        )
        with self._translated(f"load {table.name}"):
            self._use(self._empty)
            self._connection.register(view, dict(columns))
            try:
                self._connection.execute(text)
            finally:
                self._connection.unregister(view)

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        """See `Engine.load_rows`."""
        name = self._qualified(table)
        temporary = "TEMP " if table.schema is None else ""
        defined = ", ".join(f"{_quote(column)} {kind}" for column, kind in columns)
        marks = ", ".join("?" for _ in columns)
        with self._translated(f"load {table.name}"):
            self._use(self._empty)
            text = f"CREATE {temporary}TABLE IF NOT EXISTS {name} ({defined})"
            left = iter(rows)
            while batch := list(itertools.islice(left, 500)):
                values = ", ".join(f"({marks})" for _ in batch)
                text += f"; INSERT INTO {name} VALUES {values}"  # noqa: S608 - marks only
                self._connection.execute(text, [cell for row in batch for cell in row])
                text = ""
            if text:
                self._connection.execute(text)

    def relation(self, name: str) -> Relation:
        """See `Engine.relation`."""
        found = self.look_up([], [name]).named.get(name)
        if found is None:
            raise DatabaseError(f"no table or view {name} in this database; names are table or schema.table")
        return found

    def look_up(
        self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None
    ) -> Found:
        """See `Engine.look_up`."""
        meant = {name: (TableRef("main", name), self.target(name)) for name in names}
        with self._translated("catalog lookup"):
            self._use(self._empty)
            return lookup.look_up(self._connection, self._database, tables, meant, schema)

    def exists(self, ref: TableRef) -> bool:
        """See `Engine.exists`."""
        return self._finds(
            "SELECT 1 FROM information_schema.tables WHERE lower(table_name) = lower($name) AND "
            "lower(table_schema) = lower($schema) AND table_catalog = $database",
            {
                "name": ref.name,
                "schema": ref.schema or "main",
                "database": ref.database or (self._database if ref.schema else "temp"),
            },
        )

    def has_schema(self, ref: TableRef) -> bool:
        """See `Engine.has_schema`."""
        return self._finds(
            "SELECT 1 FROM duckdb_schemas() WHERE lower(schema_name) = lower($schema) AND database_name = $database",
            {"schema": ref.schema, "database": ref.database or self._database},
        )

    def _finds(self, text: str, binds: Mapping[str, Bind]) -> bool:
        return bool(self.fetch(Statement("catalog lookup", text, binds)))

    def target(self, name: str) -> TableRef:
        """See `Engine.target`."""
        parts = split_name(name)
        if len(parts) > 3:
            raise PolicyError(f"{name!r} has too many parts; write table or schema.table")
        database = parts[-3] if len(parts) == 3 else self._database
        return TableRef(parts[-2] if len(parts) > 1 else "main", parts[-1], database)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._translated("BEGIN"):
            self._connection.execute("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            with suppress(duckdb.Error):  # whatever ended it already is what the caller must hear of
                self._connection.execute("ROLLBACK")
            raise
        with self._translated("COMMIT"):
            self._connection.execute("COMMIT")

    snapshot = _transaction
    publishing = _transaction

    @contextmanager
    def lock(self, name: str, *, wait: bool = False) -> Iterator[None]:
        """See `Engine.lock`. Other processes are kept out by DuckDB's own lock on the file."""
        key = f"{self._path or id(self._connection)}:{name}"
        with _locks_guard:
            lock = _locks.setdefault(key, threading.Lock())
        if not lock.acquire(blocking=wait):
            raise LockedError(
                f"{name} is being run by another thread of this process; try again when it is done"
            )
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def attach(self, path: str, *, read_only: bool = False) -> Iterator[str]:
        """See `SecondFile.attach`."""
        alias = f"_sqlanon_{secrets.token_hex(4)}"
        mode = " (READ_ONLY)" if read_only else ""
        try:
            self._connection.execute(f"ATTACH '{path.replace(chr(39), chr(39) * 2)}' AS {alias}{mode}")
        except duckdb.Error as error:
            raise cannot_open(path, error, read_only=read_only) from error
        try:
            yield alias
        except BaseException:
            with suppress(duckdb.Error):  # as for a transaction
                self._connection.execute(f"DETACH {alias}")
            raise
        with self._translated(f"to close {path}"):
            self._connection.execute(f"DETACH {alias}")

    def import_file(self, path: Path, table: TableRef, how: FileReading) -> None:
        """See `Files.import_file`."""
        self._use(self._empty)
        files.read(self._connection, path, self._qualified(table), how)

    def export_file(self, table: TableRef, path: Path) -> None:
        """See `Files.export_file`."""
        write = files.write_parquet if path.suffix.lower() == ".parquet" else files.write_csv
        with self._translated(f"to write {path.name}"):
            self._use(self._empty)
            write(self._connection, self._qualified(table), path)

    def swapping(self, action: Callable[[], None]) -> None:
        """See `Engine.swapping`: readers of a DuckDB file are never in the way."""
        action()

    def dependents(self, view: TableRef) -> list[str]:
        """DuckDB binds a view when it is read: one that is made anew keeps what depends on it."""
        return []

    def relying(self, views: Sequence[TableRef]) -> list[str]:
        """See `Engine.relying`."""
        with self._translated("catalog lookup"):
            self._use(self._empty)
            return stored_views.relying(self._connection, self._database, views)

    def definition(self, view: TableRef) -> str | None:
        """See `Engine.definition`."""
        with self._translated("catalog lookup"):
            self._use(self._empty)
            return stored_views.definition(self._connection, self._database, view)

    def hold(self, view: TableRef) -> None:
        """A file has one writing process: no other one replaces a view."""

    def close(self) -> None:
        """See `Engine.close`."""
        with self._translated("to close the database"):
            try:
                with suppress(duckdb.Error):  # broken, or closed already: then it goes with the connection
                    self._use(self._database)
                    self._connection.execute(f"DETACH {self._empty}")
            finally:
                held, self._spill = self._spill, None
                if held is not None:
                    held.close(self._connection)
                else:
                    self._connection.close()


def _connect(path: str, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(path, read_only=read_only)
    except duckdb.ConnectionException as error:
        if not read_only:
            raise cannot_open(path, error) from error
    except duckdb.Error as error:
        raise cannot_open(path, error, read_only=read_only) from error
    return _connect(path, read_only=False)  # this process writes the file: its connections share one lock


def _name(statement: Statement | str) -> str:
    return statement.name if isinstance(statement, Statement) else "a statement"


def _text(statement: Statement | str) -> str:
    return statement.text if isinstance(statement, Statement) else ""


def _is_database(path: Path) -> bool:
    """Whether the file begins as DuckDB's do: a checksum, then the word DUCK."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return True  # the driver's error will say why it cannot be read
