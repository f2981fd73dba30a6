"""Loss of the default where more than k is asked: l and t on samples of Adult, beside less and more search.

The first method alone (`effort: fast`), `tree` with `refine: true`, the default, `effort: normal`, and the default with
5 % of the rows suppressed at most (`suppression`), where the method is one that may suppress rows; with ``--high`` also
`effort: high`, which has four times the steps of annealing. ``--long N`` makes N releases of `effort: high` with
different seeds: the least of all is the best known partition, and the default is compared with it. Range NCP of 8
quasi columns (7 where occupation is sensitive), text by its order, k = 10. Seconds are the processor's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlanon
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, options
from benchmarks.search import processor_seconds
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

ROWS = 30_162
"""Rows of the whole table."""


@dataclass(frozen=True, slots=True)
class Case:
    """A sample of rows, and the requirements of its classes next to k."""

    name: str
    rows: int
    sensitive: str
    asked: Mapping[str, Any]


CASES = (
    Case("k=10", 7_214, "income", {}),
    Case("l=2", 7_214, "relationship", {"l": 2}),
    Case("l=4", 7_214, "occupation", {"l": 4}),
    Case("t=0.3", 7_214, "occupation", {"t": "0.3"}),
    Case("t=0.3, all rows", ROWS, "occupation", {"t": "0.3"}),
    Case("l=1.25, all rows", ROWS, "income", {"l": "1.25"}),
    Case("alpha=0.8, all rows", ROWS, "income", {"alpha": "0.8"}),
    Case("both, all rows", ROWS, "income", {"l": "1.25", "alpha": "0.8"}),
    Case("entropy_l=1.649, all rows", ROWS, "income", {"entropy_l": "1.649"}),
    Case("recursive (4, 2), all rows", ROWS, "income", {"recursive_cl": {"c": 4, "l": 2}}),
    Case("delta=0.4, all rows", ROWS, "income", {"delta_disclosure": "0.4"}),
)
RUNS: Mapping[str, Mapping[str, Any]] = {
    "fast": {"effort": "fast"},
    "tree, refined": {"method": "tree", "refine": True},
    "normal": {"effort": "normal"},
    "suppression": {"effort": "normal", "suppression": {"limit": "0.05"}},
}
HIGH: Mapping[str, Any] = {"effort": "high"}


def measure(db: sqlanon.Database, case: Case, how: Mapping[str, Any]) -> dict[str, Any]:
    """One release of a sample."""
    quasi = [column for column in ADULT.quasi if column != case.sensitive]
    before = processor_seconds()
    report = db.anonymize(
        "sample",
        quasi=quasi,
        sensitive=case.sensitive,
        rest="drop",
        ordered={column: "alphabetical" for column in ADULT.text if column in quasi},
        k=10,
        name="diverse",
        publish="release.diverse",
        allow_weaker=True,
        **case.asked,
        **how,
    ).report
    return {
        "loss": report.loss.gcp,
        "classes": report.classes,
        "min_class": report.min_class,
        "verified": report.verified,
        "processor_seconds": processor_seconds() - before,
    }


def main(words: list[str] | None = None) -> int:
    """Measure every case; 1 if a release was not verified, or the default loses more than less search."""
    parser = options(__doc__, RESULTS / "diverse.json")
    parser.add_argument("--only", default="; ".join(case.name for case in CASES), help="cases, apart by ;")
    parser.add_argument("--high", action="store_true", help="effort high as well")
    parser.add_argument("--long", type=int, default=0, help="releases of effort high, each with a seed of its own")
    args = parser.parse_args(words)
    chosen = [name.strip() for name in args.only.split(";")]
    try:
        folder = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    record, results, good = Record("diverse"), list[dict[str, Any]](), True
    for case in CASES:
        if case.name not in chosen:
            continue
        runs = {}
        with duckdb_url() as url:
            load_csv(url, "adult", folder / ADULT.file)
            with sqlanon.connect(url) as db:
                db.engine.execute(
                    "CREATE TABLE sample AS SELECT * EXCLUDE place FROM (SELECT *, ROW_NUMBER() OVER () AS place FROM "
                    f"adult) WHERE place * {case.rows} % {ROWS} < {case.rows}"
                )
                long = {f"high, seed {seed}": {**HIGH, "seed": seed} for seed in range(1, args.long + 1)}
                for name, how in {**RUNS, **({"high": HIGH} if args.high else {}), **long}.items():
                    runs[name] = measure(db, case, how)
                    print(f"{case.name:20} {name:14} {runs[name]['loss']:.4f}", flush=True)
        least = min(run["loss"] for run in runs.values())
        above = runs["normal"]["loss"] / least - 1 if args.long else None
        results.append(
            {"case": case.name, "rows": case.rows, "sensitive": case.sensitive, "above_best_known": above, "runs": runs}
        )
        good &= all(run["verified"] and run["min_class"] >= 10 for run in runs.values())
        good &= runs["normal"]["loss"] <= min(run["loss"] for name, run in runs.items() if not name.startswith("high"))
    record.write(args.out, results=results)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
