"""C_DM and C_AVG of three models as in LeFevre et al. (ICDE 2006), section 6.2, Figures 10 to 14.

Each figure sweeps one parameter. At each point run Mondrian in four variants, Incognito (full-domain generalization
along binary trees, for Adult along ARX's hierarchies, every minimal node) and K-Optimize (the best single-dimensional
partition, as far as ``--sets`` go), both for C_DM. Beside them are the theory's bounds of Mondrian (section 4.1): C_DM
>= k N and C_AVG >= 1 for any release, C_DM <= (2d(k-1)+m) N and C_AVG <= (2d(k-1)+m)/k for strict partitioning, where m
is the most copies of one point. The bounds of relaxed partitioning (2k N and 2) count partitions, while a reader of the
view sees partitions of equal boxes as one class, so they are no bounds of what is measured here. The paper prints no
figures as text, so there is nothing to compare digit by digit.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import product
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluate import class_sizes
from benchmarks.generators import lefevre
from benchmarks.loss import ADULT as PUBLIC
from benchmarks.papers.lefevre_pictures import plot
from benchmarks.record import RESULTS, Record, options
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

if TYPE_CHECKING:
    from sqlanon.results import RunReport

ROWS = 10_000
KS = (2, 5, 10, 25, 50, 100, 250, 500, 1000)
SIGMAS = (0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = (2, 3, 4, 5, 6, 7, 8)
BITS = 3
"""Synthetic attributes have 2^3 values."""
SETS = 5_000
"""Sets of cuts that K-Optimize looks at, at most."""


@dataclass(frozen=True, slots=True)
class Point:
    """One table and one k; ``x`` is the swept parameter's value."""

    figure: str
    x: float
    k: int
    table: str
    quasi: tuple[str, ...]
    hierarchies: Mapping[str, Path]
    text: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contender:
    """A method; ``levels``: columns have hierarchies, ``strict``: the theory bounds its classes from above."""

    name: str
    method: str
    levels: bool = False
    strict: bool = False

    def columns(self, point: Point) -> tuple[str, ...]:
        """The quasi columns that it releases."""
        return tuple(point.hierarchies) if self.levels else point.quasi


CONTENDERS = (
    *(
        Contender(f"{variant}, {cut}", f"mondrian:variant={variant},cut={cut}", strict=variant == "strict")
        for variant, cut in product(("strict", "relaxed"), ("median", "loss"))
    ),
    Contender("Incognito", "fulldomain:search=all,metric=dm", levels=True),
    Contender("K-Optimize", "koptimize:metric=dm"),
)


@dataclass(frozen=True, slots=True)
class Published:
    """One view and what sqlanon says of it."""

    point: Point
    who: Contender
    view: str
    report: RunReport


def _load(url: str, name: str, points: NDArray[np.int16]) -> tuple[str, ...]:
    import duckdb

    names = tuple(f"a{number}" for number in range(points.shape[1]))
    arrays = {column: np.ascontiguousarray(points[:, place]) for place, column in enumerate(names)}
    with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
        connection.register("arrays", arrays)
        connection.execute(f"CREATE TABLE {name} AS SELECT {', '.join(names)} FROM arrays")
    return names


def binary(file: Path) -> Path:
    """The binary tree over the values of a synthetic attribute, in ARX's format."""
    lines = []
    for value in range(1 << BITS):
        nodes = [f"{value >> level}/{BITS - level}" for level in range(1, BITS)]
        lines.append(";".join([str(value), *nodes, "*"]))
    file.write_text("\n".join(lines) + "\n")
    return file


def synthetic(url: str, folder: Path, rows: int, ks: tuple[int, ...], seed: int) -> list[Point]:
    """Figures 10 to 13: make their tables and list their points."""
    points, tree = [], binary(folder / "binary.csv")

    def trees(quasi: tuple[str, ...]) -> dict[str, Path]:
        return dict.fromkeys(quasi, tree)

    for figure, distribution in (("figure10_uniform_k", "uniform"), ("figure11_skewed_k", "skewed")):
        quasi = _load(url, distribution, lefevre(rows, 5, distribution=distribution, seed=seed))  # type: ignore[arg-type]
        points += [Point(figure, k, k, distribution, quasi, trees(quasi)) for k in ks]
    for sigma in SIGMAS:
        name = f"sigma{int(sigma * 100)}"
        quasi = _load(url, name, lefevre(rows, 5, distribution="skewed", sigma=sigma, seed=seed))
        points.append(Point("figure12_sigma", sigma, 10, name, quasi, trees(quasi)))
    for size in SIZES:
        name = f"d{size}"
        quasi = _load(url, name, lefevre(rows, size, distribution="skewed", seed=seed))
        points.append(Point("figure13_d", size, 10, name, quasi, trees(quasi)))
    return points


