"""DuckDB >= 2.0: files and memory, through ``duckdb``; scratch tables are temporary tables."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

import duckdb

from sqlanon.engines.base import (
    EVERY,
    ArrowRows,
    Bind,
    Capabilities,
    Column,
    ColumnReading,
    Engine,
    FileReading,
    FrameKind,
    LookupResult,
    Relation,
    Rights,
    Row,
    Statement,
    TableRef,
    Traffic,
    Workers,
)
from sqlanon.engines.duckdb import export, files, frame_export, frames, lookup
from sqlanon.engines.duckdb import views as stored_views
from sqlanon.engines.duckdb.attached_session import guest
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.errors import cannot_open, translate_error
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from sqlanon.engines.duckdb.lake.tables import LakeTables
from sqlanon.engines.duckdb.open_database import connect, is_private, make_log
from sqlanon.engines.duckdb.transfer import TransferConnection
from sqlanon.engines.names import split_name
from sqlanon.errors import DatabaseError, LockedError, PolicyError
from sqlanon.lake_names import lake_of
from sqlanon.private_folder import sweep

_locks: dict[str, threading.Lock] = {}
_locks_guard = threading.Lock()


class DuckDBEngine(TransferConnection):
    """A DuckDB connection. A file has one writing process; readers in it see the last commit."""

    dialect = "duckdb"
    rights: Rights | None = None
    workers: Workers | None = None
    arrow: ArrowRows | None = None
    fetch_words = load_list = conceals = None
    _lakes: LakeTables | None = None
    transactions = temporary = updates = ordered = True
    capabilities = Capabilities(
        max_identifier=200,
        text_type="VARCHAR",
        contains="LIST_CONTAINS(%(array)s, %(value)s)",
        temporary_functions="temp.main",
        collations=False,
        hidden_collations=True,
        block_rows=2048,
        listed_bit="(%(bits)s >> CAST(ENUM_CODE(%(value)s) AS INTEGER)) & 1 = 1",
        listed_bits="BIT_OR(CAST(1 AS BIGINT) << CAST(ENUM_CODE(%(value)s) AS INTEGER))",
        row_numbers=True,
        type_of="TYPEOF(%(value)s)",
        session_tables=True,
        ordered_product=True,
        declared_runs=True,
        groups_by_mark=True,
        joined_rows=1_000_000,
        ordered_rows=20_000_000,
        staged_hashes=True,
        traffic=Traffic(40, 12, 4.7),
    )

    @property
    def _lake_tables(self) -> LakeTables:
        """The lake tables of the open connection; a new connection, after the file was written anew, has none yet."""
        if self._lakes is None or self._lakes.connection is not self._connection:
            self._lakes = LakeTables(self._connection)
        return self._lakes

    @property
    def ledger_engine(self) -> Self | None:
        return self

    @property
    def second_file(self) -> Self:
        return self

    @property
    def files(self) -> Self:
        return self

    @property
    def lake(self) -> LakeWriter:
        return LakeWriter(self._connection, self._path, self._qualify, self._translate_errors)

    @property
    def lake_engine(self) -> Self:
        return self

    @property
    def reception(self) -> Self:
        return self

    @property
    def transfer(self) -> Self:
        return self

    @property
    def frames(self) -> Self:
        return self

    @classmethod
    def open(cls, url: str, *, threads: int | None, memory: int | None, read_only: bool = False) -> DuckDBEngine:
        """Open ``duckdb:///path`` (an existing file) or ``duckdb:///:memory:``.

        Args:
            url: the database.
            threads: threads that DuckDB may use; None: the default.
            memory: bytes that DuckDB may use; None: the default.
            read_only: other processes may read the file at the same time, and nothing in it can be written. Where this
                process has the file open for writing already, that connection's rights are kept.

        Raises:
            DatabaseError: no such file, no database, or no right to it.
            LockedError: another process holds the file; the text gives its pid.
        """
        connection, path = connect(url, read_only=read_only)
        try:
            engine = cls(connection, path, spills=True)
        except duckdb.Error as error:
            connection.close()
            raise translate_error(f"to open {path or 'a database in memory'}", error) from error
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
        if path is not None:
            engine._again = partial(cls.open, f"duckdb:///{path}", threads=threads, memory=memory)
            engine._swept = () if read_only else tuple(map(str, sweep(Path(path))))
            if not read_only and is_private(Path(path)):
                make_log(Path(path))
        return engine

    @classmethod
    def open_unspilled(cls) -> Self:
        """A database in memory that makes no files: of few rows, in a process that may be killed at any time."""
        connection, _ = connect("duckdb:///:memory:", read_only=False)
        connection.execute("SET temp_directory = ''")
        return cls(connection, None)

    def relation(self, name: str) -> Relation:
        relation = self.look_up([], [name]).named.get(name)
        if relation is None:
            raise DatabaseError(
                f"no table or view {name} in this database; names are table or schema.table, such as main.patients"
            )
        return relation

    def look_up(
        self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None
    ) -> LookupResult:
        lakes = {name: lake for name in names if (lake := lake_of(name)) is not None}
        meant = {name: (TableRef("main", name), self.target(name)) for name in names if name not in lakes}
        with self._translate_errors("catalog lookup"):
            self._use(self._empty)
            looked_up = lookup.look_up(self._send, self._database, tables, meant, schema)
            opened = {name: self._lake_tables.relation(lake) for name, lake in lakes.items()}
        return replace(looked_up, named={**looked_up.named, **opened}) if opened else looked_up

    @contextmanager
    def snapshot(self, *, whole: bool = False) -> Iterator[None]:
        with self._transaction(), self._lake_tables.holding():
            yield

    def holding_lakes(self) -> AbstractContextManager[None]:
        """Context manager: lake tables that were looked up stay as they were opened; see `LakeTables.holding`."""
        return self._lake_tables.holding()

    def exists(self, ref: TableRef) -> bool:
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
        return self._finds(
            "SELECT 1 FROM duckdb_schemas() WHERE lower(schema_name) = lower($schema) AND database_name = $database",
            {"schema": ref.schema, "database": ref.database or self._database},
        )

    def _finds(self, text: str, binds: Mapping[str, Bind]) -> bool:
        return bool(self.fetch(Statement("catalog lookup", text, binds)))

    def target(self, name: str) -> TableRef:
        lake = lake_of(name)
        if lake is not None:
            return TableRef(None, str(lake))
        parts = split_name(name)
        if len(parts) > 3:
            raise PolicyError(f"{name!r} has too many parts; write table or schema.table")
        database = parts[-3] if len(parts) == 3 else self._database
        return TableRef(parts[-2] if len(parts) > 1 else "main", parts[-1], database)

    @contextmanager
    def lock(self, name: str, *, wait: bool = False) -> Iterator[None]:
        """See `Engine.lock`. Other processes are kept out by DuckDB's own lock on the file."""
        key = f"{self._path or id(self._connection)}:{name}"
        with _locks_guard:
            lock = _locks.setdefault(key, threading.Lock())
        if not lock.acquire(blocking=wait):
            raise LockedError(f"{name} is being run by another thread of this process; try again when it is done")
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def attach(self, path: str, *, read_only: bool = False) -> Iterator[str]:
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
        with self._translate_errors(f"to close {path}"):
            self._connection.execute(f"DETACH {alias}")

    def import_file(self, path: Path, table: TableRef, how: FileReading, columns: ColumnReading = EVERY) -> list[str]:
        self._use(self._empty)
        return files.read(self._connection, path, self._qualify(table), how, columns)

    def export_file(
        self, table: TableRef, path: Path, *, sensitive: Sequence[str] = (), escape_formulas: bool = False
    ) -> list[str]:
        with self._translate_errors(f"to write {path.name}"):
            self._use(self._empty)
            if path.suffix.lower() == ".parquet":
                export.write_parquet(self._connection, self._qualify(table), path)
                return []
            return export.write_csv(
                self._connection,
                self._qualify(table),
                path,
                sensitive=sensitive,
                escape_formulas=escape_formulas,
            )

    def kind_of(self, frame: object) -> FrameKind | None:
        return frames.kind_of(frame)

    def import_frame(self, frame: object, table: TableRef, columns: ColumnReading = EVERY) -> None:
        self._use(self._empty)
        frames.read(self._connection, frame, self._qualify(table), columns)

    def export_frame(self, table: TableRef, kind: FrameKind) -> object:
        with self._translate_errors(f"to read {table}"):
            self._use(self._empty)
            return frame_export.write_frame(self._connection, self._qualify(table), kind)

    def import_rows(self, table: TableRef, columns: Sequence[Column], rows: Sequence[Row]) -> None:
        with self._translate_errors(f"load {table.name}"):
            self._use(self._empty)
            frames.load(self._connection, self._qualify(table), columns, rows)

    @contextmanager
    def inside(self) -> Iterator[Engine]:
        with guest(self._connection, DuckDBEngine) as session:
            with suppress(duckdb.Error):  # as when a database is opened
                session.engine.execute("SET TimeZone = 'UTC'")
            yield session.engine

    def keep(self, table: TableRef, copy: TableRef) -> None:
        with self._translate_errors(f"to keep {copy.name}"):
            self._use(self._empty)
            schema = ".".join(quote(part) for part in (copy.database or self._database, copy.schema) if part)
            self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            copied = f"SELECT * FROM {self._qualify(table)}"  # noqa: S608
            self._connection.execute(f"CREATE TABLE {self._qualify(copy)} AS {copied}")

    def run_swap(self, action: Callable[[], None]) -> None:
        """See `Engine.run_swap`: readers of a DuckDB file are never in the way."""
        action()

    def dependents(self, view: TableRef) -> list[str]:
        """DuckDB binds a view when it is read: replacing a view keeps the objects that depend on it."""
        return []

    def list_dependents(self, views: Sequence[TableRef]) -> list[str]:
        with self._translate_errors("catalog lookup"):
            self._use(self._empty)
            return stored_views.list_dependents(self._connection, self._database, views)

    def definition(self, view: TableRef) -> str | None:
        with self._translate_errors("catalog lookup"):
            self._use(self._empty)
            return stored_views.definition(self._connection, self._database, view)

    def hold(self, view: TableRef) -> None:
        """A file has one writing process: no other process replaces a view."""
