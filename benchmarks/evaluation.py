"""The cost of `evaluate`, and the results of its default workload.

The releases are Adult (tree, k=10) and the demonstration's release `partners`.

    python -m benchmarks.evaluation [--rows 200000]

Seconds are those of the clock and of the processor; on a machine that does other work only the processor's can be
compared.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlanon
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv
from sqlanon.evaluate.workload import DEFAULT
from sqlanon.progress import SilentProgress
from sqlanon.workload_spec import GeneratorSpec, WorkloadSpec

MANY = WorkloadSpec(
    generators=(
        GeneratorSpec("equality", "equality", queries=500),
        *DEFAULT.generators,
        GeneratorSpec("answers", "datacube", level=2, columns=("sex", "race", "age"), answers=True),
        GeneratorSpec(
            "more answers",
            "datacube",
            level=2,
            columns=("sex", "workclass", "education_num", "marital_status", "occupation"),
            answers=True,
        ),
    )
)
"""The default workload, and so many answers more that there are over 3,156."""


def measured(db: sqlanon.Database, name: str, workload: WorkloadSpec | None, what: str) -> dict[str, Any]:
    """One evaluation."""
    start, used = time.perf_counter(), time.process_time()
    report = db.evaluate(name, workload)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    print(f"{what}: {report.total.errors.cells} answers, {seconds:.1f} s, processor {processor:.1f} s", flush=True)
    return {
        "release": what,
        "rows": report.rows,
        "answers": report.total.errors.cells,
        "inside": report.total.errors.inside,
        "group_bys": sum(len(cube.group_bys) for cube in report.cubes),
        "seconds": seconds,
        "processor_s": processor,
        "families": [
            {
                "name": one.name,
                "answers": one.errors.cells,
                "refused": one.refused,
                "error": one.errors.relative.median,
                "width": one.errors.relative_width.median,
            }
            for one in report.families
        ],
    }


def adult(threads: int | None) -> list[dict[str, Any]]:
    """The default workload and the large one over Adult."""
    with duckdb_url() as url:
        load_csv(url, "adult", data_folder() / ADULT.file)
        with sqlanon.connect(url, threads=threads) as db:
            db.anonymize(
                "adult",
                quasi=ADULT.quasi,
                sensitive=ADULT.sensitive,
                rest="drop",
                method="tree",
                k=10,
                name="asked",
                publish="release.asked",
            )
            return [measured(db, "asked", None, "adult"), measured(db, "asked", MANY, "adult, many answers")]


def demonstration(rows: int) -> dict[str, Any]:
    """The default workload over the demonstration's release for partners."""
    from sqlanon.demo.tour import run_tour

    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        run_tour(at, rows, 7, SilentProgress())
        with sqlanon.connect(f"duckdb:///{at / 'warehouse.duckdb'}") as db:
            return measured(db, "partners", None, "demonstration, partners")


def main(words: Sequence[str] | None = None) -> int:
    """Measure; 1 if a truth is outside of its bounds."""
    parser = options(__doc__, RESULTS / "evaluation.json")
    parser.add_argument("--rows", type=int, default=200_000, help="of the demonstration")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record = Record("evaluation")
    found = [*adult(args.threads), demonstration(args.rows)]
    record.write(args.out, results=found, wanted={"adult, many answers": 10, "demonstration, partners": 20})
    return int(any(one["inside"] < one["answers"] for one in found))


if __name__ == "__main__":
    sys.exit(main())
