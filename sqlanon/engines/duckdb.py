"""DuckDB >= 2.0: files and memory, through ``duckdb``; scratch tables are its temporary tables."""

from __future__ import annotations

import csv
import gzip
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
from typing import TYPE_CHECKING

import duckdb

from sqlanon.engines.base import Capabilities, Column, Kind, Relation, Row, Statement, TableRef
from sqlanon.engines.names import split_name
from sqlanon.errors import DatabaseError, LockedError, PolicyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

log = logging.getLogger("sqlanon.sql")

_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$", "integer"),
    (r"DECIMAL", "decimal"),
    (r"(DOUBLE|FLOAT|REAL)$", "float"),
    (r"BOOLEAN$", "boolean"),
    (r"DATE$", "date"),
    (r"TIMESTAMP", "timestamp"),
    (r"ENUM\(", "enum"),
    (r"VARCHAR$", "text"),
)
_locks: dict[str, threading.Lock] = {}
_locks_guard = threading.Lock()


def _kind(type_text: str) -> Kind:
    if type_text.endswith("]"):
        return "other"
    return next((kind for pattern, kind in _KINDS if re.match(pattern, type_text)), "other")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _qualified(table: TableRef) -> str:
    return ".".join(_quote(part) for part in (table.database, table.schema, table.name) if part)


_LINES = "skip = 0, comment = ''"
"""Left to itself, DuckDB drops lines that begin with # as comments, and leading ones as notes."""


