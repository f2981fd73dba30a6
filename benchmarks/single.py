"""The best cut points of Adult's columns by ``fulldomain search: single``: the cost, and its gap to the bound, after about 60 seconds.

5 or 8 columns, each in an order of its values; classes below k are suppressed, at any number of rows.
"""

from __future__ import annotations

import re
import sys
import time
from itertools import product
from typing import Any

from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, options
from examples.sources import data_folder, duckdb_url, load_csv

FIVE = ("age", "workclass", "education_num", "race", "sex")
TRIED = 2000
"""Sets of the first run, by whose time the number of the second is chosen; the result depends on the number alone."""
_FOUND = re.compile(
    r"fulldomain: (\d+) sets of cuts were looked at, (\d+) of (\d+) cuts are published; \w+ ([0-9.]+)"
)
_LEFT = re.compile(r"no set costs less than ([0-9.]+), ([0-9.]+)% below")


def released(db: Any, columns: tuple[str, ...], metric: str, k: int, nodes: int) -> dict[str, Any]:
    """One release; what its notes and its report say, and the method's seconds."""
    start = time.process_time()
    report = db.anonymize(
        ADULT.name, quasi=columns, sensitive=ADULT.sensitive, rest="drop", k=k, publish="release.single", allow_weaker=True,
        ordered=dict.fromkeys([name for name in ADULT.text if name in columns], "alphabetical"),
        method={"name": "fulldomain", "search": "single", "metric": metric, "nodes": nodes},
        suppression={"limit": 1, "rows": "starred"},
    ).report  # fmt: skip
    said = " ".join(report.notes)
    found, left = _FOUND.search(said), _LEFT.search(said)
    assert found is not None
    cost = float(found[4])
    return {
        "columns": len(columns), "metric": metric, "k": k, "nodes": nodes, "sets": int(found[1]), "cuts": int(found[2]), "of": int(found[3]),
        "cost": cost, "bound": float(left[1]) if left else cost, "gap": float(left[2]) / 100 if left else 0.0, "proven": left is None,
        "suppressed": report.suppressed, "classes": report.classes, "lm": report.loss.lm, "dm": report.loss.dm,
        "processor_seconds": time.process_time() - start, "method_seconds": report.seconds["method"],
    }  # fmt: skip


def main(words: list[str] | None = None) -> int:
    """Release the table by each metric and k."""
    import sqlanon

    parser = options(__doc__, RESULTS / "single.json")
    parser.add_argument("--seconds", type=float, default=60, help="processor seconds of a search, about")
    parser.add_argument("--k", default="10,50", help="comma list")
    parser.add_argument("--metric", default="dm,cm", help="comma list")
    args = parser.parse_args(words)
    record, results = Record("single"), []
    with duckdb_url() as url:
        load_csv(url, ADULT.name, data_folder() / ADULT.file)
        with sqlanon.connect(url) as db:
            for metric, columns, k in product(
                args.metric.split(","), (FIVE, ADULT.quasi), map(int, args.k.split(","))
            ):
                tried = released(db, columns, metric, k, TRIED)
                if not tried["proven"]:
                    nodes = int(TRIED * args.seconds / tried["processor_seconds"])
                    tried = released(db, columns, metric, k, max(nodes, TRIED))
                results.append(tried)
                print(
                    f"{len(columns)} columns, k={k}: {metric} {tried['cost']:.10g}, bound {tried['bound']:.10g}, gap {tried['gap']:.1%}, "
                    f"{tried['sets']:,} sets, {tried['processor_seconds']:.1f} s",
                    flush=True,
                )
    record.write(args.out, results=results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
