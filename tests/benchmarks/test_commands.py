"""Every benchmark and example as the command it is, on tiny tables."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.sources import DataMissingError, data_folder
from tests.conftest import ready
from tests.engines import ENGINES, PAIR

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"benchmark", "command", "date", "versions", "machine"}


def command(*words: str, **environ: str) -> str:
    """Run a module of the repository; its output."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def benchmark(name: str, out: Path, *words: str) -> dict:
    """Run one benchmark; what it wrote."""
    command(f"benchmarks.{name}", "--out", str(out), *words)
    written = json.loads(out.read_text())
    assert set(written) >= FACTS
    assert written["command"].startswith(f"python -m benchmarks.{name} ")
    return written


@pytest.fixture
def data() -> Path:
    """The public data, or a skip that says where it was looked for."""
    try:
        return data_folder()
    except DataMissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.slow
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("table", ["admissions", "integers"])
def test_speed(engine, table, tmp_path):
    words = ["--engine", engine.family, "--table", table, "--rows", "2000", "--repeat", "2"]
    if engine.family == "duckdb":
        found = benchmark("speed", tmp_path / "speed.json", *words)
    else:
        url = ready(engine).fresh(tmp_path)
        try:
            found = benchmark("speed", tmp_path / "speed.json", *words, "--url", url)
        finally:
            engine.drop(url)
    assert found["verified"] is True
    assert found["min_class"] >= 10
    assert found["ratio"] == pytest.approx(found["release_seconds"] / found["base_seconds"], rel=1e-4)
    assert len(found["all_release_seconds"]) == 2
    assert set(found["stages"]) >= {"profile", "encode", "method", "recode", "verify", "publish", "total"}
    assert 0.02 < found["memory"]["release_gib"] < 4


@pytest.mark.slow
def test_scale(tmp_path):
    found = benchmark("scale", tmp_path / "scale.json", "--rows", "3000,1000")["results"]
    assert [one["rows"] for one in found] == [1000, 3000]
    assert all(one["verified"] and one["within_limit"] for one in found)


@pytest.mark.slow
def test_startup(tmp_path):
    found = benchmark("startup", tmp_path / "startup.json", "--repeat", "1", "--rows", "500")
    assert found["kernels"]["first"]["seconds"] > found["kernels"]["cached"]["seconds"]
    assert not {"duckdb", "numba", "numpy", "psycopg", "sqlglot"} & set(found["imported_with_sqlanon"])


@pytest.mark.slow
def test_lefevre(tmp_path):
    out = tmp_path / "lefevre.json"
    found = benchmark("lefevre", out, "--rows", "300", "--k", "5", "--no-adult")["results"]
    assert {one["figure"] for one in found} == {
        "figure10_uniform_k", "figure11_skewed_k", "figure12_sigma", "figure13_d",
    }  # fmt: skip
    assert all(one["agree"] and one["within_bounds"] and one["min_class"] >= one["k"] for one in found)
    pictures = sorted(tmp_path.glob("*.png"))
    assert len(pictures) == 4
    assert all(picture.stat().st_size < 100_000 for picture in pictures)


@pytest.mark.slow
def test_loss(tmp_path, data):
    assert data
    found = benchmark("loss", tmp_path / "loss.json", "--tables", "adult", "--k", "10")["results"]
    assert len(found) == 4
    assert all(one["agree"] and one["verified"] for one in found)
    assert all(one["evaluator"]["min_class"] >= 10 for one in found)
    assert [one["met"] for one in found if "met" in one] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("example", ["adult", "census"])
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


@pytest.mark.parametrize("module", ["benchmarks.loss", "examples.adult.run", "examples.census.run"])
def test_absent_data_is_said_and_skipped(module, tmp_path):
    output = command(module, SQLANON_DATA=str(tmp_path))
    assert "skipped: the public data is not at" in output
    assert "SQLANON_DATA" in output
    assert len(output.strip().splitlines()) == 1
