"""The benchmark of analysts' queries: forty-two, and over a few rows every truth lies within its bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.analysts import QUERIES, main
from examples.sources import DataMissingError, data_folder


@pytest.mark.thorough
def test_a_small_run_answers_or_gives_the_reason(tmp_path: Path) -> None:
    try:
        data_folder()
    except DataMissingError as missing:
        pytest.skip(str(missing))
    out = tmp_path / "analysts.json"
    assert main(["--rows", "400", "--k", "5", "--out", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))["queries"]
    assert [one["query"] for one in found] == list(QUERIES)
    assert len(found) == 42
    assert all(one["answered"] or one["reason"] for one in found)
