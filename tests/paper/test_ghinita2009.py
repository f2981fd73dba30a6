"""What the text of Ghinita et al. (2009) states in figures, on the kernels and in releases.

The figures' data are lost in our copy of the paper; where rows are ours, they are made to fit every number of its
prose.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.kernels.boxes import measure_widths
from sqlanon.kernels.extent import SCALE
from sqlanon.methods.onedim.kernels.diverse_groups import make_diverse_groups
from tests.contract.cases import QI, Case, release_rows
from tests.oracle.domains import Quasi, Table
from tests.oracle.recode import Row
from tests.oracle.requirements import Privacy
from tests.properties.onedim import by_number, in_order

POINTS = (
    (35, 50),
    (40, 60),
    (45, 55),
    (50, 60),
    (55, 50),
    (55, 85),
    (60, 70),
    (70, 60),
    (60, 60),
    (65, 50),
    (60, 65),
    (65, 85),
)
"""Age and weight, on a grid of 8 x 8 cells of 5 each, like Figure 1's: six persons of 35 to 55, six of 60 to 70."""

DISEASES = (
    "flu",
    "flu",
    "gastritis",
    "gastritis",
    "flu",
    "gastritis",
    "Alzheimer",
    "asthma",
    "asthma",
    "asthma",
    "Alzheimer",
    "gastritis",
)
"""Gastritis is three of the six on the left, and no younger person has Alzheimer's, as in Figure 2."""

PAIR = {"age": QI(), "weight": QI()}


def cells(low: int, high: int) -> int:
    """Cells of the grid between two values, both included."""
    return max(high - low, -5) // 5 + 1


def estimate(rows: list[Row], age: tuple[int, int], weight: tuple[int, int]) -> Fraction:
    """How many persons a range query finds in a release, if the rows of a class are spread evenly over its box."""
    found = Fraction(0)
    for row in rows:
        share = Fraction(1)
        for name, (low, high) in (("age", age), ("weight", weight)):
            own_low, own_high = row[f"{name}_lo"], row[f"{name}_hi"]
            share *= Fraction(cells(max(low, own_low), min(high, own_high)), cells(own_low, own_high))
        found += share
    return found


@pytest.mark.parametrize(
    ("method", "classes", "answer"),
    [
        ("hilbert", 3, Fraction(4 * 9, 12)),
        ("hilbert_fast", 3, Fraction(4 * 9, 12)),
        ("mondrian:variant=strict,cut=median", 2, Fraction(6 * 9, 40)),
    ],
)
def test_figure_1(shared_db: Any, method: str, classes: int, answer: Fraction, tmp_path: Path) -> None:
    """k = 4, "age 35-45 and weight 50-60": three persons.

    4 x 9/12 = 3 of our classes, 6 x 9/40 = 1.35 of Mondrian's.
    """
    case = Case("figure 1", {"age": "INTEGER", "weight": "INTEGER"}, POINTS, PAIR, (), Privacy(k=4))
    assert sum(35 <= age <= 45 and 50 <= weight <= 60 for age, weight in POINTS) == 3
    rows, report = release_rows(shared_db, case, tmp_path, method=method)
    assert report.classes == classes
    assert estimate(rows, (35, 45), (50, 60)) == answer
    assert float(answer) == pytest.approx(3 if classes == 3 else 1.35)


def test_figure_2(shared_db: Any, tmp_path: Path) -> None:
    """l = 3: gastritis would be 3/6 of Mondrian's left part, so that it cannot divide.

    Along the curve there are four groups.
    """
    rows = tuple((*point, disease) for point, disease in zip(POINTS, DISEASES, strict=True))
    columns = {"age": "INTEGER", "weight": "INTEGER", "disease": "TEXT"}
    case = Case("figure 2", columns, rows, PAIR, ("disease",), Privacy(k=1, l=Fraction(3)))
    assert [d for (age, _), d in zip(POINTS, DISEASES, strict=True) if age <= 55].count("gastritis") == 3
    for cut in ("median", "loss"):
        _, whole = release_rows(shared_db, case, tmp_path, method=f"mondrian:variant=strict,cut={cut}")
        assert whole.classes == 1
    found, report = release_rows(shared_db, case, tmp_path, method="hilbert")
    assert (report.classes, report.pm) == (4, {"disease": 3})
    assert min(row["age_lo"] for row in found if row["disease"] == "Alzheimer") == 55


FOURTEEN = [
    pytest.param([0, 1, 2, 3, 20, 21, 22], "acdbacd", [[0, 1, 2, 3], [4, 5, 6]], id="joins"),
    pytest.param([0, 1, 2, 18, 20, 21, 22], "acdbacd", [[0, 1, 2], [3, 4, 5, 6]], id="nearer-to-the-next"),
    pytest.param([0, 1, 2, 3, 20, 21, 22], "acdcadb", [[0, 1, 2], [3, 4, 5, 6]], id="its-value-is-there"),
    pytest.param([0, 1, 2, 3, 20, 21], "acdbac", [[0, 1, 2], [3, 4, 5]], id="the-rest-would-not-be-eligible"),
]
"""Shaped like Figure 14, l = 3: r4 joins r1 to r3 where it is nearer to r1 than to r6, if that is allowed."""


