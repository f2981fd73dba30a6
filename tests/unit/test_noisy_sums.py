"""Sums of noisy groups: their deviations against matrices, their intervals against the closed law of Laplace sums."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sqlanon.noisy.consistent import make_consistent
from sqlanon.noisy.levels import dimension_of_ends, dimension_of_paths, levels_of
from sqlanon.noisy.published_values import MOST_MISSED, width_of
from sqlanon.query.noisy.groups import Groups
from sqlanon.query.noisy.release import NoisyTableRead


def groups_of(seed: object) -> tuple[Groups, list[float]]:
    """A table of a hierarchy and of intervals, and the deviation of the noise of each level."""
    draw = random.Random(str(seed))
    paths = [(f"v{leaf}", f"n{draw.randrange(2)}") for leaf in range(draw.randrange(2, 5))]
    dimensions = (dimension_of_paths("a", paths), dimension_of_ends("b", tuple(map(Fraction, range(4)))))
    levels = levels_of(dimensions, totals=draw.random() < 0.8)
    sizes = tuple(np.bincount(level.node) for level in levels)
    table = NoisyTableRead("t", ("a", "b"), totals=True, scales={})
    return Groups(table, dimensions, levels, (), {}, sizes), [draw.uniform(1, 30) for _ in levels]


def covariance(groups: Groups, deviations: list[float]) -> Any:
    """Of the finest groups, by the inverse of the normal equations: each level's numbers are sums of the finest."""
    precision = np.zeros((groups.levels[-1].size,) * 2)
    for level, deviation in zip(groups.levels, deviations, strict=True):
        sums = np.array([(level.node == node).astype(float) for node in range(level.size)])
        precision += sums.T @ sums / deviation**2
    return np.linalg.inv(precision)


@pytest.mark.parametrize("seed", range(20))
def test_the_deviation_of_a_sum_is_that_of_the_matrix(seed: int) -> None:
    groups, deviations = groups_of(seed)
    known = covariance(groups, deviations)
    draw = np.random.default_rng(seed)
    for _ in range(5):
        weights = draw.integers(-2, 3, len(known)).astype(float)
        assert groups.deviation(deviations, weights) == pytest.approx(math.sqrt(weights @ known @ weights), abs=1e-9)


def test_sums_of_widths_or_of_variances_are_not_the_width_of_a_sum() -> None:
    groups, deviations = groups_of(3)
    _, alone = make_consistent(groups.levels, [np.zeros(level.size) for level in groups.levels], deviations)
    whole = groups.deviation(deviations, np.ones(groups.levels[-1].size))
    assert whole < 0.8 * math.sqrt(float((alone[-1] ** 2).sum())) < 0.8 * float(alone[-1].sum())


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_intervals_of_sums_contain_the_answer_as_often_as_they_say(law: str) -> None:
    groups, deviations = groups_of(5)
    draw = np.random.default_rng(11)
    truth = draw.integers(0, 50, groups.levels[-1].size).astype(float)
    weights = np.zeros(len(truth))
    weights[:4] = 1.0
    width = width_of(law, groups.deviation(deviations, weights), 0.05)  # type: ignore[arg-type]
    inside, times = 0, 4000
    for _ in range(times):
        noisy = []
        for level, deviation in zip(groups.levels, deviations, strict=True):
            noise = draw.laplace(0, deviation / math.sqrt(2), level.size)
            noise = draw.normal(0, deviation, level.size) if law == "gaussian" else noise
            noisy.append(np.bincount(level.node, truth) + noise)
        made, _ = make_consistent(groups.levels, noisy, deviations)
        inside += abs(float(made[-1] @ weights) - float(truth @ weights)) <= width
    assert 0.93 < inside / times < 0.985  # beyond five standard errors of 0.95, and of 0.97 for sums of Laplace numbers


def tail(scales: list[float], ends: float) -> float:
    """P(|x| > ends) of a sum of independent Laplace numbers with different scales, by partial fractions."""
    total = 0.0
    for own in scales:
        share = math.prod(own**2 / (own**2 - other**2) for other in scales if other != own)
        total += share * math.exp(-ends / own)
    return total


@pytest.mark.parametrize("missed", [MOST_MISSED, 0.025, 0.01, 0.001])
def test_one_laplace_number_has_the_widest_interval(missed: float) -> None:
    draw = random.Random(7)
    for _ in range(2000):
        many = draw.randrange(1, 5)
        scales = [round(math.exp(draw.uniform(-3, 0)), 2) + 0.003 * at for at in range(many)]
        if any(abs(a / b - 1) < 0.02 for a in scales for b in scales if a is not b):
            continue
        deviation = math.sqrt(2 * sum(scale**2 for scale in scales))
        assert tail(scales, deviation * math.log(1 / missed) / math.sqrt(2)) <= missed * (1 + 1e-9)


def test_above_it_a_normal_number_has_a_wider_one() -> None:
    assert math.log(1 / 0.125) / math.sqrt(2) < 1.534  # of which a normal number misses one in eight
