"""Decimals with more digits than DuckDB's NUMERIC has: labels and nodes are read without rounding them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

VALUES = ["3.33331", "3.33332", "3.33339", "100000000000000000000.00001"]
TYPES = {"postgres": "numeric", "duckdb": "decimal(38, 5)"}
"""The first has no number of digits."""


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "options", [{"format": "labels"}, {"format": "ranges"}, {"hierarchies": {"c": "steps:0.00002,0.0001"}}], ids=str
)
def test_ends_are_not_rounded(shared_db: Any, options: dict[str, Any]) -> None:
    engine, name = shared_db.engine, f"n{uuid.uuid4().hex[:10]}"
    engine.execute(f"CREATE TABLE {name} (age INT, c {TYPES[engine.dialect]})")
    rows = ", ".join(f"({20 + i // 4}, {VALUES[i // 8]})" for i in range(32))
    engine.execute(f"INSERT INTO {name} VALUES {rows}")
    release = shared_db.anonymize(name, quasi=["age", "c"], k=4, **options)
    exact = 0
    for item in (
        "count(*) FILTER (WHERE c = 3.33339)",
        "count(*) FILTER (WHERE c > 3.3333)",
        "count(*) FILTER (WHERE c < 3.33332)",
        "count(*) FILTER (WHERE c * 2 >= 6.66664)",
        "min(c)",
        "sum(c)",
        "max(c)",
    ):
        ((true,),) = engine.fetch(f"SELECT {item} FROM {name}")
        cell = release.query(f"SELECT {item} AS x FROM {name}").rows[0]["x"]
        assert cell.low is None or cell.low <= float(true) or cell.low <= true, item
        assert cell.high is None or cell.high >= float(true) or cell.high >= true, item
        exact += cell.exact
    assert exact >= 4 or "hierarchies" in options
