"""Widths of bounds and of 95 % intervals of 400 counts, and how often they contain the truth.

The counts are over ranges of two columns, on Adult and on rows of SAL.

    python -m benchmarks.intervals [--queries 400] [--rows 100000]

Each count takes two quasi columns drawn at random, and of each the values between two that are drawn at random; text
without an order takes a random half of its values. The seed is written below. Releases are by `tree`, k=10, format
ranges. The interval is compared with that of 10,000 draws by NumPy from the published boxes, which shares no code with
sqlanon; nor does the width that bounds have by the boxes alone, without the values that classes attain.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks.loss import ADULT, SAL, Table
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv
from sqlanon.sqltext import identifier, literal

SEED = "two columns 1"
DRAWS = 10_000


def shares(
    published: dict[str, NDArray[Any]], column: str, taken: Sequence[Any], positions: dict[Any, int]
) -> NDArray[Any]:
    """Of each row the part of its box that the values take: whole numbers between the ends, or members of the set."""
    if f"{column}_lo" in published:
        low, high = (published[f"{column}_{end}"].astype(np.int64) for end in ("lo", "hi"))
        first, last = min(taken), max(taken)
        found = np.maximum(np.minimum(high, last) - np.maximum(low, first) + 1, 0) / (high - low + 1)
        return np.asarray(found)
    wanted = np.zeros(len(positions))
    wanted[[positions[value] for value in taken]] = 1
    known: dict[tuple[str, ...], float] = {}
    return np.array(
        [
            known.setdefault(tuple(members), float(np.mean(wanted[[positions[m] for m in members]])))
            for members in published[column]
        ]
    )


def question(
    rng: random.Random, quasi: Sequence[str], values: dict[str, list[Any]], published: Iterable[str]
) -> tuple[str, dict[str, list[Any]]]:
    """A condition on two columns drawn at random: its SQL, and which values of each it takes."""
    where, found = [], {}
    for name in sorted(rng.sample(quasi, 2)):
        there = values[name]
        if f"{name}_lo" in published:
            first, last = sorted(rng.choices(range(len(there)), k=2))
            taken = there[first : last + 1]
            where.append(f"{identifier(name)} BETWEEN {taken[0]} AND {taken[-1]}")
        else:
            taken = rng.sample(there, max(1, len(there) // 2))
            where.append(f"{identifier(name)} IN ({', '.join(literal(value) for value in taken)})")
        found[name] = taken
    return " AND ".join(where), found


def measure(table: Table, rows: int | None, queries: int) -> dict[str, Any]:
    """Every count of one table."""
    rng, draw = random.Random(f"{SEED} {table.name}"), np.random.default_rng(1)
    found: list[dict[str, float]] = []
    with duckdb_url() as url:
        load_csv(url, "whole", data_folder() / table.file)
        with sqlanon.connect(url) as db:
            db.engine.execute(f"CREATE TABLE people AS SELECT * FROM whole LIMIT {rows or 'ALL'}")
            db.anonymize(
                "people",
                quasi=table.quasi,
                sensitive=table.sensitive,
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
        with sqlanon.connect(url, read_only=True) as db:
            for _ in range(queries):
                where, taken = question(rng, table.quasi, values, published)
                share = np.ones(len(published[next(iter(published))]))
                for name, own in taken.items():
                    places = {value: i for i, value in enumerate(values[name])}
                    share = share * shares(published, name, own, places)
                text = f"SELECT count(*) AS n FROM people WHERE {where}"
                truth = int(str(db.engine.fetch(text.replace("FROM people", "FROM main.people"))[0][0]))
                cell = db.query(text, release="release.asked").rows[0]["n"]
                drawn_in = db.query(text, release="release.asked", interval=0.95).rows[0]["n"].interval
                chances, many = np.unique(share.round(12), return_counts=True)
                drawn = sum(draw.binomial(n, p, DRAWS) for p, n in zip(chances, many, strict=True))
                ends = np.quantile(drawn, [0.025, 0.975])
                found.append(
                    {
                        "truth": truth,
                        "low": cell.low,
                        "high": cell.high,
                        "from": drawn_in.low,
                        "to": drawn_in.high,
                        "drawn": float(ends[1] - ends[0]),
                        "estimate": cell.estimate,
                        "boxes": int((share > 0).sum() - (share >= 1).sum()),
                    }
                )
    asked = [one for one in found if one["truth"] > 0]
    open_ = [one for one in found if one["low"] < one["high"]]
    made = {
        "table": table.name,
        "rows": len(share),
        "queries": len(found),
        "inside": sum(one["low"] <= one["truth"] <= one["high"] for one in found),
        "error": statistics.median(abs(one["estimate"] - one["truth"]) / one["truth"] for one in asked),
        "bounds_width": statistics.median((one["high"] - one["low"]) / one["truth"] for one in asked),
        "boxes_width": statistics.median(one["boxes"] / one["truth"] for one in asked),
        "interval_width": statistics.median((one["to"] - one["from"]) / one["truth"] for one in asked),
        "interval_holds": statistics.fmean(one["from"] <= one["truth"] <= one["to"] for one in open_),
        "by_draws": statistics.median((one["to"] - one["from"]) / one["drawn"] for one in open_ if one["drawn"]),
    }
    print(made, flush=True)
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Measure; 1 if a truth is outside of its bounds."""
    parser = options(__doc__, RESULTS / "intervals.json")
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--rows", type=int, default=100_000, help="of SAL")
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record = Record("intervals")
    results = [measure(ADULT, None, args.queries), measure(SAL, args.rows, args.queries)]
    record.write(args.out, seed=SEED, draws=DRAWS, results=results, wanted={"bounds_width": 0.18, "by_draws": 1.1})
    return int(any(one["inside"] < one["queries"] for one in results))


if __name__ == "__main__":
    sys.exit(main())
