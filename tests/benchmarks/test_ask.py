"""The benchmark of small questions, small; and how many database calls a question may take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ask import QUESTIONS, fill, main, measure

CALLS = {
    "duckdb": {"count": 5, "two aggregates": 5, "average": 7, "join": 10, "group by exact": 5, "group by ranges": 5},
    "postgres": {"count": 6, "two aggregates": 6, "average": 9, "join": 15, "group by exact": 6, "group by ranges": 6},
}
"""Calls of the driver.

They are metadata, binding of the text (two or three), one statement for the answer, and metadata once more, since a
version may be replaced between two statements; the rest is for types and joins.
"""


@pytest.mark.thorough
def test_a_small_run_writes_every_question(tmp_path: Path) -> None:
    out = tmp_path / "ask.json"
    assert main(["--repeats", "1", "--out", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))["engines"]["duckdb"]
    assert [line["question"] for line in found] == list(QUESTIONS)
    assert all(line["median_ms"] > 0 for line in found)


@pytest.mark.thorough
def test_a_question_takes_few_database_calls(shared_db: Any) -> None:
    fill(shared_db)
    allowed = CALLS[shared_db.engine.dialect]
    for line in measure(shared_db, 1):
        assert line["calls"] <= allowed[line["question"]], line
