"""The experiments of Goldberger and Tassa (2010, section 8) on Adult.

It has 45,222 rows and 14 columns, each value shown or suppressed.

Every experiment writes goldberger_<experiment>.json, or goldberger_<experiment>_whole.json where it is of the whole
table, with what the paper claims and whether it holds, and a picture. Figures are those of whole, verified releases;
the time is the processor's, of the method, on one thread. What an interrupted experiment has measured is kept, and the
same command goes on.

experiments: k (Table 2), others (Figures 1 and 2), rows (3), columns (4), l (5 and 6), w (Table 3), learn (classifiers
and COUNT)
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.kept import Kept
from benchmarks.papers.goldberger.data import ROWS, adult
from benchmarks.papers.goldberger.experiments import SEARCHED, TITLES, Scale, run, verdicts
from benchmarks.papers.goldberger.pictures import draw
from benchmarks.record import RESULTS, Record, parsed
from examples.sources import DataMissingError, data_folder


def main(words: list[str] | None = None) -> int:
    """Run the experiments asked for; 1 if a release was not verified."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.goldberger",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default=",".join(TITLES), help="experiments, comma list; default: all")
    parser.add_argument("--quick", action="store_true", help="600 rows, two values of k, two runs")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER", help="default: benchmarks/results")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the table; default: all")
    parser.add_argument("--runs", type=int, default=10, help="runs of Table 2; default: 10")
    parser.add_argument("--searched", type=int, default=SEARCHED, help=f"of these with search; default: {SEARCHED}")
    parser.add_argument("--k", help="values of k of Table 2, comma list")
    parser.add_argument("--to", metavar="NAME", help="write goldberger_NAME.json, for one experiment")
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted run has measured")
    args = parsed(parser, words, TITLES)
    scale = Scale(runs=args.runs, searched=args.searched, rows=args.rows)
    if args.k:
        scale = replace(scale, ks=tuple(map(int, args.k.split(","))))
    if args.quick:
        scale = Scale(ks=(10, 20), compared=(10, 20), runs=2, rows=600, incomes=(1, 1.2), educations=(1, 2), ws=(50,))
    try:
        data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    good = True

    def say(one: dict[str, Any]) -> None:
        words = " ".join(
            f"{name} {one[name]:.4f}"
            for name in ("lm", "entropy", "accuracy", "count_error", "processor_seconds")
            if name in one
        )
        print(f"{one['who']} x={one['x']}: {words}", flush=True)

    whole = args.rows >= ROWS and not args.quick
    with adult(None if whole else scale.rows) as table:
        for name in args.only.split(","):
            print(f"== {name}: {TITLES[name]}", flush=True)
            stem = f"goldberger_{args.to or (f'{name}_whole' if whole else name)}"
            out = args.out / f"{stem}.json"
            record, kept = Record("papers.goldberger"), Kept(out, args.fresh)
            found = run(name, table, scale, say, kept)
            judged = verdicts(name, found)
            for one in judged:
                print(f"{one['claim']}: {one['here']}: {one['holds']}", flush=True)
            record.write(out, experiment=name, title=TITLES[name], verdicts=judged, results=found)
            draw(name, found, args.out / f"{stem}.png")
            kept.forget()
            good &= all(one.get("verified", True) for one in found)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
