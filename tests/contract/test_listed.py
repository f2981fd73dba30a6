"""Text columns that a large table is staged with as a type of its values: what is published is the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.errors import PrivacyViolation
from sqlanon.release.divide import classes
from sqlanon.table import staged_enums

TABLES = {
    "plain": "CREATE TABLE t AS FROM made",
    "gaps": "CREATE TABLE t AS FROM made; DELETE FROM t WHERE x % 5 = 0",
    "collated": "CREATE TABLE t (x INTEGER, s VARCHAR COLLATE NOCASE, d VARCHAR); INSERT INTO t FROM made",
    "rowid": 'CREATE TABLE t AS SELECT *, x - x % 2 AS "RowId" FROM made',
    "view": "CREATE VIEW t AS FROM made",
}
MADE = """CREATE TABLE made AS SELECT CAST(i AS INTEGER) AS x,
    [NULL, 'é', 'b', 'B', 'a', 'A', '', 'longer than twelve bytes'][1 + i * 7 % 11 % 8] AS s,
    ['u', 'v', 'w'][1 + i % 3] AS d
    FROM range(400) AS r(i)"""


@pytest.fixture(params=list(TABLES))
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"{MADE}; {TABLES[request.param]}")
    with sqlanon.connect(f"duckdb:///{path}") as db:
        yield db


def published(db: Any, **options: Any) -> tuple[Any, Any]:
    report = db.anonymize(
        "t", quasi=["x", "s"], sensitive="d", k=4, seed=1, format=options.pop("format"), allow_weaker=True, rest="drop"
    ).report
    return db.engine.fetch(f"SELECT * FROM {report.published}"), report.loss.gcp


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "points", "suppressed"])
def test_the_release_is_the_same(db: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = published(db, format=kind)
    monkeypatch.setattr(staged_enums, "MANY_ROWS", 0)
    assert published(db, format=kind) == before
    assert db.engine.fetch("SELECT COUNT(*) FROM duckdb_types() WHERE type_name LIKE '_sqlanon_%'") == [(0,)]


CHANGES = [
    "s = ['zzz']",
    "s = CAST([] AS VARCHAR[])",
    "s = NULL",
    "s = s[2:]",
    "s = list_append(s[2:], NULL)",
    "s_null = 'all'",
    "x_lo = x_lo + 1",
    "s_null = NULL, s = NULL",
]


@pytest.mark.parametrize("db", ["plain"], indirect=True)
@pytest.mark.parametrize("change", CHANGES)
def test_as_many_rows_are_found_not_covered(db: Any, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = classes.verify_staged

    def wrong(scratch: Any, classed: Any, recoded: Any, form: Any) -> Any:
        scratch.engine.execute(f'UPDATE "{recoded.released.name}" SET {change}')
        return honest(scratch, classed, recoded, form)

    monkeypatch.setattr(classes, "verify_staged", wrong)
    found = []
    for rows in (staged_enums.MANY_ROWS, 0):
        monkeypatch.setattr(staged_enums, "MANY_ROWS", rows)
        with pytest.raises(PrivacyViolation, match=r"^[1-9]\d* rows are not covered") as caught:
            published(db, format="ranges")
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_types_are_made_where_texts_compare_by_bytes(
    db: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staged_enums, "MANY_ROWS", 0)
    seen: list[str] = []
    execute_all = type(db.engine).execute_all
    monkeypatch.setattr(
        type(db.engine),
        "execute_all",
        lambda self, made: (seen.extend(m.name for m in made), execute_all(self, made))[1],
    )
    published(db, format="ranges")
    kind = request.node.callspec.params["db"]
    assert ("table/drop_type" in seen) == (kind in ("plain", "gaps", "rowid"))
