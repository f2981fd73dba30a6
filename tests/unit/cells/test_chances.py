"""Chances of the noise of cell keys: of largest entropy by the definition, and the published rule."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from sqlanon.statistics.chances import KEYS, make_chances
from sqlanon.statistics_spec import CellKeySpec

ASKED = [
    CellKeySpec(5, Fraction(3), 2),
    CellKeySpec(5, Fraction(3), 0),
    CellKeySpec(2, Fraction(1, 2), 0),
    CellKeySpec(10, Fraction(4), 1),
    CellKeySpec(20, Fraction(15), 4),
]


def shares(row: tuple[tuple[int, int], ...]) -> Mapping[int, float]:
    begins = [0, *(end for _, end in row)]
    return {change: (end - begin) / KEYS for (change, end), begin in zip(row, begins, strict=False)}


@pytest.mark.parametrize("asked", ASKED)
def test_noise_has_mean_zero_and_the_variance_for_every_number(asked: CellKeySpec) -> None:
    assert asked.variance is not None
    chances = make_chances(asked)
    for number in range(1, len(chances.rows) + 20):
        row = shares(chances.row_of(number))
        assert sum(row.values()) == pytest.approx(1, abs=1e-12)
        assert sum(change * share for change, share in row.items()) == pytest.approx(0, abs=1e-6)
        spread = sum(change**2 * share for change, share in row.items())
        assert spread == pytest.approx(float(asked.variance), abs=1e-4)
        results = {number + change for change in row}
        least = max(0, number - asked.deviation)
        able = set(range(least, number + asked.deviation + 1)) - set(range(1, asked.no_result + 1))
        assert results == able


@pytest.mark.parametrize("asked", ASKED)
def test_the_entropy_is_the_largest(asked: CellKeySpec) -> None:
    """Of all chances with a mean and a variance those have it whose logarithm is a polynomial of degree two.

    It is the only stationary point of a concave function on a convex set.
    """
    for row in make_chances(asked).rows:
        large = {change: share for change, share in shares(row).items() if share > 1e-6}
        changes, logarithms = np.array(list(large), float), np.log(list(large.values()))
        if len(large) > 3:
            fit = np.polyval(np.polyfit(changes, logarithms, 2), changes)
            assert np.abs(fit - logarithms).max() < 1e-3


def test_a_number_of_one_as_worked_out_by_hand() -> None:
    """Deviation 5, variance 3, no results 1 and 2: the four equations of the page of cell keys, solved by bisection."""
    changes = np.array([-1.0, 2, 3, 4, 5])

    def chances(b: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        low, high = -50.0, 50.0
        for _ in range(60):
            a = (low + high) / 2
            weights = np.exp(a * changes + b * changes**2 - (a * changes + b * changes**2).max())
            found = weights / weights.sum()
            low, high = (a, high) if found @ changes < 0 else (low, a)
        return found

    low, high = -5.0, 5.0
    for _ in range(60):
        b = (low + high) / 2
        low, high = (b, high) if chances(b) @ changes**2 < 3 else (low, b)
    row = shares(make_chances(CellKeySpec(5, Fraction(3), 2)).rows[0])
    assert list(row) == changes.tolist()
    assert list(row.values()) == pytest.approx(chances(b).tolist(), abs=1e-6)


def test_the_rule_of_ten_and_five() -> None:
    """`ptable_10_5_rule` of cell-key-perturbation 3.1: numbers below 10 are 0, others the nearest multiple of 5."""
    chances = make_chances(CellKeySpec(9, None, 0, "10_5"))
    published = {1: 0, 2: 0, 9: 0, 10: 10, 11: 10, 12: 10, 13: 15, 14: 15, 15: 15, 16: 15, 17: 15, 18: 20, 501: 500}
    for number, result in {**published, 502: 500, 503: 505, 749: 750, 750: 750, 752: 750}.items():
        assert chances.row_of(number) == ((result - number, KEYS),)


def test_bounds_are_those_of_all_numbers_that_may_give_a_result() -> None:
    for asked in (*ASKED, CellKeySpec(9, None, 0, "10_5")):
        chances = make_chances(asked)
        able: dict[int, list[int]] = {}
        for number in range(1, 200):
            for change, _ in chances.row_of(number):
                able.setdefault(number + change, []).append(number)
        results = np.array([one for one in sorted(able) if one < 120], np.int64)
        low, high = chances.ends(results)
        assert low.tolist() == [min(able[one]) for one in results.tolist()]
        assert high.tolist() == [max(able[one]) for one in results.tolist()]
