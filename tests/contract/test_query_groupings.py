"""ROLLUP, CUBE and GROUPING SETS in an order, compared with the engine's own rows over exact columns."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import plain, publish, quasi

ROWS = [(1, "a", 10), (1, "b", 4), (2, "a", 7), (2, "a", 1), (3, "c", 5), (3, "b", 5)]
TYPED = (
    "SELECT CAST(coalesce(m, 5) AS VARCHAR(9)) AS x, count(*) AS n FROM {t} GROUP BY ROLLUP (m) ORDER BY GROUPING(m)"
)
ORDERED = [
    "SELECT c, count(*) AS n FROM {t} GROUP BY ROLLUP (c) ORDER BY GROUPING(c), c",
    "SELECT c, count(*) AS n FROM {t} GROUP BY ROLLUP (c) ORDER BY GROUPING(c) DESC, c DESC",
    "SELECT d, sum(v) AS s FROM {t} GROUP BY CUBE (c, d) ORDER BY GROUPING(c, d), sum(v) + max(c), c, d",
    "SELECT sum(v) AS s FROM {t} GROUP BY ROLLUP (c > 1, d) ORDER BY GROUPING(c > 1), c > 1, d NULLS FIRST LIMIT 4",
    "SELECT c > 1 AS b, GROUPING(c > 1) AS g, count(*) FROM {t} GROUP BY ROLLUP (c > 1) ORDER BY GROUPING(c > 1), b",
    "SELECT c, GROUPING(c) AS g FROM {t} GROUP BY ROLLUP (c) ORDER BY 2 DESC, 1",
    (
        "SELECT count(*) AS n FROM {t} GROUP BY GROUPING SETS (c % 2 = 0, (d), ()) ORDER BY CASE WHEN GROUPING(d) = 0 "
        "THEN 0 ELSE GROUPING(c % 2 = 0) + 1 END, d, c % 2 = 0 OFFSET 1"
    ),
    TYPED,
]
UNEQUAL = {
    "SELECT DISTINCT c FROM {t} GROUP BY ROLLUP (c)": "DISTINCT is not answered over ROLLUP",
    "SELECT count(*) FROM (SELECT DISTINCT c, d FROM {t} GROUP BY CUBE (c, d)) AS s": "DISTINCT is not answered over",
    "SELECT count(*) FROM (SELECT c, count(*) AS n FROM {t} GROUP BY ROLLUP (c)) AS s": "are not aggregated",
    "SELECT count(*), sum(n) FROM (SELECT c, count(*) AS n FROM {t} GROUP BY CUBE (c, d)) AS s": "are not aggregated",
    "SELECT c AS d, d AS c, count(*) FROM {t} GROUP BY ROLLUP (c, d)": "a table has a column d as well",
}
"""Rows of several groupings may be equal, and a term with the name of an item may be a column."""


@pytest.mark.every_engine
def test_rows_are_in_the_order_of_terms_that_are_no_columns(shared_db: Any) -> None:
    name = f"g{uuid.uuid4().hex[:10]}"
    given = [
        quasi("x", "integer", "INTEGER"),
        plain("c", "integer", "INTEGER"),
        plain("d", "text", "TEXT"),
        plain("v", "integer", "INTEGER"),
        plain("m", "decimal", "DECIMAL(5,2)"),
    ]
    publish(shared_db, name, given, [["0", "9", str(c), f"'{d}'", str(v), "1.50"] for c, d, v in ROWS])
    for form in ORDERED:
        answer = shared_db.query(form.format(t=name))
        true = shared_db.engine.fetch(form.format(t=f"release.{name}"))
        cells = [[getattr(row[one], "estimate", row[one]) for one in answer.columns] for row in answer.rows]
        assert cells == [list(row) for row in true], form
    if shared_db.engine.dialect == "duckdb":
        form = f"SELECT grouping_id(c, d) AS g, count(*) FROM {name} GROUP BY ROLLUP (c, d) ORDER BY 1 DESC LIMIT 2"
        assert [row["g"] for row in shared_db.query(form).rows] == [3, 1]
    for form, reason in UNEQUAL.items():
        with pytest.raises(UnsupportedError, match=reason):
            shared_db.query(form.format(t=name))
    with pytest.raises(UnsupportedError, match="the query does not parse"):
        shared_db.query(f"SELECT count(*) FROM {name} GROUP BY ROLLUP (c, ")
