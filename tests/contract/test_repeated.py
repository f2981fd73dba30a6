"""Arrays that are written by number: the table is the one, row by row, that a sort of the arrays themselves gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.engines.base import TableRef
from sqlanon.release.publish import array_dictionary
from sqlanon.sqltext import statement
from tests.contract.cases import release_rows
from tests.contract.samples import MIXED

PUBLISHED = [
    {"source": "r", "column": "lo", "name": "lo"},
    {"source": "r", "column": "of class", "name": "of class"},
    {"source": "s", "column": "s1", "name": "own", "kind": "integer"},
    {"source": "r", "column": "second", "name": "second"},
]


@pytest.mark.thorough
def test_many_rows_keep_their_order() -> None:
    """Enough rows for several threads, of classes that publish alike, and with arrays that are NULL or hold NULL."""
    with duckdb.connect(config={"threads": 4}) as connection:
        connection.execute("""
            CREATE TEMP TABLE released AS SELECT c AS _sqlanon_class, c // 2 AS _sqlanon_place, c // 8 AS lo,
                CASE WHEN c // 2 % 7 > 0
                    THEN [CAST(c // 2 % 7 AS VARCHAR), 'and more than twelve bytes'] END AS "of class",
                [NULL, c // 2 % 3] AS second
            FROM range(20_000) AS t(c);
            CREATE TEMP TABLE classed AS SELECT hash(i) % 20_000 AS class, NULLIF(hash(i, 1) % 50, 0) AS s1
            FROM range(400_000) AS t(i)""")
        for name, arrays in (("plain", []), ("numbered", ["of class", "second"])):
            made = statement(
                "publish/table",
                "duckdb",
                physical=TableRef(None, name),
                classed=TableRef(None, "classed"),
                released=TableRef(None, "released"),
                published=PUBLISHED,
                repeated=arrays,
                declared=False,
            )
            connection.execute(made.text)
        described = [connection.execute(f"DESCRIBE {name}").fetchall() for name in ("plain", "numbered")]
        assert described[0] == described[1]
        pairs = connection.execute("""
            SELECT COUNT(*), COUNT(*) FILTER (a.lo = b.lo AND a."of class" IS NOT DISTINCT FROM b."of class"
                AND a.own IS NOT DISTINCT FROM b.own AND a.second = b.second)
            FROM plain AS a JOIN numbered AS b ON a.rowid = b.rowid""").fetchone()
    assert pairs == (400_000, 400_000)


@pytest.mark.parametrize("few", [0, array_dictionary.FEW_ARRAYS])
def test_a_release_is_the_same(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    plain = release_rows(shared_db, MIXED, tmp_path, format="ranges")[0]
    monkeypatch.setattr(array_dictionary, "MANY_ROWS", 0)
    monkeypatch.setattr(array_dictionary, "FEW_ARRAYS", few)
    assert release_rows(shared_db, MIXED, tmp_path, format="ranges")[0] == plain
