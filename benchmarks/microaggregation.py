"""Squared error of microaggregation on tables of numbers, for k = 3, 5 and 10.

    python -m benchmarks.microaggregation FOLDER

FOLDER has the reference tables of the literature as CSV files, `Tarragona.csv`, `CASCrefmicrodata.csv` (called Census
there) and `EIA.csv`, as the R package sdcMicro has them (its data may not be passed on with this project). Figures are
100 SSE / SST over standardized columns, as the literature has them, by sqlanon's metric `sse`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, Record, options

TABLES = {"Tarragona": (), "CASCrefmicrodata": (), "EIA": ("UTILNAME", "STATE", "YEAR", "MONTH")}
"""Files, and columns that are not used."""
WAYS = {
    "mdav": "microaggregation:search=0",
    "vmdav 20 %": "microaggregation:start=vmdav,search=0",
    "vmdav 110 %": "microaggregation:start=vmdav,gamma=110,search=0",
    "search": "microaggregation",
    "search from vmdav": "microaggregation:start=vmdav",
    "search=20000": "microaggregation:search=20000",
}
KS = (3, 5, 10)


def measure(folder: Path) -> list[dict[str, Any]]:
    """Release every table in every way; processor seconds are of whole runs."""
    import sqlanon

    found = []
    for name, left in TABLES.items():
        with sqlanon.connect("duckdb:///:memory:") as db:
            path = str(folder / f"{name}.csv").replace("'", "''")
            db.engine.execute(f"CREATE TABLE t AS FROM read_csv('{path}', normalize_names = true)")
            columns = [row[0] for row in db.engine.fetch("SELECT column_name FROM (DESCRIBE t)")]
            quasi = [one for one in columns if one.strip("_").upper() not in left]
            for k in KS:
                for way, method in WAYS.items():
                    used = time.process_time()
                    report = db.anonymize(
                        "t",
                        quasi=quasi,
                        rest="drop",
                        accept_unique=quasi,
                        k=k,
                        method=method,
                        metrics=["sse"],
                        allow_weaker=True,
                        publish="release.t",
                    ).report
                    found.append(
                        {
                            "table": name,
                            "rows": report.rows,
                            "columns": len(quasi),
                            "k": k,
                            "way": way,
                            "percent": round(100 * report.loss.more["sse"], 3),
                            "largest": report.max_class,
                            "processor_seconds": round(time.process_time() - used, 2),
                        }
                    )
                    print(*found[-1].values(), sep="\t", flush=True)
    return found


def main(words: list[str] | None = None) -> int:
    """Measure and write."""
    parser = options(__doc__, RESULTS / "microaggregation.json")
    parser.add_argument("folder", type=Path, help="with the three CSV files")
    args = parser.parse_args(words)
    record = Record("microaggregation")
    record.write(args.out, results=measure(args.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
