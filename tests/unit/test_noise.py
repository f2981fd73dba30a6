"""Noise follows its law, least squares are the solution of the normal equations, and naive variants fail their trials.

Noise has no seed. False alarms have a probability of at most 1e-6 for each test.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from sqlanon.errors import PrivacyViolation
from sqlanon.noisy import draw
from sqlanon.noisy.accounting import Law
from sqlanon.noisy.consistent import make_consistent
from sqlanon.noisy.levels import Level
from sqlanon.noisy.published_values import half_width
from sqlanon.noisy.split import Noise
from tests.oracle.chance_of import ALARM, lower_bound
from tests.oracle.discrete_noise import draw_gaussian, draw_laplace

pytest.importorskip("opendp")

SCALES = [Fraction(1, 2), Fraction(3), Fraction(1025, 1024)]


def mass(law: Law, scale: float, at: int) -> float:
    """The probability of a number."""
    if law == "laplace":
        fade = math.exp(-1 / scale)
        return (1 - fade) / (1 + fade) * fade ** abs(at)
    weights = [math.exp(-(x**2) / (2 * scale**2)) for x in range(-200, 201)]
    return math.exp(-(at**2) / (2 * scale**2)) / math.fsum(weights)


def chi_square_limit(degrees: int) -> float:
    """Above it is a chi-square number with probability ALARM, by Wilson and Hilferty, plus a tenth."""
    z = NormalDist().inv_cdf(1 - ALARM)
    return 1.1 * degrees * (1 - 2 / (9 * degrees) + z * math.sqrt(2 / (9 * degrees))) ** 3


@pytest.mark.cover
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", SCALES)
def test_noise_has_its_law(law: Law, scale: Fraction) -> None:
    drawn = 20_000
    counts = Counter(draw.add_noise(np.zeros(drawn, np.int64), law, scale).tolist())
    shown = [at for at in range(-100, 101) if drawn * mass(law, float(scale), at) >= 10]
    expected = [drawn * mass(law, float(scale), at) for at in shown]
    seen = [counts[at] for at in shown]
    expected.append(drawn - sum(expected))
    seen.append(drawn - sum(seen))
    found = sum((one - other) ** 2 / max(other, 1) for one, other in zip(seen, expected, strict=True))
    assert found < chi_square_limit(len(seen) - 1)


@pytest.mark.thorough
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", SCALES)
def test_noise_is_that_of_a_sampler_of_integers(law: Law, scale: Fraction) -> None:
    """Two samples: OpenDP's, and one by random integers alone; chi-square of all numbers that both have often."""
    drawn = 20_000
    own = Counter((draw_laplace if law == "laplace" else draw_gaussian)(scale) for _ in range(drawn))
    theirs = Counter(draw.add_noise(np.zeros(drawn, np.int64), law, scale).tolist())
    shown = [at for at in own.keys() | theirs.keys() if own[at] + theirs[at] >= 20]
    pairs = [(own[at], theirs[at]) for at in shown]
    pairs.append((drawn - sum(a for a, _ in pairs), drawn - sum(b for _, b in pairs)))
    found = sum((a - b) ** 2 / max(a + b, 1) for a, b in pairs)
    assert found < chi_square_limit(len(pairs) - 1)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_numbers_of_one_vector_have_noise_of_their_own(law: Law) -> None:
    drawn = draw.add_noise(np.zeros(20_000, np.int64), law, Fraction(10)).astype(float)
    lagged = float(np.mean(drawn[1:] * drawn[:-1]) / np.mean(drawn**2))
    assert abs(lagged) < 6 / math.sqrt(20_000)


def test_a_law_with_another_scale_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    draw.try_law("laplace", Fraction(7))
    draw.try_law("gaussian", Fraction(7))
    add = draw.add_noise
    for wrong in (lambda x, law, s: add(x, law, s / 2), lambda x, *_: x):
        monkeypatch.setattr(draw, "add_noise", wrong)
        for law in ("laplace", "gaussian"):
            with pytest.raises(PrivacyViolation, match="variance"):
                draw.try_law(law, Fraction(7))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", SCALES)
def test_intervals_of_one_number_have_their_probability(law: Law, scale: Fraction) -> None:
    width = half_width(Noise(law, (scale,), ()), 0, 0.05)
    inside = math.fsum(mass(law, float(scale), at) for at in range(-199, 200) if abs(at) <= width)
    assert inside >= 0.95 - 1e-9
    assert math.fsum(mass(law, float(scale), at) for at in range(-199, 200) if abs(at) < width - 1) < 0.95


