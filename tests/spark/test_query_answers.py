"""Answers over a release of Spark hold the answers of the same SQL over its source."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from typing import Any

import pytest

import sqlanon

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

QUERIES = [
    "SELECT count(*) AS n FROM visits",
    "SELECT count(*) AS n FROM visits WHERE age BETWEEN 30 AND 44 AND weight < 70",
    "SELECT count(*) AS n, sum(cost) AS s, avg(cost) AS a FROM visits WHERE age >= 40 OR sex = 'F'",
    "SELECT sum(age) AS s, avg(weight) AS a, min(age) AS l, max(seen) AS h FROM visits WHERE diagnosis = 'flu'",
    "SELECT diagnosis, count(*) AS n, sum(cost) AS s FROM visits WHERE age < 50 GROUP BY diagnosis",
    "SELECT sex, count(*) AS n, avg(cost) AS a FROM visits GROUP BY sex",
    "SELECT floor(age / 10) * 10 AS decade, count(*) AS n FROM visits GROUP BY floor(age / 10) * 10",
    "SELECT date_trunc('month', seen) AS m, count(*) AS n FROM visits GROUP BY date_trunc('month', seen)",
    "SELECT year(seen) AS y, count(*) AS n FROM visits GROUP BY year(seen)",
    "SELECT count_if(age > 35) AS n, sum(CAST(age > 35 AS INT)) AS s FROM visits WHERE weight >= 60",
    "SELECT count(*) AS n FROM visits WHERE CAST(weight AS DECIMAL(12, 1)) > 65.5",
    "SELECT count(*) AS n FROM visits WHERE seen - INTERVAL '1' MONTH < DATE '2024-02-10'",
    "SELECT count(*) AS n FROM visits WHERE seen + age > DATE '2024-07-01'",
    "SELECT sum(age * 2 + 1) AS s, sum(abs(age - 40)) AS d FROM visits WHERE sex = 'M'",
    "SELECT 100.0 * count(*) FILTER (WHERE age < 40) / count(*) AS n FROM visits WHERE diagnosis <> 'cold'",
    "SELECT count(*) AS n FROM visits WHERE weight BETWEEN 55.5 AND 72 AND coalesce(age, 0) > 33",
]


@pytest.fixture(scope="module")
def spark(session: Any) -> Iterator[Any]:
    """A source with NULL, NaN, infinities and -0.0, and its release."""
    import pyarrow as pa

    draw = random.Random(17)
    odd = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), None]
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(draw.randrange(200)) for _ in range(120)]
    table = pa.table(
        {
            "age": pa.array([None if draw.random() < 0.05 else draw.randint(18, 70) for _ in days], pa.int32()),
            "weight": pa.array([draw.choice(odd) if draw.random() < 0.1 else draw.uniform(45, 95) for _ in days]),
            "seen": pa.array(days, pa.date32()),
            "sex": pa.array([draw.choice("FM") for _ in days]),
            "diagnosis": pa.array([draw.choice(["flu", "cold", "asthma"]) for _ in days]),
            "cost": pa.array([draw.randint(1, 900) for _ in days], pa.int32()),
        }
    )
    session.createDataFrame(table).coalesce(1).write.saveAsTable("visits")
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        db.anonymize(
            "visits",
            quasi=("age", "weight", "seen", "sex"),
            sensitive="diagnosis",
            insensitive=["cost"],
            accept_unique=["cost"],
            k=3,
            method="mondrian",
            name="visits",
        )
        yield db
    session.sql("DROP TABLE visits")


@pytest.mark.parametrize("query", QUERIES)
def test_an_answer_holds_that_of_the_source(spark: Any, query: str) -> None:
    answer = spark.query(query)
    keys = [name for name in answer.columns if name not in answer.aggregates]
    truth = dict(grouped(answer.columns, keys, spark.engine.fetch(query)))
    shown = {
        tuple(row[key] for key in keys): (row, sure) for row, sure in zip(answer.rows, answer.certain, strict=True)
    }
    assert truth.keys() <= shown.keys() or answer.unlisted_groups
    assert {key for key, (_, sure) in shown.items() if sure} <= truth.keys()
    for key in truth.keys() & shown.keys():
        for name in answer.aggregates:
            cell, value = shown[key][0][name], truth[key][name]
            if value is None:
                assert cell.undefined_possible, (key, name)
                continue
            assert cell.low is None or not value < below(cell.low), (key, name, value, cell)
            assert cell.high is None or not value > above(cell.high), (key, name, value, cell)


def grouped(columns: Any, keys: list[str], rows: list[Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Rows of the source by their keys."""
    for row in rows:
        named = dict(zip(columns, row, strict=True))
        yield tuple(named[key] for key in keys), named


def below(end: Any) -> Any:
    """A double's end, less what sums of doubles in another order differ by."""
    return end - abs(end) * 1e-9 if isinstance(end, float) else end


def above(end: Any) -> Any:
    """See `below`."""
    return end + abs(end) * 1e-9 if isinstance(end, float) else end