@pytest.mark.parametrize("by_boxes", [False, True])
@pytest.mark.parametrize(("line", "values", "groups"), FOURTEEN)
def test_figure_14(line: list[int], values: str, groups: list[list[int]], by_boxes: bool) -> None:
    rows, shape = in_order(Table((Quasi("x", tuple(line)),)))
    keys = np.array([] if by_boxes else line, np.int64)
    codes = np.array(["abcd".index(value) for value in values], np.int32)
    group = np.full(len(line), -1, np.int32)
    assert make_diverse_groups(codes, 4, 3, keys, rows.places, rows.sets, shape, group) == len(groups)
    assert by_number(group) == groups


@pytest.mark.cover("line method")
@pytest.mark.parametrize("method", ["hilbert_fast", "hilbert"])
@pytest.mark.parametrize(("line", "values", "groups"), FOURTEEN)
def test_figure_14_in_a_release(
    shared_db: Any, method: str, line: list[int], values: str, groups: list[list[int]], tmp_path: Path
) -> None:
    """On one attribute the curve is the line itself."""
    rows = tuple(zip(line, values, strict=True))
    privacy = Privacy(k=1, l=Fraction(3))
    case = Case("figure 14", {"x": "INTEGER", "s": "TEXT"}, rows, {"x": QI()}, ("s",), privacy)
    found, report = release_rows(shared_db, case, tmp_path, method=method)
    boxes = {(line[group[0]], line[group[-1]]) for group in groups}
    assert {(row["x_lo"], row["x_hi"]) for row in found} == boxes
    assert report.loss.il_sum == pytest.approx(sum(high - low for low, high in boxes) / line[-1])


COUNTRIES = (
    ("US", "America", "*"),
    ("Canada", "America", "*"),
    ("Italy", "Europe", "*"),
    ("France", "Europe", "*"),
    ("Spain", "Europe", "*"),
)


MEMBERS = [(("Italy", "France"), 3), (("US", "Spain"), 5), (("Spain", "Spain"), 0)]


@pytest.mark.parametrize(("members", "share"), MEMBERS)
def test_figure_20(members: tuple[str, str], share: int) -> None:
    """NCP({Italy, France}) = 3/5, their common ancestor is Europe; NCP({US, Spain}) = 1."""
    table = Table((Quasi("country", members, "hierarchy", levels=COUNTRIES),))
    rows, shape = in_order(table)
    low, high = rows.places.min(axis=0, keepdims=True), rows.places.max(axis=0, keepdims=True)
    out = np.empty(1, np.int64)
    measure_widths(low, high, np.zeros((1, 0), np.uint64), shape, out)
    assert out[0] == share * SCALE // 5


@pytest.mark.parametrize(("members", "share"), MEMBERS)
def test_figure_20_in_a_release(shared_db: Any, members: tuple[str, str], share: int, tmp_path: Path) -> None:
    quasi = {"country": QI("hierarchy", levels=COUNTRIES)}
    case = Case("figure 20", {"country": "TEXT"}, tuple((m,) for m in members), quasi, (), Privacy(k=2))
    _, report = release_rows(shared_db, case, tmp_path)
    loss = report.loss
    assert [loss.gcp, loss.il1, loss.il_inf, loss.avg_ncp] == pytest.approx([share / 5] * 4)
    assert loss.weighted_avg_volume == pytest.approx(max(share, 1) / 5)


@pytest.mark.parametrize("asked", [{"l": Fraction(2)}, {"distinct_l": 2}])
@pytest.mark.parametrize(("first", "second", "pm"), [("aaabbcc", "aabc", 2.0), ("aabbcc", "aabbc", 2.5)])
def test_privacy_of_figure_18(
    shared_db: Any, first: str, second: str, pm: float, asked: dict[str, Any], tmp_path: Path
) -> None:
    """Two groups of PM 7/3 and 4/2, and after the adjustment 6/2 and 5/2: the privacy is the lesser (own values)."""
    rows = tuple((0, value) for value in first) + tuple((9, value) for value in second)
    case = Case("figure 18", {"x": "INTEGER", "sa": "TEXT"}, rows, {"x": QI()}, ("sa",), Privacy(4, **asked))
    _, report = release_rows(shared_db, case, tmp_path)
    assert (report.classes, report.pm) == (2, {"sa": pm})


@pytest.mark.parametrize(
    ("group", "pm"),
    [("aaabbcc", Fraction(7, 3)), ("aabc", Fraction(4, 2)), ("aabbcc", Fraction(6, 2)), ("aabbc", Fraction(5, 2))],
)
def test_privacy_of_figure_18_s_groups(shared_db: Any, group: str, pm: Fraction, tmp_path: Path) -> None:
    """Each of the groups alone.

    7/3 and 4/2 become 6/2 and 5/2 (the exchange itself is tested on the dual's release).
    """
    rows = tuple((0, value) for value in group)
    case = Case("group", {"x": "INTEGER", "sa": "TEXT"}, rows, {"x": QI()}, ("sa",), Privacy(1, l=Fraction(2)))
    _, report = release_rows(shared_db, case, tmp_path)
    assert (report.classes, report.pm) == (1, {"sa": pytest.approx(float(pm))})
