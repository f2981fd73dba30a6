"""Methods that cluster rows: their blocks, and tables that are too large.

All other tests of them are in the suites of all methods.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.declared import METHODS, too_many_rows
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.clustering import blocks
from sqlanon.methods.clustering.sequential import Sequential
from sqlanon.policy import release as spec_of
from tests.contract.cases import QI, Case, multiset, release_rows
from tests.contract.samples import DIVERSE, JOINT, MIXED, NUMBERS, TREES
from tests.oracle.chance import SEED
from tests.oracle.clustering import Clustering, agglomerative, clustered, kmember, mdav
from tests.oracle.recode import released
from tests.oracle.requirements import Privacy
from tests.oracle.sequential import sequential

SEQUENTIAL = {"start": "random", "objective": "mi", "alpha": "100", "runs": "3"}
WAYS: dict[str, Callable[[], Clustering]] = {
    "kmember:grow=cluster,": lambda: partial(kmember, grow="cluster"),
    "kmember:grow=centre,": lambda: partial(kmember, grow="centre"),
    "mdav:": lambda: mdav,
    "agglomerative:": lambda: agglomerative,
    "sequential:start=random,objective=mi,runs=3,alpha=100,": lambda: sequential(SEQUENTIAL, SEED),
}
ALIKE = Case(
    "alike",
    {"p": "INTEGER", "s": "TEXT"},
    tuple((i, "xyz"[i // 8] if i < 20 else "xyz"[i % 3]) for i in range(26)),
    {"p": QI()},
    ("s",),
    Privacy(k=2, l=2),
)
"""Stretches of rows that have one sensitive value: no block of a few rows meets l."""


@pytest.mark.cover("way block")
@pytest.mark.parametrize("case", [MIXED, NUMBERS, TREES, JOINT, DIVERSE, ALIKE], ids=lambda case: case.name)
@pytest.mark.parametrize("block", [1, 7, 16])
@pytest.mark.parametrize("way", list(WAYS))
def test_blocks_equal_oracle(shared_db: Any, case: Case, way: str, block: int, tmp_path: Path) -> None:
    """A block that does not meet the requirements joins the next; the last one joins the one before it."""
    rows, report = release_rows(shared_db, case, tmp_path, method=f"{way}block={block}")
    classes = clustered(case.table, case.privacy, WAYS[way](), block)
    assert multiset(rows) == multiset(released(case.table, classes, "ranges"))
    assert report.method == f"{way}block={block}"


def test_blocks_that_fail_one_after_another_are_refused_in_the_end(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their cost is the square of the rows that they have together."""
    monkeypatch.setattr(blocks, "MOST_CLUSTERED", 8)
    with pytest.raises(InfeasibleError, match=r"blocks of 2 rows .* of at most 8; use a larger block"):
        release_rows(shared_db, ALIKE, tmp_path, method="mdav:block=2")


