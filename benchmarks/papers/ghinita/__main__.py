"""The experiments of Ghinita et al. (TODS 2009, section 7) on OCC, SAL and correlated synthetic data.

Defaults as in its Table III: k=50, l=10, d=7, E=0.4. Every experiment writes ghinita_<experiment>.json and pictures
when it is done; what an interrupted one has measured is kept, and the same command goes on. Figures are those of whole,
verified releases; the time is that of the method's stage: reading the codes, order, solver, writing the classes.

experiments: k, n, d (k-anonymity by k, N, d); l, l-n, l-d (l-diversity by l, N, d, with the other metrics); alpha
(l-diversity on the synthetic data); k-ranges, l-ranges (as k and l, without taxonomies); e, e-d, e-n (the dual by E, d,
N).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from benchmarks.kept import Kept
from benchmarks.papers.ghinita.data import Data, Loaded, census, synthetic
from benchmarks.papers.ghinita.experiments import TITLES, Point, Scale, points
from benchmarks.papers.ghinita.pictures import draw
from benchmarks.papers.ghinita.runs import run
from benchmarks.record import Record, experiments, parsed
from examples.sources import DataMissingError, data_folder


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = experiments("papers.ghinita", __doc__, TITLES)
    parser.add_argument("--methods", help="a comma list of the contenders' names; default: all")
    return parsed(parser, words, TITLES)


@contextmanager
def _loaded(data: Data, wanted: list[Point], seed: int) -> Iterator[Loaded]:
    """The tables that these points need."""
    if data.file is None:
        with synthetic(data.rows, sorted({point.alpha for point in wanted if point.alpha is not None}), seed) as found:
            yield found
    else:
        with census(data, {point.rows for point in wanted}, seed) as found:
            yield found


def main(words: list[str] | None = None) -> int:
    """Run the experiments asked for; 1 if a release was refused for another reason than its table, or not verified."""
    args = _arguments(words)
    scale = Scale(projections=args.projections, seed=args.seed)
    scale = replace(scale, census=tuple(data for data in scale.census if data.name in args.data.split(",")))
    if args.quick:
        scale = scale.quick()
    good = True
    for name in args.only.split(","):
        families = (scale.synthetic,) if name == "alpha" else scale.census
        if name != "alpha":
            try:
                data_folder()
            except DataMissingError as missing:
                print(missing)
                continue
        print(f"== {name}: {TITLES[name]}", flush=True)
        out = args.out / f"ghinita_{name}.json"
        record, kept = Record("papers.ghinita"), Kept(out, args.fresh)
        found: list[dict[str, Any]] = []
        for data in families:
            wanted = list(points(name, data, scale))
            if args.methods:
                wanted = [point for point in wanted if point.who.name in args.methods.split(",")]
            with _loaded(data, wanted, args.seed) as database:
                found += run(database, wanted, kept, args.seed)
        record.write(out, experiment=name, title=TITLES[name], seed=args.seed, results=found)
        draw(name, found, out.parent)
        kept.forget()
        good &= all(one["verified"] and not one["failed"] for one in found)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
