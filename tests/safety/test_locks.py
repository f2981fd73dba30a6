"""One run of one release at a time: the second leaves at once, and says who is there."""

from __future__ import annotations

import subprocess
import sys
import threading
import uuid
import zlib

import pytest

import sqlanon
from tests.engines import ENGINES
from tests.safety.conftest import FILE, SERVER, hear, kill, wait_for
from tests.safety.people import RELEASE, assert_tidy, generation_of, write_people
from tests.safety.worker import run_until


class During:
    """A `Progress` that does something once, when a stage begins."""

    def __init__(self, stage, action):
        self._stage, self._action = stage, action

    def stage(self, release, stage):
        if stage == self._stage and self._action:
            action, self._action = self._action, None
            action()

    def update(self, done, total, unit): ...

    def note(self, message): ...

    def finish(self, release): ...


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [FILE, SERVER], ids=lambda engine: engine.name)
def test_second_connection_of_this_process(make_url, engine):
    url = make_url(engine)
    refused = []

    def second() -> None:
        with sqlanon.connect(url) as other:
            for action in (lambda: other.anonymize("people", **RELEASE), other.clean):
                with pytest.raises(sqlanon.LockedError) as caught:
                    action()
                refused.append(str(caught.value))
            other.engine.execute("CREATE TABLE elsewhere AS SELECT * FROM people")
            other.anonymize("elsewhere", **RELEASE)  # another release is nobody's business

    with sqlanon.connect(url) as db:
        write_people(db.engine, 0)
        db.anonymize("people", **RELEASE)
        write_people(db.engine, 1)

    def in_a_thread() -> None:
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()

    with sqlanon.connect(url, progress=During("encode", in_a_thread)) as db:
        db.anonymize("people", **RELEASE)
        assert len(refused) == 2
        assert all("people" in text for text in refused)
        assert generation_of(db.engine) == 1
        assert db.engine.fetch("SELECT count(*) FROM release.elsewhere") == [(41,)]
        assert_tidy(db)
        db.anonymize("people", **RELEASE)  # and the lock is free again


def test_the_lock_goes_with_an_error(shared_db):
    write_people(shared_db.engine, 0, "locked")
    for _ in range(2):
        with pytest.raises(sqlanon.InfeasibleError):
            shared_db.anonymize("locked", **RELEASE | {"k": 41})
    shared_db.anonymize("locked", **RELEASE)


def test_other_process_holds_the_duckdb_file(make_url, start):
    url = make_url(FILE)
    with sqlanon.connect(url) as db:
        write_people(db.engine, 0)
    process, pipe = start(run_until, url, RELEASE, "method", 1)
    assert hear(pipe) == "here"
    with pytest.raises(sqlanon.LockedError, match=rf"\b{process.pid}\b") as caught:
        sqlanon.connect(url)
    assert caught.value.exit_code == 3
    kill(process)
    with sqlanon.connect(url) as db:
        db.anonymize("people", **RELEASE)
        assert generation_of(db.engine) == 0


def test_other_session_of_postgres(make_url, start):
    url = make_url(SERVER)
    with sqlanon.connect(url) as db:
        write_people(db.engine, 0)
        process, pipe = start(run_until, url, RELEASE, "publish", 2)
        assert hear(pipe) == "here"
        with pytest.raises(sqlanon.LockedError) as caught:
            db.anonymize("people", **RELEASE)
        assert caught.value.exit_code == 3
        kill(process)

        def free() -> bool:
            try:
                db.anonymize("people", **RELEASE)
            except sqlanon.LockedError:
                return False
            return True

        wait_for(free)
        assert_tidy(db)


def test_any_role_can_hold_the_lock_and_is_named(make_url, monkeypatch):
    """Advisory locks ask for no right: a run waits for none of them without end, and says whom to ask."""
    import psycopg

    from sqlanon.engines.postgres import session

    monkeypatch.setattr(session, "WAIT_SECONDS", 0.1)
    url, role = make_url(SERVER), f"idler_{uuid.uuid4().hex[:6]}"
    with sqlanon.connect(url) as db, psycopg.connect(url, autocommit=True, application_name="a\tjob") as other:
        write_people(db.engine, 0)
        other.execute(f"CREATE ROLE {role}")
        other.execute(f"SET SESSION AUTHORIZATION {role}")
        for lock in ("release people", "schemas"):
            key = zlib.crc32(lock.encode()) - (1 << 31)
            other.execute("SELECT pg_advisory_lock(%s, %s::int)", [0x5A0, key])
            with pytest.raises(sqlanon.LockedError) as caught:
                db.anonymize("people", **RELEASE)
            other.execute("SELECT pg_advisory_unlock(%s, %s::int)", [0x5A0, key])
            assert f"(pid {other.info.backend_pid}, role " in str(caught.value)
            assert "\t" not in str(caught.value)
            assert db.releases() == ()
        assert db.anonymize("people", **RELEASE).report.verified
        other.execute("RESET SESSION AUTHORIZATION")
        other.execute(f"DROP ROLE {role}")


def test_two_releases_of_one_view_at_once(make_url):
    """Two releases that both want a free name: one gets it, and the other does not overwrite it."""
    url = make_url(SERVER)

    def other() -> None:
        with sqlanon.connect(url) as second:
            second.anonymize("people", **RELEASE | {"name": "second", "publish": "release.one", "k": 5})

    with sqlanon.connect(url, progress=During("method", other)) as db:
        write_people(db.engine, 0)
        with pytest.raises(sqlanon.SqlanonError):
            db.anonymize("people", **RELEASE | {"name": "first", "publish": "release.one"})
        assert [row.release for row in db.releases() if row.status == "published"] == ["second"]


@pytest.mark.parametrize("engine", ENGINES[1:], ids=lambda engine: engine.name)
def test_first_releases_at_once(make_url, engine):
    """Different first releases of a database at the same time: nobody stumbles over making the private schema."""
    url, errors, barrier = make_url(engine), [], threading.Barrier(3)
    with sqlanon.connect(url) as db:
        for i in range(3):
            write_people(db.engine, 0, f"t{i}")

        def release(i: int) -> None:
            try:
                with sqlanon.connect(url) as mine:
                    barrier.wait()
                    mine.anonymize(f"t{i}", **RELEASE)
            except Exception as error:  # noqa: BLE001 - any error is a finding
                errors.append(f"{type(error).__name__}: {error} / {error.__cause__}")

        threads = [threading.Thread(target=release, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert sorted(row.release for row in db.releases()) == ["t0", "t1", "t2"]


@pytest.mark.parametrize("read_only", [False, True])
def test_another_connection_of_this_process_does_not_end_its_lock_on_the_file(make_url, read_only):
    """POSIX ends all locks of a process on a file with the first descriptor of it that is closed."""
    url = make_url(FILE)
    path = url.removeprefix("duckdb:///")
    opens = [sys.executable, "-c", f"import duckdb; duckdb.connect({path!r})"]
    with sqlanon.connect(url) as db:
        sqlanon.connect(url, read_only=read_only).close()
        ended = subprocess.run(opens, capture_output=True, text=True, check=False)
        assert "lock" in ended.stderr
        db.engine.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert subprocess.run(opens, check=False).returncode == 0