@pytest.mark.parametrize("method", ["kmember", "mdav", "agglomerative", "sequential"])
def test_large_tables_are_refused_without_blocks(method: str) -> None:
    refused = too_many_rows(METHODS[method], {}, 50_001)
    assert str(refused) == (
        f"{method}: without block it takes at most 50000 rows, its cost is quadratic, and the table has 50001; use "
        "block=4096, or tree with refine and its search"
    )
    own = too_many_rows(METHODS[method], {"block": "50000"}, 50_001)
    assert str(own).startswith(f"{method}: block=50000 takes at most 50000 rows")
    assert too_many_rows(METHODS[method], {}, 50_000) is None
    assert too_many_rows(METHODS[method], {"block": "4096"}, 5_000_000) is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "kmember:grow=far"}, "one of cluster, centre"),
        ({"method": "kmember:block=50001"}, "a whole number from 1 to 50000"),
        ({"method": "kmember:block=-1"}, "a whole number from 1 to 50000"),
        ({"method": "kmember", "k": None, "maximize": "k", "max_loss": 0.5, "at_least": {"k": 2}}, "kmember"),
        (
            {"method": "kmember", "format": "anatomy", "sensitive": "s", "l": 2, "presence": "disclosed"},
            "cannot be published in the format anatomy",
        ),
        (
            {"method": "mdav", "k": None, "maximize": "k"},
            r"^method: mdav does not maximize k: it keeps no bound on the loss; maximize k with [a-z, ]*$",
        ),
        ({"method": "mdav:grow=centre"}, "mdav has no such option"),
        (
            {"method": "mdav", "format": "anatomy", "sensitive": "s", "l": 2, "presence": "disclosed"},
            "in the format anatomy",
        ),
        ({"method": "kmember", "suppression": {"limit": 0.1}}, "kmember suppresses no rows"),
        ({"method": "sequential", "k": None, "maximize": "k", "max_loss": 0.5, "at_least": {"k": 2}}, "sequential"),
        (
            {"method": "sequential", "format": "anatomy", "sensitive": "s", "l": 2, "presence": "disclosed"},
            "in the format anatomy",
        ),
        ({"method": "sequential:start=far"}, "one of random, tree"),
        ({"method": "sequential:objective=am"}, "one of loss, mi, pmi, mixed"),
        ({"method": "sequential:runs=21"}, "runs\\]: too large; a whole number from 1 to 20"),
        ({"method": "sequential:runs=0"}, "runs\\]: too small; a whole number from 1 to 20"),
        ({"method": "sequential:alpha=" + "9" * 5000}, "too large; a whole number from 10 to 200"),
        ({"method": "sequential:runs=2.5"}, "not a whole number; a whole number from 1 to 20"),
        ({"method": "sequential:alpha=9"}, "a whole number from 10 to 200"),
        ({"method": "sequential:alpha=201"}, "a whole number from 10 to 200"),
        ({"method": "sequential:omega=100"}, "a whole number from 101 to 200"),
        ({"method": "sequential:omega=201"}, "a whole number from 101 to 200"),
        ({"method": "sequential:objective=mixed,w=101", "sensitive": "s", "l": 2}, "a whole number from 0 to 100"),
        ({"method": "sequential:w=20"}, "w is for objective=mixed"),
        ({"method": "sequential:start=tree,runs=2"}, "start=tree draws nothing"),
        ({"method": "sequential:objective=mi", "refine": True}, "refine lowers the loss, not objective=mi"),
        ({"method": "sequential:objective=pmi"}, "is for one sensitive column, and there are 0"),
        (
            {"method": "sequential:objective=mixed", "sensitive": ["s", "t"], "l": 2},
            "is for one sensitive column, and there are 2",
        ),
        ({"method": "sequential:objective=pmi", "sensitive": "s"}, "unless l or distinct_l is asked"),
        ({"method": "sequential:objective=pmi", "sensitive": "s", "l": 1}, "unless l or distinct_l is asked"),
    ],
)
def test_what_is_refused_before_a_database_is_read(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        spec_of(source="t", **{"quasi": "q", "k": 2, **asked})


def test_more_than_256_sensitive_values_are_refused(shared_db: Any, tmp_path: Path) -> None:
    rows = tuple((i % 50, i % 257) for i in range(600))
    many = Case("many", {"p": "INTEGER", "s": "INTEGER"}, rows, {"p": QI()}, ("s",), Privacy(k=2, distinct_l=2))
    with pytest.raises(PolicyError, match="at most 256 sensitive values, and there are 257; use objective=loss or mi"):
        release_rows(shared_db, many, tmp_path, method="sequential:objective=pmi")


@pytest.mark.thorough
def test_threads_change_nothing_and_a_seed_does(tmp_path: Path) -> None:
    """Blocks draw from streams of their own; without a seed every run draws the same numbers."""

    def published(threads: int, seed: int | None) -> Any:
        with sqlanon.connect("duckdb:///:memory:", threads=threads) as db:
            return multiset(release_rows(db, MIXED, tmp_path, method="sequential:block=8", seed=seed)[0])

    one = published(1, None)
    assert published(3, None) == one
    assert any(published(3, seed) != one for seed in (1, 2, 3))


@pytest.mark.parametrize(("held", "threads"), [(0, 3), (2**60, 1), (1, 3)])
def test_no_more_blocks_at_a_time_than_memory_holds(
    held: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first estimate decides on refusal, the second on the number of blocks that are clustered at the same time."""
    estimates, used = [0, held], list[int]()

    def pool(most: int) -> ThreadPoolExecutor:
        used.append(most)
        return ThreadPoolExecutor(most)

    monkeypatch.setattr(Sequential, "_estimate_memory", lambda *_: estimates.pop(0))
    monkeypatch.setattr(blocks, "ThreadPoolExecutor", pool)
    with sqlanon.connect("duckdb:///:memory:", threads=3) as db:
        release_rows(db, MIXED, tmp_path, method="sequential:block=8")
    assert used == [threads]


class Seen:
    """A `Progress` that keeps what it gets, and sets an event by the count that it waits for."""

    def __init__(self, awaited: int = -1) -> None:
        self.counts = list[tuple[int, int, str]]()
        self.awaited, self.came = awaited, threading.Event()

    def stage(self, release: str, stage: str) -> None:
        """Forget the counts of other stages."""
        if stage == "method":
            self.counts.clear()

    def update(self, done: int, total: int, unit: str) -> None:
        """Keep it."""
        self.counts.append((done, total, unit))
        if done == self.awaited:
            self.came.set()

    def note(self, message: str) -> None:
        """Ignore it."""

    def finish(self, release: str) -> None:
        """Ignore it."""


@pytest.mark.parametrize(
    ("method", "last"),
    [
        ("kmember", (len(MIXED.rows), len(MIXED.rows), "rows clustered")),
        ("mdav:block=8", (len(MIXED.rows), len(MIXED.rows), "rows clustered")),
        ("agglomerative", (2 * len(MIXED.rows), 2 * len(MIXED.rows), "steps")),
        ("sequential", (1, 1, "blocks clustered")),
    ],
)
def test_progress_ends_with_all_that_is_counted(method: str, last: tuple[int, int, str], tmp_path: Path) -> None:
    seen = Seen()
    with sqlanon.connect("duckdb:///:memory:", progress=seen) as db:
        release_rows(db, MIXED, tmp_path, method=method)
    assert last in seen.counts


def test_what_is_done_is_shown_while_a_block_is_clustered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(awaited=123)

    def work(block: blocks.Block) -> int:
        block.done[0] = 123
        assert seen.came.wait(60)
        block.group[:] = 0
        return 1

    monkeypatch.setattr(blocks, "EVERY", 0.01)
    monkeypatch.setattr(
        Sequential,
        "assign",
        lambda _, context: blocks.in_blocks(context, "sequential", 99).cluster_blocks(
            work, unit="rows looked at", each=0
        ),
    )
    with sqlanon.connect("duckdb:///:memory:", progress=seen) as db:
        release_rows(db, MIXED, tmp_path, method="sequential")
    assert (123, 0, "rows looked at") in seen.counts


def test_what_still_runs_ends_where_a_run_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python waits for its threads: a block that takes minutes has to look."""
    began, seen = threading.Event(), list[int]()

    def work(block: blocks.Block) -> int:
        if block.number == 0:
            began.wait(60)
            raise KeyboardInterrupt
        began.set()
        for _ in range(6000):
            if block.stop[0]:
                break
            time.sleep(0.01)
        seen.append(int(block.stop[0]))
        return 1

    monkeypatch.setattr(
        Sequential, "assign", lambda _, context: blocks.in_blocks(context, "sequential", 8).cluster_blocks(work)
    )
    with sqlanon.connect("duckdb:///:memory:", threads=2) as db, pytest.raises(KeyboardInterrupt):
        release_rows(db, MIXED, tmp_path, method="sequential:block=8")
    assert seen
    assert set(seen) == {1}