def adult(url: str, ks: tuple[int, ...]) -> list[Point]:
    """Figure 14: the Adults database, 8 attributes, each in an order of its values."""
    load_csv(url, PUBLIC.name, data_folder() / PUBLIC.file)
    folder = (data_folder() / PUBLIC.file).parent / "hierarchies"
    # The hierarchy is of the names of the same levels.
    named = [column.removesuffix("_num") for column in PUBLIC.quasi]
    files = {column: folder / f"adult_hierarchy_{column.replace('_', '-')}.csv" for column in named}
    return [Point("figure14_adult_k", k, k, PUBLIC.name, PUBLIC.quasi, files, PUBLIC.text) for k in ks]


def release(url: str, points: list[Point], sets: int) -> list[Published]:
    """Publish every point by every contender that there is."""
    import sqlanon

    done = []
    with sqlanon.connect(url) as db:
        for place, (point, who) in enumerate(product(points, CONTENDERS)):
            name = f"r{place}"
            method = f"{who.method},nodes={sets}" if who.name == "K-Optimize" else who.method
            order = {} if who.levels else {"ordered": dict.fromkeys(point.text, "alphabetical")}
            own = {"hierarchies": point.hierarchies} if who.levels else order
            report = db.anonymize(
                point.table,
                quasi=who.columns(point),
                rest="drop",
                k=point.k,
                method=method,
                name=name,
                publish=f"release.{name}",
                allow_weaker=True,
                **own,
            ).report
            done.append(Published(point, who, f"release.{name}", report))
            print(f"{place + 1} of {len(points) * len(CONTENDERS)}: {point.figure} {point.x} {who.name}", flush=True)
    return done


def results(url: str, published: list[Published]) -> list[dict[str, Any]]:
    """C_DM and C_AVG of every view by the independent evaluator, with the bounds."""
    import duckdb

    found = []
    with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
        for one in published:
            point, k = one.point, one.point.k
            own = class_sizes(connection, point.table, one.view, one.who.columns(point), k)
            copies = connection.execute(
                f"SELECT max(n) FROM (SELECT count(*) AS n FROM {point.table} GROUP BY {', '.join(point.quasi)}) AS c"
            ).fetchone()
            most = int(copies[0]) if copies else 0
            largest = 2 * len(point.quasi) * (k - 1) + most if one.who.strict else None
            loss, search = one.report.loss, one.report.search
            assert loss.c_avg is not None, "k is asked"
            found.append(
                {
                    "figure": point.figure,
                    "x": point.x,
                    "k": k,
                    "d": len(point.quasi),
                    "most_copies": most,
                    "contender": one.who.name,
                    **asdict(own),
                    "dm_lower": k * own.rows,
                    "dm_upper": largest * own.rows if largest else None,
                    "c_avg_upper": largest / k if largest else None,
                    # K-Optimize: no single-dimensional partition has less.
                    "dm_bound": search.get("bound"),
                    "agree": own.dm == loss.dm and isclose(own.c_avg, loss.c_avg),
                    "within_bounds": _within(own.dm, own.c_avg, own.rows, k, largest),
                    "method_seconds": one.report.seconds["method"],
                }
            )
    return found


def _within(dm: float, c_avg: float, rows: int, k: int, largest: int | None) -> bool:
    lower = dm >= k * rows and c_avg >= 1
    return lower and (largest is None or (dm <= largest * rows and c_avg <= largest / k))


def main(words: list[str] | None = None) -> int:
    """Measure all figures; 1 if a bound is broken or sqlanon and the evaluator disagree."""
    parser = options(__doc__, RESULTS / "lefevre.json")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--k", default=",".join(map(str, KS)), help="comma list for Figures 10, 11 and 14")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", type=int, default=SETS, help="sets of cuts that K-Optimize looks at, at most")
    parser.add_argument("--no-adult", action="store_true")
    parser.add_argument("--no-plots", action="store_true")
    args = parser.parse_args(words)
    record = Record("papers.lefevre")
    ks = tuple(int(k) for k in args.k.split(","))
    with duckdb_url() as url, TemporaryDirectory(prefix="sqlanon-hierarchies-") as folder:
        points = synthetic(url, Path(folder), args.rows, ks, args.seed)
        try:
            points += [] if args.no_adult else adult(url, ks)
        except DataMissingError as missing:
            print(f"Figure 14: {missing}")
        found = results(url, release(url, points, args.sets))
    record.write(args.out, rows=args.rows, seed=args.seed, sets=args.sets, results=found)
    if not args.no_plots:
        plot(found, args.out.parent)
    broken = [one for one in found if not (one["within_bounds"] and one["agree"])]
    print(f"{len(found)} releases, {len(broken)} outside the theory's bounds or disputed by the evaluator")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
