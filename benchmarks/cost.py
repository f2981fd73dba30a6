"""The cost of every method by rows, columns and k.

It fits the numbers of `plan`'s estimates (`sqlanon.declared.cost`) anew.

Processor time of one thread, in an in-memory DuckDB, on uniform integers: so a busy machine does not change it much.
``seconds`` is for the table of `sqlanon.declared.cost`; each exponent comes from two sizes that differ in nothing else.
"""

from __future__ import annotations

import json
import math
import time
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options
from sqlanon.declared import METHODS
from sqlanon.declared.cost import COLUMNS, ROWS, K

LARGE = 4
"""How many times the columns or k are for the second size."""

WIDE = {"suppress": 12, "fulldomain": 12, "best": 12}
"""Columns of the second size of methods that look at subsets or at levels of all columns, and take few."""

SMALL = 500
"""Rows whose cost is taken for that of starting."""


SIZES = dict.fromkeys(("topdown", "kmember", "mdav", "agglomerative", "sequential"), (2_000, 4))
"""Rows, and how many times that for the second size, where it is not as for the others."""


class Clock:
    """A `Progress` that measures the processor time of stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._start = "", 0.0

    def stage(self, release: str, stage: str) -> None:
        """A stage begins, so the one before has ended."""
        self._end()
        self._stage, self._start = stage, time.process_time()

    def _end(self) -> None:
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + time.process_time() - self._start

    def update(self, done: int, total: int, unit: str) -> None:
        """Not measured."""

    def note(self, message: str) -> None:
        """Not measured."""

    def finish(self, release: str) -> None:
        """The last stage has ended."""
        self._end()
        self._stage = ""


def measured(method: str, rows: int, columns: int, k: int) -> dict[str, float]:
    """Processor seconds of the method, and of everything around it."""
    clock = Clock()
    with sqlanon.connect("duckdb:///:memory:", progress=clock, threads=1) as db:
        drawn = ", ".join(f"CAST((hash(i * 1000 + {c}) % 100) AS INTEGER) AS c{c}" for c in range(columns))
        db.engine.execute(f"CREATE TABLE t AS SELECT i AS id, i % 20 AS s, {drawn} FROM range({rows}) AS r(i)")
        asked: dict[str, Any] = (
            {"l": k, "format": "anatomy", "presence": "disclosed"} if method == "anatomy" else {"k": k}
        )
        if METHODS[method.partition(":")[0]].own_boxes:
            asked["boxes"] = "own"
        db.anonymize(
            "t",
            quasi=[f"c{c}" for c in range(columns)],
            sensitive="s",
            identifiers="id",
            method=method,
            execution="kernel",
            seed=1,
            **asked,
        )
    return {
        "method": clock.seconds["method"],
        "walk": sum(spent for stage, spent in clock.seconds.items() if stage != "method"),
    }


def _exponent(one: float, other: float, times: float) -> float:
    return math.log(max(other, 1e-4) / max(one, 1e-4)) / math.log(times)


def fitted(method: str, rows: int, times: int) -> dict[str, Any]:
    """The numbers of one method, from runs with ``rows`` rows and so many times more."""
    measured(method, SMALL, COLUMNS, K)  # compiles the kernels
    columns = WIDE.get(method, COLUMNS * LARGE)
    start, base, more, wide, few = (
        measured(method, *size)
        for size in (
            (SMALL, COLUMNS, K),
            (rows, COLUMNS, K),
            (rows * times, COLUMNS, K),
            (rows, columns, K),
            (rows, COLUMNS, max(K // LARGE, 2)),
        )
    )
    part = {}
    for name in ("method", "walk"):
        first, last = base[name] - start[name], more[name] - start[name]
        grows = _exponent(first, last, times)
        part[name] = {
            "start": start[name],
            "seconds": last * (ROWS / (rows * times)) ** grows,
            "rows": grows,
            "columns": _exponent(base[name], wide[name], columns / COLUMNS),
            "k": _exponent(few[name], base[name], K / max(K // LARGE, 2)),
        }
    print(method, part, flush=True)
    return {**part, "measured": {"start": start, "base": base, "rows": more, "columns": wide, "k": few}}


def main() -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "cost.json")
    parser.add_argument(
        "--methods", default=",".join(METHODS), help="comma list; the other methods' numbers stay as they are"
    )
    asked = parser.parse_args()
    record = Record("cost")
    found = json.loads(asked.out.read_text())["methods"] if asked.out.is_file() else {}
    for name in asked.methods.split(","):
        found[name] = fitted(name, *SIZES.get(name, (20_000, 16)))
    record.write(asked.out, index={"rows": ROWS, "columns": COLUMNS, "k": K}, methods=found)


if __name__ == "__main__":
    main()
