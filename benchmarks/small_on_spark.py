"""The cost of releases of small tables on Spark, in statements and processor seconds.

    python -m benchmarks.small_on_spark [--rows 30000] [--repeat 2] [--roads memory database]

A table like Adult (eight quasi columns, seven of them text, an identifier, an insensitive and a sensitive column) is
released by `tree` with k = 10 and l = 3 in one session of `local[2]`: the first time in a new process, then again with
another row, and then unchanged. The road ``memory`` is the one that a run chooses for a table of this size; for
``database`` all statements are Spark's. Statements are texts of SQL that are sent; look-ups are calls of the catalog.
It ends with 1 where a warm release in memory takes more than `STATEMENTS` or `PROCESSOR_SECONDS`.
"""

from __future__ import annotations

import collections
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import sqlanon
from benchmarks.on_spark import used
from benchmarks.record import RESULTS, Record, options
from sqlanon import policy

STATEMENTS, PROCESSOR_SECONDS = 40, 12.0
"""Of a warm release of 30,000 rows, at most."""
SIZES = {"age": 74, "workclass": 7, "education": 16, "marital": 7, "occupation": 14, "race": 5, "sex": 2, "country": 41}
"""Values of the quasi columns."""
_COUNTED = {
    "statements": (("pyspark.sql.session", "SparkSession", "sql"),),
    "look_ups": tuple(
        ("pyspark.sql.catalog", "Catalog", name)
        for name in ("refreshTable", "getTable", "tableExists", "databaseExists")
    ),
}


def load(db: Any, folder: Path, rows: int) -> None:
    """Make the table ``people``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(7)
    columns: dict[str, Any] = {"name": [f"p{i}" for i in range(rows)]}
    for name, size in SIZES.items():
        values = np.minimum(draw.exponential(size / 4, rows).astype(np.int32), size - 1)
        columns[name] = values if name == "age" else [f"{name}{value}" for value in values]
    columns["hours"] = draw.integers(1, 99, rows).astype(np.int32)
    columns["illness"] = [f"i{value}" for value in draw.integers(0, 12, rows)]
    file = folder / "rows.parquet"
    pq.write_table(pa.table(columns), file)
    db.engine.execute(f"CREATE TABLE people AS SELECT * FROM parquet.`{file}`")


def counted(counts: collections.Counter[str]) -> None:
    """Count the calls of Spark, from now on."""
    import importlib

    for kind, places in _COUNTED.items():
        for module, owner, name in places:
            cls = getattr(importlib.import_module(module), owner)
            call = getattr(cls, name)

            def counting(self: Any, *given: Any, _call: Any = call, _kind: str = kind, **more: Any) -> Any:
                counts[_kind] += 1
                return _call(self, *given, **more)

            setattr(cls, name, counting)


def measure(db: Any, spec: Any, counts: collections.Counter[str]) -> dict[str, Any]:
    """One run."""
    counts.clear()
    before = used()
    report = db.run(spec)
    return {
        "outcome": report.outcome,
        "processor_seconds": used() - before,
        "seconds": report.seconds["total"],
        "statements": counts["statements"],
        "look_ups": counts["look_ups"],
        "classes": report.classes,
        "gcp": report.loss.gcp,
    }


def measure_road(db: Any, road: str, repeat: int, counts: collections.Counter[str]) -> list[dict[str, Any]]:
    """The first run, those of a table that changed, and one that finds nothing to do."""
    spec = policy.release(
        source="people",
        name=f"people_{road}",
        publish=f"release.people_{road}",
        quasi=list(SIZES),
        sensitive="illness",
        identifiers="name",
        insensitive="hours",
        k=10,
        l=3,
        method="tree",
    )
    runs = [measure(db, spec, counts)]
    columns = ", ".join([*SIZES, "hours", "illness"])
    for _ in range(repeat):
        db.engine.execute(f"INSERT INTO people SELECT uuid(), {columns} FROM people LIMIT 1")
        runs.append(measure(db, spec, counts))
    return [*runs, measure(db, spec, counts)]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = options(__doc__, RESULTS / "small_on_spark.json")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--repeat", type=int, default=2, help="releases after the first")
    parser.add_argument("--roads", nargs="+", default=["memory", "database"], choices=["memory", "database"])
    args = parser.parse_args(words)
    record, counts, found = Record("small_on_spark"), collections.Counter[str](), {}
    with (
        tempfile.TemporaryDirectory(prefix="sqlanon-small-") as made,
        sqlanon.connect(f"spark+local:///{made}/warehouse?cores=2") as db,
    ):
        load(db, Path(made), args.rows)
        counted(counts)
        for road in args.roads:
            most = {"memory": args.rows + args.repeat * len(args.roads), "database": 0}[road]
            with patch.object(type(db.engine), "most_rows", most):
                runs = measure_road(db, road, args.repeat, counts)
            found[road] = {"first": runs[0], "warm": runs[1:-1], "unchanged": runs[-1]}
            for run in runs:
                print(road, run["outcome"], f"{run['processor_seconds']:.1f} s", run["statements"], "statements")
    record.write(args.out, rows=args.rows, k=10, l=3, method="tree", roads=found)
    warm = found["memory"]["warm"] if "memory" in found else []
    within = [run["statements"] <= STATEMENTS and run["processor_seconds"] <= PROCESSOR_SECONDS for run in warm]
    return 0 if all(within) else 1


if __name__ == "__main__":
    raise SystemExit(main())
