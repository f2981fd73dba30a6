"""PostgreSQL >= 14 through ``psycopg`` 3; arrays travel by binary COPY; scratch tables are temporary tables."""

from __future__ import annotations

import logging
import re
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from psycopg import sql

from sqlanon.engines import postgres_rights as rights
from sqlanon.engines.base import Capabilities, Column, Kind, Relation, Row, Statement, TableRef
from sqlanon.engines.names import split_name
from sqlanon.errors import DatabaseError, LockedError, PolicyError

if TYPE_CHECKING:
    import numpy.typing as npt

log = logging.getLogger("sqlanon.sql")

_SETTINGS = (
    "SET statement_timeout = 0",
    "SET work_mem = '256MB'",
    "SET temp_buffers = '256MB'",
    "SET jit = off",
    "SET extra_float_digits = 1",
    "SET datestyle = 'ISO'",
    "SET timezone = 'UTC'",
    "SET client_min_messages = 'warning'",
    "SET client_connection_check_interval = '10s'",
)
SWAP_SECONDS = 30.0
"""How long a swap is tried while readers hold the views."""
_TYPES = {"int16": "smallint", "int32": "integer", "int64": "bigint", "float64": "double precision"}
_SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_CHUNK = 1 << 20
_COMMENTS = re.compile(r"^(?:--[^\n]*\n|/\*.*?\*/|\s)+", re.DOTALL)
_MADE = re.compile(r'CREATE TEMPORARY TABLE ("(?:[^"]|"")+")', re.IGNORECASE)


def _kind(category: str, type_text: str) -> Kind:
    base = type_text.split("(", maxsplit=1)[0]
    if category == "e":
        return "enum"
    kinds: dict[str, Kind] = {
        "smallint": "integer", "integer": "integer", "bigint": "integer", "numeric": "decimal",
        "real": "float", "double precision": "float", "boolean": "boolean", "date": "date",
        "text": "text", "character varying": "text", "character": "text", "citext": "text",
    }  # fmt: skip
    if base.startswith("timestamp") and not type_text.endswith("]"):
        return "timestamp"
    return kinds.get(base if not type_text.endswith("]") else "", "other")


def _granted(role: str, refused: str | None) -> None:
    if refused:
        raise DatabaseError(
            f"cannot let role {role} read {refused}: somebody else owns it; ask for GRANT .. WITH GRANT OPTION, or have "
            f"its owner grant it, or take {role} out of the policy's readers"
        )


