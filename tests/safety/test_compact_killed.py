"""A DuckDB file that is written anew, and other processes: those that open it meanwhile, and those that are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb import fresh_copy
from tests.safety.compaction import ALL_KINDS, alone, compacted, content, made, refused
from tests.safety.conftest import hear, kill
from tests.safety.worker import compact_until, hold_file


@pytest.mark.thorough
def test_a_file_that_another_process_opens_meanwhile_is_refused(
    small: tuple[str, Path], start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our connection's end and the lock of the one that copies; then neither has lost anything."""
    url, path = small
    opens = fresh_copy._attach_unlocked

    def late(*arguments: Any) -> None:
        assert hear(start(hold_file, str(path))[1]) == "here"
        opens(*arguments)

    monkeypatch.setattr(fresh_copy, "_attach_unlocked", late)
    refused(url, path, "is locked by process", sqlanon.LockedError)


@pytest.mark.thorough
def test_nobody_writes_the_old_file_while_it_is_copied(
    small: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From before the copy until it is in place other processes are refused.

    Who opened the old file before finds no database in it.
    """
    url, path = small
    writes = f"import duckdb; duckdb.connect({str(path)!r}).execute('INSERT INTO t VALUES (-1)')"
    errors: list[str] = []
    descriptors: list[int] = []

    def tried(step: str) -> None:
        action = getattr(fresh_copy, step)

        def first(*arguments: Any) -> Any:
            if not descriptors:
                descriptors.append(os.dup(os.open(path, os.O_RDONLY)))  # not closed: that would end the lock
            ended = subprocess.run([sys.executable, "-c", writes], capture_output=True, text=True, check=False)
            errors.append(ended.stderr)
            return action(*arguments)

        monkeypatch.setattr(fresh_copy, step, first)

    for step in ("_copy", "put_in_place"):
        tried(step)
    compacted(url)
    assert len(errors) == 2
    assert all("lock" in error for error in errors)
    assert os.pread(descriptors[0], 12, 0) == bytes(12)
    subprocess.run([sys.executable, "-c", writes], check=True)
    with duckdb.connect(str(path)) as db:
        assert db.execute("SELECT count(*), min(i) FROM t").fetchall() == [(1001, -1)]


STEPS = ("_copy", "copied", "_add_triggers", "_give_owner", "put_in_place", "replace", "replaced")


@pytest.mark.parametrize("step", STEPS)
def test_killed_anywhere_leaves_the_old_file_or_the_new_one(tmp_path: Path, start: Any, step: str) -> None:
    path = tmp_path / "everything.duckdb"
    url = made(path, *ALL_KINDS)
    before, inode = content(path), path.stat().st_ino
    process, pipe = start(compact_until, url, step)
    assert hear(pipe) == "here"
    kill(process)
    assert content(path) == before
    assert (path.stat().st_ino != inode) == (step == "replaced")
    assert len(list(tmp_path.glob("everything.duckdb.sqlanon-*"))) == 1
    with sqlanon.connect(url) as db:
        (dropped,) = db.clean()
        assert dropped.startswith(f"{path}.sqlanon-")
        assert db.clean() == ()
    assert alone(path)
    assert content(path) == before


@pytest.mark.thorough
def test_killed_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path, start: Any) -> None:
    path = tmp_path / "everything.duckdb"
    url = made(path, *ALL_KINDS, "CREATE TABLE wide AS SELECT range AS i, md5(range::VARCHAR) AS m FROM range(60000)")
    before, begun = content(path), time.perf_counter()
    compacted(url)
    takes = time.perf_counter() - begun
    for moment in range(20):
        process, pipe = start(compact_until, url, "nowhere")
        assert hear(pipe) == "begins"
        time.sleep(takes * moment / 16)
        kill(process)
        assert content(path) == before
    compacted(url)
    assert content(path) == before
    assert alone(path)
