"""Precision of OLAP queries as in Ghinita et al. (TODS 2009), section 7.4.

It is the KL-divergence of the datacube, Figures 35 and 36.

Defaults as in the paper: l=10, d=7, level 2 of the lattice. Every experiment writes divergence_<experiment>.json and
pictures when it is done; what an interrupted one has measured is kept, and the same command goes on. The divergence is
computed from the published views, by `sqlanon.evaluate.divergence`.

experiments: l (by l), level (by level of the lattice), d (by d), n (by N)
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import isinf
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchmarks.kept import Kept
from benchmarks.papers.ghinita.contenders import HILB, IDIST, MONDRIAN, TREE, Contender
from benchmarks.papers.ghinita.data import Data, Loaded, census, table
from benchmarks.papers.ghinita.experiments import L, Scale
from benchmarks.record import Record, experiments, parsed
from examples.sources import DataMissingError, data_folder

if TYPE_CHECKING:
    from sqlanon.database import Database

TITLES = {
    "l": "KLD by l, level 2 (Figures 35(a) and 36(a))",
    "level": "KLD by level of the lattice (Figures 35(b) and 36(b))",
    "d": "KLD by d, level 2 (Figures 35(c) and 36(c))",
    "n": "KLD by N, level 2 (Figures 35(d) and 36(d))",
}
LEVEL = 2
_PAIR = {"format": "anatomy"}
ANATOMY = Contender("Anatomy", "anatomy", "x-", more=_PAIR)
GENERAL = (MONDRIAN, HILB, IDIST, TREE, ANATOMY)
"""Figure 35: generalization against Anatomy."""
PERMUTED = (
    ANATOMY,
    Contender("Perm-Hilb", "hilbert", "o--", more=_PAIR),
    Contender("Perm-iDist", "idistance", "^--", more=_PAIR),
    Contender("Perm-tree (ours)", "tree", "D:", more=_PAIR),
)
"""Figure 36: permutation against Anatomy."""
FIGURES = {"35": GENERAL, "36": PERMUTED}
EVERYONE = tuple({who.name: who for who in (*GENERAL, *PERMUTED)}.values())


@dataclass(frozen=True, slots=True)
class Point:
    """One release and one level of its cube; ``x`` is the varied parameter's value."""

    x: float
    data: Data
    rows: int
    quasi: tuple[str, ...]
    l: int  # noqa: E741 - the paper's symbol
    level: int
    who: Contender

    @property
    def key(self) -> tuple[object, ...]:
        """What its figures depend on."""
        return (self.data.name, self.rows, self.quasi, self.l, self.level, self.who.name)

    @property
    def made(self) -> tuple[object, ...]:
        """What its release depends on."""
        return (self.data.name, self.rows, self.quasi, self.l, self.who.name)


def points(name: str, data: Data, scale: Scale) -> Iterator[Point]:
    """The points of one experiment on one family of tables; those of one release follow each other."""
    base = Point(0, data, data.rows, data.quasi, min(L, max(scale.ls)), LEVEL, HILB)
    for who in EVERYONE:
        mine = replace(base, who=who)
        if name == "l":
            yield from (replace(mine, x=l, l=l) for l in scale.ls)  # noqa: E741 - the paper's symbol
        elif name == "level":
            yield from (replace(mine, x=level, level=level) for level in range(1, len(data.quasi) + 1))
        elif name == "n":
            yield from (replace(mine, x=rows, rows=rows) for rows in data.sizes)
        else:
            for d in scale.ds:
                yield from (replace(mine, x=d, quasi=quasi) for quasi in scale.chosen(data.quasi, d))


def run(database: Loaded, wanted: Iterable[Point], kept: Kept, seed: int) -> list[dict[str, Any]]:
    """Every point's figures, measured or kept from before; a release is made once for all of its levels."""
    import sqlanon

    todo, found = list(wanted), []
    made: tuple[object, ...] = ()
    with sqlanon.connect(database.url) as db:
        for number, point in enumerate(todo, 1):
            one = kept.get(*point.key)
            if one is None:
                refused = None
                if point.made != made:
                    refused = _released(db, database, point, seed)
                    made = point.made if refused is None else ()
                one = {"refused": refused} if refused else _divergence(db, point)
                kept.add(one, *point.key)
                shown = one.get("refused") or f"KLD {one['kld']:.5f} in {one['seconds']:.1f} s"
                print(f"{number} of {len(todo)}: {' '.join(map(str, point.key))}: {shown}", flush=True)
            found.append(one)
    return _means(todo, found)


