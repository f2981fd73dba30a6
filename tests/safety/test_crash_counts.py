"""A run of counts that is killed publishes nothing, and the next one publishes all with a certificate that holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.policy import load
from tests.safety.conftest import FILE, SERVER, hear, kill, wait_for
from tests.safety.worker import run_spec_until

pytest.importorskip("highspy")

STOPS = [("profile", 1), ("protect", 1), ("publish", 1), ("verify", 1), ("swap", 1)]
POLICY = """
version: 1
releases:
  - name: visits
    source: visits
    person: pid
    publish: release.visits
    statistics:
      columns: {ward: {}, sex: {}}
      tables: [{name: all, by: [ward, sex]}]
      measures: {n: count, bill: {sum: bill, range: [0, 100], p_percent: 10}}
      protect: {persons: 3, bounds: exact}
"""
LEFT = "SELECT table_name FROM information_schema.tables WHERE table_schema IN ('_sqlanon', 'release')"
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sqlanon' "
    "AND pid <> pg_backend_pid()"
)


@pytest.mark.parametrize(
    ("engine", "stops"),
    [
        pytest.param(FILE, STOPS[-1:], id="duckdb, published"),
        pytest.param(FILE, STOPS, id="duckdb", marks=pytest.mark.thorough),
        pytest.param(SERVER, STOPS, id="postgres", marks=pytest.mark.thorough),
    ],
)
def test_killed_at_every_stage(engine: Any, stops: Any, make_url: Any, start: Any, tmp_path: Path) -> None:
    url, file = make_url(engine), tmp_path / "anon.yml"
    file.write_text(POLICY)
    spec = load(file).releases[0]
    with sqlanon.connect(url) as db:
        db.engine.execute("CREATE TABLE visits (ward INTEGER, sex TEXT, pid INTEGER, bill INTEGER)")
        sizes = {(1, "f"): 1, (1, "m"): 8, (2, "f"): 9, (2, "m"): 7, (3, "f"): 6, (3, "m"): 8}
        cells = [cell for cell, many in sizes.items() for _ in range(many)]
        rows = ", ".join(f"({ward}, '{sex}', {pid}, {7 * pid % 60})" for pid, (ward, sex) in enumerate(cells))
        db.engine.execute(f"INSERT INTO visits VALUES {rows}")
    for stage, nth in stops:
        process, pipe = start(run_spec_until, url, spec, stage, nth)
        assert hear(pipe) == "here", (stage, nth)
        kill(process)
        with sqlanon.connect(url) as db:
            if engine is SERVER:
                wait_for(lambda: db.engine.fetch(OTHERS) == [(0,)])
            assert not any("visits" in str(name) for (name,) in db.engine.fetch(LEFT)), stage
    with sqlanon.connect(url) as db:
        assert db.run(spec).verified
        assert db.audit("release.visits").satisfied
        assert db.run(spec).outcome == "unchanged"


@pytest.mark.thorough
@pytest.mark.parametrize("begins", [False, True], ids=["follows", "begins a lineage"])
@pytest.mark.parametrize("engine", [pytest.param(FILE, id="duckdb"), pytest.param(SERVER, id="postgres")])
def test_a_version_that_follows_is_killed_at_every_stage(
    engine: Any, begins: bool, make_url: Any, start: Any, tmp_path: Path
) -> None:
    url, file = make_url(engine), tmp_path / "anon.yml"
    counts_alone = POLICY.replace(", bounds: exact", "").replace(
        ", bill: {sum: bill, range: [0, 100], p_percent: 10}", ""
    )
    file.write_text(counts_alone + "    refresh: {mode: frozen, cohort: {persons: 5}, lineage: 90d}\n")
    spec = load(file).releases[0]
    shown = "SELECT n, as_of FROM release.visits ORDER BY level_ward, level_sex, ward, sex"
    with sqlanon.connect(url) as db:
        db.engine.execute("CREATE TABLE visits (ward INTEGER, sex TEXT, pid INTEGER)")
        rows = ", ".join(f"({1 + pid % 3}, '{'fm'[pid % 2]}', {pid})" for pid in range(60))
        db.engine.execute(f"INSERT INTO visits VALUES {rows}")
        db.run(spec)
        before = db.engine.fetch(shown)
        more = ", ".join(f"(1, 'f', {pid})" for pid in range(60, 69))
        db.engine.execute(f"INSERT INTO visits VALUES {more}")
        if begins:
            db.engine.execute("UPDATE _sqlanon.catalog SET published_at = '2020-01-01T00:00:00+00:00'")
    for stage, nth in STOPS:
        process, pipe = start(run_spec_until, url, spec, stage, nth)
        assert hear(pipe) == "here", (stage, nth)
        kill(process)
        with sqlanon.connect(url) as db:
            if engine is SERVER:
                wait_for(lambda: db.engine.fetch(OTHERS) == [(0,)])
            assert db.engine.fetch(shown) == before, stage
            assert db.audit("release.visits").satisfied
    with sqlanon.connect(url) as db:
        report = db.run(spec)
        assert (report.version, report.statistics.earlier) == (2, (1,) if begins else ())
        assert db.audit("release.visits").satisfied
        assert db.engine.fetch(shown) != before
