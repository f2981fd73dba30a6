"""Widths of bounds, by the truth: counts over two columns, groups of one column, and shares.

    python -m benchmarks.widths [--k 10] [--rows N] [--queries 60]

The release of Adult is made by `tree`, in format ranges, with eight quasi columns, income as the sensitive column, and
hours per week as it is. Conditions are drawn at random: of a column with ranges the values between two that are drawn,
of a category a half of its values. The width of a cell is that of its bounds by the truth, and a query's that of its
median cell; the figures are medians over the queries. Cells without a truth, or with 0 as the truth, are left out.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import sqlanon
from benchmarks.analysts import ask
from benchmarks.intervals import question
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, has_data, options
from examples.sources import data_folder, duckdb_url, load_csv
from sqlanon.sqltext import identifier

SEED = "widths 1"
EXACT = ["hours_per_week", "capital_gain"]
FAMILIES = {
    "two columns": "counts over two columns with ranges or sets",
    "exact column and range": "counts over the sensitive column and a column with ranges or sets",
    "either of two": "counts of rows that satisfy one condition or the other",
    "groups": "counts by a quasi column",
    "groups under a condition": "counts by a quasi column where another one is in a range",
    "share": "the share of rows with one condition among those with another",
    "share by group": "the share of rows with a condition by the sensitive column",
    "share by quasi group": "the share of rows with a sensitive value by a quasi column",
    "share of the total": "the share of each group of a quasi column among all rows",
}


def draw(db: sqlanon.Database, quasi: Sequence[str], queries: int) -> Iterator[tuple[str, str]]:
    """The queries: family and text."""
    rng = random.Random(SEED)
    shown = [column.name for column in db.engine.relation("release.people").columns]
    values = {
        name: [row[0] for row in db.engine.fetch(f"SELECT DISTINCT {identifier(name)} FROM main.people ORDER BY 1")]
        for name in quasi
    }

    def pair() -> tuple[str, str]:
        first, _, second = _split(question(rng, quasi, values, shown)[0])
        return first, second

    for i in range(queries):
        one, two = pair()
        name = quasi[i % len(quasi)]
        yield "two columns", f"SELECT count(*) AS n FROM people WHERE {one} AND {two}"
        yield "exact column and range", f"SELECT count(*) AS n FROM people WHERE income = '>50K' AND {one}"
        yield "either of two", f"SELECT count(*) AS n FROM people WHERE {one} OR {two}"
        yield "share", f"SELECT 100.0 * count(*) FILTER (WHERE {one}) / count(*) AS n FROM people WHERE {two}"
        yield (
            "share by group",
            f"SELECT income, 100.0 * count(*) FILTER (WHERE {one}) / count(*) AS n FROM people WHERE {two} GROUP BY 1",
        )
        yield "groups under a condition", f"SELECT {name}, count(*) AS n FROM people WHERE {one} GROUP BY 1"
    for name in quasi:
        yield "groups", f"SELECT {name}, count(*) AS n FROM people GROUP BY 1"
        yield (
            "share by quasi group",
            f"SELECT {name}, 100.0 * count(*) FILTER (WHERE income = '>50K') / count(*) AS n FROM people GROUP BY 1",
        )
        yield (
            "share of the total",
            f"SELECT {name}, 100.0 * count(*) / sum(count(*)) OVER () AS n FROM people GROUP BY 1",
        )


def _split(where: str) -> tuple[str, str, str]:
    """The two conditions of a conjunction, of which those with BETWEEN have an AND of their own."""
    parts = where.split(" AND ")
    at = 2 if " BETWEEN " in parts[0] else 1
    return " AND ".join(parts[:at]), " AND ", " AND ".join(parts[at:])


def measure(rows: int | None, k: int, queries: int) -> list[dict[str, Any]]:
    """Every query."""
    with duckdb_url() as url:
        load_csv(url, "whole", data_folder() / ADULT.file)
        with sqlanon.connect(url) as db:
            db.engine.execute(f"CREATE TABLE people AS SELECT * FROM whole LIMIT {rows or 'ALL'}")
            db.anonymize(
                "people",
                quasi=ADULT.quasi,
                sensitive="income",
                insensitive=EXACT,
                accept_unique=[*EXACT, "income"],
                rest="drop",
                method="tree",
                k=k,
                seed=1,
            )
            return [ask(db, family, text) for family, text in draw(db, ADULT.quasi, queries)]


def summarize(found: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The figures of each family."""
    made: dict[str, dict[str, Any]] = {}
    for family in FAMILIES:
        own = [one for one in found if one["query"] == family]
        widths = [one["width"] for one in own if one.get("width") is not None]
        made[family] = {
            "queries": len(own),
            "answered": sum(one["answered"] for one in own),
            "width": statistics.median(widths) if widths else None,
            "cells": sum(one.get("cells", 0) for one in own),
            "inside": sum(one.get("inside", 0) for one in own),
            "tight": sum(one.get("tight", 0) for one in own),
            "without_bounds": sum(one.get("without_bounds", 0) for one in own),
        }
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 if a truth is outside of its bounds."""
    parser = options(__doc__, RESULTS / "widths.json")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--rows", type=int, help="of Adult; default: all")
    parser.add_argument("--queries", type=int, default=60, help="of each family that is drawn at random")
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record = Record("widths")
    summary = summarize(measure(args.rows, args.k, args.queries))
    for family, one in summary.items():
        width = "-" if one["width"] is None else f"{100 * one['width']:.1f} %"
        inside, tight = (f"{one[name]}/{one['cells']} {name}" for name in ("inside", "tight"))
        print(f"{family:26} {one['answered']}/{one['queries']} answered, width {width}, {inside}, {tight}")
    record.write(args.out, seed=SEED, k=args.k, families=summary)
    return int(any(one["inside"] < one["cells"] for one in summary.values()))


if __name__ == "__main__":
    sys.exit(main())
