"""Connecting to a database."""

from __future__ import annotations

from sqlanon.database.database import Database
from sqlanon.database.lineage import namespace_of
from sqlanon.engines import connect as open_engine
from sqlanon.engines.base import SparkSession
from sqlanon.kernels.watch import Notes, follow
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.divide.classes import Machine


def connect(  # noqa: PLR0913 - keywords of the public interface
    url: str | SparkSession,
    *,
    progress: Progress | None = None,
    threads: int | None = None,
    memory: int | None = None,
    read_only: bool = False,
    accept_shared: bool = False,
    temporary: bool = False,
    archive: bool | str = False,
    state: str | None = None,
) -> Database:
    """Connect to DuckDB, PostgreSQL or Spark.

    The URLs are ``duckdb:///path``, ``duckdb:///:memory:``, ``postgresql://...``, ``sc://host:port`` and
    ``spark+local:///DIR``.

    Args:
        url: the database, or a `SparkSession`, classic or Connect.
        progress: gets stages, counts and notes of long work; None shows nothing, and
            the log ``sqlanon.kernels`` warns while kernels are compiled.
        threads: threads for DuckDB and the kernels; None: all cores.
        memory: bytes for DuckDB and the kernels; None: about half of the machine's together.
        read_only: to audit, list, query and evaluate: nothing but scratch tables is written. Several processes can have
            a DuckDB file open so.
        accept_shared: Spark: confirm that others may be able to read the files of the private schema (docs/spark.md).
        temporary: Spark: confirm that the catalog, and the tables published in it, are gone with the session.
        archive: Spark: a Python environment that is sent to the executors: a file that venv-pack or conda-pack has
            made, or True: this process's environment, packed now.
        state: Spark: a database with transactions, ``duckdb:///path`` or ``postgresql://...``, for the ledgers of
            budgets and the tables that they paid (docs/spark.md). A URL of Spark may end with it: ``?state=URL``, or
            ``;state=URL`` after ``sc://host:port/``.

    Raises:
        PolicyError: no engine for the URL.
        DatabaseError: the database cannot be opened; the message says how to go on.
    """
    follow(Notes(progress.note) if progress else None)
    machine_here = Machine.here()
    machine = Machine(memory or machine_here.memory, threads or machine_here.threads)
    engine = open_engine(
        url,
        threads=threads,
        memory=memory or int(machine_here.memory * 1.4),
        read_only=read_only,
        accept_shared=accept_shared,
        temporary=temporary,
        archive=archive,
        state=state,
    )
    database = Database(engine, progress or SilentProgress(), machine)
    database.namespace = namespace_of(url)
    return database
