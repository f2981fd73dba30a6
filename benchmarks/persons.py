"""What persons cost: a run by k, or by k and l, without persons, with `persons: rows` and with `persons: whole`.

Events of 1 to 20 a person in an in-memory DuckDB: three quasi columns are constant for each person, a date and a ward
are not. Runs take turns, and of each the one with the fewest processor seconds counts, which are next to the wall time,
for machines that are not quiet; ``times`` and ``cpu_times`` are those of the run without persons, and what is promised
is 3 for ``rows`` and 2 for ``whole``. 5,000,000 rows: ``python -m benchmarks.persons --rows 5000000``.
"""

from __future__ import annotations

import time
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options

EVENTS = """
CREATE TABLE events AS
SELECT p, CAST(20 + hash(p * 7 + 1) % 70 AS INTEGER) AS age, CAST(hash(p * 7 + 2) % 2 AS INTEGER) AS sex
    , CAST(10000 + hash(p * 7 + 3) % 500 AS INTEGER) AS zip
    , DATE '2020-01-01' + CAST(hash(p * 7 + 4) % 300 + e * 20 + hash(p * 100 + e) % 20 AS INTEGER) AS day
    , CAST(hash(p * 1000 + e * 3) % 30 AS INTEGER) AS ward, 'd' || CAST(hash(p * 1001 + e * 5) % 40 AS VARCHAR) AS dx
FROM (SELECT p, UNNEST(range(1 + CAST(hash(p) % 20 AS INTEGER))) AS e FROM range({persons}) AS r(p)) AS each
"""
WAYS: dict[str, dict[str, Any]] = {
    "none": {"accept_repeats": "p"},
    "rows": {"person": "p", "persons": "rows"},
    "whole": {"person": "p", "persons": "whole"},
}


def measured(db: Any, way: str, diverse: int | None, name: str, k: int = 10) -> dict[str, Any]:
    """One release."""
    asked: dict[str, Any] = {"sensitive": "dx", "l": diverse} if diverse else {}
    wall, used = time.perf_counter(), time.process_time()
    report = db.anonymize(
        "events",
        quasi=["age", "sex", "zip", "day", "ward"],
        identifiers="p",
        rest="drop",
        k=k,
        seed=1,
        name=name,
        publish=f"release.{name}",
        **asked,
        **WAYS[way],
    ).report
    return {
        "persons": way,
        "l": diverse,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - used,
        "gcp": report.loss.gcp,
        "classes": report.classes,
        "stages": dict(report.seconds),
    }


def main(words: list[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "persons.json")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs counts")
    asked = parser.parse_args(words)
    record = Record("persons")
    runs: list[dict[str, Any]] = []
    with sqlanon.connect("duckdb:///:memory:") as small:  # kernels are compiled, and modules imported
        small.engine.execute(EVENTS.format(persons=200))
        for way in WAYS:
            for diverse in (None, 3):
                measured(small, way, diverse, f"{way}{diverse or ''}", k=2)
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute(EVENTS.format(persons=round(asked.rows / 10.5)))
        rows, persons = db.engine.fetch("SELECT COUNT(*), COUNT(DISTINCT p) FROM events")[0]
        for diverse in (None, 3):
            best: dict[str, dict[str, Any]] = {}
            for i in range(asked.repeat):
                for way in WAYS:
                    one = measured(db, way, diverse, f"{way}{diverse or ''}_{i}")
                    best[way] = min(best.get(way, one), one, key=lambda run: float(run["cpu_seconds"]))
            for way, one in best.items():
                one["times"] = one["seconds"] / best["none"]["seconds"]
                one["cpu_times"] = one["cpu_seconds"] / best["none"]["cpu_seconds"]
                runs.append(one)
                print(
                    f"k = 10, l = {diverse}, persons {way}: {one['cpu_seconds']:.2f} processor s "
                    f"({one['cpu_times']:.2f} times), {one['seconds']:.2f} s ({one['times']:.2f} times), GCP "
                    f"{one['gcp']:.4f}"
                )
    record.write(asked.out, rows=rows, persons=persons, k=10, runs=runs)


if __name__ == "__main__":
    main()
