"""Every example as the command it is; what commands say where the public data are missing."""

import re

import pytest

from tests.benchmarks.commands import command
from tests.conftest import ready
from tests.engines import ENGINES, PAIR


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("example", "engine"), [("adult", PAIR[0]), ("census", PAIR[1])], ids=["adult-duckdb", "census-postgres"]
)
def test_example(example, engine, data, tmp_path):
    assert data
    if engine.family == "duckdb":
        output = command(f"examples.{example}.run", "--engine", "duckdb")
    else:
        url = ready(ENGINES[2]).fresh(tmp_path)
        try:
            output = command(f"examples.{example}.run", "--db", url)
        finally:
            engine.drop(url)
    assert len(re.findall(r"^\$ sqlanon ", output, re.MULTILINE)) >= 4


@pytest.mark.parametrize(
    "module",
    [
        "benchmarks.loss",
        "benchmarks.nominal",
        "benchmarks.refine",
        "benchmarks.search",
        "examples.adult.run",
        "examples.census.run",
    ],
)
def test_absent_data_is_said_and_skipped(module, tmp_path):
    output = command(module, SQLANON_DATA=str(tmp_path))
    assert "skipped: the public data is not at" in output
    assert "SQLANON_DATA" in output
    assert len(output.strip().splitlines()) == 1