class PostgresEngine:
    """One PostgreSQL session."""

    dialect = "postgres"
    capabilities = Capabilities(
        second_file=False,
        roles=True,
        max_identifier=63,
        file_formats=False,
        text_type='text COLLATE "C"',
        contains="%(value)s = ANY(%(array)s)",
        temporary_functions="pg_temp",
    )

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        for setting in _SETTINGS:
            connection.execute(setting)

    @classmethod
    def open(cls, url: str) -> PostgresEngine:
        """Connect to ``postgresql://user:password@host:port/database``.

        Raises:
            DatabaseError: the server cannot be reached or refuses; the text says what to check.
        """
        try:
            connection = psycopg.connect(url, autocommit=True, application_name="sqlanon", connect_timeout=10)
        except psycopg.Error as error:
            reason = type(error).__name__
            raise DatabaseError(
                f"cannot connect to PostgreSQL ({reason}): check that the server runs, and the host, port, "
                "database, user and password of the URL (postgresql://user:password@host:5432/database)"
            ) from error
        if connection.info.server_version < 140000:
            connection.close()
            raise DatabaseError("sqlanon needs PostgreSQL 14 or newer")
        return cls(connection)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        except psycopg.errors.InsufficientPrivilege as error:
            raise DatabaseError(
                f"PostgreSQL refused {name}: the role lacks a right (docs/engines.md lists the rights needed)"
            ) from error
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
            raise LockedError(
                f"{name}: another session holds a lock for too long; try again later"
            ) from error
        except psycopg.Error as error:
            raise DatabaseError(
                f"PostgreSQL refused {name} ({type(error).__name__}); --debug shows its own words"
            ) from error
        log.debug("%s %.3f s", name, time.perf_counter() - start)

    def _run(self, statement: Statement | str) -> psycopg.Cursor:
        if isinstance(statement, str):
            return self._connection.execute(statement)
        binds = dict(statement.binds) or None
        return self._connection.execute(statement.text, binds)

    def execute(self, statement: Statement | str) -> None:
        """See `Engine.execute`."""
        with self._translated(_name(statement)):
            self._run(statement)
            made = _MADE.match(
                _COMMENTS.sub("", statement.text if isinstance(statement, Statement) else statement)
            )
            if made:
                # Nobody analyzes temporary tables by himself, and the planner joins badly without statistics.
                self._run(f"ANALYZE {made.group(1)}")

    def fetch(self, statement: Statement | str, *, max_rows: int = 100_000) -> list[Row]:
        """See `Engine.fetch`."""
        with self._translated(_name(statement)):
            rows = self._run(statement).fetchmany(max_rows + 1)
        if len(rows) > max_rows:
            raise DatabaseError(f"{_name(statement)} returned more than {max_rows} rows")
        return rows

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """See `Engine.fetch_arrays`: one binary COPY; a row of fixed width is read as one NumPy record."""
        record = _record(dtypes)
        query = _copy_out(statement, dtypes)
        data = bytearray()
        with (
            self._translated(statement.name),
            self._connection.cursor() as cursor,
            cursor.copy(query, dict(statement.binds) or None) as copy,
        ):
            for block in copy:
                data += block
        return _arrays(statement.name, memoryview(data)[len(_SIGNATURE) : -2], record, dtypes)

    def stream_arrays(
        self, statement: Statement, dtypes: Sequence[str], rows: int
    ) -> Generator[list[npt.NDArray[np.generic]], None, None]:
        """See `Engine.stream_arrays`: one binary COPY, read as it comes."""
        record = _record(dtypes)
        data = bytearray()
        start = len(_SIGNATURE)
        with (
            self._translated(statement.name),
            # Ending a COPY early fails its transaction: a savepoint keeps the one that may be open.
            self._connection.transaction(),
            self._connection.cursor() as cursor,
            cursor.copy(_copy_out(statement, dtypes), dict(statement.binds) or None) as copy,
        ):
            for row in copy:
                data += row
                while len(data) >= start + rows * record.itemsize:
                    stop = start + rows * record.itemsize
                    yield _arrays(statement.name, data[start:stop], record, dtypes)
                    del data[:stop]
                    start = 0
            if len(data) > start + 2:  # the format ends with two bytes of its own
                yield _arrays(statement.name, data[start:-2], record, dtypes)

    def load_arrays(self, table: TableRef, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """See `Engine.load_arrays`."""
        dtypes = [str(array.dtype) for array in columns.values()]
        temporary = sql.SQL("TEMP " if table.schema is None else "")
        defined = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(_TYPES[dtype]))
            for name, dtype in zip(columns, dtypes, strict=True)
        )
        record = _record(dtypes)
        count = len(next(iter(columns.values())))
        with self._translated(f"load {table.name}"), self._connection.cursor() as cursor:
            cursor.execute(
                sql.SQL("CREATE {}TABLE IF NOT EXISTS {} ({})").format(temporary, _ident(table), defined)
            )
            names = sql.SQL(", ").join(map(sql.Identifier, columns))
            with cursor.copy(
                sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(_ident(table), names)
            ) as copy:
                copy.write(_SIGNATURE)
                for start in range(0, count, _CHUNK):
                    stop = min(count, start + _CHUNK)
                    rows = np.empty(stop - start, dtype=record)
                    rows["fields"] = len(dtypes)
                    for i, array in enumerate(columns.values()):
                        rows[f"l{i}"] = array.dtype.itemsize
                        rows[f"v{i}"] = array[start:stop]
                    copy.write(rows.tobytes())
                copy.write(b"\xff\xff")
            if table.schema is None:
                cursor.execute(sql.SQL("ANALYZE {}").format(_ident(table)))

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        """See `Engine.load_rows`."""
        temporary = sql.SQL("TEMP " if table.schema is None else "")
        defined = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in columns
        )
        with self._translated(f"load {table.name}"), self._connection.cursor() as cursor:
            cursor.execute(sql.SQL("CREATE {}TABLE {} ({})").format(temporary, _ident(table), defined))
            with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(_ident(table))) as copy:
                for row in rows:
                    copy.write_row(row)

    def relation(self, name: str) -> Relation:
        """See `Engine.relation`."""
        lookup = (
            "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), t.typtype::text, "
            "c.relkind IN ('v', 'm') "
            "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
            "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
            "JOIN pg_type AS t ON t.oid = a.atttypid "
            "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.relname = %(name)s AND "
            "(n.nspname = %(schema)s OR (%(schema)s IS NULL AND pg_table_is_visible(c.oid))) "
            "ORDER BY a.attnum"
        )
        parts = split_name(name)
        tries: list[tuple[str | None, str]] = [(None, name)]
        if len(parts) in (1, 2):
            tries.append((parts[0] if len(parts) == 2 else None, parts[-1]))
        for schema, table in tries:
            with self._translated("catalog lookup"):
                rows = self._connection.execute(lookup.replace("%(schema)s", "%(schema)s::text"),
                                                {"schema": schema, "name": table}).fetchall()  # fmt: skip
            if rows:
                columns = tuple(
                    Column(r[2], r[3], _kind(r[4], r[3]) if r[4] != "d" else "other") for r in rows
                )
                return Relation(TableRef(rows[0][0], rows[0][1]), columns, rows[0][5])
        raise DatabaseError(
            f"no table or view {name} in this database; names are table or schema.table, in the exact spelling"
        )

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
        return TableRef(
            parts[0] if len(parts) == 2 else str(self.fetch("SELECT current_schema()")[0][0]), parts[-1]
        )

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self.execute(begin)
        try:
            yield
        except BaseException:
            if not self._connection.closed:
                self._connection.execute("ROLLBACK")
            raise
        self.execute("COMMIT")

    def snapshot(self) -> AbstractContextManager[None]:
        """See `Engine.snapshot`."""
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ")

    def publishing(self) -> AbstractContextManager[None]:
        """See `Engine.publishing`."""
        return self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '10s'")

    @contextmanager
    def lock(self, name: str, *, wait: bool = False) -> Iterator[None]:
        """See `Engine.lock`: a session advisory lock, so it ends with the session even on kill -9."""
        key = zlib.crc32(name.encode()) - (1 << 31)
        binds: dict[str, int | float | str | None] = {"space": 0x5A0, "key": key}
        if wait:
            self.fetch(Statement("lock", "SELECT pg_advisory_lock(%(space)s, %(key)s)", binds))
        elif not self.fetch(Statement("lock", "SELECT pg_try_advisory_lock(%(space)s, %(key)s)", binds))[0][
            0
        ]:
            raise LockedError(f"{name} is being run by another session; try again when it is done")
        try:
            yield
        finally:
            if not self._connection.closed:
                self._run(Statement("unlock", "SELECT pg_advisory_unlock(%(space)s, %(key)s)",
                                    {"space": 0x5A0, "key": key}))  # fmt: skip

    @contextmanager
    def attach(self, path: str, *, read_only: bool = False) -> Iterator[str]:
        """PostgreSQL has no second file."""
        if path:
            raise PolicyError(
                "publish_file is for DuckDB; PostgreSQL publishes into a schema of the same database"
            )
        yield path

    def import_file(self, path: Path, table: TableRef) -> None:
        """PostgreSQL reads no files of ours."""
        raise PolicyError("files are read by DuckDB; load this one into PostgreSQL first (\\copy)")

    def export_file(self, table: TableRef, path: Path) -> None:
        """PostgreSQL writes no files of ours."""
        raise PolicyError("files are written by DuckDB; use \\copy on the published view")

    def swapping(self, action: Callable[[], None]) -> None:
        """See `Engine.swapping`: a waiting ACCESS EXCLUSIVE lock would make new readers queue, so it waits briefly, often."""
        end, pause = time.monotonic() + SWAP_SECONDS, 0.05
        while True:
            self.execute("SAVEPOINT sqlanon_swap; SET LOCAL lock_timeout = '100ms'")
            try:
                action()
            except LockedError:
                self.execute("ROLLBACK TO SAVEPOINT sqlanon_swap")
                if time.monotonic() > end:
                    raise
                time.sleep(pause)
                pause = min(pause * 1.5, 1.0)
            else:
                self.execute("RELEASE SAVEPOINT sqlanon_swap; SET LOCAL lock_timeout = '10s'")
                return

    def rights(self, view: TableRef, columns: Sequence[str]) -> list[str]:
        """See `Engine.rights`."""
        with self._translated("recorded rights"):
            return rights.recorded(self._connection, view, columns)

    def roles(self, names: Sequence[str]) -> list[str]:
        """See `Engine.roles`."""
        with self._translated("catalog lookup"):
            return rights.roles(self._connection, names)

    def allow(self, views: Sequence[TableRef], role: str) -> None:
        """See `Engine.allow`."""
        with self._translated("GRANT"):
            refused = rights.allow(self._connection, views, role)
        _granted(role, refused)

    def let_in(self, views: Sequence[TableRef], role: str) -> None:
        """See `Engine.let_in`."""
        with self._translated("GRANT"):
            refused = rights.let_in(self._connection, views, role)
        _granted(role, refused)

    def forbid(self, views: Sequence[TableRef], role: str) -> None:
        """See `Engine.forbid`."""
        with self._translated("REVOKE"):
            rights.forbid(self._connection, views, role)

    def reads(self, role: str, ref: TableRef) -> bool:
        """See `Engine.reads`."""
        with self._translated("catalog lookup"):
            return rights.reads(self._connection, role, ref)

    def enters(self, role: str, schema: str) -> bool:
        """See `Engine.enters`."""
        with self._translated("catalog lookup"):
            return rights.enters(self._connection, role, schema)

    def seclude(self, schema: str, *, anew: bool) -> None:
        """See `Engine.seclude`."""
        with self._translated("rights of the private schema"):
            owner = rights.foreign_owner(self._connection, schema)
            if owner is None and anew:
                rights.seclude(self._connection, schema)
        if owner is not None:
            raise DatabaseError(
                f"schema {schema} belongs to role {owner}, who could read all that sqlanon keeps there: run as a member of that "
                "role, or drop the schema if it is not yours"
            )

    def strangers(self, schema: str) -> list[str]:
        """See `Engine.strangers`."""
        with self._translated("catalog lookup"):
            return rights.strangers(self._connection, schema)

    def dependents(self, view: TableRef) -> list[str]:
        """See `Engine.dependents`."""
        with self._translated("catalog lookup"):
            return rights.dependents(self._connection, view)

    def close(self) -> None:
        """See `Engine.close`."""
        self._connection.close()


