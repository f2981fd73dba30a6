"""Doka's experiments: the measure, the comparator, the points, the command on small tables, and the page's tables."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.kept import Kept
from benchmarks.papers.doka.__main__ import main
from benchmarks.papers.doka.concealment import concealed
from benchmarks.papers.doka.data import table
from benchmarks.papers.doka.experiments import TITLES, Scale, points
from benchmarks.papers.doka.pictures import gain
from benchmarks.papers.doka.runs import run
from benchmarks.papers.doka.systems import MARKERS, REFINED, in_tree_order
from benchmarks.papers.report_doka import SECTIONS
from examples.sources import DataMissingError, data_folder
from sqlanon.kernels.extent import SCALE
from sqlanon.papers.matchings.kernels.cost import sum_widths
from tests.benchmarks.commands import MADE_UP

pytestmark = pytest.mark.thorough

POSITIONS = np.array([0, 1, 2, 4, 8]) * (SCALE // 8)


def small(n=7, seed=1):
    """Rows of a number and of two sets, one of which needs several words."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, n, dtype=np.int32) for size in (5, 3, 130)]
    return table(codes, [POSITIONS, 3, 130])


def paper_width(rows, held):
    """Equations 1 and 2 of the paper, times the columns."""
    line, few, many = (rows.codes[a, held].tolist() for a in range(3))
    ncp = (POSITIONS[max(line)] - POSITIONS[min(line)]) / SCALE
    return ncp + (len(set(few)) - 1) / 2 + (len(set(many)) - 1) / 129


def test_the_measure_is_the_papers():
    rows = small()
    for k in (1, 2, 3):
        targets = (np.arange(7) + np.arange(k)[:, None]) % 7
        boxes = [[(j - t) % 7 for t in range(k)] for j in range(7)]
        expected = sum(paper_width(rows, held) for held in boxes) / 7 / 3
        assert rows.gcp(sum_widths(rows.coordinates(), targets)) == pytest.approx(expected, abs=1e-4)


def covered(rows, box, mask, j, i):
    """Whether a box covers a row."""
    own = rows.coordinates()
    inside = box[j, 0] <= own.box[i, 0] and box[j, 8] <= own.box[i, 8]
    return bool(inside and (own.mask[i] & ~mask[j] == 0).all())


@pytest.mark.parametrize("k", [2, 3, 5])
def test_concealment_gives_every_row_k_boxes_of_some_complete_assignment(k):
    rows = small(6, seed=k)
    box, mask, fewest = concealed(rows.coordinates(), k)
    held = np.array([[covered(rows, box, mask, j, i) for j in range(6)] for i in range(6)])
    assert held.diagonal().all()

    def complete(i, j):
        """Whether the other rows can be assigned to the other boxes."""

        def rest(left, free):
            return not left or any(held[left[0], b] and rest(left[1:], free - {b}) for b in free)

        return rest([r for r in range(6) if r != i], frozenset(range(6)) - {j})

    matches = [sum(held[i, j] and complete(i, j) for j in range(6)) for i in range(6)]
    assert min(matches) == fewest >= k


def test_refined_classes_have_k_rows_and_lose_less_than_one_class():
    rows = small(40)
    assert sorted(in_tree_order(rows).codes[0]) == sorted(rows.codes[0])
    assert 0 < REFINED.total(rows, 5, 1e9) < REFINED.total(rows, 40, 1e9)


def test_every_figure_has_points_of_known_systems():
    for figure in TITLES:
        found = list(points(figure, "occ", Scale()))
        assert found
        assert {point.who.name for point in found} <= MARKERS.keys()
        assert all(point.k <= point.rows for point in found)


def test_more_rows_than_a_table_has_are_not_measured(tmp_path):
    """Adult has fewer than the paper's largest tables."""
    base = next(points("10", "adult", Scale()))
    few = [replace(base, rows=rows, d=3, k=2, who=REFINED) for rows in (40, 41)]
    found = run({"adult": small(40)}, few, Kept(tmp_path / "doka.json"), 1, 1e9)
    assert [one["gcp"] is None for one in found] == [False, True]


def test_the_gain_is_0_for_concealment_and_1_for_the_optimum():
    found = [
        {"data": "occ", "x": 2, "system": name, "gcp": gcp}
        for name, gcp in (("k-c", 0.4), ("MIP", 0.2), ("Greedy", 0.25))
    ]
    assert [gain(found, one) for one in found] == pytest.approx([0, 1, 0.75])
    assert gain(found[:1], found[0]) is None


def test_quick_run_writes_results_pictures_and_tables(tmp_path):
    try:
        data_folder()
    except DataMissingError as missing:
        pytest.skip(str(missing))
    assert main(["--quick", "--data", "adult", "--out", str(tmp_path)]) == 0
    for figure in TITLES:
        found = json.loads((tmp_path / f"doka_{figure}.json").read_text())["results"]
        assert all(0 <= one["gcp"] <= 1 for one in found if one["gcp"] is not None)
        least = {one["x"]: one["gcp"] for one in found if one["system"] == "MIP"}
        assert all(one["gcp"] >= least[one["x"]] for one in found if least and one["gcp"] is not None)
        assert "| --- |" in SECTIONS[f"doka {figure}"](tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == 6
    assert not list(tmp_path.glob("*.partial.jsonl"))


def test_tables(tmp_path):
    one = {
        "data": "occ",
        "panel": "k=10",
        "x": 1000,
        "system": "Greedy",
        "gcp": 0.11111,
        "processor_seconds": 0.5,
        "losses": [],
    }
    lost = {**one, "system": "MIP", "gcp": None, "processor_seconds": None}
    (tmp_path / "doka_8.json").write_text(json.dumps({**MADE_UP, "results": [one, lost]}))
    lines = SECTIONS["doka 8"](tmp_path).splitlines()
    assert "| occ, k=10, k | Greedy | MIP |" in lines
    assert "| 1,000 | 0.1111 / 0.50 | - |" in lines
    losses = [
        {**one, "system": name, "losses": list(found)} for name, found in (("MIP", (0.2, 0.4)), ("Greedy", (0.3, 0.4)))
    ]
    (tmp_path / "doka_excess.json").write_text(json.dumps({**MADE_UP, "results": losses}))
    assert "| occ | Greedy | 25.0% | 2 |" in SECTIONS["doka excess"](tmp_path).splitlines()
    assert SECTIONS["doka 6"](tmp_path) == ""
