"""The cost of one small release.

It prints milliseconds, stages and database calls of `Database.anonymize` over 40 rows, on both engines, in JSON.

    python -m benchmarks.release [--url postgresql://...]

Three columns, two of them quasi-identifiers, are released again and again over one open connection, after a first time
that compiles, with effort `fast` and with the default, `normal`. Without ``--url`` only DuckDB in memory is measured.
It ends with 1 where a release takes more calls or, on DuckDB, more time than `CALLS` and `MILLISECONDS` allow; the time
is meant for a quiet machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options

CALLS = {"duckdb": 36, "postgres": 52}
"""Database calls of one release, at most, whatever its effort: the search for classes needs none of its own."""
EFFORTS = ("fast", "normal")
MILLISECONDS = 55
"""Of one release on DuckDB in memory with effort `fast`."""
ROWS = [(20 + i % 37, i % 2, f"d{i % 5}") for i in range(40)]


class _Counted:
    """DuckDB's connection, with a note of every statement that is sent."""

    def __init__(self, inner: Any, calls: list[str]) -> None:
        self._inner, self._calls = inner, calls

    def execute(self, *arguments: Any) -> Any:
        self._calls.append(getattr(arguments[0], "query", arguments[0]))  # of a text that was parsed before
        return self._inner.execute(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@contextmanager
def counting(db: sqlanon.Database) -> Iterator[list[str]]:
    """What is sent to the database inside: one text a call of the driver, of several statements or of one."""
    calls: list[str] = []
    engine: Any = db.engine
    if engine.dialect == "duckdb":
        kept, engine._connection = engine._connection, _Counted(engine._connection, calls)
        try:
            yield calls
        finally:
            engine._connection = kept
        return
    import psycopg

    cursor: Any = psycopg.Cursor
    execute, copy = cursor.execute, cursor.copy

    def executing(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        calls.append(str(query))
        return execute(self, query, *arguments, **options)

    def copying(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        calls.append(str(query))
        return copy(self, query, *arguments, **options)

    cursor.execute, cursor.copy = executing, copying
    try:
        yield calls
    finally:
        cursor.execute, cursor.copy = execute, copy


def fill(db: sqlanon.Database, table: str = "patients") -> None:
    """The source."""
    columns = [("age", "INTEGER"), ("zip", "INTEGER"), ("disease", "TEXT")]
    db.engine.load_rows(db.engine.target(table), columns, ROWS)


def release(db: sqlanon.Database, table: str = "patients", effort: str = "fast") -> dict[str, Any]:
    """Make one release: its calls, milliseconds and stages."""
    with counting(db) as calls:
        start = time.perf_counter()
        made = db.anonymize(table, quasi=["age", "zip"], sensitive="disease", k=4, effort=effort)
        spent = (time.perf_counter() - start) * 1000
    return {"calls": len(calls), "ms": spent, "seconds": made.report.seconds}


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = options(__doc__, RESULTS / "release.json")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument(
        "--url", metavar="URL", help="an empty PostgreSQL database to measure as well; a release is left there"
    )
    args = parser.parse_args(words)
    record = Record("release")
    found: dict[str, dict[str, dict[str, Any]]] = {effort: {} for effort in EFFORTS}
    for engine, url in (("duckdb", "duckdb:///:memory:"), ("postgres", args.url)):
        if url:
            with sqlanon.connect(url) as db:
                fill(db)
                for effort, lines in found.items():
                    release(db, effort=effort)
                    runs = [release(db, effort=effort) for _ in range(args.repeats)]
                    line = lines[engine] = {
                        "calls": max(run["calls"] for run in runs),
                        "median_ms": statistics.median(run["ms"] for run in runs),
                        "fastest_ms": min(run["ms"] for run in runs),
                        "stages_ms": {
                            stage: statistics.median(run["seconds"][stage] * 1000 for run in runs)
                            for stage in runs[0]["seconds"]
                        },
                    }
                    times = f"{line['median_ms']:7.1f} ms {line['fastest_ms']:7.1f} ms"
                    print(f"{engine:9} {effort:7} {times} {line['calls']:4} calls")
    record.write(args.out, repeats=args.repeats, engines=found["fast"], normal=found["normal"])
    within = all(line["calls"] <= CALLS[engine] for lines in found.values() for engine, line in lines.items())
    return 0 if within and found["fast"]["duckdb"]["median_ms"] <= MILLISECONDS else 1


if __name__ == "__main__":
    raise SystemExit(main())
