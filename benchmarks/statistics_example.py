"""What counts of patients with several stays cost next to a release of their rows, by the number of patients.

Numbers of rows and persons, and sums with dominance and p %, of two tables and all of their margins; readers have the
rows with k = 10 and l = 3 as well. Each size is released on a DuckDB of its own. A size that is refused has the
message, and with ``--proposals`` its cells are released by the coarser columns that the message proposes.
``hidden`` are shares of the cells of the view.
"""

from __future__ import annotations

import csv
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, options
from sqlanon.errors import InfeasibleError
from sqlanon.policy import load

STAYS = """
CREATE TABLE hospital.stays AS
SELECT p AS patient_id, 'R' || (hash(p * 3) % 6) * (hash(p * 5) % 2) AS region,
    CAST(20 + hash(p * 7) % 70 AS INTEGER) AS age, CASE WHEN hash(p * 11) % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
    'D' || (hash(p * 17 + s * 19) % 12) * (hash(p * 23 + s * 29) % 5) AS diagnosis,
    CAST(200 + (hash(p * 31 + s * 37) % 5000) * CASE WHEN hash(p + s * 41) % 40 = 0 THEN 21 ELSE 1 END AS INTEGER)
        AS cost
FROM range({patients}) AS r(p), range(3) AS q(s)
WHERE s < 1 + hash(p * 13) % 3
"""
BY_FIVE = """
CREATE VIEW hospital.stays_by_five AS
SELECT patient_id, region, CAST(age // 5 * 5 AS INTEGER) AS age, sex, diagnosis, cost FROM hospital.stays
"""
POLICY = """
version: 1
releases:
  - name: patients
    source: {source}
    person: patient_id
    columns: {{patient_id: identifier, age: quasi, sex: quasi, region: quasi, diagnosis: sensitive, cost: identifier}}
    privacy: {{k: 10, l: 3}}
    format: ranges
  - name: admissions
    source: {source}
    person: patient_id
    publish: release.admissions
    statistics:
      columns:
        region: {{hierarchy: region.csv}}
        age: {{hierarchy: "{steps}"}}
        sex: {{}}
        diagnosis: {{hierarchy: icd.csv}}
      tables:
        - {{name: by_region, by: [region, age, sex]}}
        - {{name: by_diagnosis, by: [diagnosis, sex]}}
      measures:
        n: count
        persons: persons
        cost: {{sum: cost, range: [0, 1000000], dominance: {{n: 2, share: 0.85}}, p_percent: 10}}
      protect: {{method: suppress, persons: 10, zeros: shown, interval: full, insiders: alone, bounds: exact}}
    together: [patients]
"""


def write_hierarchies(folder: Path) -> None:
    """Two groups of regions, and groups of five diagnoses."""
    labels = {
        "region": [(f"R{number}", "north" if number < 3 else "south") for number in range(6)],
        "icd": [(f"D{code}", f"C{code // 6}") for code in sorted({a * b for a in range(12) for b in range(5)})],
    }
    for name, nodes in labels.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows([*node, "*"] for node in nodes)


def measured(patients: int, folder: Path, source: str, steps: str) -> dict[str, Any]:
    """One size."""
    policy = folder / "anon.yml"
    policy.write_text(POLICY.format(source=source, steps=steps))
    with sqlanon.connect("duckdb:///:memory:") as db:
        for statement in ("CREATE SCHEMA hospital", STAYS.format(patients=patients), BY_FIVE):
            db.engine.execute(statement)
        rows, counts = load(policy).releases
        db.run(rows)
        result: dict[str, Any] = {"patients": patients, "source": source}
        used = time.process_time()
        try:
            found = db.run(counts).statistics
        except InfeasibleError as error:
            return {**result, "refused": str(error), "cpu_seconds": time.process_time() - used}
        result |= {"cells": found.cells, "hidden": found.hidden / found.cells, "witnesses": found.witnesses}
        result["cpu_seconds"], used = time.process_time() - used, time.process_time()
        assert db.audit("release.admissions").satisfied
        return {**result, "audit_cpu_seconds": time.process_time() - used}


def main(words: list[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "statistics_example.json")
    parser.add_argument("--patients", default="2000,8000,20000,100000", help="numbers of patients, comma list")
    parser.add_argument("--proposals", default="", help="the same with age by five years, comma list; default: none")
    args = parser.parse_args(words)
    record, results = Record("statistics_example"), []
    sizes = [(int(size), "hospital.stays", "steps:5,20") for size in args.patients.split(",") if size]
    sizes += [(int(size), "hospital.stays_by_five", "steps:20") for size in args.proposals.split(",") if size]
    with tempfile.TemporaryDirectory() as folder:
        write_hierarchies(Path(folder))
        for size, source, steps in sizes:
            results.append(measured(size, Path(folder), source, steps))
            print(results[-1], flush=True)
    record.write(args.out, results=results)


if __name__ == "__main__":
    main()
