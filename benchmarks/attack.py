"""The time of `sqlanon attack`, by rows.

The tables are Adult with 8 quasi-identifiers, and 8 independent columns.

Every different row of quasi values is compared with every different box, so that the time grows with the product of
both. Columns that are independent of each other make wide cells, in which many wrong values fit: that part of an attack
is then the most of it. Releases are made by method `tree` in a DuckDB file. ``growth`` is the exponent: seconds grow as
rows to the power of it, from one number of rows to the next.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, options
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

WIDE = """
CREATE TABLE wide AS
SELECT {columns}, CAST(hash(i * 9 + 8) % 2 AS INTEGER) AS s
FROM range({rows}) AS r(i)
"""
VALUES = (60, 2, 12, 8, 40, 16, 7, 25)
"""How many values the columns of the generated table have."""
KNOWN = tuple(f"q{a}" for a in range(len(VALUES)))
TABLES = {"adult": (ADULT.quasi, ADULT.sensitive), "wide": (KNOWN, "s")}


def generated(rows: int) -> str:
    """The statement that makes the table of independent columns."""
    columns = (f"CAST(hash(i * 9 + {a}) % {values} AS INTEGER) AS {KNOWN[a]}" for a, values in enumerate(VALUES))
    return WIDE.format(columns=", ".join(columns), rows=rows)


def measured(db: Any, table: str, rows: int, repeat: int) -> dict[str, Any]:
    """The attack on a release of the first rows of a table; the fastest of so many counts."""
    name = f"{table}_{rows}"
    quasi, sensitive = TABLES[table]
    # A table of its own: releases of one source are compared with each other.
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM {table} LIMIT {rows}")
    db.anonymize(
        name, quasi=quasi, sensitive=sensitive, rest="drop", k=10, seed=1, name=name, publish=f"release.{name}"
    )
    times = []
    for _ in range(repeat):
        wall, used = time.perf_counter(), time.process_time()
        report = db.attack(name)
        times.append((time.perf_counter() - wall, time.process_time() - used))
    wrong = next((one for one in report.linkage if one.errors and one.known == 1), None)
    return {
        "table": table,
        "rows": report.victims,
        "boxes": report.boxes,
        "seconds": min(times)[0],
        "cpu_seconds": min(used for _, used in times),
        "held": report.held,
        "known_all": report.linkage[len(quasi) - 1].mean,
        "one_wrong": wrong.mean if wrong else None,
    }


def main(words: list[str] | None = None) -> int:
    """Measure every table and number of rows; 1 if an attack exceeded what is promised."""
    import sqlanon

    parser = options(__doc__, RESULTS / "attack.json")
    parser.add_argument("--rows", default="3750,7500,15000,30000", help="comma list, ascending")
    parser.add_argument("--tables", default=",".join(TABLES), help="comma list")
    parser.add_argument("--repeat", type=int, default=3, help="the fastest of so many attacks counts")
    args = parser.parse_args(words)
    sizes = [int(rows) for rows in args.rows.split(",")]
    record, runs = Record("attack"), []
    for table in args.tables.split(","):
        with duckdb_url() as url:
            if table == "adult":
                try:
                    load_csv(url, table, data_folder() / ADULT.file)
                except DataMissingError as missing:
                    print(missing)
                    continue
            with sqlanon.connect(url) as db:
                if table == "wide":
                    db.engine.execute(generated(max(sizes)))
                measured(db, table, 500, 1)  # kernels are compiled, and modules imported
                before: dict[str, Any] | None = None
                for rows in sizes:
                    one = measured(db, table, rows, args.repeat)
                    if before:
                        ratio = math.log(one["cpu_seconds"] / before["cpu_seconds"])
                        one["growth"] = ratio / math.log(one["rows"] / before["rows"])
                    before = one
                    runs.append(one)
                    print(
                        f"{table:6} {one['rows']:>7,} rows, {one['boxes']:>6,} boxes: {one['seconds']:.2f} s, "
                        f"processor {one['cpu_seconds']:.2f} s",
                        flush=True,
                    )
    record.write(args.out, k=10, quasi=len(VALUES), runs=runs)
    return 0 if all(one["held"] for one in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
