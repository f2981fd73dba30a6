"""The benchmark of widths: over a few rows every family is answered, and every truth lies within its bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.widths import FAMILIES, main
from examples.sources import DataMissingError, data_folder


@pytest.mark.thorough
def test_truths_lie_within_the_bounds(tmp_path: Path) -> None:
    try:
        data_folder()
    except DataMissingError as missing:
        pytest.skip(str(missing))
    out = tmp_path / "widths.json"
    assert main(["--rows", "400", "--k", "5", "--queries", "3", "--out", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))["families"]
    assert list(found) == list(FAMILIES)
    assert all(one["answered"] == one["queries"] for one in found.values())
