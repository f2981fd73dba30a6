"""A release of many equal rows is the same whether they are divided as tuples or one by one."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import sqlanon
from sqlanon.methods.onedim import orders, tuples

ROLES: dict[str, Any] = {
    "quasi": ["a", "b", "c"],
    "sensitive": "s",
    "insensitive": "note",
    "k": 4,
    "accept_unique": ["note"],
}


def release(method: str, rows: list[tuple[Any, ...]]) -> tuple[Counter[Any], int, float]:
    """The published rows without the last column, how many of its values there are, and the loss."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute("CREATE TABLE t (a INTEGER, b TEXT, c INTEGER, s TEXT, note TEXT)")
        values = ", ".join(
            "({})".format(", ".join("NULL" if value is None else f"'{value}'" for value in row)) for row in rows
        )
        db.engine.execute(f"INSERT INTO t VALUES {values}")
        done = db.anonymize("t", **ROLES, method=method)
        assert done.report.verified
        published = [tuple(map(str, row)) for row in db.engine.fetch("SELECT * FROM release.t")]
    return Counter(row[:-1] for row in published), len({row[-1] for row in published}), done.report.loss.gcp


@pytest.mark.parametrize("method", ["tree", "hilbert"])
def test_tuples_are_released_as_single_rows(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NULLs, sets, many trees, and a column that distinguishes equal rows."""
    rng = random.Random(5)
    rows = [
        (rng.choice((None, 1, 1, 2, 7)), rng.choice("xyz"), rng.randint(0, 3), rng.choice("pqr"), f"n{i}")
        for i in range(260)
    ]
    monkeypatch.setattr(orders, "ONE_TREE", 64)
    monkeypatch.setattr(orders, "TREE_ROWS", 32)
    divided: list[int] = []
    real = tuples.divide_tuples
    monkeypatch.setattr(tuples, "divide_tuples", lambda *a: divided.append(1) or real(*a))
    by_tuple = release(method, rows)
    assert divided
    monkeypatch.setattr(tuples, "MOST", 0.0)
    by_row = release(method, rows)
    assert len(divided) == 1
    assert by_tuple == by_row
    assert by_tuple[1] == len(rows)
