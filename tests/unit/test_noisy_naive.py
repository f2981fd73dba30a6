"""Variants of noisy statistics that a trial has shown to leak: each fails the trial that ours passes."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import noise_of
from sqlanon.policy import load

POLICY = """\
version: 1
budgets: [{{name: people, persons: {{stays: pid}}, epsilon: 1}}]
releases:
  - name: nightly
    source: stays
    every: 1d
    statistics:
      budget: people
      epsilon: 1
      tables: [{{by: [sex]}}]
      groups: {{sex: [F, M]}}
      measures: {{total: {{sum: cost, range: [0, {high}]}}}}
      contributions: {{groups: 1, rows: 1}}
"""


def scales(folder: Path, high: int) -> tuple[Any, ...]:
    file = folder / "anon.yml"
    file.write_text(POLICY.format(high=high))
    return noise_of(shape_of(load(file).releases[0])).scales


def test_a_range_of_the_data_shows_in_the_scale_and_a_declared_one_does_not(tmp_path: Path) -> None:
    """The metadata has scales: one person who has the largest value is seen by them if they follow from it."""
    with_, without = [5, 7, 1000], [5, 7]
    assert scales(tmp_path, max(with_)) != scales(tmp_path, max(without))
    assert set(inspect.signature(noise_of).parameters) == {"shape"}  # which follows from the policy alone


def law(answer: int, *, redrawn: bool) -> dict[int, float]:
    """Probabilities of what is published of an answer, with discrete Laplace noise of epsilon 1; by brute force."""
    weights = {value: math.exp(-abs(value - answer)) for value in range(-60, 61) if value >= 0 or not redrawn}
    return {value: weight / sum(weights.values()) for value, weight in weights.items()}


@pytest.mark.parametrize("redrawn", [False, True])
def test_noise_that_is_redrawn_until_nothing_is_negative_exceeds_its_epsilon(*, redrawn: bool) -> None:
    first, second = law(0, redrawn=redrawn), law(1, redrawn=redrawn)
    epsilon = max(abs(math.log(first[value] / second[value])) for value in first)
    assert (epsilon > 1.2) == redrawn
    assert epsilon < 1 + 1e-9 or redrawn


def test_noise_makes_numbers_negative() -> None:
    pytest.importorskip("opendp")
    drawn = add_noise(np.zeros(2000, np.int64), "laplace", Fraction(1))
    assert 0.2 < np.mean(drawn < 0) < 0.34  # 0.269, and 7 standard errors
