"""DuckDB joins rows with their classes a million at a time: every row is joined once, where it is."""

from __future__ import annotations

import duckdb
import pytest

from sqlanon.engines.base import TableRef
from sqlanon.sqltext import statement

ROWS = 2_100_001


@pytest.mark.parametrize("in_order", [False, True], ids=["", "in_order"])
@pytest.mark.parametrize("kept", ["all", "assigned"])
@pytest.mark.parametrize("tied", [False, True])
def test_rows_on_both_sides_of_every_bound(kept: str, tied: bool, in_order: bool) -> None:
    """Rows of the stage have no order, one has no class, and one has two: that is for verify to find."""
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute("""
            CREATE TEMP TABLE stage AS SELECT CAST(rid AS INTEGER) AS rid, rid * 3 AS q1, hash(rid) AS link
            FROM (VALUES (2_100_000), (1_000_000), (0), (999_999), (5), (1_999_999), (2_000_000), (1_000_001))
                AS t(rid);
            CREATE TEMP TABLE work AS SELECT rid, CAST(rid % 7 AS SMALLINT) AS c1 FROM stage;
            CREATE TEMP TABLE assign AS SELECT rid, CAST(rid % 11 AS INTEGER) - 1 AS class FROM stage WHERE rid <> 5
                UNION ALL SELECT 1_000_000, 50;
            CREATE TEMP TABLE tied AS SELECT 999_999 AS rid, 70 AS class""")
        names = {name: TableRef(None, name) for name in ("classed", "stage", "work", "assign")}
        made = statement(
            "table/classed",
            "duckdb",
            **names,
            raw=["q1"],
            codes=["c1"],
            tied=TableRef(None, "tied") if tied else None,
            kept=kept,
            rows=ROWS,
            block=1_000_000,
            listed=False,
            link=(),
            in_order=in_order,
        )
        connection.execute(made.text)
        found = connection.execute("SELECT class, rid, q1, c1, link = hash(rid) FROM classed").fetchall()
    given = [(rid, rid % 11 - 1) for rid in (0, 999_999, 1_000_000, 1_000_001, 1_999_999, 2_000_000, 2_100_000)]
    given.append((1_000_000, 50))
    expected = [(70 if tied and rid == 999_999 else of, rid, 3 * rid, rid % 7, True) for rid, of in given]
    assert not in_order or [row[0] for row in found] == sorted(row[0] for row in found)
    assert sorted(found) == sorted(row for row in expected if kept == "all" or row[0] >= 0)
