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


@pytest.mark.thorough
def test_search(tmp_path, data):
    assert data
    words = ["--only", "adult k=50,sets k=50", "--trials", "1,3"]
    found = benchmark("search", tmp_path / "search.json", *words)["results"]
    assert [one["sets"] for one in found] == [False, True]
    for one in found:
        none, few, more = one["runs"]
        assert none["loss"] > few["loss"] > more["loss"]
        assert all(run["verified"] and run["min_class"] >= 50 for run in one["runs"])


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_speed_of_several_methods_in_turns(tmp_path, monkeypatch):
    from benchmarks import speed

    monkeypatch.setattr(speed, "RESULTS", tmp_path)
    words = [
        "--rows",
        "2000",
        "--repeat",
        "2",
        "--k",
        "10,100",
        "--method",
        "mondrian",
        "tree",
        "--no-memory",
    ]
    speed.main(words)
    found = {file.name: json.loads(file.read_text()) for file in tmp_path.glob("*.json")}
    names = {"", "_k100", "_tree", "_tree_k100"}
    assert set(found) == {f"speed_duckdb_admissions{name}.json" for name in names}
    assert len({tuple(one["all_base_seconds"]) for one in found.values()}) == 1
    assert all(one["verified"] and one["min_class"] >= one["k"] for one in found.values())
    tree = found["speed_duckdb_admissions_tree_k100.json"]
    assert (tree["method"], tree["k"], tree["target_ratio"]) == ("tree:minimize=gcp", 100, 7.0)


def test_promised_ratios():
    from benchmarks.speed import target

    assert target("duckdb", "admissions", "mondrian", 10) == 3.0
    assert target("duckdb", "admissions", "mondrian", 100) is None
    assert (target("duckdb", "admissions", "tree", 10), target("duckdb", "integers", "hilbert", 100)) == (
        3.5,
        24.0,
    )
    assert target("duckdb", "admissions", "hilbert_fast", 10) is None


@pytest.mark.thorough
def test_growth(tmp_path, data):
    assert data
    out = tmp_path / "growth.json"
    words = ["--rows", "1000,40000", "--memory", "4000000", "--drawn", "2000", "--only", "k,l"]
    found = benchmark("growth", out, *words)["results"]
    cases = {(one["rows"], one["method"], one["execution"]) for one in found if one["part"] == "k"}
    assert cases == {
        (rows, method, execution)
        for method in ("tree", "hilbert")
        for rows, execution in ((1000, "kernel"), (40000, "kernel"), (40000, "pushdown+kernel"))
    }
    assert all(one["verified"] for one in found)
    least = [one["pm"]["salary"] for one in found if one["part"] == "l"]
    assert len(least) == 3
    assert min(least) >= 10
    assert {one["target_seconds"] for one in found if one["rows"] is None} == {6.0, None}
    assert out.with_suffix(".png").stat().st_size < 100_000
    assert not list(tmp_path.glob("*.partial.jsonl"))


@pytest.mark.thorough
def test_scale(tmp_path):
    found = benchmark("scale", tmp_path / "scale.json", "--rows", "3000,1000")["results"]
    assert [one["rows"] for one in found] == [1000, 3000]
    assert all(one["verified"] and one["within_limit"] for one in found)


@pytest.mark.thorough
def test_columns(tmp_path):
    words = ["--rows", "200", "--columns", "9,12", "--method", "hilbert"]
    found = benchmark("columns", tmp_path / "columns.json", *words)["methods"]["hilbert"]
    assert [run["columns"] for run in found["runs"]] == [9, 12]
    assert found["growth"]["cpu_seconds"] > 0


@pytest.mark.thorough
def test_startup(tmp_path):
    found = benchmark("startup", tmp_path / "startup.json", "--repeat", "1", "--rows", "500")
    assert found["kernels"]["first"]["seconds"] > found["kernels"]["cached"]["seconds"]
    assert not {"duckdb", "numba", "numpy", "psycopg", "sqlglot"} & set(found["imported_with_sqlanon"])


@pytest.mark.thorough
def test_lefevre(tmp_path):
    out = tmp_path / "lefevre.json"
    found = benchmark("lefevre", out, "--rows", "300", "--k", "5", "--no-adult", "--sets", "20")["results"]
    assert {one["contender"] for one in found} >= {"strict, median", "Incognito", "K-Optimize"}
    assert {one["figure"] for one in found} == {
        "figure10_uniform_k", "figure11_skewed_k", "figure12_sigma", "figure13_d",
    }  # fmt: skip
    assert all(one["agree"] and one["within_bounds"] and one["min_class"] >= one["k"] for one in found)
    pictures = sorted(tmp_path.glob("*.png"))
    assert len(pictures) == 4
    assert all(picture.stat().st_size < 100_000 for picture in pictures)


@pytest.mark.thorough
def test_loss(tmp_path, data):
    assert data
    found = benchmark("loss", tmp_path / "loss.json", "--tables", "adult", "--k", "10")["results"]
    assert len(found) == 7
    assert all(one["agree"] and one["verified"] for one in found)
    assert all(one["evaluator"]["min_class"] >= 10 for one in found)
    met = {one["contender"]: one["met"] for one in found if "met" in one}
    assert met == dict.fromkeys(("mondrian strict loss", "tree", "hilbert", "tree + refine"), True)


@pytest.mark.thorough
def test_nominal(tmp_path, data):
    assert data
    found = benchmark("nominal", tmp_path / "nominal.json", "--k", "10")["results"]
    assert all(one["verified"] and one["evaluator"]["min_class"] >= 10 for one in found)
    assert {one["contender"]: one["met"] for one in found if one["target"]} == {
        "tree": True,
        "tree + refine": True,
    }


@pytest.mark.thorough
def test_refine(tmp_path, data):
    assert data
    words = ["--k", "10", "--rows", "2000", "--repeat", "1"]
    found = benchmark("refine", tmp_path / "refine.json", *words)["results"]
    assert [(one["table"], one["rows"]) for one in found] == [("adult", 30162)] * 3 + [("sal", 2000)]
    assert all(
        one["verified"] and one["refined_gcp"] < one["gcp"] and one["min_class"] >= 10 for one in found
    )


@pytest.mark.thorough
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
