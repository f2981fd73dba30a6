"""Boxes of their own: an earlier version returns only as it was verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.engines.base import Statement
from sqlanon.errors import PrivacyViolation
from tests.contract.own_boxes import SMALL, fetch, placed, run, version_of, without_mark

LINKS = (
    "UPDATE {drawn} AS d SET link = (SELECT o.link FROM {drawn} AS o WHERE o.slot = 1 - d.slot) WHERE d.slot IN (0, 1)"
)
VALUES = "UPDATE {table} SET s = CASE s WHEN 's1' THEN 's2' ELSE 's1' END WHERE s IN ('s1', 's2')"
MATCHINGS = "UPDATE {edges} SET matching = 2 - matching"


def test_a_version_that_was_changed_does_not_return(shared_db: Any, tmp_path: Path) -> None:
    db, source = shared_db, SMALL.create(shared_db)
    first, second = (run(db, SMALL, tmp_path, source=source, keep=3)[1] for _ in range(2))
    kept = version_of(db, first)
    edges, drawn = kept.certificate
    names = {"edges": placed(edges), "drawn": placed(drawn), "table": placed(kept.table)}

    def execute(text: str) -> None:
        db.engine.execute(Statement("test", text.format(**names), {}))

    def refused(words: str) -> None:
        with pytest.raises(PrivacyViolation, match=f"version 1 is not published again: .*{words}") as caught:
            db.rollback(first.release)
        assert "\n" not in str(caught.value)
        assert [row.status for row in db.releases(first.release)] == ["replaced", "published"]
        assert db.audit(second.published).satisfied

    for change, words in (
        (LINKS, "rows changed places in what was drawn"),
        (VALUES, "the published table is not as it was written"),
        (MATCHINGS, "remix and draw are not those"),
    ):
        execute(change)
        refused(words)
        execute(change)
    with without_mark(db, first):
        refused("the catalog has no mark of it")
    assert db.rollback(first.release).version == 1
    assert db.audit(first.published).satisfied
    assert db.rollback(first.release, to=2).version == 2
    execute("DROP TABLE {edges}")
    with pytest.raises(PrivacyViolation, match="version 1 is not published again: its certificate is gone"):
        db.rollback(first.release, to=1)
    assert version_of(db, second).status == "published"


@pytest.mark.thorough
def test_a_version_in_a_file_of_its_own_returns_as_it_was_written(tmp_path: Path) -> None:
    path, file = tmp_path / "w.duckdb", tmp_path / "out.duckdb"
    duckdb.connect(str(path)).execute(
        "CREATE TABLE t AS SELECT i AS id, i * 7 % 11 AS a, 'd' || i AS s FROM range(12) AS r(i)"
    ).close()
    with sqlanon.connect(f"duckdb:///{path}") as db:
        asked: dict[str, Any] = {
            "quasi": "a",
            "sensitive": "s",
            "identifiers": "id",
            "k": 3,
            "method": "freeform",
            "boxes": "own",
            "accept_unique": "s",
        }
        first, _ = (db.anonymize("t", **asked, publish_file=file, keep=3).report for _ in range(2))
        assert db.rollback(first.release).version == 1
        assert db.rollback(first.release, to=2).version == 2
        table = version_of(db, first).table
        before = sorted(fetch(db.engine, table, "*"))
        text = f"UPDATE {placed(table)} SET s = CASE s WHEN 'd1' THEN 'd2' ELSE 'd1' END WHERE s IN ('d1', 'd2')"
        db.engine.execute(Statement("test", text, {}))
        assert sorted(fetch(db.engine, table, "*")) != before
        with pytest.raises(PrivacyViolation, match="the published table is not as it was written"):
            db.rollback(first.release, to=1)
        assert version_of(db, first).status != "published"
