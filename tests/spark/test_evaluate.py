"""Queries that `evaluate` draws mean on Spark what they mean on DuckDB.

Names, texts and times are written as each reads them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.engines.base import Statement
from sqlanon.query.refusal import RefusedQueryError
from sqlanon.sqltext.bind_literals import separate_values
from tests.spark.tables import CANARY, arrow, in_duckdb, load
from tests.spark.test_walk import Log, same_answers

pytestmark = [pytest.mark.spark, pytest.mark.thorough]
QUASI = ("f", "d", "t", "z", "m", "b", "s", "i")
WORKLOAD = """\
version: 1
seed: 1
generators:
  - {name: values, kind: equality, queries: 12, columns: [f, t, z, s]}
  - {name: ranges, kind: ranges, queries: 6, dimensions: 2, selectivity: 0.3}
  - {name: sums, kind: aggregates, by: [b], measures: [m, i]}
"""


def test_queries_that_are_drawn(session: Any, events: Path, tmp_path: Path) -> None:
    """Of every type and with every quote in texts.

    Each query's truth and error are those of DuckDB, and some find rows.

    No value that was drawn is in the log of events.
    """
    table = arrow(60)
    load(session, table, "asked")
    log = Log(session, events)
    file = tmp_path / "workload.yml"
    file.write_text(WORKLOAD)
    shown = []
    with (
        in_duckdb(table, "asked") as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as spark,
    ):
        for db in (spark, known):
            db.anonymize(
                "asked",
                name="asked",
                quasi=QUASI,
                sensitive="diag",
                identifiers="name",
                rest="drop",
                k=3,
                method="tree",
            )
            shown.append(db.evaluate("asked", file))
    mine, theirs = shown
    assert mine.sound
    names = [(one.query, one.aggregate) for one in mine.queries]
    assert names == [(one.query, one.aggregate) for one in theirs.queries]
    found = 0
    for one, other in zip(mine.queries, theirs.queries, strict=True):
        assert (one.refused, one.groups, one.lost) == (other.refused, other.groups, other.lost)
        for part in ("truth", "estimate", "low", "high"):
            assert getattr(one, part) == pytest.approx(getattr(other, part)), (one, other)
        assert one.errors.absolute.mean == pytest.approx(other.errors.absolute.mean), (one, other)
        found += bool(one.truth)
    assert found > len(names) / 2
    shown = log.new()
    assert "SparkListenerSQLExecutionStart" in shown
    assert [text for text in unmistakable(table) if text in shown] == []
    session.sql("DROP TABLE asked")


def unmistakable(table: Any) -> set[str]:
    """Values of a table that nothing else looks like, as SQL and plans would have them."""
    texts = {CANARY}
    for name in ("f", "t", "z", "m", "w", "l"):
        for value in table[name].to_pylist():
            shown = str(value)
            if len(shown) > 8:
                texts |= {shown, shown.partition("+")[0], shown.lstrip("-")}
    return texts


CONSTANTS = """\
41, 2147483647, 2147483648, -2147483648, -2147483649, 9223372036854775808, -9223372036854775808, 4.10, \
0.041, -4.1, 41.0, 4e1, -4.1e-3, 1.5D, 41L,
DATE '2001-02-03', TIMESTAMP '2001-02-03 04:05:06.789', TIMESTAMP_NTZ '2001-02-03 04:05:06', CAST('NaN' AS DOUBLE), \
CAST('4.1' AS DECIMAL(5, 2)),
'it\\'s', 'a\\\\b', '', ':k', CAST(4.1 AS INT), TRY_CAST('x' AS INT), INTERVAL '3' DAY, TRUE, NULL, \
99999999999999999999.99"""
WRITTEN = [
    *(
        f"SELECT {constant.strip()}"
        for constant in CONSTANTS.split(", ")
        if "(5" not in constant and "2))" not in constant
    ),
    f"SELECT {CONSTANTS}",
    (
        "SELECT COUNT(*) FILTER (WHERE s = 'b' AND n BETWEEN 3 AND 40.5), SUM(CASE WHEN d < DATE '2001-06-01' THEN 2 "
        "ELSE 0 END) * 100.5 FROM {t}"
    ),
    "SELECT COUNT(*) AS n FROM {t} WHERE s IN ('a', 'b') AND n NOT IN (3, 5, 7)",
    "SELECT s, COUNT(*) + 7 AS n FROM {t} WHERE n > 2 GROUP BY s HAVING COUNT(*) > 2 ORDER BY 2 DESC, s LIMIT 2",
    "SELECT n % 3 AS g, MIN(n + 5) FROM {t} GROUP BY n % 3 ORDER BY g",
    (
        "SELECT n, SUM(n * 2) OVER (ORDER BY n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s, LAG(n, 2) OVER (ORDER "
        "BY n), ROUND(n / 7.0, 2) FROM {t} ORDER BY n LIMIT 5"
    ),
    "SELECT a.n FROM {t} AS a LEFT JOIN {t} AS b ON a.n = b.n + 7 AND b.s = 'a' WHERE a.n > 3 ORDER BY a.n LIMIT 4",
    "SELECT * FROM {t} WHERE n = 5",
    (
        "WITH c AS (SELECT n, s = 'a' AS a FROM {t}), g AS (SELECT a, COUNT(*) AS n FROM c WHERE n < 50 GROUP BY a) "
        "SELECT a, n, n / 3.0 FROM g ORDER BY a"
    ),
    "SELECT 5 AS n UNION ALL SELECT n FROM {t} WHERE n = (SELECT MAX(n) - 2 FROM {t} WHERE s = 'b') ORDER BY n",
    "SELECT DISTINCT s, 'x' FROM {t} WHERE EXISTS (SELECT 2 FROM {t} AS o WHERE o.n = 3) ORDER BY s",
]


