"""Engines: a file each, the only importer of the driver, behind the `Engine` protocol of ``base``.

Belongs here: connections, transactions, locks, moving arrays in and out, reading the system catalog, and the
capabilities of an engine. Does not: algorithms, and the SQL of the walk (that is ``sql/``).
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlanon.engines.base import Engine, Session, SparkSession
    from sqlanon.engines.duckdb.guest import Guest

SCHEMES = (
    "duckdb:///path/to/file.duckdb",
    "duckdb:///:memory:",
    "postgresql://user@host/database",
    "sc://host:port",
    "spark+local:///DIR?cores=2",
)


def connect(
    url: str | SparkSession,
    *,
    threads: int | None = None,
    memory: int | None = None,
    read_only: bool = False,
    accept_shared: bool = False,
    temporary: bool = False,
    archive: bool | str = False,
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

    Raises:
        PolicyError: the URL names no engine we have.
        DatabaseError: the database cannot be opened; the text gives the remedy.
    """
    if not isinstance(url, str):
        from sqlanon.engines.spark.engine import SparkEngine

        session = cast("Any", url)
        return SparkEngine.of(session, accept_shared=accept_shared, temporary=temporary, archive=archive)
    scheme = url.split(":", 1)[0].lower()
    if scheme == "duckdb":
        from sqlanon.engines.duckdb.engine import DuckDBEngine

        return DuckDBEngine.open(url, threads=threads, memory=memory, read_only=read_only)
    if scheme in ("postgresql", "postgres"):
        from sqlanon.engines.postgres.engine import PostgresEngine

        return PostgresEngine.open(url, read_only=read_only)
    if scheme in ("sc", "spark+local"):
        if not (find_spec("pyspark") and find_spec("pyarrow")):
            raise PolicyError("connection: Spark needs more packages: pip install 'sqlanon[spark]'")
        from sqlanon.engines.spark.engine import SparkEngine

        return SparkEngine.open(url, threads=threads, accept_shared=accept_shared, temporary=temporary, archive=archive)
    raise PolicyError(f"connection: no engine for the scheme {scheme!r}; use one of: {', '.join(SCHEMES)}")


def file_of(url: str) -> Path | None:
    """The DuckDB file that a URL names, from the root of the file system; None: another engine's URL, or memory."""
    match = re.fullmatch(r"duckdb:(?://)?/?(.*)", url, re.IGNORECASE | re.DOTALL)
    return None if match is None or match[1] in ("", ":memory:") else Path(match[1]).absolute()


def guest(session: Session) -> AbstractContextManager[Guest]:
    """Work inside a DuckDB that the host process has open; see `sqlanon.engines.duckdb.guest.guest`."""
    from sqlanon.engines.duckdb import guest
    from sqlanon.engines.duckdb.engine import DuckDBEngine

    return guest.guest(session, DuckDBEngine)
