"""Where the theory of Ghinita et al. (2009) does not hold, or not for every loss: small tables against brute force.

`docs/onedim.md` says the same ("What is optimal and what is not").
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import QI, Case, release_rows
from tests.oracle.divisions import partitions, runs
from tests.oracle.dual import privacy
from tests.oracle.requirements import Privacy

Classes = Sequence[Sequence[int]]


def extents(values: Sequence[int], classes: Classes) -> list[int]:
    """Of every class on one line."""
    return [max(values[i] for i in rows) - min(values[i] for i in rows) for rows in classes]


def weighed(values: Sequence[int], classes: Classes) -> int:
    """Sum of rows x extents."""
    return sum(len(rows) * wide for rows, wide in zip(classes, extents(values, classes), strict=True))


def average(values: Sequence[int], classes: Classes) -> Fraction:
    """IL1."""
    return Fraction(sum(extents(values, classes)), len(classes))


def once(values: str, rows: Sequence[int]) -> bool:
    """Whether a class holds no sensitive value twice."""
    return len({values[i] for i in rows}) == len(rows)


def on_line(xs: Sequence[int], values: str, asked: Privacy) -> Case:
    """A table of one number and, with values, one sensitive column."""
    if not values:
        return Case("line", {"x": "INTEGER"}, tuple((x,) for x in xs), {"x": QI()}, (), asked)
    rows = tuple(zip(xs, values, strict=True))
    return Case("line", {"x": "INTEGER", "s": "TEXT"}, rows, {"x": QI()}, ("s",), asked)


# --- section 3: consecutive groups
# -------------------------------------------------------------------------------------

SEVEN = (0, 3, 3, 3, 3, 5, 7)


def test_consecutive_groups_are_not_optimal_for_gcp() -> None:
    """The swap that removes an overlap keeps the extents, but not the rows that pay for them: k = 3, 21 against 24."""
    every = list(partitions(range(7), lambda rows: len(rows) >= 3))
    consecutive = list(runs(range(7), lambda rows: len(rows) >= 3))
    assert min(weighed(SEVEN, each) for each in every) == 3 * 7 + 4 * 0 == 21
    assert min(weighed(SEVEN, each) for each in consecutive) == 4 * 3 + 3 * 4 == 24
    assert [(0, 5, 6), (1, 2, 3, 4)] in [each for each in every if weighed(SEVEN, each) == 21]
    for score in (sum, max):  # of the extents the swap keeps both
        best = min(score(extents(SEVEN, each)) for each in every)
        assert min(score(extents(SEVEN, each)) for each in consecutive) == best


@pytest.mark.parametrize("method", ["hilbert", "hilbert_fast", "tree"])
def test_a_release_has_the_best_consecutive_groups_and_refine_the_best(
    shared_db: Any, method: str, tmp_path: Path
) -> None:
    case = on_line(SEVEN, "", Privacy(k=3))
    rows, report = release_rows(shared_db, case, tmp_path, method=method)
    assert {(row["x_lo"], row["x_hi"]) for row in rows} == {(0, 3), (3, 7)}
    assert (report.loss.gcp, report.loss.il_inf) == pytest.approx((24 / 49, 4 / 7))
    rows, report = release_rows(shared_db, case, tmp_path, method=method, refine=True)
    assert {(row["x_lo"], row["x_hi"]) for row in rows} == {(0, 7), (3, 3)}
    assert (report.loss.gcp, report.loss.il_inf) == pytest.approx((21 / 49, 1))


# --- Lemma 1: groups of 2k - 1 rows at most
# ----------------------------------------------------------------------------

CORNERS = ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1))


def test_lemma_1_fails_for_the_sum_of_extents_of_boxes() -> None:
    """k = 2.

    Any two pairs of the four pay 2 + 2 sides, all four together 3, as boxes that share a side both pay for it.
    """

    def sides(classes: Classes) -> int:
        return sum(sum(extents(axis, classes)) for axis in zip(*CORNERS, strict=True))

    every = list(partitions(range(4), lambda rows: len(rows) >= 2))
    small = [each for each in every if all(len(rows) <= 3 for rows in each)]
    assert (len(every), len(small)) == (4, 3)
    assert [sides(each) for each in small] == [4, 4, 4]
    assert min(every, key=sides) == [(0, 1, 2, 3)]
    assert sides([(0, 1, 2, 3)]) == 3


@pytest.mark.parametrize(("minimize", "classes", "il_sum"), [("sum", 1, 3), ("gcp", 2, 4), ("max", 2, 4)])
def test_a_release_looks_at_longer_runs_for_the_sum(
    shared_db: Any, minimize: str, classes: int, il_sum: int, tmp_path: Path
) -> None:
    columns = dict.fromkeys("abc", "INTEGER")
    case = Case("corners", columns, CORNERS, dict.fromkeys("abc", QI()), (), Privacy(k=2))
    method = {"name": "hilbert", "minimize": minimize}
    _, report = release_rows(shared_db, case, tmp_path, method=method)
    assert report.classes == classes
    assert report.loss.il_sum == pytest.approx(il_sum / 3)


# --- Lemma 2 and Corollary 1: groups of 2l - 1 rows at most, no value twice
# --------------------------------------------

FOUR, AABB = (0, 1, 2, 3), "aabb"


def test_lemma_2_and_corollary_1_fail_for_the_sum_of_extents() -> None:
    """a,a,b,b at 0,1,2,3 with l = 2: the two groups of two overlap, and lose 4; one group of four loses 3."""
    every = list(partitions(range(4), lambda rows: privacy(AABB, rows) >= 2))
    single = [each for each in every if all(once(AABB, rows) for rows in each)]
    assert min(every, key=lambda each: sum(extents(FOUR, each))) == [(0, 1, 2, 3)]
    assert sum(extents(FOUR, [(0, 1, 2, 3)])) == 3
    assert {sum(extents(FOUR, each)) for each in single} == {4}
    # For the largest extent they hold.
    assert min(max(extents(FOUR, each)) for each in every) == 2
    assert min(max(extents(FOUR, each)) for each in single) == 2


def test_lemma_2_and_corollary_1_fail_for_the_average_extent() -> None:
    """The same four rows beside three pairs that lose nothing: 3/4 in four groups, 4/5 in five."""
    xs, values = (0, 1, 2, 3, 10, 10, 20, 20, 30, 30), "aabbababab"
    every = list(partitions(range(10), lambda rows: privacy(values, rows) >= 2))
    single = [each for each in every if all(once(values, rows) for rows in each)]
    assert min(average(xs, each) for each in every) == Fraction(3, 4)
    assert min(average(xs, each) for each in single) == Fraction(4, 5)


@pytest.mark.parametrize(("method", "most", "total"), [("sum", None, 4), ("max", 2, 4), ("auto", None, 4)])
def test_a_release_holds_no_value_twice(
    shared_db: Any, method: str, most: int | None, total: int, tmp_path: Path
) -> None:
    """The optimal solver is best among partitions without a repeated value; the heuristic may make others too."""
    case = on_line(FOUR, AABB, Privacy(k=1, l=Fraction(2)))
    options = {"solver": "optimal", "minimize": method} if method != "auto" else {}
    _, report = release_rows(shared_db, case, tmp_path, method={"name": "hilbert", **options})
    assert report.classes == 2
    assert report.loss.il_sum == pytest.approx(total / 3)
    assert most is None or report.loss.il_inf == pytest.approx(most / 3)


def test_lemma_2_is_for_a_whole_l() -> None:
    """a,a,b with l = 3/2: one group, of more than 2l - 1 rows, with a value twice."""
    every = list(partitions(range(3), lambda rows: privacy("aab", rows) >= Fraction(3, 2)))
    assert every == [[(0, 1, 2)]]
    assert 2 * Fraction(3, 2) - 1 < 3


def test_a_release_takes_a_fractional_l(shared_db: Any, tmp_path: Path) -> None:
    """Two such groups side by side are two runs; whole values would leave l = 1 or one class."""
    case = on_line((0, 1, 2, 7, 8, 9), "aabaab", Privacy(k=1, l=Fraction(3, 2)))
    rows, report = release_rows(shared_db, case, tmp_path, method="hilbert")
    assert {(row["x_lo"], row["x_hi"]) for row in rows} == {(0, 2), (7, 9)}
    assert report.pm == {"s": 1.5}


# --- section 5.2: the direct problem through the dual
# ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "weight", "total"),
    [
        pytest.param({"solver": "dual", "minimize": "max"}, 18, 6, id="through-the-dual"),
        pytest.param({"solver": "optimal", "minimize": "sum"}, 10, 5, id="optimal-sum"),
        pytest.param({}, 10, 5, id="heuristic"),
    ],
)
def test_the_dual_minimizes_the_largest_extent_only(
    shared_db: Any, options: dict[str, str], weight: int, total: int, tmp_path: Path
) -> None:
    """l = 2: the rows at 10 and 13 need a bound of 3, and under it the four at 0 to 3 are one group as well."""
    xs, values = (0, 1, 2, 3, 10, 13), "ababab"
    every = list(partitions(range(6), lambda rows: privacy(values, rows) >= 2))
    assert min(max(extents(xs, each)) for each in every) == 3
    assert min(sum(extents(xs, each)) for each in every) == 5
    assert min(weighed(xs, each) for each in every) == 10
    case = on_line(xs, values, Privacy(k=1, l=Fraction(2)))
    _, report = release_rows(shared_db, case, tmp_path, method={"name": "hilbert", **options})
    assert report.loss.il_inf == pytest.approx(3 / 13)
    assert report.loss.il_sum == pytest.approx(total / 13)
    assert report.loss.gcp == pytest.approx(weight / (6 * 13))
