"""What every privacy model costs: runs of method `tree` by k and one model each, against the run by k alone.

500,000 generated rows in an in-memory DuckDB, five quasi columns, one sensitive column of 16 values of which some are
more frequent. Runs take turns, and the fastest of each counts. Processor seconds are next to the wall time, for
machines that are not quiet; ``times`` and ``cpu_times`` are those of the run by k alone, and what is promised is 3.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options

TABLE = """
CREATE TABLE visits AS
SELECT CAST(20 + hash(i * 7 + 1) % 70 AS INTEGER) AS age, CAST(hash(i * 7 + 2) % 2 AS INTEGER) AS sex
    , CAST(10000 + hash(i * 7 + 3) % 500 AS INTEGER) AS zip
    , DATE '2020-01-01' + CAST(hash(i * 7 + 4) % 700 AS INTEGER) AS day
    , CAST(hash(i * 7 + 5) % 30 AS INTEGER) AS ward
    , CAST(LEAST(hash(i * 11 + 1) % {values}, hash(i * 11 + 2) % {values}) AS INTEGER) AS cost
FROM range({rows}) AS r(i)
"""
VALUES = 16
MODELS: dict[str, dict[str, Any]] = {
    "k": {},
    "l": {"l": 3},
    "entropy_l": {"entropy_l": 4},
    "recursive_cl": {"recursive_cl": {"c": 2, "l": 3}},
    "alpha": {"alpha": 0.4},
    "t, equal": {"t": {"max": 0.4, "distance": "equal"}},
    "t, ordered": {"t": {"max": 0.2, "distance": "ordered"}},
    "t, hierarchical": {"t": {"max": 0.3, "distance": "hierarchical"}},
    "beta, basic": {"beta": {"basic": 4}},
    "beta, enhanced": {"beta": {"enhanced": 4}},
    "delta_disclosure": {"delta_disclosure": {"max": 2.5, "absent": "ignored"}},
}
PROMISED = 3.0


def measured(db: Any, name: str, tree: Path, turn: int, k: int) -> dict[str, Any]:
    """One release."""
    hierarchies = {"cost": str(tree)} if "hierarchical" in name else {}
    wall, used = time.perf_counter(), time.process_time()
    report = db.anonymize(
        "visits",
        quasi=["age", "sex", "zip", "day", "ward"],
        sensitive="cost",
        k=k,
        seed=1,
        method="tree",
        name=f"r{turn}",
        publish=f"release.r{turn}",
        hierarchies=hierarchies,
        **MODELS[name],
    ).report
    return {
        "model": name,
        "asked": MODELS[name],
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - used,
        "gcp": report.loss.gcp,
        "classes": report.classes,
        "stages": dict(report.seconds),
    }


def main(words: list[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "models.json")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args(words)
    record = Record("models")
    best: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "cost.csv"
        tree.write_text("".join(f"{i};{i // 4 * 4}+;*\n" for i in range(VALUES)))
        for rows, repeat in (
            (5_000, 1),
            (asked.rows, asked.repeat),
        ):  # first kernels are compiled, and modules imported
            with sqlanon.connect("duckdb:///:memory:") as db:
                db.engine.execute(TABLE.format(rows=rows, values=VALUES))
                best, turn = {}, 0
                for _ in range(repeat):
                    for name in MODELS:
                        one, turn = measured(db, name, tree, turn, 10), turn + 1
                        best[name] = min(best.get(name, one), one, key=lambda run: float(run["cpu_seconds"]))
    runs = list(best.values())
    for one in runs:
        one["times"] = one["seconds"] / runs[0]["seconds"]
        one["cpu_times"] = one["cpu_seconds"] / runs[0]["cpu_seconds"]
        print(
            f"{one['model']}: {one['cpu_seconds']:.2f} processor s ({one['cpu_times']:.2f} times), {one['classes']} "
            "classes"
        )
    record.write(asked.out, rows=asked.rows, k=10, promised=PROMISED, runs=runs)


if __name__ == "__main__":
    main()
