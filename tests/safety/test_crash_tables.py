"""A run of several tables that is killed anywhere leaves all of them as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.policy import load
from tests.safety.conftest import FILE, SERVER, hear, kill
from tests.safety.worker import tables_until

POLICY = """
version: 1
releases:
  - name: hospital
    person: pid
    privacy: {k: 3}
    tables:
      - {source: people, columns: {pid: pseudonym, age: quasi}}
      - {source: stays, columns: {pid: pseudonym, age: quasi}}
"""


def generations(url: str) -> list[Any]:
    """What readers see of each table: its lowest age, its highest and its rows."""
    with sqlanon.connect(url) as db:
        return [
            db.engine.fetch(f"SELECT min(age_lo), max(age_hi), count(*) FROM release.{table}")[0]
            for table in ("people", "stays")
        ]


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("postgres", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "nth",
    [
        pytest.param(2, marks=pytest.mark.thorough, id="one table verified"),
        pytest.param(4, marks=pytest.mark.thorough, id="both verified"),
        pytest.param(6, id="the first view swapped"),
    ],
)
def test_killed_while_it_publishes(make_url: Any, start: Any, tmp_path: Path, engine: str, nth: int) -> None:
    url, file = make_url(SERVER if engine == "postgres" else FILE), tmp_path / "anon.yml"
    file.write_text(POLICY)
    with sqlanon.connect(url) as db:
        for table in ("people", "stays"):
            db.engine.execute(f"DROP TABLE IF EXISTS {table}")
            db.engine.execute(f"CREATE TABLE {table} (pid INTEGER, age INTEGER)")
            db.engine.execute(f"INSERT INTO {table} VALUES {', '.join(f'({i}, {20 + i})' for i in range(9))}")
        db.run_tables(load(file).releases)
        for table in ("people", "stays"):
            db.engine.execute(f"UPDATE {table} SET age = age + 30")
    process, pipe = start(tables_until, url, file, "publish", nth)
    assert hear(pipe) == "here"
    kill(process)
    assert generations(url) == [(20, 28, 9)] * 2
    with sqlanon.connect(url) as db:
        db.run_tables(load(file).releases)
        db.clean()
    assert generations(url) == [(50, 58, 9)] * 2
