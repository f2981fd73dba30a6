"""Releases from one PostgreSQL server to another, either of which stops or has no room: readers have one version."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import sqlanon
from sqlanon.errors import DatabaseError
from sqlanon.release.publish import carry, send
from tests.contract.elsewhere import KINDS, fill, shown, visits_spec
from tests.engines import start_server

pytestmark = [pytest.mark.postgres, pytest.mark.thorough]


class Server:
    """A server of its own, which the tests stop and start."""

    def __init__(self) -> None:
        self.server = start_server(f"sqlanon-pg-{uuid.uuid4().hex[:12]}")
        self.url = self.server.get_uri()

    def crash(self) -> None:
        """End it at once, as when the machine's power fails; no session ends in an orderly way."""
        process = self.server.get_postmaster_info().process
        os.kill(process.pid, signal.SIGQUIT)
        process.wait(30)

    def start(self) -> None:
        self.server.ensure_postgres_running()
        for _ in range(600):
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return

    def fresh(self) -> str:
        """The URL of a new empty database."""
        name = f"t_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return str(self.server.get_uri(name))


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    if why := KINDS["postgres"].missing():
        pytest.skip(why)
    pair = Server(), Server()
    yield pair
    for server in pair:
        server.server.cleanup()


class Two:
    """A source with the table ``visits`` on one server, and an empty target on another."""

    def __init__(self, servers: tuple[Server, Server]) -> None:
        self.here, self.away = servers
        self.source, self.target = (server.fresh() for server in servers)
        with sqlanon.connect(self.source) as db:
            fill(db)

    def spec(self, **more: Any) -> Any:
        return visits_spec(self.target, **more)

    def there(self) -> Any:
        with sqlanon.connect(self.target) as db:
            return shown(db)

    def check_settled(self) -> None:
        """The next run publishes, and both servers have one version."""
        with sqlanon.connect(self.source) as db:
            db.run(self.spec())
            assert self.there() == shown(db)
            assert sum(self.there().values()) == 18
            assert [row.status for row in db.releases()].count("published") == 1
        with sqlanon.connect(self.target) as there:
            rows = there.engine.fetch(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'"
            )
        assert len(rows) == 3


@pytest.fixture
def two(servers: tuple[Server, Server]) -> Two:
    return Two(servers)


def test_versions_go_from_one_server_to_the_other(two):
    with sqlanon.connect(two.source) as db:
        db.run(two.spec())
        first = two.there()
        assert first == shown(db)
        db.engine.execute("DELETE FROM visits WHERE id < 6")
        db.run(two.spec())
        assert two.there() == shown(db) != first
        db.rollback("visits")
        assert two.there() == shown(db) == first
        db.unpublish("visits")
        assert not two.there()
    two.check_settled()


@pytest.mark.parametrize("moment", ["rows", "recorded", "committed"])
@pytest.mark.parametrize("which", ["source", "target"])
def test_a_server_that_stops(two, which, moment, monkeypatch):
    """While rows are on their way, before the target's commit, and between it and the source's record."""
    server = two.here if which == "source" else two.away
    with sqlanon.connect(two.source) as db:
        db.run(two.spec())
        before = two.there()
        db.engine.execute("DELETE FROM visits WHERE id < 6")
        db.engine.execute("CREATE TABLE kept AS SELECT * FROM visits")
    owner, name = {
        "rows": (carry.CarryRoute, "carry"),
        "recorded": (send.Receiver, "add"),
        "committed": (send, "_send_version"),
    }[moment]
    plain = getattr(owner, name)

    def stopping(*asked: Any) -> Any:
        result = plain(*asked)
        server.crash()
        return result

    monkeypatch.setattr(owner, name, stopping)
    try:
        with sqlanon.connect(two.source) as db:
            if which == "target" and moment == "committed":
                assert db.run(two.spec()).outcome == "published"
            else:
                with pytest.raises(DatabaseError, match="the connection to PostgreSQL was lost"):
                    db.run(two.spec())
    finally:
        monkeypatch.undo()
        server.start()
    there = two.there()
    # A source that stops while the target commits cannot stop it: what was recorded there is shown there.
    assert there == before or sum(there.values()) == 18
    if moment == "rows" or (which, moment) == ("target", "recorded"):
        assert there == before
    if moment == "committed":
        assert there != before
    two.check_settled()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 24 MB; only root may make one."""
    folder = Path("/tmp") / f"sqlanon-disk-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24M,mode=777", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode:
        folder.rmdir()
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)
    folder.rmdir()


def test_a_full_disk(two, small_disk):
    """The target's tables are on a disk that has no room for the second version."""
    space = f"small_{uuid.uuid4().hex[:12]}"
    place = small_disk / "pg"
    place.mkdir()
    shutil.chown(place, two.away.server.system_user) if two.away.server.system_user else None
    with psycopg.connect(two.target, autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE {space} LOCATION '{place}'".encode())
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET default_tablespace = '{space}'".encode())
    spec = two.spec(accept_unique="ill")
    with sqlanon.connect(two.source) as db:
        db.run(spec)
        before = two.there()
        db.engine.execute(
            "INSERT INTO visits SELECT 1000 + i, 20, repeat(md5(i::text), 4) FROM generate_series(1, 150000) AS r(i)"
        )
        with pytest.raises(DatabaseError, match="a disk of the server is full") as refused:
            db.run(spec)
        assert "No space left" not in str(refused.value)
        assert two.there() == before == shown(db)
        db.engine.execute("DELETE FROM visits WHERE id >= 1000 OR id < 6")
    two.check_settled()
    with psycopg.connect(two.target, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} RESET default_tablespace".encode())
    with psycopg.connect(two.away.url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
        connection.execute(f"DROP TABLESPACE {space}".encode())
