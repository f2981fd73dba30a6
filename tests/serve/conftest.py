"""A server in this process, over a database of each engine, and clients of it."""

from __future__ import annotations

import io
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

import sqlanon
from sqlanon.serve.cancel import Cancel
from sqlanon.serve.client_tables import Reader
from sqlanon.serve.pool import Turn
from sqlanon.serve.server import Limits
from sqlanon.serve.start import Options, make_server
from tests.conftest import ready
from tests.engines import ENGINES

FILE, SERVER = ENGINES[1], ENGINES[2]
USERS = "ann:secret\nbea:other word\n"
ROWS = [(20 + i // 3, ["flu", "asthma", "cough"][i % 3], i % 7) for i in range(60)]


@dataclass
class Place:
    """A database with a release, and who reads it.

    Attributes:
        url: of the database that is served.
        source: the source's table.
        reader: whose rights queries have.
        owner: a connection of the owner, to the database with the source.
        again: publishes the next version.
    """

    url: str
    source: str
    reader: Reader
    owner: Any
    again: Callable[[], object]


@dataclass
class Running:
    """A server that listens.

    Attributes:
        place: what it serves.
        port: where.
        log: its access log.
        server: itself.
    """

    place: Place
    port: int
    log: io.StringIO
    server: Any
    stop: Callable[[], None] = field(default=lambda: None)

    def url(self, user: str = "ann", password: str = "secret", **options: str) -> str:
        """A connection URL."""
        asked = "".join(f"&{key}={value}" for key, value in options.items())
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/sqlanon?connect_timeout=600{asked}"

    def connect(self, **options: Any) -> psycopg.Connection:
        """A connection of psycopg."""
        return psycopg.connect(self.url(), autocommit=True, **options)

    def lines(self) -> list[dict[str, Any]]:
        """The access log."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


def turn(seconds: float = 20.0, user: str = "ann") -> Turn:
    """Of a question that is asked now."""
    return Turn(user, time.monotonic() + seconds, Cancel())


def make_place(engine: Any, directory: Path, stack: ExitStack) -> Place:
    """A database with one release of a table, whose reader can read nothing else."""
    url = ready(engine).fresh(directory)
    stack.callback(engine.drop, url)
    owner = stack.enter_context(sqlanon.connect(url))
    run = owner.engine.execute
    source = f"people_{uuid.uuid4().hex[:6]}"
    run(f"CREATE TABLE {source} (age INTEGER, ill VARCHAR, cost INTEGER, note VARCHAR)")
    owner.engine.load_rows(
        owner.engine.target(source),
        [("age", "INTEGER"), ("ill", "VARCHAR"), ("cost", "INTEGER"), ("note", "VARCHAR")],
        [(*row, f"sesame{i}") for i, row in enumerate(ROWS)],
    )
    options: dict[str, Any] = {
        "quasi": "age",
        "sensitive": "ill",
        "insensitive": "cost",
        "identifiers": "note",
        "k": 5,
        "format": "ranges",
    }
    reader = Reader(None)
    served = url
    if engine is SERVER:
        role = f"r{uuid.uuid4().hex[:10]}"
        run(f"CREATE ROLE {role}")
        stack.callback(run, f"DROP OWNED BY {role}; DROP ROLE {role}")
        options["readers"] = [role]
        reader = Reader(role)
    else:
        file = directory / f"published_{source}.duckdb"
        options |= {"publish_file": str(file), "publish": f"release.{source}"}
        served = f"duckdb:///{file}"

    def again() -> object:
        return owner.anonymize(source, **options)

    again()
    return Place(served, source, reader, owner, again)


@contextmanager
def serving(place: Place, **options: Any) -> Iterator[Running]:
    """A server in threads of this process."""
    log = io.StringIO()
    users = options.pop("users", None)
    chosen = Options(place.reader, users, log=log, **{"limits": Limits(60, of_user=60), "seconds": 60.0, **options})
    server = make_server(place.url, lambda: sqlanon.connect(place.url, read_only=True, threads=1), chosen)
    _, port = server.listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.serve)
    thread.start()
    stopped = threading.Event()

    def stop() -> None:
        if not stopped.is_set():
            stopped.set()
            server.close()
            thread.join()

    try:
        yield Running(place, port, log, server, stop)
    finally:
        stop()


@pytest.fixture(scope="package", autouse=True)
def known_users() -> Iterator[None]:
    """Who may log in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLANON_SERVE_USERS", USERS)
        yield


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A release on PostgreSQL."""
    with ExitStack() as stack:
        yield make_place(SERVER, tmp_path_factory.mktemp("served"), stack)


@pytest.fixture(scope="package")
def file_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A release in a DuckDB file of its own."""
    with ExitStack() as stack:
        yield make_place(FILE, tmp_path_factory.mktemp("served"), stack)


@pytest.fixture(scope="package")
def running(place: Place) -> Iterator[Running]:
    """A server over PostgreSQL."""
    with serving(place) as server:
        yield server


@pytest.fixture(scope="package")
def file_running(file_place: Place) -> Iterator[Running]:
    """A server over a DuckDB file."""
    with serving(file_place) as server:
        yield server
