"""Figures 35 and 36, the time of KL-divergence, Figure 17: their points, and the commands on small tables."""

import json
from itertools import pairwise

import pytest

from benchmarks import kld
from benchmarks.papers import lefevre17
from benchmarks.papers.divergence import EVERYONE, GENERAL, LEVEL, PERMUTED, TITLES, main, points
from benchmarks.papers.ghinita.data import CENSUS, QUASI
from benchmarks.papers.ghinita.experiments import Scale
from benchmarks.papers.report_divergence import SECTIONS, figure17
from benchmarks.papers.report_divergence import kld as kld_table

pytestmark = pytest.mark.thorough


def test_contenders_are_the_papers():
    assert {"Mondrian", "Hilb", "iDist", "Anatomy"} <= {who.name for who in GENERAL}
    assert {"Anatomy", "Perm-Hilb", "Perm-iDist"} <= {who.name for who in PERMUTED}
    assert all(who.more == {"format": "anatomy"} for who in PERMUTED)
    assert len(EVERYONE) == len(GENERAL) + len(PERMUTED) - 1


def test_defaults_are_the_papers():
    scale = Scale()
    every = {name: list(points(name, CENSUS[1], scale)) for name in TITLES}
    assert {point.l for name in ("level", "d", "n") for point in every[name]} == {10}
    assert {point.level for name in ("l", "d", "n") for point in every[name]} == {LEVEL} == {2}
    assert {point.quasi for name in ("l", "level", "n") for point in every[name]} == {QUASI}
    assert {point.level for point in every["level"]} == set(range(1, 8))
    hilb = [point for point in every["d"] if point.who.name == "Hilb"]
    assert len({point.quasi for point in hilb}) == len(hilb) == sum((21, 35, 35, 21, 7, 1))


def test_levels_of_one_release_follow_each_other():
    made = [point.made for point in points("level", CENSUS[0], Scale())]
    assert len(made) == 7 * len(EVERYONE)
    assert sum(one != other for one, other in pairwise(made)) == len(EVERYONE) - 1


@pytest.mark.usefixtures("data")
def test_command(tmp_path, capsys):
    words = ["--quick", "--data", "occ", "--only", "level", "--methods", "Hilb,Anatomy", "--out", str(tmp_path)]
    assert main(words) == 0
    found = json.loads((tmp_path / "divergence_level.json").read_text())
    klds = {(one["contender"], one["x"]): one["kld"] for one in found["results"]}
    assert len(klds) == 2 * 7
    for who in ("Hilb", "Anatomy"):
        line = [klds[who, level] for level in range(1, 8)]
        assert line == sorted(line)  # the chain rule: a finer group-by diverges at least as much
    assert (tmp_path / "divergence_level_occ.png").is_file()
    assert not list(tmp_path.glob("*.partial.jsonl"))
    lines = SECTIONS["divergence level"](tmp_path).splitlines()
    assert lines[2] == "| occ, level | Hilb | Anatomy |"
    capsys.readouterr()


@pytest.mark.usefixtures("data")
def test_kld(tmp_path):
    out = tmp_path / "kld_duckdb.json"
    assert kld.main(["--rows", "2000", "--repeat", "1", "--methods", "anatomy", "--out", str(out)]) == 0
    results = json.loads(out.read_text())["results"]
    assert [(one["method"], one["group_bys"]) for one in results] == [("anatomy", 21), ("anatomy", 1)]
    assert len(kld_table(tmp_path).splitlines()) == 6


def test_figure_17(tmp_path):
    """sqlanon and the evaluator agree (exit code 0)."""
    out = tmp_path / "lefevre17.json"
    assert lefevre17.main(["--seeds", "1", "--k", "25", "--methods", "tree", "--out", str(out)]) == 0
    assert {(one["attribute"], one["agree"]) for one in json.loads(out.read_text())["results"]} == {
        ("x", True),
        ("y", True),
    }
    assert "| 25 | tree | x |" in figure17(tmp_path)
