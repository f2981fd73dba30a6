"""Differentially private statistics: errors on Adult, their intervals, and the time of a million rows.

    python -m benchmarks.dp [--rows 1000000] [--only errors,nights,rows,bounding,speed] [--engines duckdb,postgres]
        [--smartnoise PYTHON]

Errors: five tables of Adult at epsilon 1 in all, one row a person, counts and sums of hours; beside them the errors of
the same counts and sums that a k = 10 release (tree) answers, and of counts by smartnoise-sql at the same epsilon,
where PYTHON is an interpreter that has it. Nights: the errors of one running count over a year at epsilon 1, beside a
count of every night at the same epsilon in all. Speed: three measures of 10,000 groups, 5 rows a person. Goals: a mean
error of counts of at most 11, intervals that cover 0.94 to 0.98, a million rows in 10 s on DuckDB and 30 s on
PostgreSQL.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import sqlanon
from benchmarks.dp_bounding import measure_bounding
from benchmarks.dp_rows import measure_rows
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv, postgres_url
from sqlanon import policy
from sqlanon.noisy.accounting import total_epsilon
from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.nights import combine
from sqlanon.noisy.shape import Shape, shape_of
from sqlanon.noisy.split import Noise, noise_of

TABLES = (("sex",), ("education",), ("occupation", "sex"), ("age", "sex"), ("education", "occupation", "sex"))
VALUED = ("sex", "education", "occupation")
EPSILON = 1
DELTA = Fraction(1, 10**6)

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


Group = tuple[str, ...]


def errors(db: sqlanon.Database, by: Sequence[str], others: Mapping[Group, float] | None) -> dict[str, Any]:
    """Errors of one table of the release, of what the k release answers, and of another library's counts."""
    keys, wanted = ", ".join(by), ", ".join(by)
    made: dict[str, Any] = {"table": wanted}
    for name, sql in (("n", "count(*)"), ("hours", "sum(hours_per_week)")):
        rows = db.engine.fetch(f"SELECT {keys}, {sql} FROM people GROUP BY {keys}")
        truth = {tuple(map(str, group)): float(str(n)) for *group, n in rows if None not in group}
        found, inside = [], 0
        columns = f"{name}, {name}_low, {name}_high"
        for *group, n, low, high in db.engine.fetch(
            f"SELECT {keys}, {columns} FROM release.noisy WHERE \"table\" = '{wanted}'"
        ):
            exact = truth.get(tuple(str(one).partition(",")[0].lstrip("[") for one in group), 0.0)
            found.append(abs(float(str(n)) - exact))
            inside += float(str(low)) <= exact <= float(str(high))
        answer = db.query(f"SELECT {keys}, {sql} AS n FROM release.people GROUP BY {keys}").to_dict()["rows"]
        estimates = {tuple(str(row[key]) for key in by): float(row["n"]["estimate"]) for row in answer}
        made[name] = {
            "groups": len(found),
            "error": mean(found),
            "covered": inside / len(found),
            "error_k10": mean([abs(estimates.get(group, 0.0) - n) for group, n in truth.items()]),
        }
        if name == "n" and others is not None:  # a group that it does not show counts as 0
            made[name]["error_smartnoise"] = mean([abs(others.get(group, 0.0) - n) for group, n in truth.items()])
            made[name]["shown_by_smartnoise"] = len(others) / len(truth)
    return made


def ask_smartnoise(python: str, db: sqlanon.Database) -> tuple[list[dict[Group, float]], dict[str, Any]]:
    """Counts of the same tables, each at the epsilon that ours have: a fifth of a half of the whole."""
    share = EPSILON / len(TABLES) / 2
    columns = list(dict.fromkeys(name for by in TABLES for name in by))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "people.csv"
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(["person", *columns])
            writer.writerows(db.engine.fetch(f"SELECT person, {', '.join(columns)} FROM people"))
        script = Path(__file__).with_name("dp_smartnoise.py")
        # It charges twice the epsilon that it is given: for the groups that it shows, and for the count.
        command = [python, str(script), str(file), str(share / 2), "1e-6"]
        ended = subprocess.run(
            command,
            input=json.dumps(TABLES),
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": os.environ["PATH"]},
        )
    answered = json.loads(ended.stdout)
    counts = [{tuple(row[:-1]): float(row[-1]) for row in one["rows"]} for one in answered]
    return counts, {"epsilon": share, "cost": answered[0]["cost"]}


def measure_errors(threads: int | None, smartnoise: str | None) -> dict[str, Any]:
    """Adult: errors of five tables."""
    with duckdb_url() as url:
        load_csv(url, "adult", data_folder() / ADULT.file)
        with sqlanon.connect(url, threads=threads) as db:
            db.engine.execute("CREATE TABLE people AS SELECT row_number() OVER () AS person, * FROM adult")
            quasi = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
            db.anonymize(
                "people",
                identifiers="person",
                quasi=quasi,
                insensitive="hours_per_week",
                rest="drop",
                k=10,
                effort="fast",
                publish="release.people",
            )
            publish(db, adult_policy(db))
            counts, said = ask_smartnoise(smartnoise, db) if smartnoise else ([None] * len(TABLES), None)
            found = [errors(db, by, other) for by, other in zip(TABLES, counts, strict=True)]
    for one in found:
        for name in ("n", "hours"):
            own = one[name]
            print(
                f"{one['table']}, {name}: {', '.join(f'{key} {value:.5g}' for key, value in own.items())}", flush=True
            )
    goals = {
        "mean_error_of_counts": mean([one["n"]["error"] for one in found]),
        "covered": sum(one["n"]["covered"] * one["n"]["groups"] for one in found)
        / sum(one["n"]["groups"] for one in found),
    }
    print(goals, flush=True)
    return {"tables": found, "smartnoise": said, **goals}


