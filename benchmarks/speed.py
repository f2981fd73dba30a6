"""How long a verified, published release takes, against the time in which the engine sorts the same table.

The base is ``CREATE TABLE s AS SELECT * FROM t ORDER BY <the quasi-identifiers>``, run on the same connection with the
same settings, alternating with the release. Processor seconds of this process (a PostgreSQL server's are not in them)
are given with the wall time, for machines that are not quiet. Peak memory is measured apart, in a process of its own
for each case, but not for Spark. Several methods and several k take turns in the same process, and each gets a result
file of its own.

On Spark (``local[threads]``, Java's heap of 8 GiB, a catalog in a folder) DuckDB's release of the same rows is made as
well (up to 10,000,000 rows), and the range NCP of both is given: DuckDB divides the table as a whole, Spark in blocks
of 100,000 rows.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.generators import TABLES, Synthetic, load_duckdb, load_postgres
from benchmarks.memory import ServerMemory, measure
from benchmarks.on_spark import Held, shuffled, spark_url, used
from benchmarks.record import RESULTS, Record, options
from examples.sources import duckdb_url, postgres_url

TARGETS = {
    ("duckdb", "admissions", "mondrian"): 2.8,
    ("duckdb", "integers", "mondrian"): 4.5,
    ("postgres", "admissions", "mondrian"): 4.0,
    ("duckdb", "admissions", "tree"): 3.2,
    ("duckdb", "admissions", "hilbert"): 3.5,
    ("duckdb", "integers", "tree"): 6.0,
    ("duckdb", "integers", "hilbert"): 12.0,
    ("spark", "integers", "mondrian"): 4.0,
    ("spark", "integers", "tree"): 4.0,
    ("spark", "register", "mondrian"): 4.0,
    ("spark", "register", "tree"): 4.0,
}
"""Release seconds / base seconds that the project promises, at most, for k=10 (5,000,000 rows; PostgreSQL 500,000)."""


COMPARED = 10_000_000
"""Rows up to which DuckDB releases the same table beside Java, which keeps its heap."""


def target(engine: str, table: str, method: str, k: int, rows: int = 5_000_000) -> float | None:
    """The promised ratio, on Spark for 5,000,000 rows or more: 3 from 50,000,000 on.

    For the one-dimensional methods k=100 may take twice as long as k=10.
    """
    bound = TARGETS.get((engine, table, method))
    if engine == "spark" and not 5_000_000 <= rows < 50_000_000:
        return None if rows < 5_000_000 else 3.0
    if bound is None or k == 10:
        return bound
    return 2 * bound if k == 100 and method != "mondrian" else None


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


def timed(
    url: str,
    table: Synthetic,
    cases: Sequence[dict[str, Any]],
    repeat: int,
    threads: int,
    cpu: Callable[[], float] = time.process_time,
    *,
    warm: str = "",
) -> list[dict[str, Any]]:
    """Base and every case's release in turn, ``repeat`` times each after one release of each that is only noted.

    With ``warm`` the first release is of that smaller table.
    """
    import sqlanon

    bases: list[float] = []
    base_cpu: list[float] = []
    runs: list[dict[str, Any]] = [{"seconds": [], "cpu": [], "stages": []} for _ in cases]
    with sqlanon.connect(url, threads=threads) as db:
        for case, run in zip(cases, runs, strict=True):
            start = time.perf_counter()
            run["report"] = db.anonymize(warm or table.name, allow_weaker=True, **case).report
            run["first"] = time.perf_counter() - start
        for _ in range(repeat):
            start, before = time.perf_counter(), cpu()
            db.engine.execute(base(table))
            bases.append(time.perf_counter() - start)
            base_cpu.append(cpu() - before)
            db.engine.execute("DROP TABLE s")
            for case, run in zip(cases, runs, strict=True):
                start, before, began = time.perf_counter(), cpu(), time.time()
                run["report"] = db.anonymize(table.name, allow_weaker=True, **case).report
                run["seconds"].append(time.perf_counter() - start)
                run["cpu"].append(cpu() - before)
                run["when"] = began, time.time()
                run["stages"].append(dict(run["report"].seconds))
                print(f"base {bases[-1]:.2f} s, {case['method']} k={case['k']} {run['seconds'][-1]:.2f} s", flush=True)
    return [_figures(run, bases, base_cpu) for run in runs]


def _figures(run: dict[str, Any], bases: list[float], base_cpu: list[float]) -> dict[str, Any]:
    report, stages = run["report"], run["stages"]
    return {
        "base_seconds": statistics.median(bases),
        "release_seconds": statistics.median(run["seconds"]),
        "ratio": statistics.median(run["seconds"]) / statistics.median(bases),
        "cpu_seconds": {"base": statistics.median(base_cpu), "release": statistics.median(run["cpu"])},
        "stages": {name: statistics.median(one.get(name, 0.0) for one in stages) for name in stages[0]},
        "first_release_seconds": run["first"],
        "all_base_seconds": bases,
        "all_release_seconds": run["seconds"],
        "verified": report.verified,
        "execution": report.execution,
        "method": report.method,
        "classes": report.classes,
        "min_class": report.min_class,
        "gcp": report.loss.gcp,
        "ncp": report.loss.ncp,
        "when": run["when"],
    }


def timed_on_spark(
    table: Synthetic, rows: int, cases: Sequence[dict[str, Any]], repeat: int, threads: int, warm: int = 0
) -> list[dict[str, Any]]:
    """See `timed`; the first release has ``warm`` rows, unless they are 0.

    The result also has bytes shuffled by the last release, memory held over all of them, and DuckDB's range NCP of the
    same rows.
    """
    import sqlanon

    with spark_url(table, rows, threads) as (url, events):
        few = f"{table.name}_few" if warm else ""
        if few:
            with sqlanon.connect(url, threads=threads) as db:
                db.engine.execute(f"CREATE TABLE {few} AS SELECT * FROM {table.name} LIMIT {warm}")
        with Held() as held:
            found = timed(url, table, cases, repeat, threads, used, warm=few)
        for figures in found:
            figures["shuffled_bytes"] = shuffled(events, *figures["when"])
            figures["shuffled_bytes_per_million_rows"] = figures["shuffled_bytes"] / rows * 1e6
            figures["held"] = {"java_gib": held.java / 2**30, "workers_gib": held.workers / 2**30}
    if rows > COMPARED:
        return found
    with loaded("duckdb", table, rows) as url, sqlanon.connect(url, threads=threads) as db:
        for case, figures in zip(cases, found, strict=True):
            known = db.anonymize(table.name, allow_weaker=True, **case).report
            figures["duckdb"] = {"ncp": known.loss.ncp, "classes": known.classes}
            figures["ncp_ratio"] = figures["ncp"] / known.loss.ncp
    return found


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


def result_file(engine: str, table: str, method: str, k: int, rows: int = 5_000_000) -> Path:
    """Place of a case's figures.

    It names method and k unless they are the first ones measured here, and rows on Spark.
    """
    parts = ["speed", engine, table]
    if method != "mondrian":
        parts.append(method.replace(":", "_").replace("=", "_").replace(",", "_"))
    if k != 10:
        parts.append(f"k{k}")
    if engine == "spark":
        parts.append(str(rows))
    return RESULTS / f"{'_'.join(parts)}.json"


def main(words: list[str] | None = None) -> None:
    """Measure one engine and one table."""
    parser = options(__doc__, None)
    parser.add_argument("--engine", choices=("duckdb", "postgres", "spark"), default="duckdb")
    parser.add_argument("--table", choices=sorted(TABLES), default="admissions")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--k", default="10", help="comma list")
    parser.add_argument(
        "--warm", type=int, default=0, help="Spark: rows of the first release, which is not measured (0: all)"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--execution", choices=("auto", "kernel", "pushdown"), default="auto")
    parser.add_argument(
        "--method", nargs="+", default=["mondrian"], help="one or more, such as tree hilbert hilbert_fast"
    )
    parser.add_argument("--url", help="a PostgreSQL database to use; default: a throwaway server")
    parser.add_argument("--no-memory", action="store_true", help="leave out the two runs that measure peak memory")
    args = parser.parse_args(words)
    table = TABLES[args.table]
    asked = list(product(args.method, [int(k) for k in args.k.split(",")]))
    if args.out and len(asked) > 1:
        parser.error("--out is for one method and one k; without it every case has a file of its own")
    if args.warm and args.engine != "spark":
        parser.error("--warm is for --engine spark")
    record = Record("speed")
    cases = [{**table.roles(), "k": k, "method": method, "execution": args.execution} for method, k in asked]
    if args.engine == "spark":
        found = timed_on_spark(table, args.rows, cases, args.repeat, args.threads, args.warm)
        memory: list[dict[str, Any]] = [figures.pop("held") for figures in found]
    else:
        with loaded(args.engine, table, args.rows, args.url) as url:
            found = timed(url, table, cases, args.repeat, args.threads)
            memory = [{} if args.no_memory else peaks(args.engine, url, table, case, args.threads) for case in cases]
    for (method, k), figures, held in zip(asked, found, memory, strict=True):
        figures.pop("when")
        bound = target(args.engine, args.table, method, k, args.rows)
        print(f"{method} k={k}: ratio {figures['ratio']:.2f} (at most {bound}), memory {held}")
        record.write(
            args.out or result_file(args.engine, args.table, method, k, args.rows),
            engine=args.engine,
            table=args.table,
            rows=args.rows,
            k=k,
            threads=args.threads,
            repeat=args.repeat,
            warm_rows=args.warm,
            target_ratio=bound,
            **figures,
            memory=held,
        )


if __name__ == "__main__":
    main()
