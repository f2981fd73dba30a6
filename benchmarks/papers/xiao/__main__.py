"""The experiments of Xiao, Yi and Tao (EDBT 2010, section 6) on OCC and SAL.

The tables have all 7 columns where d is not varied, and l=6.

Every experiment writes xiao_<experiment>.json and pictures when it is done; what an interrupted one has measured is
kept, and the same command goes on. Figures are those of whole, verified releases; the time is the processor's, of the
method.

experiments: l, d, n (stars and seconds by l, d, N), kld-l, kld-d (KL-divergence of the joint distribution by l, d)
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any

from benchmarks.kept import Kept
from benchmarks.papers.ghinita.data import census
from benchmarks.papers.xiao.experiments import TITLES, Scale, points
from benchmarks.papers.xiao.pictures import draw
from benchmarks.papers.xiao.runs import run
from benchmarks.record import Record, experiments, parsed
from examples.sources import DataMissingError, data_folder


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = experiments("papers.xiao", __doc__, TITLES)
    parser.add_argument("--l", help="values of l where it is varied, comma list; default: 2 to 10")
    return parsed(parser, words, TITLES)


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
        record, kept = Record("papers.xiao"), Kept(out, args.fresh)
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
