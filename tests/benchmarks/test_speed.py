"""The benchmark of speed: what it writes for one method and for several, and which ratios are promised."""

import json

import pytest

from tests.benchmarks.commands import benchmark
from tests.conftest import ready
from tests.engines import PAIR


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
    words = ["--rows", "2000", "--repeat", "2", "--k", "10,100", "--method", "mondrian", "tree", "--no-memory"]
    speed.main(words)
    found = {file.name: json.loads(file.read_text()) for file in tmp_path.glob("*.json")}
    names = {"", "_k100", "_tree", "_tree_k100"}
    assert set(found) == {f"speed_duckdb_admissions{name}.json" for name in names}
    assert len({tuple(one["all_base_seconds"]) for one in found.values()}) == 1
    assert all(one["verified"] and one["min_class"] >= one["k"] for one in found.values())
    tree = found["speed_duckdb_admissions_tree_k100.json"]
    assert (tree["method"], tree["k"], tree["target_ratio"]) == ("tree:minimize=gcp", 100, 6.4)


def test_promised_ratios():
    from benchmarks.speed import target

    assert target("duckdb", "admissions", "mondrian", 10) == 2.8
    assert target("duckdb", "admissions", "mondrian", 100) is None
    assert (target("duckdb", "admissions", "tree", 10), target("duckdb", "integers", "hilbert", 100)) == (3.2, 24.0)
    assert target("duckdb", "admissions", "hilbert_fast", 10) is None
    of_rows = [target("spark", "integers", "tree", 10, rows) for rows in (500_000, 5_000_000, 50_000_000)]
    assert of_rows == [None, 4.0, 3.0]
