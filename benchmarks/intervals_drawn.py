"""How often the truth lies in the 95 % interval where sources are drawn uniformly from the boxes.

That is what the interval assumes; the tables are Adult and rows of SAL.

    python -m benchmarks.intervals_drawn [--queries 2000] [--rows 30000]

A release by `tree`, k=10, format ranges, and random conditions on two columns as in `benchmarks.intervals`. For every
query a source of its own is drawn: each row's values of the two columns, by NumPy, from its published boxes; the truth
is what the query counts there, or adds up of a column that is published as it is (every fifth query). Of every fifth
count, and every fifth sum, the width is compared with that of 10,000 draws.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks.intervals import DRAWS, question, shares
from benchmarks.loss import ADULT, SAL, Table
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv
from sqlanon.sqltext import identifier

SEED = "drawn 1"
SUMMED = {"adult": "hours_per_week", "sal": "salary"}


class Drawn:
    """Columns of a source, each value drawn from its row's box."""

    def __init__(self, published: dict[str, NDArray[Any]], generator: np.random.Generator) -> None:
        self._published, self._generator = published, generator
        self._sets: dict[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = {}

    def column(self, name: str) -> NDArray[Any]:
        """The values of one column, drawn anew."""
        if f"{name}_lo" in self._published:
            low, high = (self._published[f"{name}_{end}"].astype(np.int64) for end in ("lo", "hi"))
            return self._generator.integers(low, high + 1)
        if name not in self._sets:
            lengths = np.array([len(members) for members in self._published[name]])
            members = np.array([one for own in self._published[name] for one in own], dtype=object)
            self._sets[name] = members, np.cumsum(lengths) - lengths, lengths
        members, first, lengths = self._sets[name]
        return np.asarray(members[first + self._generator.integers(0, lengths)])


def width_of_draws(share: NDArray[Any], summed: NDArray[Any] | None, generator: np.random.Generator) -> float:
    """The width of the middle 95 % of 10,000 draws: rows of one chance and one value are a binomial number."""
    held = np.ones(len(share)) if summed is None else summed.astype(float)
    pairs, many = np.unique(np.stack([share.round(12), held]), axis=1, return_counts=True)
    drawn = np.zeros(DRAWS)
    for (chance, value), n in zip(pairs.T, many, strict=True):
        if chance > 0 and value:
            drawn += value * generator.binomial(n, chance, DRAWS)
    ends = np.quantile(drawn, [0.025, 0.975])
    return float(ends[1] - ends[0])


def measure(table: Table, rows: int | None, queries: int) -> list[dict[str, Any]]:
    """Counts and sums of one table."""
    rng, generator = random.Random(f"{SEED} {table.name}"), np.random.default_rng(2)
    summed = SUMMED[table.name]
    found: dict[str, list[dict[str, Any]]] = {"count": [], "sum": []}
    with duckdb_url() as url:
        load_csv(url, "whole", data_folder() / table.file)
        with sqlanon.connect(url) as db:
            db.engine.execute(f"CREATE TABLE people AS SELECT * FROM whole LIMIT {rows or 'ALL'}")
            exact = [] if summed == table.sensitive else [summed]
            db.anonymize(
                "people",
                quasi=table.quasi,
                sensitive=table.sensitive,
                insensitive=exact,
                rest="drop",
                method="tree",
                k=10,
                name="asked",
                publish="release.asked",
            )
        import duckdb

        with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
            published = dict(connection.sql("SELECT * FROM release.asked").fetchnumpy())
            values = {
                name: [
                    row[0]
                    for row in connection.sql(f"SELECT DISTINCT {identifier(name)} FROM people ORDER BY 1").fetchall()
                ]
                for name in table.quasi
            }
        drawn, held = Drawn(published, generator), published[summed].astype(np.int64)
        with sqlanon.connect(url, read_only=True) as db:
            for i in range(queries):
                where, taken = question(rng, table.quasi, values, published)
                kind = "sum" if i % 5 == 4 else "count"
                share, inside = np.ones(len(held)), np.ones(len(held), dtype=bool)
                for name, own in taken.items():
                    share = share * shares(published, name, own, {v: n for n, v in enumerate(values[name])})
                    column = drawn.column(name)
                    wide = f"{name}_lo" in published
                    inside &= (column >= own[0]) & (column <= own[-1]) if wide else np.isin(column, own)
                item = f"sum({identifier(summed)})" if kind == "sum" else "count(*)"
                cell = db.query(
                    f"SELECT {item} AS n FROM people WHERE {where}", release="release.asked", interval=0.95
                ).rows[0]["n"]
                if cell.low == cell.high:
                    continue
                truth = int(held[inside].sum() if kind == "sum" else inside.sum())
                compared = (i % 25) in (0, 4)
                found[kind].append(
                    {
                        "holds": cell.interval.low <= truth <= cell.interval.high,
                        "sound": (cell.low or 0) <= truth <= cell.high,
                        "width": float(cell.interval.high - cell.interval.low),
                        "error": cell.interval.error,
                        "drawn": width_of_draws(share, held if kind == "sum" else None, generator) if compared else 0.0,
                    }
                )
    made = []
    for kind, cells in found.items():
        compared = [one["width"] / one["drawn"] for one in cells if one["drawn"]]
        normal = [one for one in cells if one["error"] <= 0.05]
        made.append(
            {
                "table": table.name,
                "rows": len(held),
                "of": kind,
                "queries": len(cells),
                "inside_bounds": sum(one["sound"] for one in cells),
                "holds": statistics.fmean(one["holds"] for one in cells),
                "compared": len(compared),
                "by_draws": statistics.median(compared),
                "small_error": len(normal),
                "holds_small_error": statistics.fmean(one["holds"] for one in normal) if normal else None,
            }
        )
        print(made[-1], flush=True)
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Measure; 1 if a drawn truth is outside of its bounds."""
    parser = options(__doc__, RESULTS / "intervals_drawn.json")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=30_000, help="of SAL")
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record = Record("intervals_drawn")
    results = [*measure(ADULT, None, args.queries), *measure(SAL, args.rows, args.queries)]
    record.write(args.out, seed=SEED, draws=DRAWS, results=results, wanted={"holds": [0.93, 0.98], "by_draws": 1.1})
    return int(any(one["inside_bounds"] < one["queries"] for one in results))


if __name__ == "__main__":
    sys.exit(main())