def test_values_apart_mean_what_they_mean_in_the_text(session: Any, events: Path) -> None:
    """Types and rows of queries whose texts and numbers are sent apart are those of the queries as they are written."""
    session.sql(
        "CREATE TABLE apart AS SELECT CAST(id AS INT) AS n, SUBSTR('abc', CAST(id % 3 AS INT) + 1, 1) AS s, "
        "DATE_ADD(DATE '2001-01-01', CAST(id * 9 AS INT)) AS d FROM RANGE(60)"
    )
    with sqlanon.connect(session, temporary=True) as db:
        for written in WRITTEN:
            query = written.replace("{t}", "`separate_values`")
            plain = db.engine.describe(query), db.engine.fetch(Statement("plain", query))
            with db.engine.conceals(separate_values):
                kept = db.engine.describe(query), db.engine.fetch(Statement("apart", query))
            assert repr(kept) == repr(plain), query
        log = Log(session, events)
        with db.engine.conceals(separate_values):
            db.engine.fetch(
                Statement(
                    "apart",
                    f"SELECT COUNT(*) FROM apart WHERE s <> '{CANARY}' AND n + 0.5 < 7316207.25 AND d < DATE "
                    "'1907-08-09'",
                )
            )
        shown = log.new()
        assert "SparkListenerSQLExecutionStart" in shown
        assert [value for value in (CANARY, "7316207", "1907-08-09") if value in shown] == []
    session.sql("DROP TABLE apart")


ASKED = [
    # More digits than a decimal has, half way between two doubles.
    "SELECT count(*) AS n FROM grouped WHERE f BETWEEN 0.0 AND 6.780636119487458",
    (
        "SELECT date_trunc('year', z) AS y, count(*) AS n, sum(i) AS s FROM grouped GROUP BY date_trunc('year', z) "
        "ORDER BY y NULLS FIRST"
    ),
    "SELECT d, count(*) AS n FROM grouped WHERE i > 0 GROUP BY d ORDER BY d NULLS FIRST",
    "SELECT b, count(*) AS n, avg(m) AS a FROM grouped GROUP BY b ORDER BY b NULLS FIRST",
    "SELECT floor(m / 2000.0) AS g, count(*) AS n FROM grouped GROUP BY floor(m / 2000.0) ORDER BY g NULLS FIRST",
    "SELECT s, diag, count(*) AS n FROM grouped GROUP BY s, diag HAVING count(*) > 1 ORDER BY s NULLS FIRST, diag",
    "SELECT median(i) AS m FROM grouped",
]


def test_queries_that_people_write(session: Any) -> None:
    """Groups and numbers of every type, with plans that Spark changes while they run, as it does by default."""
    table = arrow(60)
    load(session, table, "grouped")
    options = {
        "quasi": QUASI,
        "sensitive": "diag",
        "identifiers": "name",
        "rest": "drop",
        "k": 3,
        "method": "tree",
        "name": "grouped",
    }
    with (
        in_duckdb(table, "grouped") as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as spark,
    ):
        for db in (spark, known):
            db.anonymize("grouped", **options)
        spark.engine._session.conf.set("spark.sql.adaptive.enabled", "true")
        for query in ASKED:
            same_answers(spark, known, query)
        moment = "'2001-03-04 05:06:07'"
        with pytest.raises(RefusedQueryError, match="write TIMESTAMP_NTZ"):
            spark.query(f"SELECT count(*) AS n FROM grouped WHERE t >= TIMESTAMP {moment}")
        asked, expected = (
            db.query(f"SELECT count(*) AS n FROM grouped WHERE t >= {word} {moment}").rows[0]["n"]
            for db, word in ((spark, "TIMESTAMP_NTZ"), (known, "TIMESTAMP"))
        )
        assert (asked.low, asked.high) == (expected.low, expected.high)
        assert asked.estimate == pytest.approx(expected.estimate)
    session.sql("DROP TABLE grouped")
