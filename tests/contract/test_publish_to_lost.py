"""Releases in another database whose connection, disk or process is lost: readers have a whole version."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import DatabaseError
from sqlanon.release.catalog.receiver import open_receiver
from sqlanon.release.publish import carry, send
from tests.contract.elsewhere import PAIRS, Pair, add, die, pair, shown

__all__ = ["pair"]
pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]


@pytest.mark.parametrize("pair", ["duckdb-postgres", "postgres-postgres"], indirect=True)
@pytest.mark.parametrize("place", ["rows", "COMMIT"])
def test_a_cut_connection(pair, place, monkeypatch):
    import psycopg

    name = urlsplit(pair.target).path[1:]
    cut = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        f"WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        before = pair.there()
        plain = carry.CarryRoute.carry if place == "rows" else send.Receiver.add

        def cutting(*asked: Any) -> Any:
            done = plain(*asked)
            with psycopg.connect(pair.target, autocommit=True) as other:
                other.execute(cut)
            return done

        owner, attribute = (carry.CarryRoute, "carry") if place == "rows" else (send.Receiver, "add")
        with monkeypatch.context() as patched:
            patched.setattr(owner, attribute, cutting)
            with pytest.raises(DatabaseError, match="the connection to PostgreSQL was lost"):
                db.run(pair.spec(), full=True)
        assert pair.there() == before == shown(db)
        assert len(pair.tables()) == 3
        assert db.run(pair.spec(), full=True).outcome == "published"
        assert pair.there() == shown(db)


@pytest.mark.parametrize(
    "url", ["postgresql://u:${SQLANON_TARGET}@127.0.0.1:1/db", "duckdb:////proc/${SQLANON_TARGET}.duckdb"]
)
def test_errors_and_tracebacks_have_no_part_of_a_variable(url, monkeypatch):
    """A password that is not escaped ends at its ``@`` for the driver, which calls the rest a host that it quotes."""
    monkeypatch.setenv("SQLANON_TARGET", "some@canary.invalid")
    with pytest.raises(DatabaseError) as refused, open_receiver("visits", url):
        pass
    assert "publish_to: the database cannot be opened" in str(refused.value)
    assert "canary" not in "".join(traceback.format_exception(refused.value))


def test_a_server_without_room(pair):
    """The server's answer where its disk is full, at the last step but one."""
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        before = pair.there()
        with sqlanon.connect(pair.target) as there:
            there.engine.execute(
                "CREATE FUNCTION public.full_disk() RETURNS event_trigger LANGUAGE plpgsql AS "
                "'BEGIN RAISE EXCEPTION ''could not extend file'' USING ERRCODE = ''53100''; END'"
            )
            there.engine.execute(
                "CREATE EVENT TRIGGER full_disk ON ddl_command_end WHEN TAG IN ('CREATE VIEW') "
                "EXECUTE FUNCTION public.full_disk()"
            )
        with pytest.raises(DatabaseError, match="a disk of the server is full"):
            db.run(pair.spec(), full=True)
        assert pair.there() == before == shown(db)
        with sqlanon.connect(pair.target) as there:
            there.engine.execute("DROP EVENT TRIGGER full_disk")
        assert db.run(pair.spec(), full=True).outcome == "published"
        assert len(pair.tables()) == 3


@pytest.mark.parametrize("pair", ["postgres-duckdb"], indirect=True)
def test_a_file_without_room(pair):
    """The limit of a process's files, in place of a full disk."""
    file = Path(pair.target.removeprefix("duckdb:///"))
    with sqlanon.connect(pair.source) as db:
        spec = pair.spec(accept_unique="ill")
        db.run(spec)
        before = pair.there()
        db.engine.execute("INSERT INTO visits SELECT 1000 + i, 20, md5(i::text) FROM generate_series(1, 60000) AS r(i)")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, limits[1]))
        try:
            with pytest.raises(DatabaseError):
                db.run(spec)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert pair.there() == before
        assert db.run(spec).outcome == "published"
        assert sum(pair.there().values()) == 60_024


