"""The benchmark of queries, small: it measures every question, and the answers hold the truth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import query_postgres
from benchmarks.query import QUESTIONS, main
from tests.engines import PAIR


@pytest.mark.thorough
def test_a_small_run_writes_every_question(tmp_path: Path) -> None:
    out = tmp_path / "query.json"
    assert main(["--rows", "2000", "--repeats", "1", "--out", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [line["question"] for line in found["questions"]] == list(QUESTIONS)
    assert all(line["ratio"] > 0 and line["own_s"] > 0 for line in found["questions"])


@pytest.mark.thorough
def test_a_small_run_on_postgres_writes_every_question(tmp_path: Path) -> None:
    engine, out = PAIR[1], tmp_path / "query.json"
    if engine.missing():
        pytest.skip(str(engine.missing()))
    url = engine.fresh(tmp_path)
    try:
        assert query_postgres.main(["--url", url, "--rows", "2000", "--repeats", "1", "--out", str(out)]) == 0
    finally:
        engine.drop(url)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [line["question"] for line in found["questions"]] == list(QUESTIONS)
    assert found["summary"]["ratio"] > 0
