"""Seconds, memory and bytes of a release for each million rows, by where the table is and where the release goes.

    python -m benchmarks.roads [--rows 10000,300000,3000000] [--roads duckdb parquet ...]

The roads: a table of a DuckDB file; Parquet, Delta and Iceberg tables that DuckDB reads; a table of PostgreSQL; the
same with the release sent to another server; a small table of Spark, which goes through Arrow to memory of the driver;
a large one, which Spark's tasks work on. A road and a size have one process, in which a release is made before the one
that counts, as the first one compiles. Processor seconds are those of this process and of the processes that it has
started: of PostgreSQL, of its server and sessions as well. Bytes and statements are those of the report
(`RunReport.cost`). The small road of Spark has at most `ARROW_ROWS`, of which its figures are.
Each size has the command that measured it, and its day.

Of the sizes of a road a fixed cost and a cost for each row are computed, by least squares of relative errors; two roads
cross at the number of rows for which both give the same seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import on_spark
from benchmarks.generators import INTEGERS
from benchmarks.lake import write_lake
from benchmarks.memory import ROOT, ServerMemory, children, peak_rss
from benchmarks.on_spark import Held, used
from benchmarks.record import RESULTS, Record, options
from benchmarks.speed import loaded

ARROW_ROWS = 100_000
HEAP = "4g"
"""Of Java: several times what 3,000,000 rows take."""
WARM_ROWS = 10_000
WARM_WORKERS = 110_000
"""Rows that Spark's tasks divide in the executors, which compile as well."""
TITLES = {
    "duckdb": "a table of DuckDB",
    "parquet": "Parquet files, by DuckDB",
    "delta": "a Delta table, by DuckDB",
    "iceberg": "an Iceberg table, by DuckDB",
    "postgres": "a table of PostgreSQL",
    "server": "PostgreSQL to another server",
    "spark_small": "Spark, small: Arrow to the driver",
    "spark_large": "Spark, large: its tasks",
}
"""The roads, in the order of the table."""


@dataclass(frozen=True)
class Place:
    """A database with the table.

    Attributes:
        url: of the database.
        source: name of the table.
        target: URL of another database that gets the release.
        server: URL of the server of PostgreSQL whose memory and seconds count.
    """

    url: str
    source: str
    target: str | None = None
    server: str | None = None


@contextmanager
def place_of(road: str, rows: int) -> Iterator[Place]:
    """The database of a road; it is gone afterwards."""
    with ExitStack() as stack:
        if road.startswith("spark"):
            on_spark.DRIVER = HEAP
            url, _ = stack.enter_context(on_spark.spark_url(INTEGERS, rows, 2))
            yield Place(url, INTEGERS.name)
            return
        if road in ("postgres", "server"):
            url = stack.enter_context(loaded("postgres", INTEGERS, rows))
            target = stack.enter_context(loaded("postgres", INTEGERS, 10)) if road == "server" else None
            yield Place(url, INTEGERS.name, target, url)
            return
        url = stack.enter_context(loaded("duckdb", INTEGERS, rows))
        if road == "duckdb":
            yield Place(url, INTEGERS.name)
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sqlanon-roads-")))
        os.environ["PYICEBERG_CATALOG__LAKE__TYPE"] = "sql"  # pyiceberg reads both when it is imported
        os.environ["PYICEBERG_CATALOG__LAKE__URI"] = f"sqlite:///{folder}/catalog.db"
        names = write_lake(folder, url.removeprefix("duckdb:///"), INTEGERS.name, 4)
        yield Place(url, names[road])


def server_seconds(url: str | None) -> float:
    """Processor seconds of a local server of PostgreSQL and of its sessions, those that ended included."""
    if url is None:
        return 0.0
    import psycopg

    with psycopg.connect(url) as connection:
        session = connection.info.backend_pid
        server = int(Path(f"/proc/{session}/stat").read_text().rsplit(")", 1)[1].split()[1])
        processes = [server, *children(server)]
    ticks = 0
    for process in processes:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15] if process == server else fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measure_road(road: str, rows: int) -> dict[str, Any]:
    """The figures of one road, in this process."""
    import sqlanon

    with place_of(road, rows) as place, sqlanon.connect(place.url, threads=2, accept_shared=True) as db:
        if road == "spark_large":
            type(db.engine).most_rows = 0  # whatever the rows, they stay in Spark
        asked: dict[str, Any] = {**INTEGERS.roles(), "k": 10, "method": "tree"}
        names = {"name": "road", "publish": "release.road", "publish_to": place.target}
        _warm(db, place, rows, asked | names)
        with ExitStack() as stack:
            held = stack.enter_context(Held()) if road.startswith("spark") else None
            server = stack.enter_context(ServerMemory(place.server)) if place.server else None
            start, before = time.perf_counter(), used() + server_seconds(place.server)
            report = db.anonymize(place.source, allow_weaker=True, **asked, **names).report
            cpu, seconds = used() + server_seconds(place.server) - before, time.perf_counter() - start
        assert report.cost is not None
        return {
            "road": road,
            "rows": rows,
            "seconds": seconds,
            "cpu_seconds": cpu,
            "memory_gib": (peak_rss() + (held.java + held.workers if held else 0)) / 2**30,
            "server_gib": server.peak / 2**30 if server else None,
            "verified": report.verified,
            "gcp": report.loss.gcp,
            **{name: getattr(report.cost, name) for name in ("statements", *(f"bytes_{i}" for i in BYTES))},
        }


