"""Releases in tables of Delta and Iceberg: after a kill readers have a whole version, and the next run tidies up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyiceberg.table import Table

import sqlanon
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from tests.contract.lake_visits import shown, spec_of
from tests.contract.lake_visits import warehouse as warehouse  # noqa: PLC0414 - a fixture
from tests.contract.lakes import Delta, Iceberg, rows_in
from tests.contract.lakes import lake as lake  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.duckdb


class Lost(BaseException):
    """The process is gone."""


class Dying:
    """A connection that lives to see a number of calls, counted from the first one after `begin`."""

    def __init__(self, connection: Any, calls: int) -> None:
        self._connection = connection
        self._left = calls
        self._counts = False
        self.used = 0

    def begin(self) -> None:
        self._counts = True

    def step(self) -> None:
        if self._counts:
            if self._left == self.used:
                raise Lost
            self.used += 1

    def execute(self, *asked: Any) -> Any:
        self.step()
        return self._connection.execute(*asked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def die(warehouse: str, act: Callable[[Any], object], calls: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Act in a process that is lost after so many steps from the catalog's first note on; gives the steps it took."""
    with monkeypatch.context() as patched, sqlanon.connect(warehouse) as db:
        real = db.engine._connection
        dying = Dying(real, calls)
        db.engine._connection = dying
        for name in ("write", "commit", "remove"):
            plain = getattr(LakeWriter, name)

            def stepped(self: Any, *asked: Any, plain: Any = plain) -> Any:
                dying.begin()
                dying.step()
                done = plain(self, *asked)
                dying.step()
                return done

            patched.setattr(LakeWriter, name, stepped)
        catalogued = Table._do_commit

        def do_commit(self: Any, *asked: Any, **more: Any) -> Any:
            dying.step()
            done = catalogued(self, *asked, **more)
            dying.step()
            return done

        patched.setattr(Table, "_do_commit", do_commit)
        with suppress(Lost):
            act(db)
        real.close()  # nothing of an open transaction stays
        db.engine._connection = duckdb.connect()
        return dying.used


ACTS: dict[str, Callable[[Any, Any], object]] = {
    "run": lambda db, spec: db.run(spec, full=True),
    "rollback": lambda db, _: db.rollback("visits"),
    "unpublish": lambda db, _: db.unpublish("visits"),
}


def copied(folder: Path) -> dict[Path, bytes]:
    """Every file of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def restore(folder: Path, before: dict[Path, bytes], lake: Delta | Iceberg) -> None:
    """Make a folder as it was, also for the catalog that has a file of it open."""
    lake.forget()
    for path in copied(folder):
        if path not in before:
            path.unlink()
    for path, content in before.items():
        path.write_bytes(content)


def kill_at(steps: Iterable[int], act: str, warehouse: str, lake: Delta | Iceberg, patch: pytest.MonkeyPatch) -> None:
    """Publish twice, then act, once for each step at which the process is lost, until the act ends before."""
    spec = spec_of(lake)
    versions = []
    with sqlanon.connect(warehouse) as db:
        for rows in ("id < 30", "id >= 6"):
            db.engine.execute(f"DELETE FROM visits WHERE NOT {rows}")
            db.run(spec)
            versions.append(rows_in(lake))
    before = copied(lake.folder)
    for step in steps:
        restore(lake.folder, before, lake)
        if die(warehouse, lambda db: ACTS[act](db, spec), step, patch) < step:
            assert step > 5
            return
        assert rows_in(lake) in [*versions, Counter()]
        with sqlanon.connect(warehouse) as db:
            db.run(spec)
            assert rows_in(lake) == shown(db)
            assert rows_in(lake) in versions
            assert lake.files() == lake.committed()


@pytest.mark.parametrize(
    "act", ["run", *(pytest.param(act, marks=pytest.mark.thorough) for act in ("rollback", "unpublish"))]
)
def test_after_a_kill_readers_have_a_whole_version_and_the_next_run_tidies_up(warehouse, lake, act, monkeypatch):
    kill_at([0, 2], act, warehouse, lake, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("act", ACTS)
def test_the_same_of_kills_at_every_step(warehouse, lake, act, monkeypatch):
    kill_at(count(), act, warehouse, lake, monkeypatch)
