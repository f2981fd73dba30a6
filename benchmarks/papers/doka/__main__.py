"""The experiments of Doka et al. (2015, section 8) on OCC with 8 columns and on Adult, in the paper's measure of loss.

Every figure writes doka_<figure>.json and pictures when it is done; what an interrupted one has measured is kept, and
the same command goes on. Seconds are the processor's, of one thread, with the random division into matchings. MIP needs
SciPy.

figures: 6 (segments), 7 and 7b (few rows, against the optimum), 8 (by k), 9 (by columns), 10 (by N); excess (above the
optimum of 12 rows), tree (greedy solvers against classes)
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.kept import Kept
from benchmarks.papers.doka.data import SOURCES, load
from benchmarks.papers.doka.experiments import TITLES, Scale, points
from benchmarks.papers.doka.pictures import draw
from benchmarks.papers.doka.runs import run
from benchmarks.record import RESULTS, Record, parsed
from examples.sources import DataMissingError


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.doka",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default=",".join(TITLES), help="figures, comma list; default: all")
    parser.add_argument("--data", default="occ,adult", help="tables, comma list")
    parser.add_argument("--reduced", action="store_true", help="fewer and smaller tables")
    parser.add_argument("--quick", action="store_true", help="two points a figure, a few hundred rows")
    parser.add_argument(
        "--work",
        type=float,
        default=1e12,
        help="rows x rows x k (of `ring` and blocks rows x k) that are too many to be measured",
    )
    parser.add_argument("--rows", type=int, help="leave out what has more rows; default: nothing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted run has measured")
    parser.add_argument(
        "--out", type=type(RESULTS), default=RESULTS, metavar="FOLDER", help="default: benchmarks/results"
    )
    return parsed(parser, words, TITLES)


def main(words: list[str] | None = None) -> int:
    """Measure the figures asked for."""
    args = _arguments(words)
    scale = Scale()
    scale = scale.quick() if args.quick else scale.reduced() if args.reduced else scale
    try:
        tables = {name: load(SOURCES[name]) for name in args.data.split(",")}
    except DataMissingError as missing:
        print(missing)
        return 0
    for figure in args.only.split(","):
        print(f"== {figure}: {TITLES[figure]}", flush=True)
        out = args.out / f"doka_{figure}.json"
        record, kept = Record("papers.doka"), Kept(out, args.fresh)
        wanted = [
            point
            for name in tables
            for point in points(figure, name, scale)
            if args.rows is None or point.rows <= args.rows
        ]
        found = run(tables, wanted, kept, args.seed, args.work)
        record.write(out, figure=figure, title=TITLES[figure], seed=args.seed, work=args.work, results=found)
        draw(figure, found, out.parent)
        kept.forget()
    return 0


if __name__ == "__main__":
    sys.exit(main())
