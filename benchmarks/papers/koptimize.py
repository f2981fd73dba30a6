"""The best cut points of ordered columns by method ``koptimize``: the cost, and its gap to the bound.

10,000 rows of 5 columns of 8 values, that depend on each other or do not, without suppressed rows and with any number
of them. Adult, 5 or 8 columns, each in an order of its values, after about 60 seconds; classes below k are suppressed,
at any number of rows. With ``--integers`` in place of these: LM of four columns of up to 111 values, without suppressed
rows and with as many sets as a policy takes that does not say.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from typing import Any

import numpy as np

from benchmarks.generators import INTEGERS, load_duckdb
from benchmarks.loss import ADULT
from benchmarks.record import RESULTS, Record, options
from examples.sources import data_folder, duckdb_url, load_csv

FIVE = ("age", "workclass", "education_num", "race", "sex")
WIDE = ("age", "education", "marital", "workclass")
INTEGER_ROWS = ((300, 5), (1_000, 5), (3_000, 10), (30_000, 10))
"""Rows of the integers, and k."""
TRIED = 2000
"""Sets of the first run, by whose time the number of the second is chosen; the result depends on the number alone."""
SETS = 100_000
"""Sets of a generated table, at most."""
_FOUND = re.compile(r"koptimize: (\d+) sets of cuts were looked at, (\d+) of (\d+) cuts are published; \w+ ([0-9.]+)")
_LEFT = re.compile(r"no set costs less than ([0-9.]+), ([0-9.]+)% below")


def released(db: Any, table: str, source: str, metric: str, k: int, most: int, **asked: Any) -> dict[str, Any]:
    """One release; what its notes and its report say, and the method's seconds."""
    start = time.process_time()
    report = db.anonymize(
        source,
        rest="drop",
        k=k,
        publish=f"release.koptimize_{table}",
        allow_weaker=True,
        method={"name": "koptimize", "metric": metric, "sets": most},
        **asked,
    ).report
    said = " ".join(report.notes)
    found, left = _FOUND.search(said), _LEFT.search(said)
    assert found is not None
    cost = float(found[4])
    return {
        "table": table,
        "rows": report.rows,
        "columns": len(asked["quasi"]),
        "metric": metric,
        "k": k,
        "most": most,
        "limit": asked["suppression"]["limit"] if "suppression" in asked else 0,
        "sets": int(found[1]),
        "cuts": int(found[2]),
        "of": int(found[3]),
        "cost": cost,
        "bound": float(left[1]) if left else cost,
        "gap": float(left[2]) / 100 if left else 0.0,
        "proven": left is None,
        "suppressed": report.suppressed,
        "classes": report.classes,
        "lm": report.loss.lm,
        "dm": report.loss.dm,
        "processor_seconds": time.process_time() - start,
        "method_seconds": report.seconds["method"],
    }


def generated(db: Any) -> Iterator[dict[str, Any]]:
    """Releases of the generated tables."""
    columns = tuple("abcde")
    for name in ("independent", "dependent"):
        rng = np.random.default_rng(5)
        values = rng.integers(0, 8, (10_000, 5))
        if name == "dependent":
            common = rng.normal(size=(10_000, 1)) * np.array([1.5, 1, 0.5, 0, -1])
            values = np.clip(np.rint(3.5 + common + rng.normal(size=(10_000, 5)) * 1.2), 0, 7).astype(int)
        rows = ", ".join(f"({', '.join(map(str, row))})" for row in values.tolist())
        db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {rows}) AS t({', '.join(columns)})")
        for limit, k in product((0, 1), (100, 50, 10)):
            more = {"suppression": {"limit": limit, "rows": "starred"}} if limit else {}
            yield released(db, name, name, "dm", k, SETS, quasi=columns, **more)


def integers(db: Any) -> Iterator[dict[str, Any]]:
    """Releases of the integers."""
    for rows, k in INTEGER_ROWS:
        name = f"integers_{rows}"
        yield released(db, name, name, "loss", k, 0, quasi=WIDE) | {"table": INTEGERS.name}


def adult(db: Any, metric: str, columns: tuple[str, ...], k: int, seconds: float) -> dict[str, Any]:
    """A release of Adult after about so many processor seconds."""

    def tried(most: int) -> dict[str, Any]:
        return released(
            db,
            "adult",
            ADULT.name,
            metric,
            k,
            most,
            quasi=columns,
            sensitive=ADULT.sensitive,
            ordered=dict.fromkeys([name for name in ADULT.text if name in columns], "alphabetical"),
            suppression={"limit": 1, "rows": "starred"},
        )

    first = tried(TRIED)
    return first if first["proven"] else tried(max(int(TRIED * seconds / first["processor_seconds"]), TRIED))


def main(words: list[str] | None = None) -> int:
    """Release the tables by each metric and k."""
    import duckdb

    import sqlanon

    parser = options(__doc__, None)
    parser.add_argument("--seconds", type=float, default=60, help="processor seconds of a release of Adult, about")
    parser.add_argument("--k", default="10,50", help="comma list")
    parser.add_argument("--metric", default="dm,cm", help="comma list, of Adult; none: the generated tables alone")
    parser.add_argument("--integers", action="store_true", help="the integers alone")
    args = parser.parse_args(words)
    record, results = Record("papers.koptimize"), []
    with duckdb_url() as url:
        if args.integers:
            with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
                for rows, _ in INTEGER_ROWS:
                    load_duckdb(connection, replace(INTEGERS, name=f"integers_{rows}"), rows)
        else:
            load_csv(url, ADULT.name, data_folder() / ADULT.file)
        with sqlanon.connect(url) as db:
            metrics = args.metric.split(",") if args.metric else []
            ways = product(metrics, (FIVE, ADULT.quasi), map(int, args.k.split(",")))
            tables = chain(generated(db), (adult(db, *way, args.seconds) for way in ways))
            for one in integers(db) if args.integers else tables:
                results.append(one)
                print(
                    f"{one['table']}, {one['columns']} columns, k={one['k']}, limit {one['limit']}: {one['metric']} "
                    f"{one['cost']:.10g}, bound {one['bound']:.10g}, gap {one['gap']:.1%}, {one['sets']:,} sets, "
                    f"{one['processor_seconds']:.1f} s",
                    flush=True,
                )
                record.write(args.out or RESULTS / f"koptimize{'_loss' if args.integers else ''}.json", results=results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
