"""`sqlanon dbt run` of a frozen release that is killed.

Readers have the old version or the new one, and the next run goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.dbt.project import load
from tests.cli.conftest import Cli, cli
from tests.dbt.conftest import DbtProject
from tests.safety.conftest import context, hear, kill, start
from tests.safety.worker import run_spec_until

__all__ = ["cli", "context", "start"]
STOPS = [("publish", 2), ("swap", 1)]


def seen(file: Path) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(file), read_only=True) as connection:
        return connection.execute("SELECT * FROM anon.people ORDER BY ALL").fetchall()


@pytest.mark.thorough
def test_killed_in_dbt_run(filled: DbtProject, start: Any, cli: Cli) -> None:
    filled.node["config"]["meta"]["anonymize"] |= {
        "key": ["id"],
        "refresh": {"mode": "frozen", "cohort": {"rows": 10}},
        "publish": "anon.people",
    }
    filled.node["meta"] = filled.node["config"]["meta"]
    filled.write()
    words = ("dbt", "run", "--project-dir", filled.folder, "--profiles-dir", filled.folder)
    file = filled.folder / "warehouse.duckdb"
    assert cli(*words).code == 0
    project = load(filled.folder, profiles_dir=filled.folder)
    (spec,) = project.policy.releases
    url = project.policy.connection
    for first, (stage, nth) in enumerate(STOPS, 1):
        before = seen(file)
        with duckdb.connect(str(file)) as connection:
            connection.execute(
                f"INSERT INTO people SELECT {first} * 10000 + i, 20 + i, 'z1', 'F', ['flu', 'asthma', 'ulcer'][1 + i % "
                "3] FROM range(12) AS r(i)"
            )
        process, pipe = start(run_spec_until, url, spec, stage, nth)
        assert hear(pipe) == "here", (stage, nth)
        kill(process)
        assert seen(file) == before
        assert cli(*words).code == 0
        after = seen(file)
        assert len(after) == 60 + 12 * first
        assert all(row in after for row in before)
    with sqlanon.connect(url) as db:
        assert all(one.failing == 0 for one in db.history("people"))
