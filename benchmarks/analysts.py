"""Forty-two queries of analysts over releases of Adult.

It counts the answered ones, and measures the error of estimates and the width of bounds.

    python -m benchmarks.analysts [--k 10] [--rows N]

`people` is Adult; `staff` has the same rows with a made-up date `hired`, which is drawn by a hash of the row's number.
Each is released by `tree` in format ranges, `people` by eight quasi columns and `staff` by three. The truth is the same
SQL over the source. Of numbers, the error is that of the estimate by the truth, the width that of the bounds by the
truth, each as the median of the query's cells that are not 0.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from typing import Any

import sqlanon
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv
from sqlanon.errors import UnsupportedError
from sqlanon.query import Bounded

QUERIES = {
    "people in a range": "SELECT count(*) AS n FROM people WHERE age BETWEEN 30 AND 39 AND sex = 'Female'",
    "people by a category": "SELECT workclass, count(*) AS n FROM people GROUP BY workclass ORDER BY n DESC LIMIT 5",
    "histogram by decades": "SELECT floor(age / 10.0) * 10 AS decade, count(*) AS n FROM people GROUP BY 1 ORDER BY 1",
    "groups of a CASE": "SELECT CASE WHEN age < 25 THEN 'young' WHEN age < 60 THEN 'working' ELSE 'old' END AS stage, "
    "count(*) AS n, avg(hours_per_week) AS hours FROM people GROUP BY 1",
    "share of a group": "SELECT 100.0 * count(*) FILTER (WHERE sex = 'Female') / count(*) AS share FROM people",
    "share by group": "SELECT sex, 100.0 * count(*) FILTER (WHERE income = '>50K') / count(*) AS rich FROM people "
    "GROUP BY sex",
    "share by AVG of CASE": "SELECT income, avg(CASE WHEN age >= 40 THEN 1.0 ELSE 0.0 END) AS over_40 FROM people "
    "GROUP BY income",
    "share, large groups": "SELECT race, 100.0 * count(*) FILTER (WHERE hours_per_week > 40) / count(*) AS long FROM "
    "people GROUP BY race HAVING count(*) > 500 ORDER BY long DESC",
    "mean of a quasi column": "SELECT income, avg(age) AS age FROM people GROUP BY income",
    "mean in a range": "SELECT avg(hours_per_week) AS hours FROM people WHERE age BETWEEN 20 AND 29",
    "mean by schooling": "SELECT education_num, avg(capital_gain) AS gain FROM people GROUP BY education_num "
    "ORDER BY 1",
    "extremes": "SELECT min(age) AS youngest, max(age) AS oldest FROM people "
    "WHERE marital_status = 'Married-civ-spouse'",
    "median of an exact column": "SELECT sex, median(hours_per_week) AS hours FROM people GROUP BY sex",
    "median of a quasi column": "SELECT income, median(age) AS age FROM people GROUP BY income",
    "percentile": "SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY age) AS age FROM people",
    "deviation": "SELECT income, stddev(hours_per_week) AS hours FROM people GROUP BY income",
    "deviation under a condition": "SELECT stddev(hours_per_week) AS hours FROM people WHERE age < 40",
    "deviation of a quasi column": "SELECT stddev(age) AS age FROM people",
    "mean as a ratio": "SELECT marital_status, 1.0 * sum(capital_gain) / count(*) AS gain FROM people "
    "GROUP BY marital_status",
    "ratio of sums": "SELECT sex, 1.0 * sum(capital_gain) / sum(capital_loss) AS ratio FROM people GROUP BY sex",
    "ratio of two groups": "SELECT 1.0 * count(*) FILTER (WHERE sex = 'Male') / nullif(count(*) FILTER "
    "(WHERE sex = 'Female'), 0) AS men FROM people WHERE age > 50",
    "different values": "SELECT count(DISTINCT native_country) AS countries, count(DISTINCT hours_per_week) AS hours "
    "FROM people",
    "sum of a product": "SELECT sum(age * hours_per_week) AS total FROM people WHERE sex = 'Male'",
    "mean of a quotient": "SELECT avg(1.0 * hours_per_week / age) AS effort FROM people",
    "rank by a mean": "SELECT occupation, avg(capital_gain) AS gain, rank() OVER (ORDER BY avg(capital_gain) DESC) AS "
    "place FROM people GROUP BY occupation ORDER BY place",
    "share of the total": "SELECT workclass, count(*) AS n, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS "
    "share FROM people WHERE age < 40 GROUP BY workclass ORDER BY n DESC",
    "share within a group": "SELECT sex, income, 100.0 * count(*) / sum(count(*)) OVER (PARTITION BY sex) AS share "
    "FROM people GROUP BY sex, income",
    "first of each group": "SELECT income, education_num, row_number() OVER (PARTITION BY income ORDER BY count(*) "
    "DESC) AS place FROM people GROUP BY income, education_num ORDER BY place, income LIMIT 6",
    "running total": "SELECT income, hours_per_week, sum(count(*)) OVER (PARTITION BY income ORDER BY hours_per_week) "
    "AS up_to FROM people GROUP BY income, hours_per_week",
    "change to the group before": "SELECT education_num, count(*) - lag(count(*)) OVER (ORDER BY education_num) AS "
    "change FROM people GROUP BY education_num",
    "two halves": "SELECT 'young' AS half, count(*) AS n, avg(capital_gain) AS gain FROM people WHERE age < 37 UNION "
    "ALL SELECT 'old', count(*), avg(capital_gain) FROM people WHERE age >= 37",
    "subquery": "WITH workers AS (SELECT age, income, hours_per_week AS hours FROM people WHERE hours_per_week >= 35) "
    "SELECT income, count(*) AS n FROM workers WHERE age > 30 GROUP BY income",
    "words": "SELECT count(*) AS n FROM people WHERE occupation LIKE 'Exec%' AND native_country IN ('United-States', "
    "'Canada')",
    "all but a list": "SELECT count(*) AS n FROM people WHERE native_country <> ALL (ARRAY['United-States', 'Mexico'])",
    "distance and rest": "SELECT count(*) FILTER (WHERE abs(age - 40) <= 5) AS near, count(*) FILTER "
    "(WHERE age % 10 = 0) AS round FROM people",
    "label of a group": "SELECT education_num, CASE WHEN count(*) >= 1000 THEN 'large' ELSE 'small' END AS size FROM "
    "people GROUP BY education_num",
    "correlation": "SELECT corr(age, hours_per_week) AS r FROM people",
    "people by year": "SELECT extract(year FROM hired) AS year, count(*) AS n FROM staff GROUP BY 1 ORDER BY 1",
    "people by quarter of a year": "SELECT date_trunc('quarter', hired) AS quarter, count(*) AS n FROM staff WHERE "
    "hired >= DATE '1990-01-01' GROUP BY 1 ORDER BY 1",
    "one month of every year": "SELECT count(*) AS n FROM staff WHERE extract(month FROM hired) = 1",
    "median of dates": "SELECT sex, median(hired) AS hired FROM staff GROUP BY sex",
    "since a date": "SELECT count(*) AS n, avg(age) AS age FROM staff WHERE hired "
    "BETWEEN DATE '1980-01-01' AND DATE '1989-12-31'",
}


def _cells(
    rows: Sequence[dict[str, Any]], truth: Sequence[Sequence[Any]], columns: Sequence[str], bounded: Sequence[str]
) -> list[tuple[Bounded, Any]]:
    """The cells with bounds, each with the source's value of the same group.

    A group that only one of the two lists has no such value.
    """
    keys = [name for name in columns if name not in bounded]
    places = [list(columns).index(name) for name in keys]
    sources: dict[tuple[str, ...], Sequence[Any]] = {tuple(str(row[i]) for i in places): row for row in truth}
    found = []
    for row in rows:
        mine = sources.get(tuple(str(row[name]) for name in keys))
        found += [] if mine is None else [(row[name], mine[list(columns).index(name)]) for name in bounded]
    return found


def _inside(cell: Bounded, truth: Any) -> bool:
    if truth is None:
        return cell.undefined_possible
    if isinstance(truth, str) or not isinstance(cell.low, int | float | None):
        low, high, value = (None if one is None else str(one)[:10] for one in (cell.low, cell.high, truth))
        return (low is None or low <= str(value)) and (high is None or str(value) <= high)
    slack = 1e-9 * max(1.0, abs(float(truth)))
    return (cell.low is None or cell.low <= float(truth) + slack) and (
        cell.high is None or float(truth) - slack <= cell.high
    )


def ask(db: sqlanon.Database, name: str, text: str) -> dict[str, Any]:
    """One query over a release and over its source."""
    truth = db.engine.fetch(text.replace("FROM people", "FROM main.people").replace("FROM staff", "FROM main.staff"))
    made: dict[str, Any] = {"query": name, "sql": text}
    try:
        answer = db.query(text)
    except UnsupportedError as error:
        return made | {"answered": False, "reason": str(error).split("\n")[0]}
    cells = _cells(answer.rows, truth, answer.columns, answer.aggregates)
    numbers = [
        (cell, float(value))
        for cell, value in cells
        if not isinstance(value, str)
        and isinstance(cell.estimate, int | float)
        and value is not None
        and float(value) != 0
    ]
    errors = [abs(cell.estimate - value) / abs(value) for cell, value in numbers]
    widths = [
        (cell.high - cell.low) / abs(value) for cell, value in numbers if cell.low is not None and cell.high is not None
    ]
    return made | {
        "answered": True,
        "groups": len(answer.rows),
        "cells": len(cells),
        "inside": sum(_inside(*pair) for pair in cells),
        "exact": sum(cell.exact for cell, _ in cells),
        "tight": sum(cell.tight for cell, _ in cells),
        "error": statistics.median(errors) if errors else None,
        "width": statistics.median(widths) if widths else None,
        "without_bounds": sum(cell.low is None or cell.high is None for cell, _ in cells),
    }


def measure(rows: int | None, k: int) -> list[dict[str, Any]]:
    """Every query."""
    with duckdb_url() as url:
        load_csv(url, "whole", data_folder() / ADULT.file)
        with sqlanon.connect(url) as db:
            db.engine.execute(f"CREATE TABLE people AS SELECT * FROM whole LIMIT {rows or 'ALL'}")
            db.engine.execute(
                "CREATE TABLE staff AS SELECT age, sex, hours_per_week, income, DATE '1994-12-31' - CAST((age - 16) * "
                "365 * (hash(row_number() OVER ()) % 1000) / 1000.0 AS INTEGER) AS hired FROM people"
            )
            exact = ["hours_per_week", "capital_gain", "capital_loss"]
            for source, quasi, plain in (("people", ADULT.quasi, exact), ("staff", ["age", "sex", "hired"], exact[:1])):
                db.anonymize(
                    source,
                    quasi=quasi,
                    sensitive="income",
                    insensitive=plain,
                    accept_unique=[*plain, "income"],
                    rest="drop",
                    method="tree",
                    k=k,
                )
            return [ask(db, name, text) for name, text in QUERIES.items()]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 if a truth is outside of its bounds."""
    parser = options(__doc__, RESULTS / "analysts.json")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--rows", type=int, help="of Adult; default: all")
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record = Record("analysts")
    found = measure(args.rows, args.k)
    answered = [one for one in found if one["answered"]]
    for one in found:
        print(
            f"{one['query']:30}",
            f"error {_percent(one['error'])}  width {_percent(one['width'])}  {one['inside']}/{one['cells']}"
            if one["answered"]
            else one["reason"],
        )
    summary = {
        "queries": len(found),
        "answered": len(answered),
        "error": statistics.median(one["error"] for one in answered if one["error"] is not None),
        "width": statistics.median(one["width"] for one in answered if one["width"] is not None),
        "inside": sum(one["inside"] for one in answered),
        "cells": sum(one["cells"] for one in answered),
    }
    print(summary)
    record.write(args.out, k=args.k, summary=summary, queries=found)
    return int(summary["inside"] < summary["cells"])


def _percent(value: float | None) -> str:
    return "   -  " if value is None or math.isnan(value) else f"{100 * value:5.1f} %"


if __name__ == "__main__":
    sys.exit(main())
