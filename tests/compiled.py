"""Compile the kernels once (``python -m tests.compiled``), before several test processes would each do it at once.

Those that Spark's workers, proofs of candidates and searches of large lattices alone call are compiled by the tests of
these. What was done for the kernels as they are is not done again.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba

import sqlanon
from sqlanon.declared import METHODS
from sqlanon.declared.method_options import Word
from sqlanon.errors import InfeasibleError, PolicyError, UnsupportedError
from sqlanon.kernels.cache import find_folder
from tests.reach import is_kernel

DONE = Path(sys.prefix, "compiled-kernels.txt")
"""What was compiled last in this environment: see `inputs`."""

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
WORDS: tuple[dict[str, object], ...] = (
    {"k": 2, "boxes": "own"},
    {"k": 2, "l": 2},
    {"k": 2, "l": "3/2"},
    {"max_loss": 0.5, "maximize": "l", "at_least": {"l": 1}},
)
"""What is asked with every word that an option of a method may be."""
TABLES = """
CREATE TABLE t AS
SELECT i AS id, i % 7 AS a, CAST(i % 3 AS VARCHAR) AS b, CAST(i % 4 AS VARCHAR) AS s FROM range(40) AS r(i);
CREATE TABLE short AS SELECT i AS a, i % 5 AS b, i % 2 AS s FROM range(8) AS r(i);
CREATE TABLE wide AS SELECT i AS id, i * 7 % 40000 AS a, CAST(i % 3 AS VARCHAR) AS b, i % 40 AS s
FROM range(40000) AS r(i);
CREATE TABLE long AS SELECT i AS a, i % 2 AS s FROM range(600) AS r(i);
"""

Job = Callable[[Any], object]


def jobs() -> Iterator[Job]:
    """Releases of small tables by every method, for every kind of requirement that it takes.

    One process begins with the first of them, another one with the last: these need different kernels, so that neither
    compiles what the other one compiles at the same time.
    """
    # What two versions reveal together.
    yield partial(twice, quasi=["a", "b"], identifiers="id", key="id", k=2)
    # Runs of more rows than are tried one by one.
    yield partial(released, table="long", quasi="a", sensitive="s", method="tree", t="1/1000", k=2)
    for method in sorted(METHODS, key=OTHERS.__contains__):
        for asked in ASKED:
            yield partial(released, quasi=["a", "b"], sensitive="s", method=method, **asked)
        if method == "koptimize":  # ordered columns alone
            yield partial(released, quasi="a", method=method, k=2)
        yield from worded(method)
    # Codes that do not fit in 16 bits, and what is asked of a release.
    for method in ("mondrian", "tree"):
        yield partial(
            released, table="wide", quasi=["a", "b"], sensitive="s", identifiers="id", method=method, k=5, l=2
        )
    yield partial(attacked, quasi=["a", "b"], sensitive="s", identifiers="id", k=2)


def worded(method: str) -> Iterator[Job]:
    """Releases with every word of an option but the first, its default.

    With several columns, and with one whose extents add up.
    """
    options = METHODS[method].options
    line = {"minimize": "sum"} if any(option.name == "minimize" for option in options) else {}
    for option in options:
        for word in option.words[1:] if isinstance(option, Word) else ():
            for number, asked in enumerate(WORDS):
                for more, quasi in (({}, ["a", "b"]), (line, ["a"])):
                    chosen = {"name": method, **more, option.name: word}
                    name = f"{method}_{option.name}_{word}_{number}_{len(quasi)}"
                    yield partial(
                        released, table="short", name=name, quasi=quasi, sensitive="s", method=chosen, **asked
                    )


def released(db: Any, table: str = "t", name: str = "", **asked: Any) -> None:
    """One release, where the method takes what is asked."""
    try:
        db.anonymize(
            table, name=name or table, publish=f"public_{name or table}", rest="drop", allow_weaker=True, **asked
        )
    except (InfeasibleError, PolicyError, UnsupportedError):
        return


def attacked(db: Any, **asked: Any) -> None:
    """A release, attacked, and read together with another one."""
    for name in ("one", "two"):
        db.anonymize("t", name=name, publish=f"public_{name}", rest="drop", **asked)
    db.attack("one")
    db.together("one", "two")


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


def inputs() -> str:
    """A hash of what decides whether compiled kernels are still valid, and where they are kept.

    Other code decides which kernels are called: those of a new method are compiled by its own tests.
    """
    package = Path(sqlanon.__file__).parent
    files = sorted(file for file in package.rglob("*.py") if is_kernel(f"sqlanon/{file.relative_to(package)}"))
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_"))
    found = hashlib.sha256(repr((sys.version, numba.__version__, settings, str(find_folder()))).encode())
    for file in (Path(__file__), *files):
        found.update(f"{file} ".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


def main() -> int:
    """Compile on two cores, from both ends: see `jobs`."""
    wanted, place = inputs(), find_folder()
    if place is not None and any(place.iterdir()) and DONE.exists() and DONE.read_text() == wanted:
        return 0
    context = multiprocessing.get_context("fork")
    left = context.Array("i", [0, len(list(jobs()))])
    processes = [context.Process(target=work, args=(backward, left)) for backward in (False, True)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    failed = max(abs(process.exitcode or 0) for process in processes)
    if not failed:
        DONE.write_text(wanted)
    return failed


if __name__ == "__main__":
    sys.exit(main())
