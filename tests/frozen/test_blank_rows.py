"""Cells that a lineage keeps no more after an erasure: those of rows that left, in classes that held an erased key."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sqlanon.sqltext import statement
from tests.engines import create_table, read_table

ROWS = [
    # key, class, version in which it left, cell
    ("erased", 1, 2, "a"),
    ("its class left too", 1, 2, "b"),
    ("stayed", 1, None, "c"),
    ("left before", 2, 1, "d"),
    ("is there", 2, None, "e"),
    ("waits", None, None, "f"),
    ("left without a class", None, 2, "g"),
]


@pytest.mark.parametrize("every", [False, True], ids=["of keys", "of all"])
def test_only_cells_of_rows_that_left_with_an_erased_key_are_blank(shared_db: Any, every: bool) -> None:
    rows, erased = (f"{name}_{uuid.uuid4().hex[:8]}" for name in ("rows", "erased"))
    types = {"_sqlanon_key": "TEXT", "_sqlanon_class": "INTEGER", "_sqlanon_gone": "INTEGER", "cell": "TEXT"}
    create_table(shared_db, rows, types, ROWS)
    create_table(shared_db, erased, {"_sqlanon_key": "TEXT"}, [("erased",), ("waits",), ("unknown",)])
    target = shared_db.engine.target
    query = statement(
        "frozen/blank_rows",
        shared_db.engine.dialect,
        rows=target(rows),
        erased=None if every else target(erased),
        columns=["cell"],
    )
    shared_db.engine.execute(query)
    blank = {row["_sqlanon_key"] for row in read_table(shared_db, rows) if row["cell"] is None}
    assert blank == ({key for key, *_ in ROWS} if every else {"erased", "its class left too"})
