"""Trial releases that are killed leave nothing: no table, no view, no schema and no row of the catalog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.policy import load
from tests.safety.conftest import FILE, SERVER, hear, kill, wait_for
from tests.safety.people import write_people
from tests.safety.worker import try_until

POLICY = """
version: 1
releases:
  - name: people
    source: people
    columns: {age: quasi, sex: quasi, illness: sensitive, id: identifier, generation: insensitive}
    privacy: {k: 3}
    publish: release.people
"""
THERE = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
)
SCHEMAS = "SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('_sqlanon', 'release')"
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sqlanon' "
    "AND pid <> pg_backend_pid()"
)
SOME, ALWAYS = [1, 2, 3, 5, 8, 13, 21, 34], 8
"""Statements after which a trial is killed; every trial has more than `ALWAYS`; one that ends leaves nothing either."""


@pytest.mark.parametrize(
    ("engine", "command", "stops"),
    [
        pytest.param(FILE, "attack", [8], id="duckdb, one"),
        *(
            pytest.param(engine, command, SOME, id=f"{name}, {command}", marks=pytest.mark.thorough)
            for name, engine in (("duckdb", FILE), ("postgres", SERVER))
            for command in ("attack", "compare")
        ),
    ],
)
def test_nothing_is_left(engine: Any, command: str, stops: Any, make_url: Any, start: Any, tmp_path: Path) -> None:
    url, file = make_url(engine), tmp_path / "anon.yml"
    file.write_text(POLICY)
    spec = load(file).releases[0]
    with sqlanon.connect(url) as db:
        write_people(db.engine)
        before = db.engine.fetch(THERE), db.engine.fetch(SCHEMAS)
    for nth in stops:
        process, pipe = start(try_until, url, spec, command, nth)
        ended = hear(pipe) == "done"
        assert not (ended and nth <= ALWAYS), nth
        kill(process)
        with sqlanon.connect(url) as db:
            if engine is SERVER:
                wait_for(lambda: db.engine.fetch(OTHERS) == [(0,)])
            assert (db.engine.fetch(THERE), db.engine.fetch(SCHEMAS)) == before, nth
        if ended:
            break
