"""The time that sqlanon takes to start.

It measures the import, ``--help``, and the first compilation of the kernels against cached ones.

Every figure is the wall time of a fresh process, the interpreter's own start included; ``python`` is that start alone.
Processor time is beside it, for machines that are not quiet.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.generators import TABLES
from benchmarks.memory import ROOT, measure
from benchmarks.record import RESULTS, Record, options
from benchmarks.speed import loaded

TARGETS = {"import": 0.3, "help": 0.5}
"""Seconds that the project promises, at most."""


def _wall(command: list[str], repeat: int) -> dict[str, object]:
    seconds, cpu = [], []
    for _ in range(repeat):
        start, used = time.perf_counter(), os.times()
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        done = os.times()
        seconds.append(time.perf_counter() - start)
        cpu.append(done.children_user + done.children_system - used.children_user - used.children_system)
    return {"seconds": statistics.median(seconds), "cpu_seconds": statistics.median(cpu), "all_seconds": seconds}


def _heavy() -> list[str]:
    """The largest modules that a bare import of sqlanon brings in: should name no engine and no kernel."""
    code = (
        "import sys, json; before = set(sys.modules); import sqlanon; "
        "print(json.dumps(sorted({name.split('.')[0] for name in set(sys.modules) - before})))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    loaded_names = set(json.loads(done.stdout))
    return sorted(
        loaded_names & {"duckdb", "psycopg", "numpy", "numba", "sqlglot", "jinja2", "pydantic", "rich", "typer"}
    )


def kernels(rows: int, method: str) -> dict[str, object]:
    """Seconds of one small release by a method while the kernels' cache is empty, and with the cache it left."""
    table = TABLES["integers"]
    found: dict[str, object] = {"rows": rows}
    kept = os.environ.get("NUMBA_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="sqlanon-kernels-") as cache, loaded("duckdb", table, rows) as url:
        os.environ["NUMBA_CACHE_DIR"] = cache
        try:
            for name in ("first", "cached", "cached_again"):
                release = {
                    **table.roles(),
                    "k": 10,
                    "method": method,
                    "execution": "kernel",
                    "name": name,
                    "publish": f"release.{name}",
                }
                done = measure({"url": url, "source": table.name, "options": release})
                found[name] = {
                    "seconds": done["seconds"],
                    "cpu_seconds": done["cpu_seconds"],
                    "stages": done["report"]["seconds"],
                }
            found["cache_mib"] = sum(file.stat().st_size for file in Path(cache).rglob("*") if file.is_file()) / 2**20
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            if kept is not None:
                os.environ["NUMBA_CACHE_DIR"] = kept
    return found


def main(words: list[str] | None = None) -> None:
    """Measure all of it."""
    parser = options(__doc__, RESULTS / "startup.json")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rows", type=int, default=10_000, help="rows of the table that warms the kernels")
    parser.add_argument("--method", default="tree", help="the method whose kernels are compiled")
    args = parser.parse_args(words)
    record = Record("startup")
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "import": [sys.executable, "-c", "import sqlanon"],
        "help": [sys.executable, "-m", "sqlanon", "--help"],
        "version": [sys.executable, "-m", "sqlanon", "--version"],
    }
    figures = {name: _wall(command, args.repeat) for name, command in commands.items()}
    for name, target in TARGETS.items():
        figures[name] |= {"target": target, "met": figures[name]["seconds"] <= target}  # type: ignore[operator]
    compiled = kernels(args.rows, args.method)
    for name, figure in figures.items():
        print(f"{name:8} {figure['seconds']:.3f} s, processor {figure['cpu_seconds']:.3f} s")
    record.write(args.out, **figures, imported_with_sqlanon=_heavy(), kernels=compiled)


if __name__ == "__main__":
    main()