def _released(db: Database, database: Loaded, point: Point, seed: int) -> str | None:
    """Release once; the error's kind where the table does not admit it."""
    from sqlanon.errors import SqlanonError

    asked: dict[str, Any] = {"l": point.l} | ({} if "format" in point.who.more else {"k": 1})
    try:
        db.anonymize(
            table(point.data, point.rows),
            quasi=point.quasi,
            sensitive=point.data.sensitive,
            rest="drop",
            hierarchies=database.of(point.quasi),
            method=point.who.method,
            seed=seed,
            name="divergence",
            publish="release.divergence",
            allow_weaker=True,
            **asked,
            **point.who.more,
        )
    except SqlanonError as refused:
        return type(refused).__name__
    return None


def _divergence(db: Database, point: Point) -> dict[str, Any]:
    from sqlanon.evaluate.divergence import average_divergence, level, measure_divergence
    from sqlanon.evaluate.subject import find_subject

    start = time.perf_counter()
    on = find_subject(db.engine, "divergence")
    found = measure_divergence(db.engine, on, level(on.quasi, point.level), point.data.sensitive)
    return {
        "kld": average_divergence(found),
        "group_bys": len(found),
        "missed": sum(one.missed for one in found),
        "seconds": time.perf_counter() - start,
    }


def _means(todo: list[Point], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for every family, x and contender: the mean over the projections."""
    groups: dict[tuple[str, float, str], list[tuple[Point, dict[str, Any]]]] = {}
    for point, one in zip(todo, found, strict=True):
        groups.setdefault((point.data.name, point.x, point.who.name), []).append((point, one))
    lines = []
    for (data, x, name), group in groups.items():
        point = group[0][0]
        done = [one for _, one in group if not one.get("refused")]
        lines.append(
            {
                "data": data,
                "x": x,
                "contender": name,
                "rows": point.rows,
                "l": point.l,
                "d": len(point.quasi),
                "level": point.level,
                "projections": len(group),
                "refused": len(group) - len(done),
                "kld": fmean(one["kld"] for one in done) if done else None,
                "missed": sum(one["missed"] for one in done),
                "seconds": fmean(one["seconds"] for one in done) if done else None,
            }
        )
    return lines


def draw(experiment: str, found: list[dict[str, Any]], folder: Path) -> None:
    """One picture a family of tables: Figure 35 and Figure 36 side by side, KLD on a log scale as in the paper."""
    from matplotlib.figure import Figure

    for data in dict.fromkeys(one["data"] for one in found):
        picture = Figure(figsize=(9, 3.4), dpi=80, layout="constrained")
        for axis, (figure, contenders) in zip(picture.subplots(1, 2), FIGURES.items(), strict=True):
            for who in contenders:
                line = [one for one in found if (one["data"], one["contender"]) == (data, who.name)]
                line = [one for one in line if one["kld"] and not isinf(one["kld"])]
                if line:
                    axis.plot(
                        [one["x"] for one in line], [one["kld"] for one in line], who.marker, ms=4, label=who.name
                    )
            axis.set_yscale("log")
            axis.set_xlabel({"n": "N"}.get(experiment, experiment))
            axis.set_title(f"Figure {figure}", fontsize=9)
            axis.legend(fontsize=6)
        picture.suptitle(f"{TITLES[experiment]}, {data}", fontsize=9)
        picture.savefig(folder / f"divergence_{experiment}_{data}.png", metadata={"Software": None})


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = experiments("papers.divergence", __doc__, TITLES)
    parser.add_argument("--points", help="of the values of what is varied only these, comma list; default: all")
    parser.add_argument("--methods", help="a comma list of the contenders' names; default: all")
    return parsed(parser, words, TITLES)


def main(words: list[str] | None = None) -> int:
    """Run the experiments asked for; 1 if the divergence of some release is infinite."""
    args = _arguments(words)
    try:
        data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    scale = Scale(projections=args.projections, seed=args.seed)
    scale = replace(scale, census=tuple(data for data in scale.census if data.name in args.data.split(",")))
    if args.quick:
        scale = replace(scale.quick(), ds=(2, 3))
    good = True
    for name in args.only.split(","):
        print(f"== {name}: {TITLES[name]}", flush=True)
        out = args.out / f"divergence_{name}.json"
        record, kept = Record("papers.divergence"), Kept(out, args.fresh)
        found: list[dict[str, Any]] = []
        for data in scale.census:
            wanted = list(points(name, data, scale))
            if args.methods:
                wanted = [point for point in wanted if point.who.name in args.methods.split(",")]
            if args.points:
                wanted = [point for point in wanted if f"{point.x:g}" in args.points.split(",")]
            with census(data, {point.rows for point in wanted}, args.seed) as database:
                found += run(database, wanted, kept, args.seed)
        record.write(out, experiment=name, title=TITLES[name], seed=args.seed, results=found)
        draw(name, found, out.parent)
        kept.forget()
        good &= not any(one["missed"] for one in found)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
