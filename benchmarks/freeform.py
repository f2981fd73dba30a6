"""Method `freeform` against its goals.

It measures range NCP of the release, processor seconds of the method, verification and memory.

Every release is made on DuckDB with one thread, in a process of its own that first releases 1,000 rows, which loads the
kernels. Range NCP scores text by its order, as in `benchmarks.loss`, and up to a million rows an independent evaluator
computes it again from the view. Seconds are the processor's. The large integer table is released with the same options
as the small one beside it: the method's seconds a row shall stay the same.

What an interrupted run has measured is kept, and the same command goes on; ``--fresh`` starts anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.evaluate import measure as evaluated
from benchmarks.generators import INTEGERS
from benchmarks.growth import warm
from benchmarks.kept import Kept
from benchmarks.loss import ADULT, ADULT7, Table
from benchmarks.memory import measure
from benchmarks.record import RESULTS, Record, has_data, options
from benchmarks.speed import loaded
from examples.sources import data_folder, duckdb_url, load_csv

SMALL, LARGE = 500_000, 5_000_000
"""Rows of the integer table."""
MEMORY, MEMORY_GIB = 4 << 30, 8.0
"""Of the large release: the budget in bytes, which the engine and the kernels have each, and the peak at most."""
LINEAR = 1.25
"""Processor seconds a row of the large table by those of the small one, at most."""


@dataclass(frozen=True, slots=True)
class Case:
    """One release, and what is wanted of it; ``rows`` None: all of Adult, by the quasi columns of ``table``."""

    name: str
    table: Table | None
    rows: int | None
    k: int
    method: str
    refine: bool = False
    ncp: float | None = None
    seconds: float | None = None
    verify: float | None = None
    beside: str | None = None


CASES = (
    Case("adult, block 512", ADULT, None, 10, "freeform:block=512,passes=4", ncp=0.0455, seconds=8),
    Case("adult, block 1024", ADULT, None, 10, "freeform:block=1024,passes=4", ncp=0.0443, seconds=25),
    Case("adult, k=50", ADULT, None, 50, "freeform:block=512,passes=1", ncp=0.1230, seconds=25),
    Case("adult, 7 columns", ADULT7, None, 10, "freeform:block=512,passes=4", ncp=0.0257, seconds=6),
    Case("integers, 2 passes", None, SMALL, 10, "freeform:block=256,passes=2", ncp=0.0258, seconds=40),
    Case("integers, tree", None, SMALL, 10, "tree"),
    Case("integers, tree refined", None, SMALL, 10, "tree", refine=True),
    Case("integers, 1 pass", None, SMALL, 10, "freeform:block=256,passes=1"),
    Case("integers, large", None, LARGE, 10, "freeform:block=256,passes=1", verify=80, beside="integers, 1 pass"),
)


@contextmanager
def source(case: Case, rows: int | None) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """A database with the table of a case: its url, the table, and the arguments of a release.

    The table has the first ``rows`` rows of Adult.
    """
    if case.table is None:
        assert rows is not None
        with loaded("duckdb", INTEGERS, rows) as url:
            warm(url, INTEGERS.name)
            yield url, INTEGERS.name, INTEGERS.roles()
        return
    import duckdb

    with duckdb_url() as url:
        load_csv(url, "whole", data_folder() / case.table.file)
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            connection.execute(f"CREATE TABLE adult AS SELECT * FROM whole LIMIT {rows or 'ALL'}")
        warm(url, "adult")
        roles: dict[str, Any] = {
            "quasi": case.table.quasi,
            "sensitive": case.table.sensitive,
            "rest": "drop",
            "ordered": dict.fromkeys(case.table.text, "alphabetical"),
        }
        yield url, "adult", roles


def asked(case: Case) -> dict[str, Any]:
    """The arguments of a release beside its columns."""
    own = {"boxes": "own"} if case.method.startswith("freeform") else {}
    return {"k": case.k, "method": case.method, "refine": case.refine, **own}


def released(case: Case, rows: int | None, threads: int) -> dict[str, Any]:
    """One release in a process of its own, and what is wanted of it."""
    import duckdb

    with source(case, rows) as (url, table, roles):
        full = {
            "url": url,
            "threads": threads,
            "memory": MEMORY if case.beside else None,
            "source": table,
            "warm": "warm",
            "options": {**roles, **asked(case)},
        }
        done = measure(full)
        report = done["report"]
        again = None
        if report["rows"] <= 1_000_000:
            with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
                again = evaluated(connection, table, f"release.{table}", roles["quasi"], case.k).range_ncp
    found = {
        "case": case.name,
        "rows": report["rows"],
        "k": case.k,
        "method": case.method,
        "refine": case.refine,
        "ncp": report["loss"]["gcp"],
        "evaluator_ncp": again,
        "method_seconds": done["cpu_stages"]["method"],
        "release_seconds": done["cpu_seconds"],
        "stages": report["seconds"],
        "verify_seconds": done["cpu_stages"]["verify"],
        "cpu_stages": done["cpu_stages"],
        "peak_gib": done["peak_rss"] / 2**30,
        "min_class": report["min_class"],
        "verified": report["verified"],
    }
    wanted = {"ncp": case.ncp, "method_seconds": case.seconds, "verify_seconds": case.verify}
    return found | {"wanted": {name: most for name, most in wanted.items() if most is not None}}


def compared(one: dict[str, Any], small: dict[str, Any] | None) -> dict[str, Any]:
    """A line with whether it is as wanted; of the large table also by the small one and in memory."""
    wanted = dict(one["wanted"])
    if small is not None:
        one |= {"growth": (one["method_seconds"] / one["rows"]) / (small["method_seconds"] / small["rows"])}
        wanted |= {"growth": LINEAR, "peak_gib": MEMORY_GIB}
    return one | {"wanted": wanted, "met": {name: one[name] <= most for name, most in wanted.items()}}


def main(words: list[str] | None = None) -> int:
    """Measure every case asked for; 1 if a box or class has fewer than k rows."""
    parser = options(__doc__, RESULTS / "freeform.json")
    names = [case.name for case in CASES]
    parser.add_argument("--only", nargs="+", default=names, choices=names, metavar="CASE", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="a few thousand rows")
    parser.add_argument("--large", type=int, default=LARGE, help="rows of the large table")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted run has measured")
    args = parser.parse_args(words)
    if not has_data():
        return 0
    record, kept = Record("freeform"), Kept(args.out, args.fresh)
    results: list[dict[str, Any]] = []
    for case in CASES:
        if case.name not in args.only:
            continue
        rows = args.large if case.beside else case.rows
        if args.quick:
            rows = 2_000 if case.table else 10_000 if case.beside else 5_000
        one = kept.get(case.name, rows, args.threads) or kept.add(
            released(case, rows, args.threads), case.name, rows, args.threads
        )
        small = next((found for found in results if found["case"] == case.beside), None)
        results.append(compared(one, small))
        print(
            f"{case.name}, {one['rows']:,} rows: NCP {one['ncp']:.5f}, method {one['method_seconds']:.2f} s, verified "
            f"in {one['verify_seconds']:.1f} s, {one['peak_gib']:.2f} GiB",
            flush=True,
        )
    record.write(args.out, threads=args.threads, results=results)
    kept.forget()
    return int(any(one["min_class"] < one["k"] for one in results))


if __name__ == "__main__":
    sys.exit(main())
