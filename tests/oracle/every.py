"""Random queries of every oracle of answers on one engine, counted by the format of the releases.

    python -m tests.oracle.every --engine duckdb --releases 200 --queries 10000 --seed 1

Each format has its part of the releases and of the queries: `BY_HAND` of them those that are written by hand, which
cost the least, and the others equal parts. A line each says what was asked, refused (by name) and
wrong, and the processor seconds; the last line is the sum. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

import sqlanon
from sqlanon.errors import SqlanonError, UnsupportedError
from tests.oracle import statements, test_query, words
from tests.oracle.words import Found

Check = Callable[[random.Random, int], int]
"""Asks so many random queries of one random release; how many releases it made."""


BY_HAND = 0.3
"""The part of all releases that each of the two kinds has that is written by hand."""


@dataclass
class Asked:
    """A database that counts queries and those that are refused."""

    db: Any
    engine: Any = field(init=False)
    queries: int = 0
    refused: int = 0
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.engine = self.db.engine

    def query(self, text: str) -> Any:
        """The answer of the database."""
        self.queries += 1
        try:
            return self.db.query(text)
        except UnsupportedError:
            self.refused += 1
            raise
        except SqlanonError as error:  # the engine itself has no answer: a division by zero, say
            self.refused += "the query has no answer here" in str(error)
            raise

    def anonymize(self, *arguments: Any, **options: Any) -> Any:
        """A release of the database."""
        return self.db.anonymize(*arguments, **options)


def parts(asked: Asked, side: duckdb.DuckDBPyConnection, folder: Path, wrong: list[str]) -> dict[str, Check]:
    """What asks the releases of each format, by its name."""

    def by_hand(check: Callable[..., None]) -> Check:
        def ask(rng: random.Random, queries: int) -> int:
            found = Found()
            check(asked, rng, found, queries)
            wrong.extend(found.wrong)
            return 1

        return ask

    def anonymized(check: Callable[..., None], kind: str) -> Check:
        def ask(rng: random.Random, queries: int) -> int:
            before, seed = asked.queries, rng.randrange(2**32)
            try:
                check(asked, side, folder, kind, seed, queries)
            except AssertionError as error:
                wrong.append(f"{check.__name__} {kind} {seed}: {error}")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
                wrong.append(f"{check.__name__} {kind} {seed}: {type(error).__name__} {error}")
            return int(asked.queries > before)

        return ask

    found = {"ranges by hand": by_hand(words.check), "statements over ranges by hand": by_hand(statements.check)}
    found |= {kind: anonymized(test_query.check, kind) for kind in test_query.KINDS}
    kinds = ("ranges", "labels", "anatomy", "suppressed", "ranges of freeform")
    return found | {f"windows over {kind}": anonymized(test_query.check_windows, kind) for kind in kinds}


def ask(db: Any, releases: int, queries: int, seed: int) -> int:
    """Ask releases of every format; print what was found; how much was wrong."""
    asked, wrong = Asked(db), list[str]()
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as side:
        checks, made_in_all = parts(asked, side, Path(folder), wrong), 0
        for name, check in checks.items():
            part = BY_HAND if name.endswith("by hand") else (1 - 2 * BY_HAND) / (len(checks) - 2)
            least, wanted = math.ceil(releases * part), math.ceil(queries * part)
            rng, made, tried, start = random.Random(f"{seed} {name}"), 0, 0, time.process_time()
            first, refused, before = asked.queries, asked.refused, len(wrong)
            while (made < least or asked.queries - first < wanted) and tried < 50 * least:
                made += check(rng, math.ceil(wanted / least))
                tried += 1
            seconds = time.process_time() - start
            print(
                f"{name}: {made} releases, {asked.queries - first} asked, {asked.refused - refused} refused, "
                f"{len(wrong) - before} wrong, {seconds:.0f} s",
                flush=True,
            )
            for one in wrong[before:][:20]:
                print(f"  {one}", flush=True)
            made_in_all += made
    print(f"in all: {made_in_all} releases, {asked.queries} asked, {asked.refused} refused, {len(wrong)} wrong")
    return len(wrong)


def main() -> int:
    """Do as the command line says."""
    from tests.engines import PAIR

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="duckdb", choices=[engine.family for engine in PAIR])
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    engine = next(one for one in PAIR if one.family == args.engine)
    with tempfile.TemporaryDirectory() as folder, sqlanon.connect(engine.fresh(Path(folder))) as db:
        return int(bool(ask(db, args.releases, args.queries, args.seed)))


if __name__ == "__main__":
    sys.exit(main())
