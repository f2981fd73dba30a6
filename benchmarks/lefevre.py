"""C_DM and C_AVG of Mondrian as in LeFevre et al. (ICDE 2006), section 6.2, Figures 10 to 14.

Each figure sweeps one parameter; every variant of Mondrian runs at each point, beside the theory's bounds (section 4.1):
C_DM >= k N and C_AVG >= 1 for any release, C_DM <= (2d(k-1)+m) N and C_AVG <= (2d(k-1)+m)/k for strict partitioning, where
m is the most copies of one point. The bounds of relaxed partitioning (2k N and 2) count partitions, while a reader of
the view sees partitions of equal boxes as one class, so they are no bounds of what is measured here.
The paper prints no figures as text, so there is nothing to compare digit by digit.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from itertools import product
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluate import measure
from benchmarks.generators import lefevre
from benchmarks.loss import ADULT as PUBLIC
from benchmarks.record import RESULTS, Record, options
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

ROWS = 10_000
KS = (2, 5, 10, 25, 50, 100, 250, 500, 1000)
SIGMAS = (0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = (2, 3, 4, 5, 6, 7, 8)
VARIANTS = tuple(product(("strict", "relaxed"), ("median", "loss")))


@dataclass(frozen=True, slots=True)
class Point:
    """One table and one k; ``x`` is the swept parameter's value."""

    figure: str
    x: float
    k: int
    table: str
    quasi: tuple[str, ...]
    text: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """One view and what sqlanon says of it."""

    point: Point
    variant: str
    cut: str
    view: str
    dm: float
    c_avg: float


def _load(url: str, name: str, points: NDArray[np.int16]) -> tuple[str, ...]:
    import duckdb

    names = tuple(f"a{number}" for number in range(points.shape[1]))
    arrays = {column: np.ascontiguousarray(points[:, place]) for place, column in enumerate(names)}
    with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
        connection.register("arrays", arrays)
        connection.execute(f"CREATE TABLE {name} AS SELECT {', '.join(names)} FROM arrays")
    return names


def synthetic(url: str, rows: int, ks: tuple[int, ...], seed: int) -> list[Point]:
    """Figures 10 to 13: make their tables and list their points."""
    points = []
    for figure, distribution in (("figure10_uniform_k", "uniform"), ("figure11_skewed_k", "skewed")):
        quasi = _load(url, distribution, lefevre(rows, 5, distribution=distribution, seed=seed))  # type: ignore[arg-type]
        points += [Point(figure, k, k, distribution, quasi) for k in ks]
    for sigma in SIGMAS:
        name = f"sigma{int(sigma * 100)}"
        quasi = _load(url, name, lefevre(rows, 5, distribution="skewed", sigma=sigma, seed=seed))
        points.append(Point("figure12_sigma", sigma, 10, name, quasi))
    for size in SIZES:
        name = f"d{size}"
        quasi = _load(url, name, lefevre(rows, size, distribution="skewed", seed=seed))
        points.append(Point("figure13_d", size, 10, name, quasi))
    return points


def adult(url: str, ks: tuple[int, ...]) -> list[Point]:
    """Figure 14: the Adults database, 8 attributes, each in an order of its values."""
    load_csv(url, PUBLIC.name, data_folder() / PUBLIC.file)
    return [Point("figure14_adult_k", k, k, PUBLIC.name, PUBLIC.quasi, PUBLIC.text) for k in ks]


def release(url: str, points: list[Point]) -> list[Published]:
    """Publish every point in every variant."""
    import sqlanon

    done = []
    with sqlanon.connect(url) as db:
        for place, (point, (variant, cut)) in enumerate(product(points, VARIANTS)):
            name = f"r{place}"
            report = db.anonymize(
                point.table,
                quasi=point.quasi,
                rest="drop",
                ordered=dict.fromkeys(point.text, "alphabetical"),
                k=point.k,
                method=f"mondrian:variant={variant},cut={cut}",
                name=name,
                publish=f"release.{name}",
                allow_weaker=True,
            ).report
            assert report.loss.c_avg is not None, "k is asked"
            done.append(Published(point, variant, cut, f"release.{name}", report.loss.dm, report.loss.c_avg))
            print(
                f"{place + 1} of {len(points) * len(VARIANTS)}: {point.figure} {point.x} {variant} {cut}",
                flush=True,
            )
    return done


