"""Information loss on public data: Range NCP of every method, by sqlanon and by an independent evaluator.

Range NCP scores every attribute by the order of its codes: numbers by value, text alphabetically. Adult with 8
quasi-identifiers and with 7 (without occupation), and the SAL census table with 7. `benchmarks.nominal` is the same for
text without an order.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from benchmarks.evaluate import measure
from benchmarks.record import RESULTS, Record, options
from examples import sources
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv

TOLERANCE = 1e-9
"""sqlanon's Range NCP and the evaluator's differ by at most this."""
TARGET_K = 10


@dataclass(frozen=True, slots=True)
class Table:
    """A public table as this benchmark releases it; ``targets`` bound Range NCP at k=10, by contender."""

    name: str
    file: str
    quasi: tuple[str, ...]
    text: tuple[str, ...]
    sensitive: str
    targets: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contender:
    """A method with its options, or an effort; for Mondrian ``variant`` and ``cut`` say them again."""

    name: str
    method: str | None
    refine: bool | None = False
    effort: str | None = None
    variant: str | None = None
    cut: str | None = None


ADULT = Table(
    name="adult",
    file=sources.ADULT,
    quasi=("age", "workclass", "education_num", "marital_status", "occupation", "race", "sex", "native_country"),
    text=("workclass", "marital_status", "occupation", "race", "sex", "native_country"),
    sensitive="income",
    targets={"mondrian strict loss": 0.066, "tree": 0.0575, "hilbert": 0.064, "tree + refine": 0.0530},
)
ADULT7 = Table(
    name="adult7",
    file=sources.ADULT,
    quasi=tuple(column for column in ADULT.quasi if column != "occupation"),
    text=tuple(column for column in ADULT.text if column != "occupation"),
    sensitive="income",
    targets={"tree": 0.0325, "hilbert": 0.036, "tree + refine": 0.0300},
)
SAL = Table(
    name="sal",
    file=sources.SAL,
    quasi=("age", "sex", "education", "marital", "race", "workclass", "country"),
    text=(),
    sensitive="salary",
    targets={"mondrian strict loss": 0.0120, "tree": 0.0097, "hilbert": 0.0101, "tree + refine": 0.0092},
)
TABLES = (ADULT, ADULT7, SAL)
CONTENDERS = (
    *(
        Contender(f"mondrian {v} {c}", f"mondrian:variant={v},cut={c}", variant=v, cut=c)
        for v, c in product(("strict", "relaxed"), ("loss", "median"))
    ),
    Contender("tree", "tree"),
    Contender("hilbert", "hilbert"),
    Contender("tree + refine", "tree", refine=True),
)


def releases(url: str, table: Table, ks: Iterable[int], contenders: Iterable[Contender]) -> list[dict[str, Any]]:
    """Release the table once for every k and contender."""
    import sqlanon

    found = []
    with sqlanon.connect(url) as db:
        for k, who in product(ks, contenders):
            name = f"{table.name}_{who.name.replace(' ', '_').replace('+', 'and')}_{k}"
            start, used = time.perf_counter(), time.process_time()
            report = db.anonymize(
                table.name,
                quasi=table.quasi,
                sensitive=table.sensitive,
                rest="drop",
                ordered=dict.fromkeys(table.text, "alphabetical"),
                k=k,
                allow_weaker=True,
                method=who.method,
                refine=who.refine,
                effort=who.effort,
                name=name,
                publish=f"release.{name}",
            ).report
            found.append(
                {
                    "table": table.name,
                    "quasi": len(table.quasi),
                    "k": k,
                    "contender": who.name,
                    "variant": who.variant,
                    "cut": who.cut,
                    "view": f"release.{name}",
                    "seconds": time.perf_counter() - start,
                    "processor_seconds": time.process_time() - used,
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
            if one["k"] == TARGET_K and one["contender"] in table.targets:
                one["target"] = table.targets[one["contender"]]
                one["met"] = own.range_ncp <= one["target"]
            print(
                f"{table.name:6} k={one['k']:<3} {one['contender']:24} Range NCP {own.range_ncp:.4f}"
                f" ({one['range_ncp']:.4f}), {one['seconds']:.1f} s, agree: {one['agree']}, met: {one.get('met', '-')}",
                flush=True,
            )


def main(words: list[str] | None = None) -> int:
    """Measure every table, k and contender asked for; 1 if sqlanon and the evaluator disagree."""
    parser = options(__doc__, None)
    parser.add_argument("--tables", default=",".join(table.name for table in TABLES), help="comma list")
    parser.add_argument("--k", default="10,50", help="comma list")
    parser.add_argument("--effort", default="", help="comma list of fast, normal, high: these in place of the methods")
    args = parser.parse_args(words)
    try:
        folder = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    record, contenders = Record("loss"), list(CONTENDERS)
    if args.effort:
        contenders = [Contender(f"effort {word}", None, None, effort=word) for word in args.effort.split(",")]
    results = []
    for table in TABLES:
        if table.name in args.tables.split(","):
            with duckdb_url() as url:
                load_csv(url, table.name, folder / table.file)
                found = releases(url, table, [int(k) for k in args.k.split(",")], contenders)
                evaluated(url, table, found)
            results += found
    record.write(args.out or RESULTS / ("loss_effort.json" if args.effort else "loss.json"), results=results)
    return 0 if all(one["agree"] for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
