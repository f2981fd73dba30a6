"""Queries that `evaluate` draws mean on Spark what they mean on DuckDB: names, texts and times are written as each reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.query.refusal import Refused
from tests.spark.tables import CANARY, arrow, in_duckdb, load
from tests.spark.test_walk import same_answers

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


def unmarked(rows: int) -> Any:
    """The table without its mark: what is asked is in the text of a query, and in Spark's log of events."""
    table = arrow(rows)
    texts = ["plain" if cell == CANARY else cell for cell in table["s"].to_pylist()]
    return table.set_column(table.column_names.index("s"), "s", [texts])


def test_queries_that_are_drawn(session: Any, tmp_path: Path) -> None:
    """Of every type and with every quote in texts: each query's truth and error are those of DuckDB, and some find rows."""
    table = unmarked(60)
    load(session, table, "asked")
    file = tmp_path / "workload.yml"
    file.write_text(WORKLOAD)
    shown = []
    with (
        in_duckdb(table, "asked") as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as spark,
    ):
        for db in (spark, known):
            db.anonymize(
                "asked", name="asked", quasi=QUASI, sensitive="diag", identifiers="name", rest="drop", k=3, method="tree"
            )  # fmt: skip
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
    session.sql("DROP TABLE asked")


ASKED = [
    # More digits than a decimal has, half way between two doubles.
    "SELECT count(*) AS n FROM grouped WHERE f BETWEEN 0.0 AND 6.780636119487458",
    "SELECT date_trunc('year', z) AS y, count(*) AS n, sum(i) AS s FROM grouped GROUP BY date_trunc('year', z) ORDER BY y NULLS FIRST",
    "SELECT d, count(*) AS n FROM grouped WHERE i > 0 GROUP BY d ORDER BY d NULLS FIRST",
    "SELECT b, count(*) AS n, avg(m) AS a FROM grouped GROUP BY b ORDER BY b NULLS FIRST",
    "SELECT floor(m / 2000.0) AS g, count(*) AS n FROM grouped GROUP BY floor(m / 2000.0) ORDER BY g NULLS FIRST",
    "SELECT s, diag, count(*) AS n FROM grouped GROUP BY s, diag HAVING count(*) > 1 ORDER BY s NULLS FIRST, diag",
    "SELECT median(i) AS m FROM grouped",
]


def test_queries_that_people_write(session: Any) -> None:
    """Groups and numbers of every type, with plans that Spark changes while they run, as it does unless it is asked not to."""
    table = unmarked(60)
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
        with pytest.raises(Refused, match="write TIMESTAMP_NTZ"):
            spark.query(f"SELECT count(*) AS n FROM grouped WHERE t >= TIMESTAMP {moment}")
        asked, expected = (
            db.query(f"SELECT count(*) AS n FROM grouped WHERE t >= {word} {moment}").rows[0]["n"]
            for db, word in ((spark, "TIMESTAMP_NTZ"), (known, "TIMESTAMP"))
        )
        assert (asked.low, asked.high) == (expected.low, expected.high)
        assert asked.estimate == pytest.approx(expected.estimate)
    session.sql("DROP TABLE grouped")
