"""Gain and cost of `refine: {search: N}`.

It measures range NCP and processor seconds by the number of trials, against its goals.

Every case is released by `tree` with refine's passes alone, then with a few trials and with many, in one process after
a run that loads the kernels. Seconds are the processor's, of all threads, and those of the search are the difference to
the passes alone. Sets are measured as in `benchmarks.nominal`. How the time grows with the rows is in
`benchmarks.search_rows`.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.evaluate import set_loss
from benchmarks.loss import ADULT, ADULT7, SAL, Table
from benchmarks.nominal import KEY
from benchmarks.record import RESULTS, Record, options
from examples.sources import DataMissingError, data_folder, duckdb_url, load_csv


@dataclass(frozen=True, slots=True)
class Case:
    """A table and k, with the loss that a few trials and many shall reach at most; ``sets``: text has no order."""

    name: str
    table: Table
    k: int
    quick: float | None
    long: float | None
    sets: bool = False


CASES = (
    Case("adult", ADULT, 10, 0.0485, 0.0455),
    Case("adult7", ADULT7, 10, 0.0270, 0.0258),
    Case("adult k=5", ADULT, 5, 0.0275, 0.0258),
    Case("adult k=50", ADULT, 50, 0.1285, 0.1205),
    Case("sal", SAL, 10, 0.0084, 0.0081),
    Case("sets", ADULT, 10, None, 0.0285, sets=True),
    Case("sets k=50", ADULT, 50, None, 0.0945, sets=True),
)


def processor_seconds() -> float:
    """Of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@contextmanager
def source(folder: Path, case: Case) -> Iterator[tuple[str, str]]:
    """A database with the table, and the name of what is released: rows are numbered where sets are measured."""
    import duckdb

    with duckdb_url() as url:
        load_csv(url, case.table.name, folder / case.table.file)
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            connection.execute(
                f"CREATE TABLE numbered AS SELECT row_number() OVER () AS {KEY}, t.* FROM {case.table.name} AS t"
            )
        yield url, "numbered"


def measured(url: str, name: str, case: Case, trials: int) -> dict[str, Any]:
    """One release."""
    import duckdb

    import sqlanon

    roles: dict[str, Any] = {"quasi": case.table.quasi, "sensitive": case.table.sensitive, "rest": "drop"}
    if case.sets:
        roles |= {"insensitive": KEY, "accept_unique": KEY}
    else:
        roles["ordered"] = dict.fromkeys(case.table.text, "alphabetical")
    before = processor_seconds()
    with sqlanon.connect(url) as db:
        report = db.anonymize(
            name,
            **roles,
            k=case.k,
            method="tree",
            refine={"search": trials},
            name="search",
            publish="release.search",
            allow_weaker=True,
        ).report
    seconds = processor_seconds() - before
    loss = report.loss.gcp
    if case.sets:
        with duckdb.connect(url.removeprefix("duckdb:///"), read_only=True) as connection:
            loss = set_loss(connection, name, "release.search", case.table.quasi, KEY).set_ncp
    return {
        "trials": trials,
        "loss": loss,
        "classes": report.classes,
        "min_class": report.min_class,
        "verified": report.verified,
        "processor_seconds": seconds,
        "method_seconds": report.seconds["method"],
    }


def compared(url: str, name: str, case: Case, numbers: list[int], say: Callable[[str], None]) -> dict[str, Any]:
    """A case without trials and with each number of them."""
    measured(url, name, case, 1)
    found = [measured(url, name, case, trials) for trials in (0, *numbers)]
    goals = (case.quick, case.long)
    for one, goal in zip(found[1:], goals, strict=False):
        one["search_seconds"] = one["processor_seconds"] - found[0]["processor_seconds"]
        one["goal"], one["met"] = goal, None if goal is None else one["loss"] <= goal
    for one in found:
        say(
            f"{case.name:10} search={one['trials']:<4} {one['loss']:.5f}, {one['processor_seconds']:.2f} s, "
            f"goal {one.get('goal')}"
        )
    return {"table": case.name, "k": case.k, "sets": case.sets, "runs": found}


def main(words: list[str] | None = None) -> int:
    """Measure every case; 1 if a class is below k."""
    parser = options(__doc__, RESULTS / "search.json")
    parser.add_argument("--only", default=",".join(case.name for case in CASES), help="cases, comma list")
    parser.add_argument("--trials", default="8,64", help="a few and many, comma list")
    args = parser.parse_args(words)
    try:
        folder = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0

    def say(line: str) -> None:
        print(line, flush=True)

    record, results = Record("search"), []
    numbers = [int(each) for each in args.trials.split(",")]
    for case in CASES:
        if case.name in args.only.split(","):
            with source(folder, case) as (url, name):
                results.append(compared(url, name, case, numbers, say))
    record.write(args.out, results=results)
    return int(any(run["min_class"] < one["k"] for one in results for run in one["runs"]))


if __name__ == "__main__":
    sys.exit(main())
