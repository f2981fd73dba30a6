"""Chances of the noise of a number, for numbers with cell keys: of largest entropy, or by a published rule.

A cell key is a number below 2^32, and each change of a number has a range of keys. So the chances are whole numbers,
and every engine finds the same change.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics_spec import CellKeySpec

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs


KEYS = 2**32
"""Cell keys are below it."""
RULE_PERIOD = 5
"""Rule ``10_5`` rounds to multiples of it."""
RULE_LEAST = 10
"""Rule ``10_5`` changes numbers below it to 0."""
STEPS = 200
"""Steps of Newton's method, at most."""
NEAR = 1e-12
"""Mean and variance may be off by so much, as a part of the deviation and its square."""


@dataclass(frozen=True, slots=True)
class Chances:
    """The changes of each number.

    Attributes:
        rows: per number from 1 the changes, and the keys below which each ends; the last is `KEYS`. Numbers above have
            the rows of the last ``period`` numbers, in turn.
        period: how many.
    """

    rows: tuple[tuple[tuple[int, int], ...], ...]
    period: int

    def columns(self) -> dict[str, Longs]:
        """The rows as columns: number, first key, the key after the last, change."""
        rows: list[tuple[int, int, int, int]] = []
        for number, row in enumerate(self.rows, 1):
            first = 0
            for change, end in row:
                rows.append((number, first, end, change))
                first = end
        names = ("number", "first", "until", "change")
        return {name: np.array(column, np.int64) for name, column in zip(names, zip(*rows, strict=True), strict=True)}

    def row_of(self, number: int) -> tuple[tuple[int, int], ...]:
        """The row of a number of 1 or more."""
        last = len(self.rows)
        turning = last - self.period + 1
        return self.rows[(number if number <= last else turning + (number - turning) % self.period) - 1]

    def ends(self, results: Longs) -> tuple[Longs, Longs]:
        """The least and the greatest number that each result may have had; at least 1."""
        most = max(abs(change) for row in self.rows for change, _ in row)
        low, high = np.zeros_like(results), np.zeros_like(results)
        for index, result in enumerate(results.tolist()):
            able = [
                number
                for number in range(max(1, result - most), result + most + 1)
                if any(number + change == result for change, _ in self.row_of(number))
            ]
            low[index], high[index] = min(able), max(able)
        return low, high


def make_chances(spec: CellKeySpec) -> Chances:
    """The chances that a policy asks for."""
    if spec.rule is not None:
        return _rule()
    assert spec.variance is not None
    rows = []
    for number in range(1, spec.small + 2):
        changes = np.array(spec.changes(number), np.int64)
        widths = _share_keys(spread_evenly(changes, spec.variance))
        ends = np.cumsum(widths).tolist()
        rows.append(tuple((int(change), int(end)) for change, end in zip(changes, ends, strict=True)))
    return Chances(tuple(rows), 1)


def spread_evenly(changes: Longs, variance: Fraction) -> Doubles:
    """The chances of largest entropy with mean 0 and a variance: exp(a d + b d^2) for each change d.

    Args:
        changes: the possible ones.
        variance: of the noise.

    Returns:
        float64 for each change; the sum is 1.

    Cost: some steps of Newton's method for a and b, which minimize a convex function.

    Giessing (2016), "Computational Issues in the Design of Transition Probabilities and Disclosure Risk Estimation for
    Additive Noise", section 2.
    """
    scale = float(np.abs(changes).max())
    x = changes / scale
    powers, goal = np.stack([x, x * x]), np.array([0.0, float(variance) / scale**2])
    coefficients = np.zeros(2)
    for _ in range(STEPS):
        chances = _normal(coefficients @ powers)
        error = powers @ chances - goal
        if np.abs(error).max() < NEAR:
            break
        centered = powers - (powers @ chances)[:, None]
        curve = (centered * chances) @ centered.T + 1e-15 * np.eye(2)
        step, length, value = np.linalg.solve(curve, error), 1.0, _height(coefficients, powers, goal)
        while length > 1e-9 and _height(coefficients - length * step, powers, goal) > value - 1e-4 * length * (
            error @ step
        ):
            length /= 2
        coefficients = coefficients - length * step
    return _normal(coefficients @ powers)


def _normal(logarithms: Doubles) -> Doubles:
    weights = np.exp(logarithms - logarithms.max())
    shares: Doubles = weights / weights.sum()
    return shares


def _height(point: Doubles, powers: Doubles, goal: Doubles) -> float:
    logarithms = point @ powers
    top = logarithms.max()
    return float(top + np.log(np.exp(logarithms - top).sum()) - point @ goal)


def _share_keys(chances: Doubles) -> Longs:
    """Whole shares of all keys; what is left over after rounding down goes to the largest fractions."""
    exact = chances * KEYS
    widths = np.floor(exact).astype(np.int64)
    missing = KEYS - int(widths.sum())
    widths[np.argsort(widths - exact, kind="stable")[:missing]] += 1
    return widths


def _rule() -> Chances:
    """The rule ``10_5`` of the Office for National Statistics' cell-key-perturbation 3.1 (``ptable_10_5_rule``)."""
    rows = []
    for number in range(1, RULE_LEAST + RULE_PERIOD):
        above = number % RULE_PERIOD
        rounded = -above if above <= RULE_PERIOD // 2 else RULE_PERIOD - above
        rows.append(((-number if number < RULE_LEAST else rounded, KEYS),))
    return Chances(tuple(rows), RULE_PERIOD)
