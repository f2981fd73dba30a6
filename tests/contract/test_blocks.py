"""Tables that stream to the solver in many blocks get the classes of those that are solved at once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from sqlanon.methods.onedim import orders, stream_solver
from tests.contract.axes import Way, executions, ways
from tests.contract.cases import QI, Case, multiset, release_rows
from tests.oracle.requirements import Privacy

STREAMED = [way for way in ways() if way.options.get("minimize") in ("gcp", "max") and "pushdown" in executions(way)]


def table(k: int) -> Case:
    rng = random.Random(k)
    rows = tuple(
        (rng.choice([None, rng.randint(0, 60)]), rng.choice("abcdef"), rng.randint(0, 10**6), rng.choice("xyz"))
        for _ in range(500)
    )
    return Case(
        f"blocks_{k}",
        {"x": "INTEGER", "word": "TEXT", "y": "INTEGER", "sa": "TEXT"},
        rows,
        {"x": QI(), "word": QI("nominal"), "y": QI(weight=2)},
        ("sa",),
        Privacy(k=k),
    )


@pytest.mark.cover
@pytest.mark.parametrize("k", [1, 6, 40])
@pytest.mark.parametrize("way", STREAMED, ids=str)
def test_many_blocks_are_one_order(
    shared_db: Any, way: Way, k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of 64 rows, which one run of k = 40 is longer than; the budget makes them so, or execution asks for it."""
    for module in (orders, stream_solver):
        monkeypatch.setattr(module, "ONE_TREE", 32)
    monkeypatch.setattr(orders, "TREE_ROWS", 16)
    monkeypatch.setattr(stream_solver, "_BLOCK", 64)
    case = table(k)
    whole, _ = release_rows(shared_db, case, tmp_path, **way.arguments, execution="kernel")
    for asked in ({"execution": "pushdown"}, {"memory": 5000}):
        rows, report = release_rows(shared_db, case, tmp_path, **way.arguments, **asked)
        assert report.execution.startswith("pushdown")
        assert multiset(rows) == multiset(whole)
