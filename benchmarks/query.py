"""Processor time of queries over a release against the same SQL over its source: one DuckDB file, ratios in JSON.

    python -m benchmarks.query

The release is written here, row by row as a run would: boxes of about ``k`` rows, sorted by box. It is not anonymized,
as only the cost of questions is measured. Processor seconds of all threads are compared, as a busy machine changes them
less than those of the clock; ``own`` is the part that is spent outside of the database: reading the query, rewriting
it, and making the answer. ``first`` is a query that was not asked before; others were, and are not rewritten again.
A connection that asks a version again keeps temporary tables of its classes: ``kept_s`` is what it takes once to make
all that these questions read, and in no question's time.
"""

from __future__ import annotations

import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options

QUESTIONS = {
    "count": "SELECT count(*) AS n FROM people",
    "count, two ranges": "SELECT count(*) AS n FROM people WHERE age BETWEEN 33 AND 44 AND zip < 40000",
    "count, range and set": "SELECT count(*) AS n FROM people WHERE age < 35 AND sex = 'F'",
    "count, either": "SELECT count(*) AS n FROM people WHERE age >= 52 OR zip >= 70000",
    "count, exact and range": "SELECT count(*) AS n FROM people WHERE diagnosis = 'd3' AND age BETWEEN 33 AND 44",
    "sum of an exact column": "SELECT sum(cost) AS s FROM people WHERE age >= 52 OR zip >= 70000",
    "sum of ranges": "SELECT sum(age) AS s FROM people WHERE zip < 40000",
    "average of an exact column": "SELECT avg(cost) AS a FROM people WHERE age BETWEEN 33 AND 44",
    "average of ranges": "SELECT avg(age) AS a FROM people WHERE diagnosis = 'd3'",
    "extremes": "SELECT min(age) AS a, max(zip) AS b FROM people WHERE sex = 'F'",
    "median of an exact column": "SELECT median(cost) AS m FROM people WHERE age < 35",
    "different values": "SELECT count(DISTINCT diagnosis) AS n FROM people WHERE age < 35",
    "by the sensitive column": "SELECT diagnosis, count(*) AS n, sum(cost) AS s FROM people "
    "WHERE age BETWEEN 33 AND 44 GROUP BY diagnosis",
    "by a quasi column": "SELECT age, count(*) AS n FROM people WHERE zip < 40000 GROUP BY age",
    "by a set": "SELECT sex, count(*) AS n, avg(cost) AS a FROM people GROUP BY sex",
    "by decades": "SELECT floor(age / 10) * 10 AS decade, count(*) AS n FROM people GROUP BY 1 ORDER BY 1",
    "by a CASE": "SELECT CASE WHEN age < 25 THEN 'young' ELSE 'old' END AS stage, count(*) AS n FROM people GROUP BY 1",
    "share": "SELECT 100.0 * count(*) FILTER (WHERE sex = 'F') / count(*) AS n FROM people WHERE age < 40",
    "share by group": "SELECT diagnosis, 100.0 * count(*) FILTER (WHERE age < 40) / count(*) AS n FROM people "
    "GROUP BY diagnosis",
    "largest groups": "SELECT diagnosis, avg(cost) AS a FROM people WHERE age < 33 GROUP BY diagnosis "
    "HAVING count(*) > 10 ORDER BY a DESC LIMIT 5",
}


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
    facts = {
        "types": {"age": "integer", "zip": "integer", "sex": "text", "diagnosis": "text", "cost": "integer"},
        "collations": dict.fromkeys(("sex", "diagnosis"), 'pg_catalog."default"'),
        "attained": ["age", "zip", "sex"],
        "token": "benchmark",
    }
    lines: list[tuple[str, str, str, str, str, str]] = [("", "release", "", "ranges", "", json.dumps(facts))]
    for name, treatment in (("age", "ordered"), ("zip", "ordered"), ("sex", "nominal")):
        published = [f"{name}_lo", f"{name}_hi"] if treatment == "ordered" else [name]
        lines.append(
            (name, "quasi", treatment, "ranges", "TEXT" if name == "sex" else "INTEGER", json.dumps(published))
        )
    lines += [
        (name, role, "", "", kind, json.dumps([name]))
        for name, role, kind in (("diagnosis", "sensitive", "TEXT"), ("cost", "insensitive", "INTEGER"))
    ]
    run(
        "CREATE TABLE release.people_metadata (column_name TEXT, role TEXT, kind TEXT, format TEXT, source_type TEXT, "
        "published TEXT, declared TEXT)"
    )
    for line in lines:
        run("INSERT INTO release.people_metadata VALUES (" + ", ".join("'" + part + "'" for part in line) + ", NULL)")


