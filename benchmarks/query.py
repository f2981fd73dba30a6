"""Speed of queries over a release against the same aggregate over its source: one DuckDB file, ratios in JSON.

    python -m benchmarks.query

The release is written here, row by row as a run would: boxes of about ``k`` rows, sorted by box. It is not anonymized,
as only the time of questions is measured.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options


@dataclass(frozen=True)
class Question:
    """One query, and what it may cost: a ratio to the plain aggregate over the source, or seconds."""

    name: str
    sql: str
    ratio: float | None = None
    seconds: float | None = None


QUESTIONS = (
    Question(
        "count, where",
        "SELECT count(*) AS n FROM people WHERE age BETWEEN 30 AND 41 AND zip < 40000",
        ratio=8,
    ),
    Question("count, where a set", "SELECT count(*) AS n FROM people WHERE age < 35 AND sex = 'F'", ratio=8),
    Question("sum, where", "SELECT sum(cost) AS s FROM people WHERE age >= 52 OR zip >= 70000", ratio=8),
    Question(
        "count and sum by sensitive",
        "SELECT diagnosis, count(*) AS n, sum(cost) AS s FROM people WHERE age BETWEEN 30 AND 41 GROUP BY diagnosis",
        ratio=8,
    ),
    Question("count by quasi", "SELECT age, count(*) AS n FROM people WHERE zip < 40000 GROUP BY age", seconds=5),
    Question("average", "SELECT avg(cost) AS a FROM people WHERE age BETWEEN 30 AND 41", seconds=5),
    Question(
        "average by sensitive",
        "SELECT diagnosis, avg(cost) AS a FROM people WHERE age < 33 GROUP BY diagnosis",
        seconds=5,
    ),
)


def fill(db: sqlanon.Database, rows: int, k: int) -> None:
    """The source ``people`` and the release ``release.people`` with its metadata."""
    run = db.engine.execute
    run(
        "CREATE TABLE people AS SELECT CAST(18 + (hash(i) % 83) AS INTEGER) AS age, CAST(hash(i + 1) % 99999 AS "
        "INTEGER) AS zip, CASE WHEN hash(i + 2) % 2 = 0 THEN 'F' ELSE 'M' END AS sex, 'd' || (hash(i + 3) % 20) AS "
        f"diagnosis, CAST(hash(i + 4) % 100000 AS INTEGER) AS cost FROM range({rows}) AS r(i)"
    )
    run("CREATE SCHEMA release")
    # Classes: neighbours in a coarse grid of age and sex, cut along zip every k rows.
    run(
        "CREATE TABLE release.people AS WITH placed AS (SELECT *, age // 6 AS band, row_number() OVER (PARTITION BY "
        f"age // 6 ORDER BY zip, age) AS place FROM people), classed AS (SELECT *, place // {k} AS part FROM placed) "
        "SELECT min(age) OVER c AS age_lo, max(age) OVER c AS age_hi, min(zip) OVER c AS zip_lo, max(zip) OVER c AS "
        "zip_hi, list_sort(list_distinct(list(sex) OVER c)) AS sex, diagnosis, cost FROM classed WINDOW c AS "
        "(PARTITION BY band, part) ORDER BY 1, 2, 3, 4"
    )
    facts = {"types": {"age": "integer", "zip": "integer", "sex": "text", "diagnosis": "text", "cost": "integer"}}
    lines: list[tuple[str, str, str, str, str, str]] = [("", "release", "", "ranges", "", json.dumps(facts))]
    for name, treatment in (("age", "ordered"), ("zip", "ordered"), ("sex", "nominal")):
        published = [f"{name}_lo", f"{name}_hi"] if treatment == "ordered" else [name]
        lines.append((name, "quasi", treatment, "ranges", "INTEGER", json.dumps(published)))
    lines += [
        (name, role, "", "", "INTEGER", json.dumps([name]))
        for name, role in (("diagnosis", "sensitive"), ("cost", "insensitive"))
    ]
    run(
        "CREATE TABLE release.people_metadata (column_name TEXT, role TEXT, kind TEXT, format TEXT, source_type TEXT, "
        "published TEXT, declared TEXT)"
    )
    for line in lines:
        run("INSERT INTO release.people_metadata VALUES (" + ", ".join("'" + part + "'" for part in line) + ", NULL)")


def timed(work: Callable[[], Any], repeats: int) -> float:
    """The median of a few runs, the first left out."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measure(rows: int, k: int, repeats: int, directory: Path) -> list[dict[str, Any]]:
    """Every question once over the release and once over the source."""
    import duckdb

    path = directory / "query.duckdb"
    duckdb.connect(str(path)).close()
    with sqlanon.connect(f"duckdb:///{path}") as db:
        fill(db, rows, k)
        found = []
        for question in QUESTIONS:
            plain = timed(
                lambda text=question.sql: db.engine.fetch(text.replace("FROM people", "FROM main.people")),
                repeats,
            )
            asked = timed(lambda text=question.sql: db.query(text, release="release.people"), repeats)
            found.append(
                {
                    "question": question.name,
                    "sql": question.sql,
                    "source_s": plain,
                    "release_s": asked,
                    "ratio": asked / plain,
                    "allowed_ratio": question.ratio,
                    "allowed_s": question.seconds,
                    "met": asked <= question.ratio * plain if question.ratio else asked <= (question.seconds or 0),
                }
            )
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = options(__doc__, RESULTS / "query.json")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args(words)
    record = Record("query")
    with tempfile.TemporaryDirectory() as directory:
        found = measure(args.rows, args.k, args.repeats, Path(directory))
    for line in found:
        print(
            f"{line['question']:28} source {line['source_s']:8.4f} s  release {line['release_s']:8.4f} s  ratio "
            f"{line['ratio']:6.1f}"
        )
    record.write(args.out, rows=args.rows, k=args.k, questions=found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
