"""Running counts by night: the factors are those of their definition, and their errors those of the trial."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sqlanon.noisy.accounting import total_epsilon
from sqlanon.noisy.nights import FIXED, combine, factor_of, measure, spread_of
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import Noise, noise_of
from sqlanon.policy import load

POLICY = """\
version: 1
budgets: [{{name: people, persons: {{stays: pid}}, epsilon: 1, delta: 1e-6}}]
releases:
  - name: nightly
    source: stays
    every: 1d
    statistics:
      budget: people
      epsilon: {epsilon}
      tables: [{{by: [sex], totals: false}}]
      groups: {{sex: [F]}}
      measures: {{people: persons}}
      contributions: {{groups: 1, rows: 1}}
      kept: false
      {more}
"""


def noise(folder: Path, epsilon: str, more: str) -> Noise:
    """The noise of one count."""
    file = folder / "anon.yml"
    file.write_text(POLICY.format(epsilon=epsilon, more=more))
    return noise_of(shape_of(load(file).releases[0]))


def lower(column: list[Fraction] | list[float]) -> list[list[Fraction]]:
    size = len(column)
    return [[Fraction(column[i - j]) if i >= j else Fraction(0) for j in range(size)] for i in range(size)]


def product(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*b, strict=True)]
        for row in a
    ]


def test_the_factor_is_the_square_root_of_the_matrix_of_running_sums() -> None:
    exact = [Fraction(math.comb(2 * k, k), 4**k) for k in range(12)]
    ones = lower([Fraction(1)] * 12)
    assert product(lower(exact), lower(exact)) == ones
    assert factor_of(12).measured.tolist() == [round(one * FIXED) for one in exact]


def test_running_counts_of_rounded_measurements_are_exact() -> None:
    factor = factor_of(40)
    arrivals = np.random.default_rng(7).integers(0, 1000, (40, 3))
    measured = np.vstack([measure(factor, arrivals[: night + 1]) for night in range(40)])
    for night in range(40):
        there = measured[: night + 1]
        assert combine(factor.running, there) == pytest.approx(arrivals[: night + 1].sum(axis=0), rel=1e-12)
        assert combine(factor.arrived, there) == pytest.approx(arrivals[night], abs=1e-8)


def test_who_arrives_in_the_first_night_changes_the_most() -> None:
    factor = factor_of(30)
    changes = []
    for arrived in range(30):
        arrivals = np.zeros((30, 1), np.int64)
        arrivals[arrived] = 1
        changes.append(sum(int(measure(factor, arrivals[: night + 1])[0]) ** 2 for night in range(30)))
    assert max(changes) == changes[0] == factor.squares


def test_a_year_of_nights_has_the_error_of_the_trial(tmp_path: Path) -> None:
    """The trial: 12.6 over 365 nights and 9.0 over 30 at epsilon 1 and delta 1e-6; every night anew 87 and 25."""
    for nights, most, anew_least in ((365, 12.6, 80), (30, 9.0, 23)):
        found = noise(tmp_path, "1", f"running: {{nights: {nights}}}")
        running = factor_of(nights).running
        squares = sum(spread_of(running, night) ** 2 for night in range(1, nights + 1))
        error = float(found.scales[0]) * math.sqrt(squares / nights)
        assert 0.9 * most < error <= most
        assert 0.99 < total_epsilon(found.mechanisms, Fraction(1, 10**6)) <= 1
        # The naive variant: each night has a count of its own, and all of them cost epsilon 1.
        alone = noise(tmp_path, "1/20", "noise: gaussian")
        assert alone.mechanisms[0].smooth is not None
        # One person changes one number of a version, and of so many nights together one a night.
        assert (alone.mechanisms[0].numbers, found.mechanisms[0].numbers) == (1, nights)
        shared = float(alone.scales[0]) * math.sqrt(nights * alone.mechanisms[0].smooth / found.mechanisms[0].smooth)  # type: ignore[operator]
        assert shared > anew_least


def test_the_stated_spread_is_that_of_the_weights() -> None:
    factor = factor_of(9)
    drawn = np.random.default_rng(3).normal(0, 1000, (20_000, 9))
    for weights in (factor.running, factor.arrived):
        found = np.std([combine(weights, one[:, None])[0] for one in drawn])
        assert found == pytest.approx(1000 * spread_of(weights, 9), rel=0.05)  # 10 standard errors
