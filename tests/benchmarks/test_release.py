"""The number of database calls of a small release, the first one and those after it.

Its stages account for all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sqlanon
from benchmarks.release import CALLS, EFFORTS, counting, fill, main, release
from sqlanon.progress import STAGES, Progress, Stopwatch

OUTSIDE = ("SELECT pg_try_advisory_lock", "SELECT pg_advisory_unlock", "BEGIN", "COMMIT", "SET")
"""Beginnings of what frames a run: its lock and its transactions."""


@pytest.mark.thorough
def test_a_small_run_writes_its_stages(tmp_path: Path) -> None:
    out = tmp_path / "release.json"
    main(["--repeats", "1", "--out", str(out)])  # how it ends depends on the machine
    found = json.loads(out.read_text(encoding="utf-8"))["engines"]["duckdb"]
    assert list(found["stages_ms"]) == [*STAGES, "total"]
    assert found["median_ms"] > 0


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_release_takes_few_database_calls(db: sqlanon.Database, effort: str) -> None:
    fill(db)
    fill(db, "further")
    allowed = CALLS[db.engine.dialect]
    # The first one makes the catalog, the next ones drop versions, the last one begins a further release.
    runs = [release(db, table, effort) for table in (*["patients"] * 4, "further")]
    assert all(run["calls"] <= allowed for run in runs), [run["calls"] for run in runs]


def test_every_call_of_a_run_is_in_a_stage(db: sqlanon.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(db)
    release(db)
    inside: set[int] = set()
    depth = [0]
    stage = Stopwatch.stage
    with counting(db) as calls:

        @contextmanager
        def counted(watch: Stopwatch, name: str) -> Iterator[Progress]:
            before = len(calls)
            depth[0] += 1
            with stage(watch, name) as progress:
                yield progress
            depth[0] -= 1
            inside.update(range(before, len(calls)))

        monkeypatch.setattr(Stopwatch, "stage", counted)
        seconds = db.anonymize("patients", quasi=["age", "zip"], sensitive="disease", k=4).report.seconds
    assert set(seconds) == {*STAGES, "total"}
    outside = [call for at, call in enumerate(calls) if at not in inside]
    assert all(call.startswith(OUTSIDE) for call in outside), outside