def test_a_purge_says_what_it_could_not_drop_there(pair):
    with sqlanon.connect(pair.source) as db, sqlanon.connect(pair.target) as there:
        db.run(pair.spec())
        (table,) = [name for name in pair.tables() if name.startswith("sent_") and not name.endswith("_metadata")]
        there.engine.execute(f"CREATE VIEW public.copy AS SELECT * FROM _sqlanon.{table}")
        db.run(pair.spec(), full=True)
        for _ in range(2):
            with pytest.raises(DatabaseError, match=rf"tables of version 1 could not be dropped \(_sqlanon.{table}\)"):
                db.unpublish("visits", purge=True)
        there.engine.execute("DROP VIEW public.copy")
        db.unpublish("visits", purge=True)
        assert pair.tables() == ["received"]


# --- kills

ACTS: dict[str, Any] = {
    "run": lambda db, spec: db.run(spec),
    "rollback": lambda db, _: db.rollback("visits"),
    "unpublish": lambda db, _: db.unpublish("visits"),
}


def kill_at(steps: Iterable[int], act: str, pair: Pair, patch: pytest.MonkeyPatch) -> None:
    """Publish two versions, then act, and lose the process at a step; for each step until the act ends before it."""
    spec = pair.spec()
    for step in steps:
        with sqlanon.connect(pair.source) as db:
            versions = [Counter[str]()] if act == "unpublish" else []
            for rows in (18, 24):
                db.engine.execute("DELETE FROM visits")
                add(db, range(rows))
                db.run(spec)
                versions.append(pair.there())
            if act == "run":
                db.engine.execute("DELETE FROM visits WHERE id >= 12")
        lost = die(pair.source, lambda db: ACTS[act](db, spec), step, patch)
        there = pair.there()
        assert there in versions or sum(there.values()) == 12, f"step {step}"
        with sqlanon.connect(pair.source) as db:
            db.run(spec)
            assert pair.there() == shown(db)
            assert sum(pair.there().values()) in (12, 18, 24)
            assert [row.status for row in db.releases()].count("published") == 1
        assert len(pair.tables()) == 3, f"step {step}"
        if not lost:
            assert step > 10
            return


@pytest.mark.parametrize("act", ACTS)
def test_after_a_kill_readers_have_a_whole_version_and_the_next_run_tidies_up(pair, act, monkeypatch):
    kill_at([30 if act == "run" else 15], act, pair, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize(("pair", "first"), [(kinds, i) for i, kinds in enumerate(PAIRS)], indirect=["pair"])
@pytest.mark.parametrize("act", ACTS)
def test_the_same_of_kills_at_many_steps(pair, first, act, monkeypatch):
    """At every eighth call of a database, of each pair at others; ``STEP=1`` takes all."""
    step = int(os.environ.get("STEP", "8"))
    kill_at(count(2 * first % step, step), act, pair, monkeypatch)


KILLED = """
import os, signal, sys
import sqlanon
from sqlanon import policy
from sqlanon.release.publish import carry, send
(spec,) = policy.load("anon.yml").releases
plain = {where}
def last(*asked):
    done = plain(*asked)
    os.kill(os.getpid(), signal.SIGKILL)
{where} = last
with sqlanon.connect(sys.argv[1]) as db:
    db.run(spec, full=True)
"""


@pytest.mark.thorough  # test_after_a_kill_readers_have_a_whole_version ends the run inside this process
@pytest.mark.parametrize("where", ["carry.CarryRoute.carry", "send._show"])
@pytest.mark.parametrize("pair", ["postgres-duckdb", "duckdb-postgres"], indirect=True)
def test_a_process_that_is_killed(pair, where, tmp_path):
    policy_file = tmp_path / "anon.yml"
    policy_file.write_text(
        f"version: 1\nreleases:\n  - {{name: visits, source: visits, publish_to: '{pair.target}', "
        "columns: {id: identifier, age: quasi, ill: sensitive}, privacy: {k: 3}, method: mondrian}\n"
    )
    (spec,) = policy.load(policy_file).releases
    with sqlanon.connect(pair.source) as db:
        db.run(spec)
    before = pair.there()
    code = KILLED.format(where=where)
    killed = subprocess.run([sys.executable, "-c", code, pair.source], cwd=tmp_path, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert pair.there() == before
    with sqlanon.connect(pair.source) as db:
        assert [row.status for row in db.releases()] == ["published", "pending"]
        assert db.run(spec).outcome == "unchanged"
        assert pair.there() == shown(db) == before
        assert [row.status for row in db.releases()] == ["published", "discarded"]
    assert len(pair.tables()) == 3
