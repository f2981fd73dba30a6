"""Growth of a release's seconds with its quasi columns.

The columns are uniform integers of 100 values, k = 10, in an in-memory DuckDB.

The first release of a process is measured, as a person meets it, its kernels compiled before. Processor seconds of one
thread are next to the wall time, for machines that are not quiet, and what ``plan`` estimates (`sqlanon.methods.cost`)
beside both. ``growth`` is how many times the seconds grow from the fewest to the most columns; ``columns_grow`` is what
it would be were they linear.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import sqlanon
from benchmarks.cost import Clock
from benchmarks.record import RESULTS, Record, options
from sqlanon.declared.cost import TableSize
from sqlanon.methods.method import make_method as made
from sqlanon.release.plans.rows import estimate
from sqlanon.spec import MethodSpec

K = 10


def released(rows: int, columns: int, method: str) -> dict[str, Any]:
    """Seconds of one release, the first of this process."""
    clock = Clock()
    with sqlanon.connect("duckdb:///:memory:", progress=clock, threads=1) as db:
        drawn = ", ".join(f"CAST((hash(i * 1000 + {c}) % 100) AS INTEGER) AS c{c}" for c in range(columns))
        db.engine.execute(f"CREATE TABLE t AS SELECT {drawn} FROM range({rows}) AS r(i)")
        wall, used = time.perf_counter(), time.process_time()
        report = db.anonymize("t", quasi=[f"c{c}" for c in range(columns)], method=method, k=K, seed=1).report
        wall, used = time.perf_counter() - wall, time.process_time() - used
    guess = estimate(made(MethodSpec(method)), TableSize(rows, columns, K))
    return {
        "columns": columns,
        "seconds": wall,
        "cpu_seconds": used,
        "cpu_stages": clock.seconds,
        "cpu_without_method": used - clock.seconds["method"],
        "stages": dict(report.seconds),
        "gcp": report.loss.gcp,
        "estimate": {"method": guess.seconds, "around": guess.sql_seconds},
    }


def apart(rows: int, columns: int, method: str) -> dict[str, Any]:
    """The same in a process of its own; the kernels are compiled first, on few rows."""
    code = (
        f"import json; from benchmarks.columns import released; released(500, 8, {method!r}); "
        f"print(json.dumps(released({rows}, {columns}, {method!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main(words: list[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "columns.json")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", default="50,100,300", help="comma list")
    parser.add_argument("--method", nargs="+", default=["tree", "hilbert"])
    asked = parser.parse_args(words)
    record, sizes = Record("columns"), sorted(int(size) for size in asked.columns.split(","))
    found: dict[str, Any] = {}
    for method in asked.method:
        runs = []
        for size in sizes:
            runs.append(apart(asked.rows, size, method))
            print(
                f"{method}, {size} columns: {runs[-1]['seconds']:.1f} s, processor {runs[-1]['cpu_seconds']:.1f} s",
                flush=True,
            )
        measures = ("seconds", "cpu_seconds", "cpu_without_method")
        growth = {name: runs[-1][name] / runs[0][name] for name in measures}
        found[method] = {"runs": runs, "growth": growth}
    record.write(asked.out, rows=asked.rows, k=K, columns_grow=sizes[-1] / sizes[0], methods=found)


if __name__ == "__main__":
    main()
