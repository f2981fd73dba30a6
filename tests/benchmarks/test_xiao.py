"""Xiao's experiments: their points, the command on small tables, and the page's tables."""

import json
from math import comb

import pytest

from benchmarks.papers.ghinita.data import QUASI
from benchmarks.papers.report_xiao import SECTIONS
from benchmarks.papers.xiao.__main__ import main
from benchmarks.papers.xiao.experiments import CENSUS, TITLES, Scale, points
from sqlanon.declared import METHODS
from tests.benchmarks.commands import MADE_UP

pytestmark = pytest.mark.thorough


def test_every_subset_of_the_columns_is_released():
    found = list(points("d", CENSUS[0], Scale()))
    for d in range(1, 8):
        assert len({point.quasi for point in found if point.x == d}) == comb(7, d)
    assert {point.who.name for point in found} == {"Hilbert", "TP", "TP+", "cascade (ours)"}
    assert len({point.quasi for point in points("d", CENSUS[0], Scale(projections=2)) if point.x == 3}) == 2


def test_what_is_not_varied_has_its_default_and_tds_joins_when_it_is_there():
    everything = {name: list(points(name, CENSUS[1], Scale())) for name in TITLES}
    assert {point.quasi for name in ("l", "n", "kld-l") for point in everything[name]} == {QUASI}
    assert {point.l for name in ("d", "n", "kld-d") for point in everything[name]} == {6}
    assert {point.l for point in everything["kld-l"]} == set(range(2, 11))
    compared = {point.who.method for point in everything["kld-l"]}
    assert ("tds:publish=cut" in compared) == ("tds" in METHODS)


def test_quick_run_writes_results_pictures_and_tables(tmp_path, data):
    assert data
    assert main(["--quick", "--data", "occ", "--out", str(tmp_path)]) == 0
    for name in TITLES:
        written = json.loads((tmp_path / f"xiao_{name}.json").read_text())
        assert written["command"].startswith("python -m benchmarks.papers.xiao")
        assert all(one["verified"] and not one["failed"] for one in written["results"])
        by = {(one["x"], one["contender"]): one for one in written["results"]}
        assert len({x for x, _ in by}) == 2
        for (x, who), one in by.items():
            if name.startswith("kld"):
                assert one["kld"] > 0
            elif who in {"cascade (ours)", "TP+"}:
                assert one["stars"] <= by[x, "TP"]["stars"]
        assert (tmp_path / f"xiao_{name}_occ.png").stat().st_size < 100_000
        assert SECTIONS[f"xiao {name}"](tmp_path).count("\n| --- |") == 1
    assert not list(tmp_path.glob("*.partial.jsonl"))


def test_tables(tmp_path):
    one = {
        "data": "occ",
        "x": 2,
        "contender": "TP",
        "projections": 3,
        "infeasible": 0,
        "stars": 12345.4,
        "kld": None,
        "processor_seconds": 0.5,
        "phases": {"1": 2, "2": 1},
    }
    lost = {**one, "contender": "TP+", "infeasible": 3, "stars": None, "processor_seconds": None, "phases": {}}
    (tmp_path / "xiao_d.json").write_text(json.dumps({**MADE_UP, "results": [one, lost]}))
    lines = SECTIONS["xiao d"](tmp_path).splitlines()
    assert "| occ, d | TP | TP+ |" in lines
    assert "| 2 | 12,345 / 0.50 | infeasible |" in lines
    assert "Runs of TP that ended: 2 in phase 1, 1 in phase 2." in lines
    assert "Means over at most 3 subsets of the columns for each d." in lines
    assert SECTIONS["xiao l"](tmp_path) == ""
