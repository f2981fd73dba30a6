"""COUNT queries over boxes of their own and over classes: error of the estimates, width of the bounds.

Adult is released by `tree`, by `tree` refined and by `freeform` with blocks of 512 and of 1,024 rows, k=10, and each is
asked the same queries: random ranges of two, three and four columns and a set of sensitive values, about a tenth of the
rows each (docs/workloads.md). Text is published in three ways: as ranges in alphabetical order, as sets, and as ranges
in an order that the policy lists, so that a reader knows the domain. A range of text in alphabetical order is asked by
BETWEEN, of a listed order and of sets by IN.

What an interrupted run has measured is kept, and the same command goes on; ``--fresh`` starts anew.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.freeform import CASES, source
from benchmarks.kept import Kept
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, has_data, options

ERROR, WIDTH = 0.6, 0.8
"""Mean error of COUNT and mean width of its bounds by those of `tree`, at most."""
DIMENSIONS = (2, 3, 4)
"""Quasi columns of a query."""
TEXTS = ("alphabetical", "sets", "listed")
"""How text is released."""
SYSTEMS: dict[str, dict[str, Any]] = {
    "tree": {"method": "tree"},
    "tree refined": {"method": "tree", "refine": True},
    "freeform, 512": {"method": "freeform:block=512,passes=4", "boxes": "own"},
    "freeform, 1024": {"method": "freeform:block=1024,passes=4", "boxes": "own"},
}
JUDGED = "freeform, 1024"
"""The system that is compared with the goals: as the least loss that `benchmarks.freeform` wants is."""


def ordered(text: str, url: str, table: str) -> dict[str, Any]:
    """How Adult's text is released: the argument ``ordered``."""
    if text == "sets":
        return {}
    if text == "alphabetical":
        return dict.fromkeys(ADULT.text, text)
    import duckdb

    with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
        return {
            name: [row[0] for row in connection.sql(f"SELECT DISTINCT {name} FROM {table} ORDER BY 1").fetchall()]
            for name in ADULT.text
        }


def asked(text: str, system: str, rows: int | None, queries: int, threads: int) -> dict[str, Any]:
    """Error and bounds of the queries over one release of Adult with text released as ``text``; the first ``rows``."""
    import sqlanon
    from sqlanon.workload_spec import GeneratorSpec, WorkloadSpec

    generators = tuple(
        GeneratorSpec(f"{d} columns", "ranges", queries=queries, dimensions=d, sensitive=ADULT.sensitive)
        for d in DIMENSIONS
    )
    with source(CASES[0], rows) as (url, table, roles):
        shown = {**roles, "ordered": ordered(text, url, table)}
        with sqlanon.connect(url, threads=threads) as db:
            release = db.anonymize(table, **shown, **SYSTEMS[system], k=10, name="asked", publish="release.asked")
            families = release.evaluate(WorkloadSpec(generators=generators)).families
    found = [
        {
            "text": text,
            "system": system,
            "gcp": release.report.loss.gcp,
            "queries": family.name,
            "cells": family.errors.cells,
            "inside": family.errors.inside,
            "refused": family.refused,
            "error": family.errors.absolute.mean,
            "relative": family.errors.relative.mean,
            "width": family.errors.width.mean,
        }
        for family in families
    ]
    return {"families": found}


def main(words: list[str] | None = None) -> int:
    """Measure; 1 if a true count is outside of its bounds."""
    parser = options(__doc__, RESULTS / "freeform_counts.json")
    parser.add_argument("--texts", nargs="+", default=TEXTS, choices=TEXTS)
    parser.add_argument("--quick", action="store_true", help="a few thousand rows, few queries")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted run has measured")
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record, kept = Record("freeform_counts"), Kept(args.out, args.fresh)
    rows, queries = (2_000, 5) if args.quick else (None, 100)
    results: list[dict[str, Any]] = []
    for text in args.texts:
        for system in SYSTEMS:
            key = (text, system, rows, queries, args.threads)
            measured = (kept.get(*key) or kept.add(asked(*key), *key))["families"]
            for one in measured:
                print(
                    f"{text}, {system}, {one['queries']}: error {one['error']:.1f}, width {one['width']:.1f}",
                    flush=True,
                )
            results += measured
    record.write(
        args.out, threads=args.threads, results=results, judged=JUDGED, wanted={"error": ERROR, "width": WIDTH}
    )
    kept.forget()
    return int(any(one["inside"] < one["cells"] or one["refused"] for one in results))


if __name__ == "__main__":
    sys.exit(main())
