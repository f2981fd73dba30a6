"""The demonstration on Spark, small.

Two releases that keep what they promise, and a command that works on them afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import START, environment
from tests.spark.conftest import missing

pytestmark = [pytest.mark.spark, pytest.mark.thorough]


@pytest.mark.skipif(missing() is not None, reason="Spark is not here")
def test_demo(tmp_path: Path):
    def sqlanon(*words: str, where: Path = tmp_path) -> str:
        done = subprocess.run(
            [sys.executable, "-c", START, *words],
            cwd=where,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.returncode == 0, done.stderr
        assert "log level" not in done.stderr  # of Java
        return done.stdout

    report = json.loads(sqlanon("demo", "--engine", "spark", "--rows", "5000", "--json"))
    assert (report["engine"], report["rows"]) == ("spark", 5000)
    for before, after, k in zip(report["before"], report["after"], (10, 10), strict=True):
        assert before["k"] == 1
        assert after["k"] >= k
        assert all(one["satisfied"] for one in after["requirements"])
    assert report["together"]["matched"] == 5000
    made = tmp_path / "sqlanon-demo"
    assert "spark+local" in (made / "anon.yml").read_text(encoding="utf-8")
    assert (made / "warehouse.spark").stat().st_mode & 0o077 == 0
    listed = json.loads(sqlanon("releases", "--json", where=made))
    assert "research" in json.dumps(listed)
