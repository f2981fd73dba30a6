"""The cost of one small question.

It prints milliseconds and database calls of `Database.query` over 200 rows, on both engines, in JSON.

    python -m benchmarks.ask [--url postgresql://...]

Every question is asked with another constant each time, as analysts do, over one open connection. Without ``--url``
only DuckDB in memory is measured.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options

QUESTIONS = {
    "count": "SELECT count(*) AS n FROM people WHERE age < {i}",
    "two aggregates": "SELECT count(*) AS n, sum(cost) AS s FROM people WHERE age BETWEEN 20 AND {i} AND sex = 'F'",
    "average": "SELECT avg(cost) AS a FROM people WHERE age < {i}",
    "join": "SELECT count(*) AS n FROM people JOIN kinds USING (diagnosis) WHERE organ = 'lung' AND age < {i}",
    "group by exact": "SELECT diagnosis, count(*) AS n FROM people WHERE age < {i} GROUP BY diagnosis",
    "group by ranges": "SELECT age, count(*) AS n FROM people WHERE age < {i} GROUP BY age",
}


class _Counted:
    """A driver's connection that counts what is asked of the database."""

    def __init__(self, inner: Any, calls: list[str]) -> None:
        self.__dict__.update(_inner=inner, _calls=calls)

    def __getattr__(self, name: str) -> Any:
        if name in ("execute", "cursor", "prepare", "describe_prepared", "extract_statements", "query"):
            self._calls.append(name)
        found = getattr(self._inner, name)
        return _Counted(found, self._calls) if name == "pgconn" else found

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._inner, name, value)


@contextmanager
def counting(db: sqlanon.Database) -> Iterator[list[str]]:
    """The calls of the driver that happen inside."""
    calls: list[str] = []
    engine: Any = db.engine
    holders = [holder for holder in (engine, getattr(engine, "_names", None)) if holder is not None]
    kept = [holder._connection for holder in holders]
    for holder, connection in zip(holders, kept, strict=True):
        holder._connection = _Counted(connection, calls)
    try:
        yield calls
    finally:
        for holder, connection in zip(holders, kept, strict=True):
            holder._connection = connection


def fill(db: sqlanon.Database) -> None:
    """The source ``people``, its release, and the dimension ``kinds``."""
    target, load = db.engine.target, db.engine.load_rows
    columns = [("age", "INTEGER"), ("sex", "TEXT"), ("diagnosis", "TEXT"), ("cost", "INTEGER")]
    load(target("people"), columns, [(20 + i * 7 % 41, "FM"[i % 2], f"d{i % 3}", i * 3 % 7) for i in range(200)])
    load(target("kinds"), [("diagnosis", "TEXT"), ("organ", "TEXT")], [("d0", "lung"), ("d1", "skin"), ("d2", "lung")])
    db.anonymize("people", quasi=["age", "sex"], sensitive="diagnosis", insensitive=["cost"], k=5, dimensions=["kinds"])


def measure(db: sqlanon.Database, repeats: int) -> list[dict[str, Any]]:
    """Every question: the median of its milliseconds, the fastest, and its calls once the release is known."""
    found = []
    for name, text in QUESTIONS.items():
        db.query(text.format(i=20))
        with counting(db) as calls:
            db.query(text.format(i=21))
        spent = []
        for i in range(repeats):
            start = time.perf_counter()
            db.query(text.format(i=22 + i % 40))
            spent.append((time.perf_counter() - start) * 1000)
        found.append(
            {
                "question": name,
                "sql": text,
                "median_ms": statistics.median(spent),
                "fastest_ms": min(spent),
                "calls": len(calls),
            }
        )
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = options(__doc__, RESULTS / "ask.json")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument(
        "--url", metavar="URL", help="an empty PostgreSQL database to measure as well; a release is left there"
    )
    args = parser.parse_args(words)
    record = Record("ask")
    found: dict[str, list[dict[str, Any]]] = {}
    for engine, url in (("duckdb", "duckdb:///:memory:"), ("postgres", args.url)):
        if url:
            with sqlanon.connect(url) as db:
                fill(db)
                found[engine] = measure(db, args.repeats)
            for line in found[engine]:
                print(
                    f"{engine:9} {line['question']:16} {line['median_ms']:7.1f} ms {line['fastest_ms']:7.1f} ms "
                    f"{line['calls']:4} calls"
                )
    record.write(args.out, repeats=args.repeats, engines=found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