def _ident(table: TableRef) -> sql.Identifier:
    return sql.Identifier(*(part for part in (table.schema, table.name) if part))


def _copy_out(statement: Statement, dtypes: Sequence[str]) -> sql.Composed:
    casts = sql.SQL(", ").join(
        sql.SQL("c{}::{}").format(sql.SQL(str(i)), sql.SQL(_TYPES[dtype])) for i, dtype in enumerate(dtypes)
    )
    names = sql.SQL(", ").join(sql.SQL(f"c{i}") for i in range(len(dtypes)))
    return sql.SQL("COPY (SELECT {} FROM ({}) AS q({})) TO STDOUT (FORMAT BINARY)").format(
        casts, sql.SQL(statement.text), names
    )


def _arrays(
    name: str, data: memoryview | bytearray, record: np.dtype[np.void], dtypes: Sequence[str]
) -> list[npt.NDArray[np.generic]]:
    """The columns of whole tuples."""
    whole = len(data) % record.itemsize == 0
    rows = np.frombuffer(data, dtype=record, count=len(data) // record.itemsize)
    if not whole or any((rows[f"l{i}"] != np.dtype(dtype).itemsize).any() for i, dtype in enumerate(dtypes)):
        raise DatabaseError(f"{name} returned a NULL where none can be")
    return [rows[f"v{i}"].astype(dtype) for i, dtype in enumerate(dtypes)]


def _record(dtypes: Sequence[str]) -> np.dtype[np.void]:
    """One tuple of the binary COPY format: a field count, then length and big-endian value per field."""
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for i, dtype in enumerate(dtypes):
        fields += [(f"l{i}", ">i4"), (f"v{i}", np.dtype(dtype).newbyteorder(">").str)]
    return np.dtype(fields)


def _name(statement: Statement | str) -> str:
    return re.sub(r"\s+", " ", statement.name) if isinstance(statement, Statement) else "a statement"
