"""An attack or a report that is interrupted leaves no scratch table behind, and no file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.database.database import Database
from sqlanon.progress import SilentProgress
from tests.shelf import Shelf

TABLES = {
    "duckdb": "SELECT table_name FROM duckdb_tables() WHERE temporary",
    "postgres": "SELECT relname FROM pg_class WHERE relpersistence = 't' AND pg_table_is_visible(oid)",
}
PRIVATE = "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'"


class Interrupting(SilentProgress):
    """Raises what Ctrl-C and SIGTERM raise, the first time that a stage begins, or in it."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.seen: list[str] = []

    def stage(self, release: str, stage: str) -> None:
        self._reached(stage)

    def update(self, done: int, total: int, unit: str) -> None:
        self._reached(f"in {self.seen[-1]}")

    def _reached(self, what: str) -> None:
        self.seen.append(what.removeprefix("in "))
        if what == self.at:
            raise KeyboardInterrupt


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("at", ["compare", "in compare", "versions"])
def test_no_scratch_table_is_left(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    name, db = shelf.take("people").name, shelf.db
    own = TABLES[db.engine.dialect]
    before = set(db.engine.fetch(own))
    private = set(db.engine.fetch(PRIVATE))
    stop = Interrupting(at)
    monkeypatch.setattr(db, "_progress", stop)
    for ask in (lambda: db.attack(name), lambda: db.report(name, form="md", attack=True)):
        stop.seen.clear()
        with pytest.raises(KeyboardInterrupt):
            ask()
        assert set(db.engine.fetch(own)) <= before
        assert set(db.engine.fetch(PRIVATE)) == private
    monkeypatch.undo()
    assert db.attack(name).held


@pytest.mark.parametrize("when", ["made", "written"])
def test_no_file_is_left(cli: Any, policy: Any, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Interrupted while the report is made, and while its file is written."""
    assert policy
    assert cli("run").code == 0

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    if when == "made":
        monkeypatch.setattr(Database, "report", stop)
    else:
        monkeypatch.setattr("sqlanon.cli.new_file.os.fsync", stop)
    there = {path.name for path in Path().iterdir()}
    ended = cli("report", "people", "--md", "-o", "report.md")
    assert ended.code == 130
    assert {path.name for path in Path().iterdir()} == there
