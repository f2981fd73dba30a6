"""What `refine` gains and what it costs: loss and seconds with and without it, over k and over the number of rows.

Refining is a part of the method's stage, so that its cost is the difference of two runs; both take turns in one
process, and the figures are medians. SAL is sampled without replacement, the smaller samples inside the larger ones.
"""

from __future__ import annotations

import sys
from itertools import product
from statistics import median
from typing import Any

from benchmarks.loss import ADULT, SAL
from benchmarks.papers.ghinita.data import CENSUS, census
from benchmarks.papers.ghinita.data import table as sample
from benchmarks.record import RESULTS, Record, options
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

METHODS = ("tree", "hilbert", "mondrian:variant=strict,cut=loss")
SIZES = (62_500, 125_000, 250_000, 500_000)
K = 10


def compared(url: str, source: str, release: dict[str, Any], repeat: int) -> dict[str, Any]:
    """One case with and without refine, after one release of each that loads the kernels."""
    import sqlanon

    seconds: dict[bool, list[float]] = {False: [], True: []}
    reports: dict[bool, Any] = {}
    with sqlanon.connect(url) as db:
        for number, refined in product(range(repeat + 1), (False, True)):
            report = db.anonymize(
                source, **release, refine=refined, seed=1, name="refine", publish="release.refine", allow_weaker=True
            ).report
            reports[refined] = report
            if number:
                seconds[refined].append(report.seconds["method"])
    plain, better = reports[False], reports[True]
    return {
        "rows": plain.rows,
        "k": release["k"],
        "method": release["method"],
        "gcp": plain.loss.gcp,
        "refined_gcp": better.loss.gcp,
        "gain": 1 - better.loss.gcp / plain.loss.gcp if plain.loss.gcp else 0.0,
        "method_seconds": median(seconds[False]),
        "refine_seconds": median(seconds[True]) - median(seconds[False]),
        "min_class": better.min_class,
        "verified": plain.verified and better.verified,
    }


def main(words: list[str] | None = None) -> int:
    """Measure Adult by k and method, SAL by rows; 1 if refining made a release worse."""
    parser = options(__doc__, RESULTS / "refine.json")
    parser.add_argument("--k", default="10,50,100", help="for Adult, comma list")
    parser.add_argument("--rows", default=",".join(map(str, SIZES)), help="of SAL, comma list; empty for none")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args(words)
    try:
        folder = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    record, results = Record("refine"), []

    def add(name: str, one: dict[str, Any]) -> None:
        results.append({"table": name, **one})
        print(
            f"{name:6} {one['rows']:>7,} rows, k={one['k']:<3} {one['method']:34} {one['gcp']:.4f} to "
            f"{one['refined_gcp']:.4f}, {one['method_seconds']:.2f} s + {one['refine_seconds']:.2f} s",
            flush=True,
        )

    with duckdb_url() as url:
        load_csv(url, ADULT.name, folder / ADULT.file)
        roles: dict[str, Any] = {"quasi": ADULT.quasi, "sensitive": ADULT.sensitive, "rest": "drop"}
        roles["ordered"] = dict.fromkeys(ADULT.text, "alphabetical")
        for method, k in product(METHODS, [int(k) for k in args.k.split(",")]):
            add(ADULT.name, compared(url, ADULT.name, {**roles, "k": k, "method": method}, args.repeat))
    sizes = [int(rows) for rows in args.rows.split(",") if rows]
    data = next(data for data in CENSUS if data.name == SAL.name)
    with census(data, sizes, 1) as loaded:
        for rows in sizes:
            release = {"quasi": SAL.quasi, "sensitive": SAL.sensitive, "k": K, "method": "tree"}
            add(SAL.name, compared(loaded.url, sample(data, rows), release, args.repeat))
    record.write(args.out, results=results)
    return int(any(one["refined_gcp"] > one["gcp"] for one in results))


if __name__ == "__main__":
    sys.exit(main())
