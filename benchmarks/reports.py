"""Processor seconds and memory of reports, by rows and by columns.

Each release and each report is made in a process of its own; the releases are of generated tables with independent
columns in a DuckDB file, with little effort, k = 10. The last column is sensitive.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_rss
from benchmarks.record import RESULTS, Record, options

VALUES = (70, 400, 2, 5000)
"""How many values the quasi columns have, one after the other and again."""
REPORTS = ("owner", "readers", "wp216")


def release(url: str, rows: int, columns: int) -> None:
    """Generate a table and release it."""
    import duckdb

    import sqlanon

    quasi = [f"q{at}" for at in range(columns)]
    values = [f"CAST(hash(i, {at}) % {VALUES[at % len(VALUES)]} AS INTEGER) AS {name}" for at, name in enumerate(quasi)]
    with duckdb.connect(url.removeprefix("duckdb:///")) as made:
        made.execute(
            f"CREATE TABLE people AS SELECT {', '.join(values)}, 'd' || hash(i) % 20 AS s FROM range({rows}) AS r(i)"
        )
    with sqlanon.connect(url) as db:
        db.anonymize("people", quasi=quasi, sensitive="s", k=10, l=2, effort="fast", publish="release.people")


def measure(url: str, report: str) -> dict[str, Any]:
    """Make one report; its seconds, and what this process held at most."""
    import sqlanon

    used, wall = time.process_time(), time.perf_counter()
    with sqlanon.connect(url) as db:
        if report in ("owner", "readers"):
            page = db.report("people", audience=report)
        else:
            page = db.report("people", frame=report)
    return {
        "report": report,
        "cpu_seconds": time.process_time() - used,
        "wall_seconds": time.perf_counter() - wall,
        "memory": peak_rss(),
        "characters": len(str(page)),
    }


def main(words: list[str] | None = None) -> int:
    """Measure every table and report."""
    parser = options(__doc__, RESULTS / "reports.json")
    parser.add_argument("--tables", default="10000000x4,10000x300", help="comma list of rows x quasi columns")
    args = parser.parse_args(words)
    record, runs = Record("reports"), []
    for table in args.tables.split(","):
        rows, columns = map(int, table.split("x"))
        with (
            tempfile.TemporaryDirectory() as folder,
            multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
        ):
            url = f"duckdb:///{Path(folder, 'people.duckdb')}"
            pool.apply(release, (url, rows, columns))
            for report in REPORTS:
                one = {"rows": rows, "quasi": columns, **pool.apply(measure, (url, report))}
                runs.append(one)
                print(one, flush=True)
    record.write(args.out, k=10, runs=runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
