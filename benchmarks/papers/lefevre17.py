"""COUNT by one attribute over releases of Mondrian and K-Optimize.

It follows LeFevre et al. (ICDE 2006), section 6.3, Figures 15 to 17.

1,000 rows of two discrete skewed attributes of 50 values (mu 25, sigma .2); for X and for Y the counts of the 50
queries SELECT COUNT(*) WHERE X = value, value from 0 to 49; mean and standard deviation of the absolute error, uniform
values in every class. sqlanon answers all 50 at once, as SELECT X, COUNT(*) GROUP BY X; an independent evaluator
spreads the boxes with NumPy, and the two must agree. The paper's table is incomplete in our copy: its columns of k and
of the model are lost, and some means. What is assumed: k is 10, 25 and 50, and its rows are in turn single- and
multidimensional.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.generators import lefevre
from benchmarks.papers.lefevre_pictures import Box, partitions
from benchmarks.record import RESULTS, Record, options
from examples.sources import duckdb_url

ROWS, VALUES, SEEDS = 1_000, 50, 5
KS = (10, 25, 50)
MULTI, SINGLE = "mondrian:variant=strict,cut=median", "koptimize:metric=dm,sets=5000"
METHODS = (MULTI, "mondrian:variant=strict,cut=loss", "tree", SINGLE)
PAPER = {
    (MULTI, 10, "x"): "4.66 / 3.26",
    (MULTI, 25, "x"): "5.69 / 3.86",
    (MULTI, 50, "x"): "7.94 / 5.87",
    (MULTI, 10, "y"): "4.03 / 3.44",
    (MULTI, 25, "y"): "lost / 3.80",
    (MULTI, 50, "y"): "8.06 / 5.58",
    (SINGLE, 10, "x"): "lost / 5.94",
    (SINGLE, 25, "x"): "12.68 / 7.17",
    (SINGLE, 50, "x"): "7.73 / 5.94",
    (SINGLE, 10, "y"): "3.18 / 2.56",
    (SINGLE, 25, "y"): "lost / 4.17",
    (SINGLE, 50, "y"): "lost / 6.15",
}
"""Mean and deviation: the numbers that are left, in turn single- and multidimensional."""
PICTURED = 25
"""k of Figures 15 and 16, of the first table; the paper's is lost."""


def spread(connection: Any, view: str, attribute: str) -> NDArray[np.float64]:
    """What a reader expects for every value: each row evenly over its range. No code of sqlanon."""
    low, high, count = (
        np.array(column)
        for column in zip(
            *connection.execute(f"SELECT {attribute}_lo, {attribute}_hi, COUNT(*) FROM {view} GROUP BY ALL").fetchall(),
            strict=True,
        )
    )
    values = np.arange(VALUES)[:, None]
    inside = (values >= low) & (values <= high)
    return np.asarray((inside * (count / (high - low + 1))).sum(axis=1))


def answered(db: Any, attribute: str, truths: NDArray[np.int64]) -> tuple[NDArray[np.float64], bool]:
    """sqlanon's estimate for every value, and whether its bounds hold every truth."""
    rows = db.query(f"SELECT {attribute}, COUNT(*) AS n FROM points GROUP BY {attribute}", release="f17").rows
    estimates, low, high = np.zeros((3, VALUES))
    for row in rows:
        value, n = row[attribute], row["n"]
        estimates[value], low[value], high[value] = n.estimate, n.low, n.high
    return estimates, bool(((low <= truths) & (truths <= high)).all())


def boxes(connection: Any, view: str) -> list[Box]:
    """The boxes that a reader sees."""
    return list(connection.execute(f"SELECT DISTINCT x_lo, x_hi, y_lo, y_hi FROM {view}").fetchall())


def measure(
    url: str, seeds: int, ks: tuple[int, ...], methods: tuple[str, ...], picture: Path | None
) -> list[dict[str, Any]]:
    """Every k and method over all seeds, and a picture of the paper's two methods."""
    import duckdb

    import sqlanon

    seen: dict[str, list[Box]] = {}
    errors: dict[tuple[int, str, str], list[NDArray[np.float64]]] = {}
    agree: dict[tuple[int, str, str], bool] = {}
    for seed in range(1, seeds + 1):
        points = lefevre(ROWS, 2, distribution="skewed", seed=seed, cardinality=VALUES)
        truths = {name: np.bincount(points[:, place], minlength=VALUES) for place, name in enumerate("xy")}
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            arrays = {name: np.ascontiguousarray(points[:, place]) for place, name in enumerate("xy")}
            connection.register("arrays", arrays)
            connection.execute("CREATE OR REPLACE TABLE points AS SELECT x, y FROM arrays")
        for k in ks:
            for method in methods:
                with sqlanon.connect(url) as db:
                    db.anonymize(
                        "points",
                        quasi=["x", "y"],
                        k=k,
                        method=method,
                        name="f17",
                        publish="release.f17",
                        seed=1,
                        allow_weaker=True,
                    )
                    found = {name: answered(db, name, truths[name]) for name in "xy"}
                with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
                    own = {name: spread(connection, "release.f17", name) for name in "xy"}
                    if (seed, k) == (1, PICTURED) and method in (SINGLE, MULTI):
                        seen[method] = boxes(connection, "release.f17")
                for name, (estimates, inside) in found.items():
                    key = (k, method, name)
                    errors.setdefault(key, []).append(np.abs(own[name] - truths[name]))
                    agree[key] = agree.get(key, True) and inside and bool(np.allclose(estimates, own[name]))
        if seen and picture is not None:
            named = {
                name: seen[method]
                for name, method in (("single-dimensional", SINGLE), ("multidimensional", MULTI))
                if method in seen
            }
            partitions(points, named, VALUES, f"Figures 15 and 16, k={PICTURED}", picture)
            seen.clear()
        print(f"seed {seed} of {seeds}", flush=True)
    return [
        {
            "k": k,
            "method": method,
            "attribute": attribute,
            "seeds": seeds,
            "agree": agree[k, method, attribute],
            "mean": float(np.mean(found)),
            "deviation": float(np.mean([one.std() for one in found])),
            "least": float(min(one.mean() for one in found)),
            "most": float(max(one.mean() for one in found)),
            "paper": PAPER.get((method, k, attribute)),
        }
        for (k, method, attribute), found in errors.items()
    ]


def main(words: list[str] | None = None) -> int:
    """Measure; 1 where sqlanon and the evaluator disagree, or a truth lies outside of its bounds."""
    parser = options(__doc__, RESULTS / "lefevre17.json")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="tables")
    parser.add_argument("--k", default=",".join(map(str, KS)), help="comma list")
    parser.add_argument("--no-plots", action="store_true")
    parser.add_argument("--methods", default=";".join(METHODS), help="methods, separated by semicolons")
    args = parser.parse_args(words)
    record = Record("papers.lefevre17")
    with duckdb_url() as url:
        found = measure(
            url,
            args.seeds,
            tuple(int(k) for k in args.k.split(",")),
            tuple(args.methods.split(";")),
            None if args.no_plots else args.out.parent / "lefevre_figure15_16.png",
        )
    record.write(args.out, rows=ROWS, seeds=args.seeds, results=found)
    for one in found:
        print(f"k={one['k']} {one['method']} {one['attribute']}: {one['mean']:.2f} / {one['deviation']:.2f}")
    return 0 if all(one["agree"] for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
