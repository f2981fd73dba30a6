"""Ghinita's experiments: their data, their points, and the command on small tables."""

import json
from math import comb

import numpy as np
import pytest

from benchmarks.papers.ghinita.__main__ import main
from benchmarks.papers.ghinita.contenders import TOPDOWN_ROWS
from benchmarks.papers.ghinita.data import BETA, CENSUS, QUASI, SYNTHETIC, correlated
from benchmarks.papers.ghinita.experiments import TITLES, Scale, points
from benchmarks.papers.ghinita.pictures import METRICS
from benchmarks.papers.report_ghinita import SECTIONS, everything
from tests.benchmarks.commands import MADE_UP

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_correlated_rows_follow_the_formula(alpha):
    """A row follows by alpha, or by one chance in ten of those that are drawn."""
    rows = 40_000
    table = correlated(rows, alpha, seed=3)
    value = sum(beta * table[f"a{place + 1}"].astype(int) for place, beta in enumerate(BETA)) % 10
    share = np.mean(value == table["sa"])
    expected = alpha + (1 - alpha) / 10
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / rows) + 1e-12)
    for column in table.values():
        counts = np.bincount(column)
        assert len(counts) == 10
        assert counts.min() > rows / 10 * 0.9


def test_synthetic_data_is_the_seeds():
    first, again, other = correlated(100, 0.5, 1), correlated(100, 0.5, 1), correlated(100, 0.5, 2)
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_defaults_are_the_papers():
    scale = Scale()
    everything = {name: list(points(name, CENSUS[1], scale)) for name in TITLES if name != "alpha"}
    assert {point.k for point in everything["n"] + everything["d"]} == {50}
    assert {point.l for point in everything["l-n"] + everything["l-d"]} == {10}
    assert {point.e for point in everything["e-n"] + everything["e-d"]} == {0.4}
    assert {point.quasi for point in everything["k"] + everything["l"]} == {QUASI}
    assert {len(point.quasi) for point in everything["e"] + everything["e-n"]} == {3}
    assert {point.alpha for point in points("alpha", SYNTHETIC, scale)} == {0, 0.1, 0.2, 0.3, 0.4, 0.5}


@pytest.mark.parametrize("name", ["d", "l-d", "e-d"])
def test_every_projection_is_run_unless_some_are_drawn(name):
    hilb = [
        point for point in points(name, CENSUS[0], Scale()) if point.who.method == "hilbert" and point.rows == 100_000
    ]
    assert [len({p.quasi for p in hilb if p.x == d}) for d in range(2, 8)] == [comb(7, d) for d in range(2, 8)]
    few = Scale(projections=3)
    drawn = {point.quasi for point in points(name, CENSUS[0], few) if point.x == 4}
    assert len(drawn) == 3
    assert drawn == {point.quasi for point in points(name, CENSUS[1], few) if point.x == 4}


def test_topdown_never_gets_more_rows_than_it_takes():
    for name in ("k", "n", "d"):
        some = [point for point in points(name, CENSUS[1], Scale(projections=1)) if point.who.name == "TopDown"]
        assert some
        assert max(point.rows for point in some) == TOPDOWN_ROWS


def test_quick_run_writes_results_pictures_and_tables(tmp_path, data):
    assert data
    asked = ("k", "l", "alpha", "e")
    assert main(["--quick", "--data", "occ", "--only", ",".join(asked), "--out", str(tmp_path)]) == 0
    for name in asked:
        written = json.loads((tmp_path / f"ghinita_{name}.json").read_text())
        assert written["command"].startswith("python -m benchmarks.papers.ghinita")
        assert all(one["verified"] and not one["infeasible"] for one in written["results"])
        assert len({one["x"] for one in written["results"]}) == 2
        for one in written["results"]:
            assert one["k"] is None or one["min_class"] >= one["k"]
            assert one["l"] is None or one["pm"] >= one["l"]
            assert one["e"] is None or one["il_inf"] <= one["e"] + 1e-5
            assert one["gcp"] is None or 0 <= one["gcp"] < 1
            assert (one["gcp"] is None) == (one["contender"] == "Anatomy")
    names = {file.name for file in tmp_path.glob("*.png")}
    assert names == {
        "ghinita_k_occ.png",
        "ghinita_l_occ.png",
        "ghinita_l_occ_metrics.png",
        "ghinita_alpha_synthetic.png",
        "ghinita_e_occ.png",
    }
    assert all(file.stat().st_size < 100_000 for file in tmp_path.glob("*.png"))
    assert not list(tmp_path.glob("*.partial.jsonl"))
    shown = everything(tmp_path)
    assert shown.count("### ") == len(asked)
    assert all(SECTIONS[f"ghinita {name}"](tmp_path) for name in asked)
    assert SECTIONS["ghinita n"](tmp_path) == ""


def line(**figures):
    return {
        "data": "occ",
        "x": 10,
        "contender": "Hilb",
        "method": "hilbert",
        "rows": 100,
        "d": 7,
        "projections": 1,
        "infeasible": 0,
        "gcp": 0.1,
        "pm": None,
        "method_seconds": 2.0,
        **dict.fromkeys(METRICS, 4.0),
        **figures,
    }


def test_tables_and_ratios(tmp_path):
    results = [
        line(),
        line(contender="Mondrian", method="mondrian:cut=median", gcp=0.25, method_seconds=1.0),
        line(contender="TopDown", method="topdown", rows=50, gcp=0.3, method_seconds=30.0),
        line(contender="Hilb, TopDown's rows", rows=50, gcp=0.2, method_seconds=1.5),
        line(contender="Anatomy", method="anatomy", gcp=None, method_seconds=0.5),
        line(contender="iDist", method="idistance", infeasible=1, gcp=None, method_seconds=None),
    ]
    (tmp_path / "ghinita_k.json").write_text(json.dumps({**MADE_UP, "results": results}))
    lines = everything(tmp_path).splitlines()
    assert "| occ, k | Hilb | Mondrian | TopDown | Hilb, TopDown's rows | Anatomy | iDist |" in lines
    assert "| 10 | 0.1000 / 2.00 | 0.2500 / 1.00 | 0.3000 / 30.00 | 0.2000 / 1.50 | - / 0.50 | infeasible |" in lines
    assert "![k-anonymity by k (Figure 22), occ](../benchmarks/results/ghinita_k_occ.png)" in lines
    lines = SECTIONS["ghinita k"](tmp_path).splitlines()
    assert "| 10 | 1.00 / 1.00 | 2.50 / 0.50 | 1.50 / 20.00 | 1.00 / 1.00 | - / 0.25 | - |" in lines
