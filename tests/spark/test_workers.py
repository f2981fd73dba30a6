"""Kernels in workers: what numba compiles is kept, so that a worker compiles a kernel once."""

from __future__ import annotations

import json
import os
import stat
import sys
import tarfile
from pathlib import Path

import pytest

import sqlanon
from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import PolicyError
from tests.spark.conftest import missing, run_apart

pytestmark = pytest.mark.spark


@pytest.mark.thorough
@pytest.mark.skipif(missing() is not None, reason="Spark is not here")
def test_a_worker_compiles_a_kernel_once(tmp_path):
    """Eight tasks on two cores with an empty cache: at most one compilation a process, and none once it is on the disk.

    The session is a classic one in a process that has had one of Spark Connect.
    """
    code = """
import json, os, sys
os.environ["NUMBA_CACHE_DIR"] = sys.argv[1]
import sqlanon
from sqlanon.engines.base import Statement, TableRef

def work(columns):
    import os
    import numpy as np
    from sqlanon.methods.onedim.kernels.hilbert import make_word_keys as kernel
    before = sum(kernel.stats.cache_misses.values())
    kernel(np.zeros((2, 5), np.uint32), 4, np.zeros(5, np.int64))
    compiled = sum(kernel.stats.cache_misses.values()) - before
    return columns[0], np.full(len(columns[0]), os.getpid()), np.full(len(columns[0]), compiled)

with sqlanon.connect("spark+local:///:memory:?temporary=true&cores=2") as db, db.engine.lock("release x"):
    # As pyspark leaves it once a process has opened a session of Spark Connect.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    read = Statement("numbers", "SELECT CAST(id AS INT) AS id, CAST(id % 8 AS INT) AS block FROM range(8)")
    seen = []
    for turn in range(2):
        made = TableRef("_sqlanon", f"made{turn}", "spark_catalog")
        columns = [("id", "integer"), ("process", "bigint"), ("compiled", "bigint")]
        db.engine.map_arrays(read, work, made, columns, by="block")
        seen.append(db.engine.fetch(f"SELECT process, compiled FROM _sqlanon.made{turn}"))
    print(json.dumps(seen))
"""
    done = run_apart(code, str(tmp_path / "compiled"))
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout.splitlines()[-1])
    by_process: dict[int, int] = {}
    for process, compiled in first + second:
        by_process[process] = by_process.get(process, 0) + compiled
    assert len(first) == len(second) == 8
    assert max(by_process.values()) <= 1
    assert 1 <= sum(compiled for _, compiled in first) <= 2
    assert not any(compiled for _, compiled in second)
    assert list((tmp_path / "compiled").rglob("*.nbc"))


def test_where_no_folder_can_be_written(monkeypatch, tmp_path):
    """numba gets a folder that only this user can write; one that another user has prepared is not taken."""
    pytest.importorskip("pyspark")
    from sqlanon.engines.spark import workers

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(workers.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(workers.tempfile, "tempdir", str(tmp_path))
    workers.keep_compiled()
    assert "NUMBA_CACHE_DIR" not in os.environ
    monkeypatch.setattr(workers.os, "access", lambda *_: False)
    workers.keep_compiled()
    own = Path(os.environ.pop("NUMBA_CACHE_DIR"))
    assert own.parent == tmp_path
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    own.chmod(0o777)
    workers.keep_compiled()
    other = Path(os.environ.pop("NUMBA_CACHE_DIR"))
    assert other != own
    assert stat.S_IMODE(other.stat().st_mode) == 0o700


def test_an_environment_is_sent_to_executors(session, tmp_path):
    """Functions run by the Python of the archive, in the session that sent it alone."""
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nSHIPPED=yes exec {sys.executable} "$@"\n')
    program.chmod(0o755)
    file = tmp_path / "environment.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        archive.add(program, "bin/python")

    def shipped(columns):
        import os

        return columns[0], columns[0] * 0 + (os.environ.get("SHIPPED") == "yes")

    read = Statement("numbers", "SELECT CAST(id AS INT) AS id FROM range(2)")
    seen = []
    for given in (str(file), False):
        with (
            sqlanon.connect(session, temporary=True, accept_shared=True, archive=given) as db,
            db.engine.lock("release x"),
        ):
            made = TableRef("_sqlanon", f"shipped{len(seen)}", "spark_catalog")
            db.engine.map_arrays(read, shipped, made, [("id", "integer"), ("shipped", "integer")])
            seen.append(db.engine.fetch(f"SELECT DISTINCT shipped FROM _sqlanon.{made.name}"))
    assert seen == [[(1,)], [(0,)]]
    with pytest.raises(PolicyError, match="there is no file"):
        sqlanon.connect(session, archive=str(tmp_path / "nothing.tar.gz"))
    with pytest.raises(PolicyError, match="pip install venv-pack"):
        sqlanon.connect(session, archive=True)
