"""What counts of Adult cost next to a release of rows, and how many of their numbers are new in versions that follow.

Cells of fewer than 5 persons are small. Next to rows: counts by education, sex and workclass, alone and with a release
of the same rows by five columns in classes of k. Versions: 20,000 persons first, then four times 2,000 more; ``moved``
is the share of the cells with a number whose number is of the last version, by the number of columns of the cell, and
``newest`` the same of all cells. Lineages: the same versions, the last of which begins a new lineage.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.record import RESULTS, Record, has_data, options
from benchmarks.statistics import write_hierarchies
from examples.sources import ADULT, data_folder
from sqlanon.errors import InfeasibleError
from sqlanon.policy import load

FIRST, MORE, NIGHTS = 20_000, 2_000, 4
COUNTS = """
  - name: counts
    source: adult
    person: p
    publish: release.counts
{more}    statistics:
      columns: {{education: {{hierarchy: education.csv}}, sex: {{}}, workclass: {{hierarchy: workclass.csv}}}}
      tables: [{{name: all, by: [education, sex, workclass]}}]
      measures: {{n: count}}
      protect: {{persons: 5}}
"""
ROWS = """
  - name: rows
    source: adult
    rest: drop
    columns:
      p: {{role: identifier}}
      age: {{role: quasi}}
      education: {{role: quasi, hierarchy: education.csv}}
      sex: {{role: quasi}}
      workclass: {{role: quasi}}
      race: {{role: quasi}}
      occupation: {{role: sensitive}}
    privacy: {{k: {k}}}
    method: tree
    seed: 1
"""


def read_source(db: Any) -> None:
    """Load the table."""
    db.engine.execute(
        f"CREATE TABLE adult AS SELECT row_number() OVER () AS p, * FROM read_csv('{data_folder() / ADULT}')"
    )


def next_to_rows(folder: Path, k: int | None) -> dict[str, Any]:
    """Counts alone (``k`` is None), or together with a release of rows."""
    file = folder / "anon.yml"
    counts = COUNTS.format(more="" if k is None else "    together: [rows]\n")
    file.write_text(f"version: 1\nreleases:{'' if k is None else ROWS.format(k=k)}{counts}")
    with sqlanon.connect("duckdb:///:memory:") as db:
        read_source(db)
        *rows, spec = load(file).releases
        for one in rows:
            db.run(one)
        used = time.process_time()
        try:
            found = db.run(spec).statistics
        except InfeasibleError:
            return {"k": k, "cells": None, "hidden": None, "cpu_seconds": time.process_time() - used}
        seconds = time.process_time() - used
        return {"k": k, "cells": found.cells, "hidden": found.hidden / found.cells, "cpu_seconds": seconds}


def versions(folder: Path, lineage: str = "") -> list[dict[str, Any]]:
    """Versions that follow one another.

    Args:
        folder: for files.
        lineage: how old a lineage may be; the last version begins another one.
    """
    file, made = folder / "anon.yml", []
    ends = f", lineage: {lineage}" if lineage else ""
    more = f"    refresh: {{mode: frozen, cohort: {{persons: {MORE}}}{ends}}}\n"
    file.write_text(f"version: 1\nreleases:{COUNTS.format(more=more)}")
    with sqlanon.connect("duckdb:///:memory:") as db:
        read_source(db)
        db.engine.execute("ALTER TABLE adult RENAME TO everybody")
        db.engine.execute(f"CREATE TABLE adult AS SELECT * FROM everybody WHERE p <= {FIRST}")
        spec = load(file).releases[0]
        for night in range(NIGHTS + 1):
            if night:
                start = FIRST + (night - 1) * MORE
                db.engine.execute(
                    f"INSERT INTO adult SELECT * FROM everybody WHERE p > {start} AND p <= {start + MORE}"
                )
            if lineage and night == NIGHTS:
                db.engine.execute("UPDATE _sqlanon.catalog SET published_at = '2020-01-01T00:00:00+00:00'")
            used = time.process_time()
            found = db.run(spec).statistics
            seconds = time.process_time() - used
            newest = db.engine.fetch(
                "SELECT (level_education < 3)::INT + (level_sex < 1)::INT + (level_workclass < 2)::INT AS d, "
                f"avg((status = 'shown' AND as_of = {night + 1})::INTEGER) FROM release.counts GROUP BY d ORDER BY d"
            )
            rows = db.engine.fetch(
                "SELECT (level_education < 3)::INT + (level_sex < 1)::INT + (level_workclass < 2)::INT AS d, "
                f"avg((as_of = {night + 1})::INTEGER) FROM release.counts WHERE status = 'shown' GROUP BY d ORDER BY d"
            )
            made.append(
                {
                    "version": night + 1,
                    "persons": FIRST + night * MORE,
                    "cells": found.cells,
                    "hidden": found.hidden / found.cells,
                    "moved": [float(str(share)) for _, share in rows],
                    "newest": [float(str(share)) for _, share in newest],
                    "cpu_seconds": seconds,
                }
            )
            print(made[-1], flush=True)
    return made


def main(words: list[str] | None = None) -> None:
    """Measure and write the result."""
    parser = options(__doc__, RESULTS / "statistics_versions.json")
    parser.add_argument("--only", default="rows,versions,lineages", help="parts, comma list; default: all")
    args = parser.parse_args(words)
    if not has_data():
        return
    record, results = Record("statistics_versions"), {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_hierarchies(folder)
        if "rows" in args.only:
            results["rows"] = [next_to_rows(folder, k) for k in (None, 10, 20)]
            print(results["rows"], flush=True)
        if "versions" in args.only:
            results["versions"] = versions(folder)
        if "lineages" in args.only:
            results["lineages"] = versions(folder, "90d")
    record.write(args.out, **results)


if __name__ == "__main__":
    main()
