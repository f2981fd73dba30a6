"""The database or the server is killed: clients get an error, nothing stays behind, and the next query is answered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from sqlanon.cli.app import app
from sqlanon.serve.catalog import database
from tests.cli.conftest import START, environment
from tests.serve.conftest import FILE, SERVER, Place, Running, make_place, serving
from tests.serve.test_pool import SLOW


def sessions(place: Place) -> list[int]:
    """The server processes of PostgreSQL that work for others in this database."""
    rows = place.owner.engine.fetch(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    return [int(row[0]) for row in rows]


def test_connections_to_the_database_that_are_lost_are_made_anew(place: Place) -> None:
    with serving(place) as running, running.connect() as connection:
        sql = f"SELECT count(*) FROM {place.source}"
        assert connection.execute(sql).fetchone() == (60.0,)
        for pid in sessions(place):
            place.owner.engine.execute(f"SELECT pg_terminate_backend({pid})")
        assert connection.execute(sql).fetchone() == (60.0,)  # no client notices
        place.owner.engine.execute(f"ALTER ROLE {place.reader.role} RENAME TO {place.reader.role}_x")
        try:
            with pytest.raises(psycopg.Error):
                connection.execute(sql)
        finally:
            place.owner.engine.execute(f"ALTER ROLE {place.reader.role}_x RENAME TO {place.reader.role}")
        assert connection.execute(sql).fetchone() == (60.0,)


def test_a_database_that_is_gone_is_one_clear_error(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = make_place(FILE, tmp_path, stack)
        running = stack.enter_context(serving(place))
        connection = stack.enter_context(running.connect())
        sql = f"SELECT count(*) FROM {place.source}"
        assert connection.execute(sql).fetchone() == (60.0,)
        file = Path(place.url.removeprefix("duckdb:///"))
        file.rename(tmp_path / "away")
        with pytest.raises(psycopg.errors.SystemError, match="cannot be reached") as caught:
            connection.execute(sql)
        assert str(tmp_path) not in str(caught.value)
        (tmp_path / "away").rename(file)
        assert connection.execute(sql).fetchone() == (60.0,)


@pytest.mark.thorough
def test_a_lost_catalog_process_is_made_anew(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    with running.connect() as connection:
        assert connection.execute("SELECT count(*) FROM pg_class").fetchone() == (1,)
        idle = running.server._shared.catalog()._processes._idle
        alive = [process._process for process in idle if process._process is not None]
        assert alive
        for process in alive:
            process.kill()
            process.wait()
        assert connection.execute("SELECT count(*) FROM pg_class").fetchone() == (1,)
        monkeypatch.setattr(database, "SECONDS", 0.2)
        idle[-1]._process.send_signal(signal.SIGSTOP)
        with pytest.raises(psycopg.Error, match="too much time"):
            connection.execute("SELECT count(*) FROM pg_class")
        monkeypatch.undo()
        assert connection.execute("SELECT count(*) FROM pg_class").fetchone() == (1,)


def started(place: Place, folder: Path, *words: str) -> tuple[subprocess.Popen[str], int]:
    """``sqlanon serve`` as a process of its own, and its port."""
    users = folder / "users"
    users.write_text("ann:secret\n")
    users.chmod(0o600)
    role = ["--as", place.reader.role] if place.reader.role else []
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", START, "serve", "--db", place.url, *role),
            *("--users", str(users), "--listen", "0", "--json", *words),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=folder,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return process, int(json.loads(line)["port"])


def gone(place: Place, before: list[int]) -> None:
    """No session of the server stays in the database."""
    until = time.monotonic() + 600
    while not set(sessions(place)) <= set(before) and time.monotonic() < until:
        time.sleep(0.05)
    assert set(sessions(place)) <= set(before)


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGTERM, marks=pytest.mark.thorough), signal.SIGKILL], ids=lambda number: number.name
)
def test_a_server_that_ends_leaves_nothing_behind(place: Place, tmp_path: Path, number: signal.Signals) -> None:
    tables = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2"
    before, others = place.owner.engine.fetch(tables), sessions(place)
    process, port = started(place, tmp_path, "--log", "access.log")
    try:
        with psycopg.connect(f"postgresql://ann:secret@127.0.0.1:{port}/x") as connection:
            assert connection.execute(f"SELECT count(*) FROM {place.source}").fetchone() == (60.0,)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
            process.send_signal(number)
            process.wait(600)
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
        assert process.returncode == (128 + number if number is signal.SIGTERM else -number)
    finally:
        process.kill()
        process.communicate()
    gone(place, others)
    assert place.owner.engine.fetch(tables) == before
    until = time.monotonic() + 600
    while any(Path(f"/proc/{child}/cmdline").exists() and b"worker" in read(child) for child in children):
        assert time.monotonic() < until
        time.sleep(0.05)
    events = [json.loads(line)["event"] for line in (tmp_path / "access.log").read_text().splitlines()]
    assert events[:2] == ["login", "ask"]
    assert "secret" not in (tmp_path / "access.log").read_text()


def read(child: str) -> bytes:
    """The command line of a process; empty: it is gone."""
    try:
        return Path(f"/proc/{child}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_command_that_cannot_start_says_why(place: Place, tmp_path: Path) -> None:
    common = ["serve", "--db", place.url]
    role = ["--as", place.reader.role or ""]
    for words, problem in (
        ([], "--as ROLE is wanted"),
        ([*role, "--listen", "0.0.0.0:0"], "--tls-cert"),
        ([*role, "--listen", "nowhere"], "host:port"),
        ([*role, "--users", str(tmp_path / "missing")], "cannot be read"),
        ([*role, "--release", "release.nosuch"], "no such view"),
        ([*role, "--tls-cert", "x"], "belong together"),
        ([*role, "--log", str(tmp_path / "no" / "log")], "cannot be written"),
        (["--as", "nosuch"], "nosuch"),
    ):
        ended = CliRunner().invoke(app, [*common, *words])
        assert ended.exit_code in (2, 3), ended.stderr
        assert problem in ended.stderr
        assert "secret" not in ended.stderr
    assert os.environ["SQLANON_SERVE_USERS"]


@pytest.mark.thorough
def test_a_catalog_process_that_is_killed_while_it_answers_is_an_error_for_one(running: Running) -> None:
    with running.connect() as connection, running.connect() as other, ThreadPoolExecutor(1) as pool:
        assert other.execute("SELECT count(*) FROM pg_class").fetchone() == (1,)  # a process is there
        asked = pool.submit(connection.execute, SLOW.encode())
        users = running.server._shared.catalog()._processes._users
        while not asked.done():
            if users["ann"]:  # whichever process answers now, until one that was killed has ended the question
                for child in children_of(os.getpid()):
                    with suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="too much time or memory"):
            asked.result()
        for one in (connection, other):
            assert one.execute("SELECT count(*) FROM pg_class").fetchone() == (1,)


def children_of(pid: int) -> set[int]:
    """The processes of a server that have the catalog."""
    listed = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in own(task)]
    return {child for child in listed if b"catalog.worker" in read(str(child))}


def own(task: Path) -> list[str]:
    try:
        return (task / "children").read_text(encoding="ascii").split()
    except OSError:
        return []


@pytest.mark.thorough
def test_a_server_that_is_killed_while_it_answers_leaves_nothing_behind(place: Place, tmp_path: Path) -> None:
    tables = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2"
    before, others = place.owner.engine.fetch(tables), sessions(place)
    process, port = started(place, tmp_path, "--log", "access.log")
    url = f"postgresql://ann:secret@127.0.0.1:{port}/x"
    ended: list[str] = []

    def ask(sql: bytes) -> None:
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                while True:
                    connection.execute(sql)
        except psycopg.Error as error:
            ended.append(type(error).__name__)

    asked = [f"SELECT ill, avg(age) FROM {place.source} GROUP BY ill".encode(), SLOW.encode()]
    threads = [threading.Thread(target=ask, args=(sql,)) for sql in asked * 2]
    try:
        for thread in threads:
            thread.start()
        while not ((children := children_of(process.pid)) and set(sessions(place)) - set(others)):
            assert all(thread.is_alive() for thread in threads)
            time.sleep(0.05)
        process.kill()
        process.wait(600)
        for thread in threads:
            thread.join(600)
            assert not thread.is_alive()
    finally:
        process.kill()
        process.communicate()
    assert len(ended) == 4
    assert children
    gone(place, others)
    assert place.owner.engine.fetch(tables) == before
    until = time.monotonic() + 600  # a question has 5 seconds; then they see that nobody reads
    while any(b"worker" in read(str(child)) for child in children) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(b"worker" in read(str(child)) for child in children)


@pytest.mark.thorough
def test_answers_while_connections_are_killed_and_the_release_is_withdrawn(tmp_path: Path) -> None:
    """Each is right, or one clear error; afterwards all is as before."""
    with ExitStack() as stack:
        place = make_place(SERVER, tmp_path, stack)
        running = stack.enter_context(serving(place))
        sql = f"SELECT count(*) FROM {place.source}".encode()
        stop, found, messages = threading.Event(), set(), set()

        def ask() -> None:
            with running.connect() as connection:
                while not stop.is_set():
                    try:
                        found.add(connection.execute(sql).fetchone())
                    except psycopg.Error as error:
                        found.add(error.sqlstate)
                        messages.add(str(error))

        readers = [threading.Thread(target=ask) for _ in range(3)]
        for reader in readers:
            reader.start()
        try:
            while (60.0,) not in found:
                assert all(reader.is_alive() for reader in readers)
                time.sleep(0.01)
            for _ in range(3):
                for pid in sessions(place):
                    place.owner.engine.execute(f"SELECT pg_terminate_backend({pid})")
                time.sleep(0.05)
            place.owner.unpublish(place.source)
            time.sleep(0.3)
            place.again()
        finally:
            stop.set()
            for reader in readers:
                reader.join()
        assert (60.0,) in found
        assert found <= {(60.0,), "42P01", "58000"}, messages
        running.server._shared.asking._listed_at = -1e9  # as seconds later
        with running.connect() as connection:
            assert connection.execute(sql).fetchone() == (60.0,)
