"""Differentially private statistics: errors on Adult, their intervals, and the time of a million rows.

    python -m benchmarks.dp [--rows 1000000] [--only errors,speed]

Errors: five tables of Adult at epsilon 1 in all, one row a person, counts and sums of hours; beside them the errors of
the counts that a k = 10 release (tree) answers. Speed: three measures of 10,000 groups, 5 rows a person. Goals: a mean
error of counts of at most 11, intervals that cover 0.94 to 0.98, 10 seconds for a million rows on DuckDB.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import sqlanon
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv
from sqlanon import policy

TABLES = (("sex",), ("education",), ("occupation", "sex"), ("age", "sex"), ("education", "occupation", "sex"))
VALUED = ("sex", "education", "occupation")
EPSILON = 1

POLICY = """\
version: 1
budgets:
  - {{name: people, persons: {{{source}: {person}}}, epsilon: 100, delta: 1e-6}}
releases:
  - name: noisy
    source: {source}
    publish: release.noisy
    every: 1d
    statistics:
      budget: people
      epsilon: {epsilon}
      tables: [{tables}]
      groups: {{{groups}}}
      measures: {{{measures}}}
      contributions: {{groups: {per_person}, rows: {rows}}}
      kept: false
"""


def publish(db: sqlanon.Database, text: str) -> float:
    """Run the release; seconds."""
    (spec,) = policy.loads(text, {}).releases
    start = time.perf_counter()
    db.run(spec, spend=True)
    return time.perf_counter() - start


def adult_policy(db: sqlanon.Database) -> str:
    """The five tables; the groups are the values that occur, as if somebody had declared them."""
    groups = []
    for name in VALUED:
        values = db.engine.fetch(f"SELECT DISTINCT {name} FROM people WHERE {name} IS NOT NULL ORDER BY 1")
        groups.append(f"{name}: [{', '.join(repr(str(value)) for (value,) in values)}]")
    groups.append(f"age: {{bins: [{', '.join(map(str, range(17, 92)))}]}}")
    return POLICY.format(
        source="people",
        person="person",
        epsilon=EPSILON,
        tables=", ".join(f"{{by: [{', '.join(by)}], totals: false}}" for by in TABLES),
        groups=", ".join(groups),
        measures="n: rows, hours: {sum: hours_per_week, range: [0, 99]}",
        per_person=1,
        rows=1,
    )


def errors(db: sqlanon.Database, by: Sequence[str]) -> dict[str, Any]:
    """Errors of one table of the release, and of the counts that the k release answers."""
    keys = ", ".join(by)
    truth: dict[tuple[str, ...], int] = {}
    for *group, n in db.engine.fetch(f"SELECT {keys}, count(*) FROM people GROUP BY {keys}"):
        if None not in group:
            truth[tuple(map(str, group))] = int(str(n))
    found, inside = [], 0
    wanted = ", ".join(by)
    rows = db.engine.fetch(f"SELECT {keys}, n, n_low, n_high FROM release.noisy WHERE \"table\" = '{wanted}'")
    for *group, n, low, high in rows:
        names = tuple(str(one).partition(",")[0].lstrip("[") for one in group)
        exact = truth.get(names, 0)
        found.append(abs(float(str(n)) - exact))
        inside += float(str(low)) <= exact <= float(str(high))
    answer = db.query(f"SELECT {keys}, count(*) AS n FROM release.people GROUP BY {keys}")
    estimates = {tuple(str(row[key]) for key in by): float(row["n"]["estimate"]) for row in answer.to_dict()["rows"]}
    other = [abs(estimates.get(group, 0.0) - n) for group, n in truth.items()]
    return {
        "table": wanted,
        "groups": len(found),
        "error": sum(found) / len(found),
        "covered": inside / len(found),
        "error_k10": sum(other) / len(other),
    }


def measure_errors(threads: int | None) -> list[dict[str, Any]]:
    """Adult: errors of five tables."""
    with duckdb_url() as url:
        load_csv(url, "adult", data_folder() / ADULT.file)
        with sqlanon.connect(url, threads=threads) as db:
            db.engine.execute("CREATE TABLE people AS SELECT row_number() OVER () AS person, * FROM adult")
            quasi = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
            db.anonymize(
                "people", identifiers="person", quasi=quasi, rest="drop", k=10, effort="fast", publish="release.people"
            )
            publish(db, adult_policy(db))
            found = [errors(db, by) for by in TABLES]
    for one in found:
        print(
            f"{one['table']}: {one['groups']} groups, mean error {one['error']:.1f}, covered {one['covered']:.3f}; "
            f"k = 10: {one['error_k10']:.1f}",
            flush=True,
        )
    return found


def measure_speed(rows: int, threads: int | None) -> dict[str, Any]:
    """Seconds of a version: 10,000 groups, three measures, 5 rows a person."""
    with duckdb_url() as url, sqlanon.connect(url, threads=threads) as db:
        db.engine.execute(
            f"CREATE TABLE stays AS SELECT CAST(hash(i) % {rows // 5} AS INTEGER) AS person, CAST(hash(i + 1) % 100 AS "
            "INTEGER) AS a, CAST(hash(i + 2) % 100 AS INTEGER) AS b, CAST(hash(i + 3) % 30000 AS INTEGER) AS cost "
            f"FROM range({rows}) AS r(i)"
        )
        ends = f"{{bins: [{', '.join(map(str, range(101)))}]}}"
        text = POLICY.format(
            source="stays",
            person="person",
            epsilon=EPSILON,
            tables="{by: [a, b], totals: false}",
            groups=f"a: {ends}, b: {ends}",
            measures="n: rows, people: persons, cost: {sum: cost, range: [0, 30000]}",
            per_person=3,
            rows=2,
        )
        used = time.process_time()
        seconds = publish(db, text)
        used = time.process_time() - used
    print(f"{rows} rows: {seconds:.1f} s, processor {used:.1f} s", flush=True)
    return {"rows": rows, "groups": 10_000, "seconds": seconds, "processor_seconds": used}


def main(words: list[str] | None = None) -> int:
    """Measure, and write the result."""
    parser = options(__doc__, RESULTS / "dp.json")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default="errors,speed")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args(words)
    record = Record("dp")
    found: dict[str, Any] = {}
    if "errors" in args.only and has_data():
        found["errors"] = measure_errors(args.threads)
    if "speed" in args.only:
        found["speed"] = measure_speed(args.rows, args.threads)
    record.write(args.out, **found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
