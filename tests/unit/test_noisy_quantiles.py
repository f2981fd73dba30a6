"""Quantiles from noisy steps: exact without noise, and intervals that hold as often as they say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sqlanon.noisy.published_values import HALF, ends_of
from sqlanon.noisy.quantiles import bound_quantile, find_quantile
from sqlanon.noisy_spec import NoisyMeasure


def steps_of(values: list[int], ends: list[int]) -> np.ndarray:
    """How many values are in each step, one group."""
    return np.histogram(values, [*ends[:-1], ends[-1] + 1])[0].astype(float)[:, None]


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.9, 0.99])
def test_without_noise_the_step_is_that_of_the_sorted_rows(share: float) -> None:
    draw = np.random.default_rng(3)
    ends = list(range(0, 101, 5))
    for rows in (1, 2, 7, 100):
        values = sorted(draw.integers(0, 101, rows).tolist())
        expected = values[math.ceil(share * rows) - 1]
        counts = steps_of(values, ends)
        found = find_quantile(counts, np.array(ends, float), share)
        low, high = bound_quantile(counts, np.zeros_like(counts), np.array(ends, float), share, (0.0, 0.0))
        assert low[0] <= expected <= high[0]
        assert low[0] <= found[0] <= high[0]


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_intervals_contain_the_quantile_as_often_as_they_say(law: str, share: float) -> None:
    draw = np.random.default_rng(5)
    ends = np.linspace(0, 64, 65)
    values = np.sort(np.minimum(draw.exponential(12, 800).astype(int), 64))
    expected = values[math.ceil(share * len(values)) - 1]
    times, deviation = 3000, 6.0
    exact = np.repeat(steps_of(values.tolist(), ends.astype(int).tolist()), times, axis=1)
    noise = draw.laplace(0, deviation / math.sqrt(2), exact.shape)
    noise = np.rint(draw.normal(0, deviation, exact.shape) if law == "gaussian" else noise)
    width = (ends_of(law, 0.05), HALF)  # type: ignore[arg-type]
    low, high = bound_quantile(exact + noise, np.full(exact.shape, deviation), ends, share, width)
    inside = float(np.mean((low <= expected) & (expected <= high)))
    assert inside > 0.93
    assert float(np.mean(high - low)) < 40
    # An interval of the estimate's own step, as if the counts were exact, fails.
    found = find_quantile(exact + noise, ends, share)
    assert float(np.mean((np.floor(found) <= expected) & (expected <= np.floor(found) + 1))) < 0.9


def test_groups_of_no_rows_have_the_middle_and_the_whole_range() -> None:
    counts = np.array([[-3.0], [0.0], [-1.0]])
    ends = np.array([0.0, 1.0, 2.0, 4.0])
    assert find_quantile(counts, ends, 0.5)[0] == 2
    low, high = bound_quantile(counts, np.full((3, 1), 5.0), ends, 0.5, (2.0, 0.5))
    assert (low[0], high[0]) == (0, 4)


@pytest.mark.parametrize(
    ("low", "high", "unit", "steps", "expected"),
    [
        ("0", "365", "1", 4, ["0", "91", "182", "273", "365"]),
        ("-1", "1", "1/2", 64, ["-1", "-1/2", "0", "1/2", "1"]),
        ("0", "2", "1", 2, ["0", "1", "2"]),
    ],
)
def test_steps_end_at_multiples_of_the_unit(low: str, high: str, unit: str, steps: int, expected: list[str]) -> None:
    made = NoisyMeasure("m", "quantiles", "c", Fraction(low), Fraction(high), Fraction(unit), (Fraction(1, 2),), steps)
    assert made.ends == tuple(map(Fraction, expected))


def test_columns_are_named_by_hundredths() -> None:
    shares = tuple(map(Fraction, ("0.05", "0.5", "0.999")))
    assert NoisyMeasure("m", "quantiles", quantiles=shares).columns == ("m_p5", "m_p50", "m_p99_9")
