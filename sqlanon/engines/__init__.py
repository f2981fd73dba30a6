"""Engines: a file each, the only importer of the driver, behind the `Engine` protocol of ``base``.

Belongs here: connections, transactions, locks, moving arrays in and out, reading the system catalog, and the
capabilities of an engine. Does not: algorithms, and the SQL of the walk (that is ``sql/``).
"""

from __future__ import annotations

import re
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.shell import command
from sqlanon.state_url import add_state, is_spark, split_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from sqlanon.engines.base import Engine, Session, SparkSession
    from sqlanon.engines.duckdb.attached_session import Guest

SCHEMES = (
    "duckdb:///path/to/file.duckdb",
    "duckdb:///:memory:",
    "postgresql://user@host/database",
    "sc://host:port",
    "spark+local:///DIR?cores=2",
)


def connect(  # noqa: PLR0913 - keywords of the public interface
    url: str | SparkSession,
    *,
    threads: int | None = None,
    memory: int | None = None,
    read_only: bool = False,
    accept_shared: bool = False,
    temporary: bool = False,
    archive: bool | str = False,
    state: str | None = None,
) -> Engine:
    """Open the database that ``url`` names.

    Args:
        url: one of `SCHEMES`, or a session of Spark.
        threads: threads the engine may use; None leaves the engine's default.
        memory: bytes the engine itself may use (DuckDB only); None leaves the engine's default.
        read_only: nothing but scratch tables is written; a DuckDB file is shared with other processes that read it.
        accept_shared: Spark: others may be able to read the files of the private schema.
        temporary: Spark: the catalog may be gone with the session.
        archive: Spark: a Python environment that is sent to the executors, or True: this one, packed now.
        state: Spark: URL of a database with transactions for ledgers of budgets; a URL of Spark may have it as well.

    Raises:
        PolicyError: the URL names no engine we have.
        DatabaseError: the database cannot be opened; the text gives the remedy.
    """
    if not isinstance(url, str):
        from sqlanon.engines.spark.engine import SparkEngine

        session = cast("Any", url)
        ledger = _choose_ledger(state, read_only=read_only)
        return SparkEngine.of(session, accept_shared=accept_shared, temporary=temporary, archive=archive, ledger=ledger)
    if state is not None:
        try:
            url = add_state(url, state)
        except ValueError as error:
            raise PolicyError(str(error)) from None
    scheme = url.split(":", 1)[0].lower()
    if scheme == "duckdb":
        from sqlanon.engines.duckdb.engine import DuckDBEngine

        return DuckDBEngine.open(url, threads=threads, memory=memory, read_only=read_only)
    if scheme in ("postgresql", "postgres"):
        from sqlanon.engines.postgres.engine import PostgresEngine

        return PostgresEngine.open(url, read_only=read_only)
    if is_spark(url):
        if not (find_spec("pyspark") and find_spec("pyarrow")):
            raise PolicyError("connection: Spark needs more packages: pip install 'sqlanon[spark]'")
        from sqlanon.engines.spark.engine import SparkEngine

        place, state = split_state(url)
        return SparkEngine.open(
            place,
            threads=threads,
            accept_shared=accept_shared,
            temporary=temporary,
            archive=archive,
            ledger=_choose_ledger(state, read_only=read_only),
        )
    raise PolicyError(f"connection: no engine for the scheme {scheme!r}; use one of: {', '.join(SCHEMES)}")


_LEDGER_MEMORY = 1 << 30
"""Bytes for a DuckDB that holds ledgers: they and the tables beside them are small."""


def _choose_ledger(url: str | None, *, read_only: bool) -> Callable[[], Engine] | None:
    """A function that opens a database for ledgers.

    Raises:
        PolicyError: it is no database file of DuckDB, and no PostgreSQL.
    """
    if url is None:
        return None
    file, of_postgres = file_of(url), url.partition(":")[0].lower() in ("postgresql", "postgres")
    if file is None and not of_postgres:
        raise PolicyError("state: a database that stays, with transactions: duckdb:///path, or postgresql://...")
    return partial(_open_ledger, url, file, read_only=read_only)


