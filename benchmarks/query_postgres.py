"""Processor time of queries over a release against the same SQL over its source, on a PostgreSQL server.

    python -m benchmarks.query_postgres --url postgresql://... [--rows 200000]

Rows, release and questions are those of `benchmarks.query`; the tables ``public.people`` and ``release.people`` are
made in the database of the URL and dropped. Seconds are those of the server's process for this connection, which Linux
reports of a server on this machine, and of this process together; the server uses no further processes.
``kept_s`` is what the temporary tables of classes take that a connection keeps, once, and is in no question's time.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.query import QUESTIONS, fill
from benchmarks.record import RESULTS, Record, options

TABLES = {
    "public.people": "age INTEGER, zip INTEGER, sex TEXT, diagnosis TEXT, cost INTEGER",
    "release.people": "age_lo INTEGER, age_hi INTEGER, zip_lo INTEGER, zip_hi INTEGER, sex TEXT[], diagnosis TEXT, "
    "cost INTEGER",
    "release.people_metadata": "column_name TEXT, role TEXT, kind TEXT, format TEXT, source_type TEXT, "
    "published TEXT, declared TEXT",
}


def copy_tables(db: Any, rows: int, k: int, folder: Path) -> None:
    """Make the tables in a DuckDB file, and copy them."""
    import duckdb

    path = folder / "query.duckdb"
    duckdb.connect(str(path)).close()
    with sqlanon.connect(f"duckdb:///{path}") as made:
        fill(made, rows, k)
    db.engine.execute("CREATE SCHEMA release")
    with duckdb.connect(str(path), read_only=True) as source:
        for name, columns in TABLES.items():
            sets = ["sex"] if "TEXT[]" in columns else []
            chosen = f"* REPLACE ('{{' || array_to_string({sets[0]}, ',') || '}}' AS {sets[0]})" if sets else "*"
            file = folder / f"{name}.csv"
            source.execute(
                f"COPY (SELECT {chosen} FROM {name.replace('public', 'main')}) TO '{file}' (FORMAT csv, HEADER false)"
            )
            db.engine.execute(f"CREATE TABLE {name} ({columns})")
            with db.engine._connection.cursor().copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
                copy.write(file.read_bytes())
    db.engine.execute("ANALYZE public.people; ANALYZE release.people")


def processor_clock(db: Any) -> Callable[[], float]:
    """Processor seconds of this process and of the server's process for the connection."""
    ((pid,),) = db.engine.fetch("SELECT pg_catalog.pg_backend_pid()")
    ran = Path(f"/proc/{pid}/schedstat")
    return lambda: time.process_time() + int(ran.read_text(encoding="ascii").split()[0]) / 1e9


def least_seconds(clock: Callable[[], float], work: Callable[[], Any], repeats: int) -> float:
    """The least seconds of a few runs."""
    seconds = []
    for _ in range(repeats):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def measure(db: Any, repeats: int) -> tuple[float, list[dict[str, Any]]]:
    """Seconds to make what is kept, and every question over the release and over the source."""
    median = "percentile_cont(0.5) WITHIN GROUP (ORDER BY cost)"
    texts = {name: sql.replace("median(cost)", median) for name, sql in QUESTIONS.items()}
    db.engine.execute("SET max_parallel_workers_per_gather = 0")
    clock, rounds = processor_clock(db), []
    for number in range(3):  # the second makes the tables that the third reads
        start = clock()
        for sql in texts.values():
            db.query(f"{sql}{' ' * number}", release="release.people")
        rounds.append(clock() - start)
    found = []
    for name, sql in texts.items():
        over_source = sql.replace("FROM people", "FROM public.people")
        source = least_seconds(clock, lambda text=over_source: db.engine.fetch(text), repeats)
        release = least_seconds(clock, lambda text=sql: db.query(text, release="release.people"), repeats)
        found.append({"question": name, "sql": sql, "source_s": source, "release_s": release})
        print(f"{name:28} source {1000 * source:8.1f} ms  release {1000 * release:8.1f} ms  {release / source:6.1f}")
    return max(sum(rounds[:2]) - 2 * rounds[2], 0.0), found


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = options(__doc__, RESULTS / "query_postgres.json")
    parser.add_argument("--url", default=os.environ.get("SQLANON_TEST_PG"), help="a database without such tables")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args(words)
    record = Record("query_postgres")
    with tempfile.TemporaryDirectory() as folder, sqlanon.connect(args.url) as db:
        try:
            copy_tables(db, args.rows, args.k, Path(folder))
            kept, found = measure(db, args.repeats)
        finally:
            for name in TABLES:
                db.engine.execute(f"DROP TABLE IF EXISTS {name}")
            db.engine.execute("DROP SCHEMA IF EXISTS release")
    source, release = (sum(one[name] for one in found) for name in ("source_s", "release_s"))
    summary = {"source_s": source, "release_s": release, "ratio": release / source, "kept_s": kept}
    print(summary)
    record.write(args.out, rows=args.rows, k=args.k, summary=summary, questions=found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