BYTES = ("read", "written", "shuffled")


def _warm(db: Any, place: Place, rows: int, release: dict[str, Any]) -> None:
    """Make a release that compiles and imports what the next one needs; of a few rows where these have a table."""
    source = place.source
    if source == INTEGERS.name and not place.url.startswith("duckdb"):
        source = "warm_rows"
        most = WARM_WORKERS if rows > WARM_WORKERS and not db.engine.temporary else WARM_ROWS
        db.engine.execute(f"CREATE TABLE {source} AS SELECT * FROM {INTEGERS.name} LIMIT {most}")
        release = release | {"name": "warm", "publish": "release.warm"}
    db.anonymize(source, allow_weaker=True, **release)


def fit(sizes: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """A fixed cost and a cost for each million rows, in processor seconds, neither below 0."""
    rows = np.array([figures["rows"] / 1e6 for figures in sizes])
    seconds = np.array([figures["cpu_seconds"] for figures in sizes])
    if len(sizes) < 2:
        return {"fixed_seconds": None, "seconds_per_million": None}
    (fixed, each), *_ = np.linalg.lstsq(np.stack([1 / seconds, rows / seconds], 1), np.ones(len(sizes)), rcond=None)
    if fixed < 0 or each < 0:
        weights = 1 / seconds if each < 0 else rows / seconds
        only = weights.sum() / (weights**2).sum()
        fixed, each = (only, 0.0) if each < 0 else (0.0, only)
    return {"fixed_seconds": float(fixed), "seconds_per_million": float(each)}


def crossing(first: dict[str, Any], second: dict[str, Any]) -> float | None:
    """Number of rows for which two roads take the same processor seconds; None: for no number."""
    each = second["seconds_per_million"] - first["seconds_per_million"]
    rows = (first["fixed_seconds"] - second["fixed_seconds"]) / each * 1e6 if each else 0.0
    return rows if rows > 0 else None


def main(words: Sequence[str] | None = None) -> None:
    """Measure the roads, each size in a process of its own, and write the figures; known ones are kept."""
    parser = options(__doc__, RESULTS / "roads.json")
    parser.add_argument("--rows", default="10000,300000,3000000", help="comma list")
    parser.add_argument("--roads", nargs="+", choices=TITLES, default=list(TITLES))
    parser.add_argument("--here", action="store_true", help="measure the one road in this process, and print it")
    args = parser.parse_args(words)
    sizes = sorted(int(word) for word in args.rows.split(","))
    if args.here:
        print(json.dumps(measure_road(args.roads[0], sizes[0])))
        return
    record = Record("roads")
    earlier = json.loads(args.out.read_text())["roads"] if args.out.exists() else []
    roads = {road["road"]: {one["rows"]: one for one in road["sizes"]} for road in earlier}
    for road in args.roads:
        for rows in dict.fromkeys(min(size, ARROW_ROWS) if road == "spark_small" else size for size in sizes):
            command = [sys.executable, "-m", "benchmarks.roads", "--here", "--roads", road, "--rows", str(rows)]
            ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
            figures = json.loads(ended.stdout.splitlines()[-1]) | {
                name: record.facts[name] for name in ("command", "date")
            }
            roads.setdefault(road, {})[rows] = figures
            print(f"{road}, {rows:,} rows: {figures['cpu_seconds']:.2f} processor seconds", flush=True)
            written = []
            for name in TITLES:
                if name in roads:
                    of_road = [roads[name][size] for size in sorted(roads[name])]
                    written.append({"road": name, **fit(of_road), "sizes": of_road})
            record.write(args.out, table=INTEGERS.name, k=10, method="tree", heap=HEAP, roads=written)


if __name__ == "__main__":
    main()