def _open_ledger(url: str, file: Path | None, *, read_only: bool) -> Engine:
    """Open a database for ledgers; a missing file of DuckDB is made, for this user alone."""
    if file is not None:
        from sqlanon.engines.duckdb.open_database import make_file, make_log

        make_file(file)
    try:
        engine = connect(url, threads=1, memory=_LEDGER_MEMORY, read_only=read_only)
    except SqlanonError as error:
        # A variable of the environment may be part of the URL, and what it names is not shown.
        alone = command("releases", options=["--db", "URL"])
        advice = getattr(error, "advice", "") or f"open it alone for the reason: {alone}"
        raise type(error)(f"state: the database of the ledgers cannot be opened: {advice}") from error
    if file is not None and not read_only:
        make_log(file)
    return engine


@cache
def open_in_worker() -> Engine:
    """The DuckDB in memory of a worker process, of one thread, for all blocks of rows that the worker divides.

    Nobody closes it, as workers are killed when they are idle, so that it must not make files: it does not spill.
    """
    from sqlanon.engines.duckdb.engine import DuckDBEngine

    engine = DuckDBEngine.open_unspilled()
    engine.execute("SET threads = 1")
    return engine


_BESIDE_MEMORY = 2 << 30
"""Bytes for a DuckDB in which small tables of another engine are worked on."""


def open_beside(database: str) -> Engine:
    """A new DuckDB in memory of this process, in which tables of another database can have the names they have there.

    Args:
        database: name of the other database; its private schema is there, empty.
    """
    from sqlanon.engines.base import PRIVATE_SCHEMA
    from sqlanon.engines.duckdb.connection import quote

    engine = connect("duckdb:///:memory:", memory=_BESIDE_MEMORY)
    engine.execute(f"ATTACH ':memory:' AS {quote(database)}")
    engine.execute(f"CREATE SCHEMA {quote(database)}.{quote(PRIVATE_SCHEMA)}")
    return engine


_TARGET_MEMORY = 2 << 30
"""Bytes for a DuckDB that gets a release beside the database of the source."""


def connect_target(url: str, *, read_only: bool = False, plain: bool = True) -> Engine:
    """Open a database that releases are sent to; a missing file of DuckDB is made, for this user alone.

    Args:
        url: of a DuckDB file or of PostgreSQL.
        read_only: nothing is written, and nothing is made.
        plain: the errors of the engine may be shown; without, variables of the environment are part of the URL.

    Raises:
        PolicyError: the URL is of no such database.
        DatabaseError: the database cannot be opened.
    """
    file, of_postgres = file_of(url), url.partition(":")[0].lower() in ("postgresql", "postgres")
    if file is None and not of_postgres:
        raise PolicyError("publish_to: a database that stays, with transactions: duckdb:///path, or postgresql://...")
    try:
        if not read_only:
            make_state(url)
        return connect(url, memory=None if of_postgres else _TARGET_MEMORY, read_only=read_only)
    except SqlanonError as error:
        advice = getattr(error, "advice", "") or "open it alone for the reason: " + command(
            "releases", options=["--db", "URL"]
        )
        text = str(error) if plain else f"the database cannot be opened: {advice}"
        # A driver's error, which a traceback has, can quote a part of a variable, as a host's name.
        raise type(error)(f"publish_to: {text}") from (error if plain else None)


def make_state(url: str) -> None:
    """Make a missing DuckDB file for this user alone; a URL of another engine, or of memory, makes none.

    Raises:
        DatabaseError: nothing can be written there.
    """
    file = file_of(url)
    if file is not None:
        from sqlanon.engines.duckdb.open_database import make_file

        make_file(file)


def file_of(url: str) -> Path | None:
    """The DuckDB file that a URL names, from the root of the file system; None: another engine's URL, or memory."""
    match = re.fullmatch(r"duckdb:(?://)?/?(.*)", url, re.IGNORECASE | re.DOTALL)
    return None if match is None or match[1] in ("", ":memory:") else Path(match[1]).absolute()


def guest(session: Session) -> AbstractContextManager[Guest]:
    """Work inside a DuckDB that the host process has open; see `sqlanon.engines.duckdb.attached_session.guest`."""
    from sqlanon.engines.duckdb import attached_session
    from sqlanon.engines.duckdb.engine import DuckDBEngine

    return attached_session.guest(session, DuckDBEngine)
