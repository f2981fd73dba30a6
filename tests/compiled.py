"""Compile every kernel once (``python -m tests.compiled``), before several test processes would each do it at once."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.methods import METHODS

ASKED: tuple[dict[str, object], ...] = (
    {"k": 2, "refine": True},
    {"k": 2, "l": 2, "refine": True},
    {"k": 2, "l": "3/2"},
    {"k": 2, "distinct_l": 2},
    {"k": 2, "boxes": "own"},
    {"max_loss": 0.5, "maximize": "l", "at_least": {"l": 1}},
    {"max_loss": 0.5, "maximize": "k", "at_least": {"k": 2}},
)
OTHERS = ("topdown", "anatomy", "suppress", "tds", "fulldomain")
"""Methods that need few of the kernels that all the others need."""
TABLES = """
CREATE TABLE t AS
SELECT i AS id, i % 7 AS a, CAST(i % 3 AS VARCHAR) AS b, CAST(i % 4 AS VARCHAR) AS s FROM range(40) AS r(i);
CREATE TABLE long AS SELECT i AS a, i % 2 AS s FROM range(600) AS r(i);
"""

Job = Callable[[Any], object]


def jobs() -> Iterator[Job]:
    """Releases of small tables by every method, for every kind of requirement that it takes.

    One process begins with the first of them, another one with the last: these need different kernels, so that neither compiles what
    the other one compiles at the same time.
    """
    # What two versions reveal together.
    yield partial(twice, quasi=["a", "b"], identifiers="id", key="id", k=2)
    # Runs of more rows than are tried one by one.
    yield partial(released, table="long", quasi="a", sensitive="s", method="tree", t="1/1000", k=2)
    for method in sorted(METHODS, key=OTHERS.__contains__):
        for asked in ASKED:
            yield partial(released, quasi=["a", "b"], sensitive="s", method=method, **asked)
        if method == "fulldomain":
            single = {"name": method, "search": "single", "metric": "dm"}  # ordered columns alone
            yield partial(released, quasi="a", method=single, k=2)


def released(db: Any, table: str = "t", **asked: Any) -> None:
    """One release, where the method takes what is asked."""
    try:
        db.anonymize(table, publish=f"public_{table}", rest="drop", allow_weaker=True, **asked)
    except PolicyError:
        return


def twice(db: Any, **asked: Any) -> None:
    """Two versions."""
    for _ in range(2):
        released(db, **asked)


def work(backward: bool, left: Any) -> None:
    """Do the jobs of one end of the list until all are done.

    Args:
        backward: from the last on, or from the first.
        left: how many jobs are taken from the first on, and where those begin that are taken from the last on.
    """
    every = list(jobs())
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute(TABLES)
        while True:
            with left.get_lock():
                if left[0] == left[1]:
                    return
                left[backward] += -1 if backward else 1
                chosen = left[1] if backward else left[0] - 1
            every[chosen](db)


def main() -> int:
    """Compile on two cores, from both ends: see `jobs`."""
    context = multiprocessing.get_context("fork")
    left = context.Array("i", [0, len(list(jobs()))])
    processes = [context.Process(target=work, args=(backward, left)) for backward in (False, True)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return max(abs(process.exitcode or 0) for process in processes)


if __name__ == "__main__":
    sys.exit(main())
