"""What a kill, a second process or a second file does to a version that a budget pays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import LockedError
from sqlanon.release.budget.budget import Budget
from tests.engines import create_table
from tests.safety.conftest import SERVER
from tests.safety.test_budget import Place, some_kills


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(f"duckdb:///{tmp_path / 'own.duckdb'}", tmp_path)


@pytest.mark.thorough
def test_killed_on_a_server(make_url: Any, tmp_path: Path) -> None:
    some_kills(Place(make_url(SERVER), tmp_path), range(2, 400, 7))


@pytest.mark.thorough
def test_killed_while_synthetic_rows_are_drawn(place: Place) -> None:
    """Rows that readers see are those of the charged table, and the tables of rows go with their versions."""
    with sqlanon.connect(place.url) as db:
        rows = [(i, "FM"[i % 2], i % 3, i % 5) for i in range(60)]
        create_table(db, "visits", {"pid": "INTEGER", "sex": "TEXT", "a": "INTEGER", "b": "INTEGER"}, rows)
    groups = "{sex: [F, M], a: ['0', '1', '2'], b: {bins: [0, 2, 5]}}"
    text = place.file.read_text().replace("stays", "visits").replace("{sex: [F, M]}", groups)
    text = text.replace("rows: 2}", "rows: 1}").replace("tables: [{by: [sex]}]", "rows: sex")
    place.file.write_text(text)
    some_kills(place, range(30, 400, 5))
    with sqlanon.connect(place.url) as db:
        assert db.audit("release.nightly").satisfied
        made = {entry.version for entry in db.releases("nightly") if entry.status != "dropped"}
        tables = db.engine.fetch("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'nightly%_synthetic'")
        assert len(tables) <= len(made)


@pytest.mark.thorough
def test_two_budgets_of_one_table_cannot_be_opened_at_once(make_url: Any, tmp_path: Path) -> None:
    place = Place(make_url(SERVER), tmp_path)
    with sqlanon.connect(place.url) as db, sqlanon.connect(place.url) as other:
        lock = other.engine.lock
        other.engine.lock = lambda name, **_: lock(name)
        first = Budget(db.engine, replace(place.budget, name="first", anchor=None))
        second = Budget(other.engine, replace(place.budget, name="second", anchor=None))
        with first.hold(), pytest.raises(LockedError), second.hold():
            pass
