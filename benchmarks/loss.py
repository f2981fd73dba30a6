"""Information loss of Mondrian on public data: Range NCP of every variant, by sqlanon and by an independent evaluator.

Range NCP scores every attribute by the order of its codes: numbers by value, text alphabetically. Adult with 8
quasi-identifiers and the SAL census table with 7 (design, section 5).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from benchmarks.evaluate import measure
from benchmarks.record import RESULTS, Record, options
from examples import sources
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

TOLERANCE = 1e-9
"""sqlanon's Range NCP and the evaluator's differ by at most this."""


@dataclass(frozen=True, slots=True)
class Table:
    """A public table as this benchmark releases it; ``target`` bounds k=10, strict, cut loss."""

    name: str
    file: str
    quasi: tuple[str, ...]
    text: tuple[str, ...]
    sensitive: str
    target: float


ADULT = Table(
    name="adult",
    file=sources.ADULT,
    quasi=(
        "age",
        "workclass",
        "education_num",
        "marital_status",
        "occupation",
        "race",
        "sex",
        "native_country",
    ),
    text=("workclass", "marital_status", "occupation", "race", "sex", "native_country"),
    sensitive="income",
    target=0.066,
)
SAL = Table(
    name="sal",
    file=sources.SAL,
    quasi=("age", "sex", "education", "marital", "race", "workclass", "country"),
    text=(),
    sensitive="salary",
    target=0.0120,
)
TABLES = (ADULT, SAL)
VARIANTS = tuple(product(("strict", "relaxed"), ("loss", "median")))


def releases(
    url: str, table: Table, ks: Iterable[int], variants: Iterable[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Release the table once for every k and variant."""
    import sqlanon

    found = []
    with sqlanon.connect(url) as db:
        for k, (variant, cut) in product(ks, variants):
            name = f"{table.name}_{variant}_{cut}_{k}"
            start = time.perf_counter()
            report = db.anonymize(
                table.name,
                quasi=table.quasi,
                sensitive=table.sensitive,
                rest="drop",
                ordered=dict.fromkeys(table.text, "alphabetical"),
                k=k,
                method=f"mondrian:variant={variant},cut={cut}",
                name=name,
                publish=f"release.{name}",
            ).report
            found.append(
                {
                    "table": table.name,
                    "k": k,
                    "variant": variant,
                    "cut": cut,
                    "view": f"release.{name}",
                    "seconds": time.perf_counter() - start,
                    "method_seconds": report.seconds.get("method"),
                    "execution": report.execution,
                    "verified": report.verified,
                    "range_ncp": report.loss.gcp,
                    "sqlanon": {
                        "classes": report.classes,
                        "min_class": report.min_class,
                        "dm": report.loss.dm,
                        "c_avg": report.loss.c_avg,
                        "columns": {column: loss["ncp"] for column, loss in report.loss.columns.items()},
                    },
                }
            )
    return found


def evaluated(url: str, table: Table, found: list[dict[str, Any]]) -> None:
    """Add the independent figures to every release, and whether they agree."""
    import duckdb

    with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
        for one in found:
            own = measure(connection, table.name, one.pop("view"), table.quasi, one["k"])
            one["evaluator"] = asdict(own)
            one["agree"] = abs(own.range_ncp - one["range_ncp"]) <= TOLERANCE
            if (one["k"], one["variant"], one["cut"]) == (10, "strict", "loss"):
                one["target"] = table.target
                one["met"] = own.range_ncp <= table.target
            print(
                f"{table.name:6} k={one['k']:<3} {one['variant']:8}{one['cut']:7} Range NCP {own.range_ncp:.4f}"
                f" ({one['range_ncp']:.4f}), {one['seconds']:.1f} s, agree: {one['agree']}",
                flush=True,
            )


def main(words: list[str] | None = None) -> int:
    """Measure every table, k and variant asked for; 1 if sqlanon and the evaluator disagree."""
    parser = options(__doc__, RESULTS / "loss.json")
    parser.add_argument("--tables", default=",".join(table.name for table in TABLES), help="comma list")
    parser.add_argument("--k", default="10,50", help="comma list")
    args = parser.parse_args(words)
    try:
        folder = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    record = Record("loss")
    results = []
    for table in TABLES:
        if table.name in args.tables.split(","):
            with duckdb_url() as url:
                load_csv(url, table.name, folder / table.file)
                found = releases(url, table, [int(k) for k in args.k.split(",")], VARIANTS)
                evaluated(url, table, found)
            results += found
    record.write(args.out, results=results)
    return 0 if all(one["agree"] for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