def measure_nights(nights: int, runs: int = 40) -> dict[str, Any]:
    """Errors of a running count, of the arrivals of a night, and of a count that each night measures anew."""
    shape, noise, drawn = draw_nights(f"running: {{nights: {nights}}}", "1", (nights, runs))
    assert shape.factor is not None
    found: dict[str, Any] = {"nights": nights, "cost": float(total_epsilon(noise.mechanisms, DELTA))}
    for name, weights in (("running", shape.factor.running), ("arrived", shape.factor.arrived)):
        made = [combine(weights, drawn[: night + 1]) for night in range(nights)]
        found[name] = float(np.sqrt(np.mean(np.square(made))))
    low, high = Fraction(1, 1000), Fraction(1)
    for _ in range(20):  # the epsilon of one night, of which all nights together cost 1
        middle = Fraction(round((low + high) / 2 * 10**6), 10**6)
        _, tried, _ = draw_nights("noise: gaussian", str(middle), (0, 0))
        low, high = (middle, high) if total_epsilon(tried.mechanisms * nights, DELTA) <= 1 else (low, middle)
    _, _, alone = draw_nights("noise: gaussian", str(low), (nights, runs))
    found["anew"] = float(np.sqrt(np.mean(np.square(alone.astype(float)))))
    print(", ".join(f"{key} {value:.4g}" for key, value in found.items()), flush=True)
    return found


def draw_nights(more: str, epsilon: str, size: tuple[int, int]) -> tuple[Shape, Noise, Any]:
    """A release of one count of persons: its shape, its noise, and numbers drawn by it."""
    text = POLICY.format(
        source="stays",
        person="person",
        epsilon=epsilon,
        tables="{by: [sex], totals: false}",
        groups="sex: [F]",
        measures="people: persons",
        per_person=1,
        rows=1,
    )
    (spec,) = policy.loads(f"{text}      {more}\n", {}).releases
    shape = shape_of(spec)
    noise = noise_of(shape)
    return shape, noise, add_noise(np.zeros(size[0] * size[1], np.int64), noise.law, noise.scales[0]).reshape(size)


def measure_speed(engine: str, rows: int, threads: int | None) -> dict[str, Any]:
    """Seconds of a version: 10,000 groups, three measures, 5 rows a person."""
    place = duckdb_url() if engine == "duckdb" else postgres_url()
    with place as url, sqlanon.connect(url, threads=threads if engine == "duckdb" else None) as db:
        drawn = {"person": (48271, rows // 5), "a": (69621, 100), "b": (16807, 100), "cost": (39373, 30000)}
        columns = (f"CAST(i * {by} % 2147483647 % {size} AS INTEGER) AS {name}" for name, (by, size) in drawn.items())
        listed = f"(SELECT CAST(g AS BIGINT) AS i FROM generate_series(1, {rows}) AS s(g)) AS r"
        db.engine.execute(f"CREATE TABLE stays AS SELECT {', '.join(columns)} FROM {listed}")
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
        used = processor_seconds(db, engine)
        seconds = publish(db, text)
        used = processor_seconds(db, engine) - used
    print(f"{engine}, {rows} rows: {seconds:.1f} s, processor {used:.1f} s", flush=True)
    return {"engine": engine, "rows": rows, "groups": 10_000, "seconds": seconds, "processor_seconds": used}


def processor_seconds(db: sqlanon.Database, engine: str) -> float:
    """Of this process, and of a server on this machine with its workers, as Linux counts them."""
    used = time.process_time()
    if engine == "postgres":
        ((backend,),) = db.engine.fetch("SELECT pg_backend_pid()")
        stat = Path(f"/proc/{backend}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        parent = Path(f"/proc/{stat[1]}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        # User and system time of the session, and of the parent with all its children that have ended.
        ticks = sum(map(int, [*stat[11:13], *parent[11:15]]))
        used += ticks / os.sysconf("SC_CLK_TCK")
    return used


def main(words: list[str] | None = None) -> int:
    """Measure, and write the result."""
    parser = options(__doc__, RESULTS / "dp.json")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default="errors,nights,rows,bounding,speed")
    parser.add_argument("--engines", default="duckdb,postgres")
    parser.add_argument("--smartnoise", metavar="PYTHON", help="an interpreter that has smartnoise-sql")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args(words)
    record = Record("dp")
    found: dict[str, Any] = {}
    if "errors" in args.only and has_data():
        found["errors"] = measure_errors(args.threads, args.smartnoise)
    if "nights" in args.only:
        found["nights"] = [measure_nights(nights) for nights in (30, 365)]
    if "rows" in args.only and has_data():
        found["rows"] = measure_rows(args.threads)
    if "bounding" in args.only:
        found["bounding"] = measure_bounding(args.threads)
    if "speed" in args.only:
        found["speed"] = [measure_speed(engine, args.rows, args.threads) for engine in args.engines.split(",")]
    record.write(args.out, **found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