@contextmanager
def _outside(db: sqlanon.Database) -> Iterator[list[float]]:
    """Processor seconds that pass in the database meanwhile, call by call."""
    engine: Any = db.engine
    used: list[float] = []
    plain = engine._connection

    class Timed:
        def __getattr__(self, name: str) -> Any:
            found = getattr(plain, name)
            if name not in ("execute", "executemany", "fetchall", "fetchmany", "fetchone"):
                return found

            def call(*words: Any, **named: Any) -> Any:
                start = time.process_time()
                try:
                    made = found(*words, **named)
                    return self if made is plain else made
                finally:
                    used.append(time.process_time() - start)

            return call

    engine._connection = Timed()
    try:
        yield used
    finally:
        engine._connection = plain


def _spent(work: Callable[[], Any], repeats: int) -> float:
    """The least processor seconds of a few runs, the first left out."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _own(db: sqlanon.Database, work: Callable[[], Any], repeats: int) -> float:
    """The least processor seconds outside of the database."""
    seconds = []
    for _ in range(repeats):
        with _outside(db) as used:
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start - sum(used))
    return min(seconds)


def measure(rows: int, k: int, repeats: int, directory: Path) -> tuple[float, list[dict[str, Any]]]:
    """Seconds to make what is kept, and every question over the release and over the source."""
    import duckdb

    path = directory / "query.duckdb"
    duckdb.connect(str(path)).close()
    with sqlanon.connect(f"duckdb:///{path}") as db:
        fill(db, rows, k)
        kept = _make_kept(db)
        found = []
        for name, sql in QUESTIONS.items():
            over_source = sql.replace("FROM people", "FROM main.people")
            source = _spent(lambda text=over_source: db.engine.fetch(text), repeats)
            asked = lambda text=sql: db.query(text, release="release.people")  # noqa: E731
            release, own = _spent(asked, repeats), _own(db, asked, repeats)
            # Another text each time, which is rewritten anew.
            texts = (sql + " " * number for number in itertools.count(1))
            new = lambda texts=texts: db.query(next(texts), release="release.people")  # noqa: E731
            first, own_first = _spent(new, repeats), _own(db, new, repeats)
            found.append(
                {
                    "question": name,
                    "sql": sql,
                    "source_s": source,
                    "release_s": release,
                    "own_s": own,
                    "first_s": first,
                    "own_first_s": own_first,
                    "ratio": release / source,
                }
            )
    return kept, found


def _make_kept(db: sqlanon.Database) -> float:
    """Processor seconds of the first two rounds of all questions, above those of a third, which makes no table."""
    spent = []
    for number in range(3):
        start = time.process_time()
        for sql in QUESTIONS.values():
            db.query(f"{sql}{' ' * number}", release="release.people")
        spent.append(time.process_time() - start)
    return max(sum(spent[:2]) - 2 * spent[2], 0.0)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = options(__doc__, RESULTS / "query.json")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args(words)
    record = Record("query")
    with tempfile.TemporaryDirectory() as directory:
        kept, found = measure(args.rows, args.k, args.repeats, Path(directory))
    for line in found:
        print(
            f"{line['question']:28} source {1000 * line['source_s']:8.1f} ms  "
            f"release {1000 * line['release_s']:8.1f} ms  "
            f"ratio {line['ratio']:6.1f}  own {1000 * line['own_s']:6.1f} ms, "
            f"first {1000 * line['own_first_s']:6.1f} ms"
        )
    source, release, first = (sum(one[name] for one in found) for name in ("source_s", "release_s", "first_s"))
    summary = {
        "source_s": source,
        "release_s": release,
        "ratio": release / source,
        "median_ratio": statistics.median(one["ratio"] for one in found),
        "median_own_s": statistics.median(one["own_s"] for one in found),
        "ratio_first": first / source,
        "kept_s": kept,
        "median_own_first_s": statistics.median(one["own_first_s"] for one in found),
    }
    print(summary)
    record.write(args.out, rows=args.rows, k=args.k, summary=summary, questions=found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