def _literal_path(path: Path) -> str:
    """A path that DuckDB does not read as a pattern, which could match other files."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


class DuckDBEngine:
    """One DuckDB connection. A file has one writing process; readers in it see the last commit."""

    dialect = "duckdb"
    capabilities = Capabilities(
        second_file=True,
        roles=False,
        max_identifier=200,
        file_formats=True,
        text_type="VARCHAR",
        contains="LIST_CONTAINS(%(array)s, %(value)s)",
        temporary_functions="temp.main",
    )

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str | None) -> None:
        self._connection = connection
        self._path = path
        self._database = str(self._one("SELECT current_database()"))

    @classmethod
    def open(cls, url: str, *, threads: int | None, memory: int | None) -> DuckDBEngine:
        """Open ``duckdb:///path`` (an existing file) or ``duckdb:///:memory:``.

        Raises:
            DatabaseError: no such file, no database, or no right to it.
            LockedError: another process holds the file; the text gives its pid.
        """
        match = re.fullmatch(r"duckdb:(?://)?(/?)(.*)", url, re.IGNORECASE | re.DOTALL)
        path = match.group(2) if match else ""
        if path in ("", ":memory:"):
            connection, shown = duckdb.connect(":memory:"), None
        else:
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
            try:
                connection = duckdb.connect(path)
            except duckdb.Error as error:
                raise _cannot_open(path, error) from error
        engine = cls(connection, shown)
        with suppress(duckdb.Error):  # a build without time zones has no such setting, and needs none
            connection.execute("SET TimeZone = 'UTC'")
        if threads:
            engine.execute(f"SET threads = {int(threads)}")
        if memory:
            engine.execute(f"SET memory_limit = '{int(memory)}B'")
        return engine

    def _one(self, text: str) -> object:
        row = self._connection.execute(text).fetchone()
        return row[0] if row else None

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        except duckdb.Error as error:
            raise DatabaseError(
                f"DuckDB refused {name} ({type(error).__name__}); --debug shows its own words"
            ) from error
        except RuntimeError as error:
            raise KeyboardInterrupt from error  # how DuckDB tells an interrupt
        log.debug("%s %.3f s", name, time.perf_counter() - start)

    def _run(self, statement: Statement | str) -> duckdb.DuckDBPyConnection:
        if isinstance(statement, str):
            return self._connection.execute(statement)
        if statement.binds:
            return self._connection.execute(statement.text, dict(statement.binds))
        return self._connection.execute(statement.text)

    def execute(self, statement: Statement | str) -> None:
        """See `Engine.execute`."""
        with self._translated(_name(statement)):
            self._run(statement)

    def fetch(self, statement: Statement | str, *, max_rows: int = 100_000) -> list[Row]:
        """See `Engine.fetch`."""
        with self._translated(_name(statement)):
            rows = self._run(statement).fetchmany(max_rows + 1)
        if len(rows) > max_rows:
            raise DatabaseError(f"{_name(statement)} returned more than {max_rows} rows")
        return rows

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """See `Engine.fetch_arrays`."""
        import numpy as np

        with self._translated(statement.name):
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
        name, view = _qualified(table), "_sqlanon_arrays"
        with self._translated(f"load {table.name}"):
            self._connection.register(view, dict(columns))
            try:
                known = self.exists(table)
                temporary = "TEMP " if table.schema is None else ""
                start = f"INSERT INTO {name} BY NAME" if known else f"CREATE {temporary}TABLE {name} AS"
                self._connection.execute(f"{start} SELECT * FROM {view}")  # noqa: S608
            finally:
                self._connection.unregister(view)

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        """See `Engine.load_rows`."""
        name = _qualified(table)
        temporary = "TEMP " if table.schema is None else ""
        defined = ", ".join(f"{_quote(column)} {kind}" for column, kind in columns)
        marks = ", ".join("?" for _ in columns)
        with self._translated(f"load {table.name}"):
            self._connection.execute(f"CREATE {temporary}TABLE {name} ({defined})")
            batch: list[Row] = []
            for row in rows:
                batch.append(row)
                if len(batch) == 500:
                    self._insert(name, marks, batch)
                    batch = []
            self._insert(name, marks, batch)

    def _insert(self, name: str, marks: str, batch: list[Row]) -> None:
        if batch:
            values = ", ".join(f"({marks})" for _ in batch)
            insert = f"INSERT INTO {name} VALUES {values}"  # noqa: S608 - marks only
            self._connection.execute(insert, [cell for row in batch for cell in row])

    def relation(self, name: str) -> Relation:
        """See `Engine.relation`."""
        for ref in (TableRef("main", name), self.target(name)):
            rows = self.fetch(
                Statement(
                    "catalog lookup",
                    "SELECT c.schema_name, c.table_name, c.column_name, c.data_type, v.view_name IS NOT NULL "
                    "FROM duckdb_columns() AS c LEFT JOIN duckdb_views() AS v "
                    "ON v.database_name = c.database_name AND v.schema_name = c.schema_name "
                    "AND v.view_name = c.table_name "
                    "WHERE c.database_name = $database AND lower(c.schema_name) = lower($schema) "
                    "AND lower(c.table_name) = lower($name) ORDER BY c.column_index",
                    {"database": ref.database or self._database, "schema": ref.schema, "name": ref.name},
                )
            )
            if rows:
                found = TableRef(str(rows[0][0]), str(rows[0][1]), ref.database or self._database)
                columns = tuple(Column(str(r[2]), str(r[3]), _kind(str(r[3]))) for r in rows)
                return Relation(found, columns, bool(rows[0][4]))
        raise DatabaseError(f"no table or view {name} in this database; names are table or schema.table")

    def exists(self, ref: TableRef) -> bool:
        """See `Engine.exists`."""
        rows = self._connection.execute(
            "SELECT 1 FROM information_schema.tables WHERE lower(table_name) = lower($1) AND "
            "lower(table_schema) = lower($2) AND table_catalog = $3",
            [ref.name, ref.schema or "main", ref.database or (self._database if ref.schema else "temp")],
        ).fetchall()
        return bool(rows)

    def has_schema(self, ref: TableRef) -> bool:
        """See `Engine.has_schema`."""
        rows = self._connection.execute(
            "SELECT 1 FROM duckdb_schemas() WHERE lower(schema_name) = lower($1) AND database_name = $2",
            [ref.schema, ref.database or self._database],
        ).fetchall()
        return bool(rows)

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
        """See `Engine.attach`."""
        alias = "_sqlanon_target"
        mode = " (READ_ONLY)" if read_only else ""
        try:
            self._connection.execute(f"ATTACH '{path.replace(chr(39), chr(39) * 2)}' AS {alias}{mode}")
        except duckdb.Error as error:
            raise _cannot_open(path, error) from error
        try:
            yield alias
        finally:
            self._connection.execute(f"DETACH {alias}")

    def import_file(self, path: Path, table: TableRef) -> None:
        """See `Engine.import_file`."""
        if not path.is_file():
            raise DatabaseError(f"no file at {path}")
        reader = "read_parquet" if path.suffix.lower() == ".parquet" else "read_csv"
        given = "?"
        if reader == "read_csv":
            self._check_header(path)
            given = f"?, header = true, {_LINES}"
        try:
            self._connection.execute(
                f"CREATE TABLE {_qualified(table)} AS SELECT * FROM {reader}({given})",  # noqa: S608
                [_literal_path(path)],
            )
        except duckdb.Error as error:
            raise DatabaseError(
                f"cannot read {path} as {'Parquet' if reader == 'read_parquet' else 'CSV'} ({type(error).__name__}): check "
                "that it is one, in UTF-8, with a header and equally long rows; --debug shows DuckDB's own words"
            ) from error

    def _check_header(self, path: Path) -> None:
        """A file needs a header; and DuckDB renames doubled columns without a word, where a policy names one of them."""
        try:
            found = self._connection.execute(
                f"SELECT Delimiter, HasHeader FROM sniff_csv(?, {_LINES})",  # noqa: S608
                [_literal_path(path)],
            ).fetchone()
        except duckdb.Error:
            return  # read_csv will say why
        if found and not found[1]:
            # Its first record would become column names, which messages show.
            raise PolicyError(
                f"{path}: the first line looks like data; put a line with the columns' names before it"
            )
        opener = gzip.open if path.suffix.lower() == ".gz" else open
        try:
            with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
                header = next(csv.reader(file, delimiter=str(found[0]) if found else ","), [])
        except (OSError, UnicodeDecodeError, csv.Error):
            return
        folded = [name.casefold() for name in header]
        twice = sorted({name for name in header if folded.count(name.casefold()) > 1})
        if twice:
            raise PolicyError(
                f"{path}: the header names {len(twice)} column(s) twice: {', '.join(twice)}; rename them"
            )

    def export_file(self, table: TableRef, path: Path) -> None:
        """See `Engine.export_file`."""
        beside = path.with_name(f"{path.name}.sqlanon-{os.getpid()}")
        form = "PARQUET" if path.suffix.lower() == ".parquet" else "CSV, HEADER"
        target = str(beside).replace("'", "''")
        try:
            with self._translated(f"write {path}"):
                self._connection.execute(
                    f"COPY (SELECT * FROM {_qualified(table)}) TO '{target}' (FORMAT {form})"  # noqa: S608
                )
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)

    def swapping(self, action: Callable[[], None]) -> None:
        """See `Engine.swapping`: readers of a DuckDB file are never in the way."""
        action()

    def rights(self, view: TableRef, columns: Sequence[str]) -> list[str]:
        """A DuckDB file has no rights."""
        return []

    def roles(self, names: Sequence[str]) -> list[str]:
        """DuckDB knows no roles."""
        return []

    def let_in(self, views: Sequence[TableRef], role: str) -> None:
        """DuckDB knows no roles."""

    def allow(self, views: Sequence[TableRef], role: str) -> None:
        """DuckDB knows no roles."""

    def forbid(self, views: Sequence[TableRef], role: str) -> None:
        """DuckDB knows no roles."""

    def reads(self, role: str, ref: TableRef) -> bool:
        """Whoever opens the file reads all of it."""
        return True

    def enters(self, role: str, schema: str) -> bool:
        """Whoever opens the file reads all of it."""
        return True

    def seclude(self, schema: str, *, anew: bool) -> None:
        """A DuckDB file has no rights."""

    def strangers(self, schema: str) -> list[str]:
        """A DuckDB file has no rights."""
        return []

    def dependents(self, view: TableRef) -> list[str]:
        """DuckDB binds a view when it is read: one that is made anew keeps what stands on it."""
        return []

    def close(self) -> None:
        """See `Engine.close`."""
        self._connection.close()


def _name(statement: Statement | str) -> str:
    return statement.name if isinstance(statement, Statement) else "a statement"


def _is_database(path: Path) -> bool:
    """Whether the file begins as DuckDB's do: a checksum, then the word DUCK."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return True  # the driver's error will say why it cannot be read


def _cannot_open(path: str, error: duckdb.Error) -> DatabaseError:
    holder = re.search(r"\(PID (\d+)\)", str(error))
    if holder:
        return LockedError(
            f"{path} is locked by process {holder.group(1)}: one process at a time may open a DuckDB file for "
            f"writing; close it there (see: ps -p {holder.group(1)}) and try again"
        )
    if isinstance(error, duckdb.IOException) and "lock" in str(error).lower():
        return LockedError(f"{path} is locked by another process; close it there and try again")
    return DatabaseError(f"cannot open {path} as a DuckDB database ({type(error).__name__}); is it one?")
