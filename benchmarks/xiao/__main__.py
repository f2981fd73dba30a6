"""The experiments of Xiao, Yi and Tao (EDBT 2010, section 6) on OCC and SAL, with all 7 columns where d is not varied, and l=6.

Every experiment writes xiao_<experiment>.json and pictures when it is done; what an interrupted one has measured is kept, and the same
command goes on. Figures are those of whole, verified releases; the time is the processor's, of the method.

experiments: l, d, n (stars and seconds by l, d, N), kld-l, kld-d (KL-divergence of the joint distribution by l, d)
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.ghinita.data import census
from benchmarks.kept import Kept
from benchmarks.record import RESULTS, Record
from benchmarks.xiao.experiments import TITLES, Scale, points
from benchmarks.xiao.pictures import draw
from benchmarks.xiao.runs import run
from examples.sources import DataMissingError, data_folder


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.xiao",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default=",".join(TITLES), help="experiments, comma list; default: all")
    parser.add_argument("--data", default="occ,sal", help="census tables, comma list")
    parser.add_argument("--l", help="values of l where it is varied, comma list; default: 2 to 10")
    parser.add_argument(
        "--projections", type=int, help="at most so many subsets for every d, drawn by the seed; default: all"
    )
    parser.add_argument(
        "--quick", action="store_true", help="two points an experiment, 2,000 rows, one subset"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted run has measured")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="default: benchmarks/results"
    )
    args = parser.parse_args(words)
    unknown = [name for name in args.only.split(",") if name not in TITLES]
    if unknown:
        parser.error(f"no experiment {', '.join(unknown)}; experiments are {', '.join(TITLES)}")
    return args


def main(words: list[str] | None = None) -> int:
    """Run the experiments asked for; 1 if a release was refused for another reason than its table, or not verified."""
    args = _arguments(words)
    scale = Scale(projections=args.projections, seed=args.seed)
    scale = replace(scale, census=tuple(data for data in scale.census if data.name in args.data.split(",")))
    if args.l:
        scale = replace(scale, ls=tuple(int(l) for l in args.l.split(",")))  # noqa: E741 - the paper's symbol
    if args.quick:
        scale = scale.quick()
    try:
        data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    good = True
    for name in args.only.split(","):
        print(f"== {name}: {TITLES[name]}", flush=True)
        out = args.out / f"xiao_{name}.json"
        record, kept = Record("xiao"), Kept(out, args.fresh)
        found: list[dict[str, Any]] = []
        for data in scale.census:
            wanted = list(points(name, data, scale))
            with census(data, {point.rows for point in wanted}, args.seed) as database:
                found += run(database, wanted, kept, args.seed)
        record.write(out, experiment=name, title=TITLES[name], seed=args.seed, results=found)
        draw(name, found, out.parent)
        kept.forget()
        good &= all(one["verified"] and not one["failed"] for one in found)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
