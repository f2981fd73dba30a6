"""How long a verified, published release takes, against the time in which the engine sorts the same table.

The base is ``CREATE TABLE s AS SELECT * FROM t ORDER BY <the quasi-identifiers>``, run on the same connection with the
same settings, alternating with the release. Processor seconds of this process (a PostgreSQL server's are not in them)
stand beside the wall time, for machines that are not quiet. Peak memory is measured apart, in a process of its own for
each case.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.generators import TABLES, Synthetic, load_duckdb, load_postgres
from benchmarks.memory import ServerMemory, measure
from benchmarks.record import RESULTS, Record, options
from examples.sources import duckdb_url, postgres_url

TARGETS = {("duckdb", "admissions"): 3.0, ("duckdb", "integers"): 10.0, ("postgres", "admissions"): 10.0}
"""Release seconds / base seconds that the project promises, at most (5,000,000 rows; PostgreSQL 500,000)."""


@contextmanager
def loaded(engine: str, table: Synthetic, rows: int, url: str | None = None) -> Iterator[str]:
    """The url of a throwaway database (or of the one given) that holds the generated table."""
    if engine == "duckdb":
        import duckdb

        with duckdb_url() as made:
            with duckdb.connect(made.removeprefix("duckdb:///")) as connection:
                load_duckdb(connection, table, rows)
            yield made
        return
    import psycopg

    if url is None:
        with postgres_url() as made, loaded(engine, table, rows, made) as again:
            yield again
        return
    with psycopg.connect(url) as connection:
        load_postgres(connection, table, rows)
    try:
        yield url
    finally:
        with psycopg.connect(url) as connection:
            connection.execute(f"DROP TABLE IF EXISTS {table.name}".encode())


def base(table: Synthetic) -> str:
    """The statement that the release is compared with."""
    return f"CREATE TABLE s AS SELECT * FROM {table.name} ORDER BY {', '.join(table.quasi)}"


def timed(url: str, table: Synthetic, options: dict[str, Any], repeat: int, threads: int) -> dict[str, Any]:
    """Base and release alternately, ``repeat`` times each after one release that is only noted."""
    import sqlanon

    bases: list[float] = []
    releases: list[float] = []
    cpu: dict[str, list[float]] = {"base": [], "release": []}
    stages: list[dict[str, float]] = []
    with sqlanon.connect(url, threads=threads) as db:
        start = time.perf_counter()
        report = db.anonymize(table.name, **options).report
        first = time.perf_counter() - start
        for _ in range(repeat):
            start, used = time.perf_counter(), time.process_time()
            db.engine.execute(base(table))
            bases.append(time.perf_counter() - start)
            cpu["base"].append(time.process_time() - used)
            db.engine.execute("DROP TABLE s")
            start, used = time.perf_counter(), time.process_time()
            report = db.anonymize(table.name, **options).report
            releases.append(time.perf_counter() - start)
            cpu["release"].append(time.process_time() - used)
            stages.append(dict(report.seconds))
            print(f"base {bases[-1]:.2f} s, release {releases[-1]:.2f} s", flush=True)
    return {
        "base_seconds": statistics.median(bases),
        "release_seconds": statistics.median(releases),
        "ratio": statistics.median(releases) / statistics.median(bases),
        "cpu_seconds": {name: statistics.median(seconds) for name, seconds in cpu.items()},
        "stages": {name: statistics.median(one.get(name, 0.0) for one in stages) for name in stages[0]},
        "first_release_seconds": first,
        "all_base_seconds": bases,
        "all_release_seconds": releases,
        "verified": report.verified,
        "execution": report.execution,
        "method": report.method,
        "classes": report.classes,
        "min_class": report.min_class,
        "gcp": report.loss.gcp,
    }


def peaks(engine: str, url: str, table: Synthetic, options: dict[str, Any], threads: int) -> dict[str, Any]:
    """Peak memory of the base and of the release; for PostgreSQL the server's apart."""
    cases: dict[str, dict[str, Any]] = {
        "base": {"statements": [base(table), "DROP TABLE s"]},
        "release": {"source": table.name, "options": options},
    }
    found: dict[str, Any] = {}
    for name, case in cases.items():
        full = {"url": url, "threads": threads, **case}
        if engine == "postgres":
            with ServerMemory(url) as server:
                found[f"{name}_gib"] = measure(full)["peak_rss"] / 2**30
            found[f"{name}_server_gib"] = server.peak / 2**30
        else:
            found[f"{name}_gib"] = measure(full)["peak_rss"] / 2**30
    return found


def main(words: list[str] | None = None) -> None:
    """Measure one engine and one table."""
    parser = options(__doc__, None)
    parser.add_argument("--engine", choices=("duckdb", "postgres"), default="duckdb")
    parser.add_argument("--table", choices=sorted(TABLES), default="admissions")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--execution", choices=("auto", "kernel", "pushdown"), default="auto")
    parser.add_argument("--method", default="mondrian")
    parser.add_argument("--url", help="a PostgreSQL database to use; default: a throwaway server")
    parser.add_argument(
        "--no-memory", action="store_true", help="leave out the two runs that measure peak memory"
    )
    args = parser.parse_args(words)
    record = Record("speed")
    table = TABLES[args.table]
    release = {**table.roles(), "k": args.k, "method": args.method, "execution": args.execution}
    with loaded(args.engine, table, args.rows, args.url) as url:
        figures = timed(url, table, release, args.repeat, args.threads)
        memory = {} if args.no_memory else peaks(args.engine, url, table, release, args.threads)
    target = TARGETS.get((args.engine, args.table))
    print(f"ratio {figures['ratio']:.2f} (at most {target}), memory {memory}")
    record.write(
        args.out or RESULTS / f"speed_{args.engine}_{args.table}.json",
        engine=args.engine,
        table=args.table,
        rows=args.rows,
        k=args.k,
        threads=args.threads,
        repeat=args.repeat,
        target_ratio=target,
        **figures,
        memory=memory,
    )


if __name__ == "__main__":
    main()
