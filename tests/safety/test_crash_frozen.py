"""A frozen refresh that is killed leaves the last version whole.

The next run publishes what it would have published, once.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from tests.frozen.wards import Rows, lineage_table, spec_of, ward, write
from tests.safety.conftest import FILE, SERVER, hear, kill, wait_for
from tests.safety.worker import run_spec_until

STOPS = [("method", 1), ("publish", 1), ("verify", 3), ("publish", 2), ("swap", 1)]
FILE_STOPS = [("publish", 1), ("publish", 2), ("replace", 1), ("replaced", 1)]
FEW = {"postgres": [("method", 1), ("publish", 2), ("swap", 1)], "file": [("replace", 1), ("replaced", 1)]}
"""The stops of the default run: before anything is published, and on both sides of the step that publishes."""


def _more(first: int) -> Rows:
    return {number: (number % 90, 1, ("flu", "hiv")[number % 2], 1) for number in range(first, first + 10)}


def _seen(url: str, file: Path | None) -> Counter[tuple[Any, ...]]:
    with sqlanon.connect(f"duckdb:///{file}" if file else url, read_only=file is not None) as db:
        return Counter(db.engine.fetch("SELECT age_lo, age_hi, dose_lo, dose_hi, ill, cost FROM release.people"))


def _gone(url: str) -> None:
    if url.startswith("postgresql"):
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sqlanon' "
            "AND pid <> pg_backend_pid()"
        )
        with sqlanon.connect(url) as db:
            wait_for(lambda: db.engine.fetch(others) == [(0,)])


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["duckdb", "postgres", "file"])
def test_killed_anywhere(kind: str, make_url: Any, start: Any, tmp_path: Path) -> None:
    kills(kind, FILE_STOPS if kind == "file" else STOPS, make_url, start, tmp_path)


@pytest.mark.parametrize("kind", FEW)
def test_killed_beside_the_step_that_publishes(kind: str, make_url: Any, start: Any, tmp_path: Path) -> None:
    kills(kind, FEW[kind], make_url, start, tmp_path)


def kills(kind: str, stops: list[tuple[str, int]], make_url: Any, start: Any, tmp_path: Path) -> None:
    url, file = (make_url(SERVER if kind == "postgres" else FILE), tmp_path / "r.duckdb" if kind == "file" else None)
    spec = spec_of("people", keep=3, **({"publish_file": str(file)} if file else {}))
    source, first = ward(random.Random(4), 20), 100
    with sqlanon.connect(url) as db:
        write(db, "people", source)
        db.run(spec)
    for stage, nth in stops:
        before = _seen(url, file)
        source |= _more(first)
        first += 10
        with sqlanon.connect(url) as db:
            write(db, "people", source)
        process, pipe = start(run_spec_until, url, spec, stage, nth)
        assert hear(pipe) == "here", (stage, nth)
        kill(process)
        _gone(url)
        done = stage == "replaced"
        assert (_seen(url, file) == before) is not done
        with sqlanon.connect(url) as db:
            after = db.run(spec)
            assert after.outcome == ("unchanged" if done else "published")
            assert after.lineage.published == len(source)
            keys = db.engine.fetch(
                "SELECT COUNT(*), COUNT(DISTINCT _sqlanon_key), COUNT(_sqlanon_class) FROM "
                f"{lineage_table(db, 'people')}"
            )
            assert keys == [(len(source),) * 3]
        assert not before - _seen(url, file)
    with sqlanon.connect(url) as db:
        assert all(one.failing == 0 for one in db.history("people"))