def test_least_squares_are_those_of_the_normal_equations() -> None:
    node = [np.zeros(6, np.int64), np.array([0, 0, 0, 1, 1, 1]), np.arange(6)]
    levels = [Level((None,), size, one, 6 // size) for size, one in zip((1, 2, 6), node, strict=True)]
    noisy = [np.array([31.0]), np.array([12.0, 17.0]), np.array([1.0, 5.0, 2.0, 9.0, -3.0, 8.0])]
    deviations = [2.0, 3.0, 5.0]
    values, spreads = make_consistent(levels, noisy, deviations)
    design = np.vstack(
        [(one[None, :] == np.arange(level.size)[:, None]) for one, level in zip(node, levels, strict=True)]
    )
    weights = np.concatenate([np.full(len(y), 1 / d**2) for y, d in zip(noisy, deviations, strict=True)])
    normal = design.T @ (weights[:, None] * design)
    leaves = np.linalg.solve(normal, design.T @ (weights * np.concatenate(noisy)))
    covariance = design @ np.linalg.inv(normal) @ design.T
    assert np.allclose(np.concatenate(values), design @ leaves)
    assert np.allclose(np.concatenate(spreads), np.sqrt(np.diag(covariance)))


def audit(law: Law, scale: Fraction, change: int, runs: int, at: int, delta: float = 0.0) -> float:
    """A lower bound on epsilon of a cell that one person changes, by the event that a number reaches a threshold."""
    without = draw.add_noise(np.zeros(runs, np.int64), law, scale)
    victim = draw.add_noise(np.full(runs, change, np.int64), law, scale)
    return lower_bound(runs, int((victim >= at).sum()), int((without >= at).sum()), delta)


@pytest.mark.thorough
def test_an_audit_finds_nearly_what_is_claimed_and_never_more() -> None:
    assert 0.75 < audit("laplace", Fraction(1), 1, 40_000, 1) < 1
    assert 3 < audit("laplace", Fraction(1, 4), 1, 40_000, 1) < 4


def test_an_audit_of_few_runs_stays_below_the_claim() -> None:
    assert 0.5 < audit("laplace", Fraction(1), 1, 4_000, 1) < 1


def audit_all(law: Law, changes: list[int], runs: int, at: int) -> float:
    """The same for numbers of scale 1 together: the event is that the likelihood ratio of all reaches a threshold."""
    exact = np.tile(np.array(changes, np.int64), runs)
    sides = [draw.add_noise(one, law, Fraction(1)).reshape(runs, -1) for one in (np.zeros_like(exact), exact)]
    ratios = [(np.abs(drawn) - np.abs(drawn - np.array(changes))).sum(axis=1) for drawn in sides]
    return lower_bound(runs, int((ratios[1] >= at).sum()), int((ratios[0] >= at).sum()), 0.0)


NAIVE: dict[str, Any] = {
    "noise for one row, and a person has forty": lambda: audit("laplace", Fraction(1), 40, 2_000, 20),
    "a sensitivity that is half of the true one": lambda: audit("laplace", Fraction(1, 4), 2, 4_000, 1) / 2,
    "rows are bounded, and groups are not": lambda: audit_all("laplace", [1] * 12, 2_000, 4),
    "every night costs epsilon 1, and all of them too": lambda: audit_all("laplace", [1] * 30, 2_000, 10),
    "a person of two cohorts, each of which is charged": lambda: audit_all("laplace", [1] * 2, 20_000, 2),
}


LONG = ("every night", "a person of two")


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.thorough] * one.startswith(LONG)) for one in NAIVE]
)
def test_a_naive_variant_fails_its_trial(name: str) -> None:
    """Each claims epsilon 1 (of the second, 2 for the sensitivity that it takes)."""
    assert NAIVE[name]() > 1


def test_noise_of_a_kept_seed_gives_a_difference_away() -> None:
    drawn = draw.add_noise(np.zeros(20, np.int64), "laplace", Fraction(100))
    yesterday, tonight = np.arange(20), np.arange(20)
    tonight[7] += 1
    assert ((tonight + drawn) - (yesterday + drawn)).tolist() == [int(at == 7) for at in range(20)]
    again = draw.add_noise(np.zeros(20, np.int64), "laplace", Fraction(100))
    assert not np.array_equal(drawn, again)  # equal with a probability of 200^-20


def test_groups_by_popularity_depend_on_other_persons() -> None:
    """Of each person the most popular group counts: one person more moves everybody."""

    def counted(persons: list[list[str]]) -> Counter[str]:
        popular = Counter(group for groups in persons for group in groups)
        return Counter(max(groups, key=lambda group: (popular[group], group)) for groups in persons)

    persons = [["a", "b"]] * 30 + [["b"]] * 3 + [["a"]] * 3
    whole, without = counted([*persons, ["a"]]), counted(persons)
    assert sum(abs(whole[group] - without[group]) for group in "ab") > 30


def test_sums_of_floating_point_numbers_depend_on_the_order_of_rows() -> None:
    rows = [1e16, 1.0, -1e16, 1.0] * 1000
    assert sum(rows) != sum(sorted(rows))