def results(url: str, published: list[Published]) -> list[dict[str, Any]]:
    """C_DM and C_AVG of every view by the independent evaluator, with the bounds."""
    import duckdb

    found = []
    with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
        for one in published:
            point = one.point
            own = measure(connection, point.table, one.view, point.quasi, point.k)
            copies = connection.execute(
                f"SELECT max(n) FROM (SELECT count(*) AS n FROM {point.table} GROUP BY {', '.join(point.quasi)}) AS c"
            ).fetchone()
            most = int(copies[0]) if copies else 0
            largest = 2 * len(point.quasi) * (point.k - 1) + most if one.variant == "strict" else None
            found.append(
                {
                    "figure": point.figure,
                    "x": point.x,
                    "k": point.k,
                    "d": len(point.quasi),
                    "most_copies": most,
                    "variant": one.variant,
                    "cut": one.cut,
                    **{name: value for name, value in asdict(own).items() if name != "columns"},
                    "dm_lower": point.k * own.rows,
                    "dm_upper": largest * own.rows if largest else None,
                    "c_avg_upper": largest / point.k if largest else None,
                    "agree": own.dm == one.dm and isclose(own.c_avg, one.c_avg),
                    "within_bounds": _within(own.dm, own.c_avg, own.rows, point.k, largest),
                }
            )
    return found


def _within(dm: float, c_avg: float, rows: int, k: int, largest: int | None) -> bool:
    lower = dm >= k * rows and c_avg >= 1
    return lower and (largest is None or (dm <= largest * rows and c_avg <= largest / k))


def plot(found: list[dict[str, Any]], folder: Path) -> None:
    """One small picture a figure: C_DM and C_AVG of the variants, and the bounds, over the swept parameter."""
    from matplotlib.figure import Figure

    labels = {"figure12_sigma": "σ", "figure13_d": "attributes d"}
    for figure in sorted({one["figure"] for one in found}):
        mine = [one for one in found if one["figure"] == figure]
        picture = Figure(figsize=(9, 3.4), dpi=80, layout="constrained")
        axes = picture.subplots(1, 2)
        for measured, upper, lower, axis in (
            ("dm", "dm_upper", "dm_lower", axes[0]),
            ("c_avg", "c_avg_upper", None, axes[1]),
        ):
            for (variant, cut), style in zip(VARIANTS, ("o-", "o--", "s-", "s--"), strict=True):
                line = [one for one in mine if (one["variant"], one["cut"]) == (variant, cut)]
                axis.plot([one["x"] for one in line], [one[measured] for one in line], style, ms=4,
                          label=f"{variant}, {cut}")  # fmt: skip
            strict = [one for one in mine if (one["variant"], one["cut"]) == VARIANTS[0]]
            axis.plot(
                [one["x"] for one in strict],
                [one[upper] for one in strict],
                ":",
                color="gray",
                label="strict bound",
            )
            least = [one[lower] if lower else 1.0 for one in strict]
            axis.plot([one["x"] for one in strict], least, ":", color="black", label="least possible")
            axis.set_xlabel(labels.get(figure, "k"))
            axis.set_yscale("log")
            if figure not in labels:
                axis.set_xscale("log")
            axis.set_title("C_DM" if measured == "dm" else "C_AVG")
        axes[1].legend(fontsize=7)
        picture.suptitle(figure.replace("_", " "))
        picture.savefig(folder / f"lefevre_{figure}.png", metadata={"Software": None})


def main(words: list[str] | None = None) -> int:
    """Measure all figures; 1 if a bound is broken or sqlanon and the evaluator disagree."""
    parser = options(__doc__, RESULTS / "lefevre.json")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--k", default=",".join(map(str, KS)), help="comma list for Figures 10, 11 and 14")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-adult", action="store_true")
    parser.add_argument("--no-plots", action="store_true")
    args = parser.parse_args(words)
    record = Record("lefevre")
    ks = tuple(int(k) for k in args.k.split(","))
    with duckdb_url() as url:
        points = synthetic(url, args.rows, ks, args.seed)
        try:
            points += [] if args.no_adult else adult(url, ks)
        except DataMissingError as missing:
            print(f"Figure 14: {missing}")
        found = results(url, release(url, points))
    record.write(args.out, rows=args.rows, seed=args.seed, results=found)
    if not args.no_plots:
        plot(found, args.out.parent)
    broken = [one for one in found if not (one["within_bounds"] and one["agree"])]
    print(f"{len(found)} releases, {len(broken)} outside the theory's bounds or disputed by the evaluator")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
