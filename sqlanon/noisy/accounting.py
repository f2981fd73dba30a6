"""Total cost of mechanisms: the least of several valid bounds.

A mechanism is kept exactly, as a fraction: the epsilon of a pure mechanism (discrete Laplace), or the rho of a
concentrated mechanism (discrete Gaussian). All rows of a person come or go together.

- Pure mechanisms add up (basic composition).
- Every mechanism of epsilon is dominated by randomized response of that epsilon (Kairouz, Oh, Viswanath 2015,
  Theorem 3.2), so that its Renyi divergence of each order is at most that of this response. The discrete Laplace
  mechanism with a sensitivity of one step attains it; the smaller divergence of continuous Laplace noise does not hold.
- A discrete Gaussian of rho has a Renyi divergence of at most rho times the order (Canonne, Kamath, Steinke 2020,
  Theorem 4).
- Discrete Gaussian noise of a known scale is a function of continuous noise, but for a factor next to 1
  (`sqlanon.noisy.smooth`), and the cost of that is known exactly.
- Divergences of one order add up, and give an epsilon for a delta (there, Proposition 12).
- Losses add up, and their distribution gives the exact cost of the dominating mechanisms (`sqlanon.noisy.joint_cost`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sqlanon.noisy.joint_cost import joint_epsilon
from sqlanon.noisy.smooth import PARTS, shift_of, smooth_epsilon

Law = Literal["laplace", "gaussian"]

ROUNDED = 1e-9
"""Sums of floating-point numbers are raised by this share, which exceeds the rounding error."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A release of noisy numbers.

    Attributes:
        law: distribution of the noise.
        cost: epsilon of a Laplace mechanism, rho of a Gaussian mechanism.
        smooth: of a Gaussian mechanism, the rho of the continuous mechanism that it is a function of; None: not known.
        numbers: the most noisy numbers that a person can change; only where ``smooth`` is known.
    """

    law: Law
    cost: Fraction
    smooth: Fraction | None = None
    numbers: int = 0


def total_epsilon(mechanisms: Sequence[Mechanism], delta: Fraction) -> Fraction:
    """Upper bound of the epsilon of all mechanisms; a mechanism may depend on earlier answers, its cost may not.

    Args:
        mechanisms: all of them.
        delta: delta of the whole; 0: Laplace mechanisms only.

    Raises:
        ValueError: a Gaussian mechanism without a delta.

    Cost: 200 divergences of each different mechanism; with Laplace mechanisms and a delta some 0.1 s more.
    """
    pure = sum((mechanism.cost for mechanism in mechanisms if mechanism.law == "laplace"), Fraction(0))
    gaussian = [mechanism for mechanism in mechanisms if mechanism.law == "gaussian" and mechanism.cost > 0]
    if not gaussian and (delta == 0 or pure == 0):
        return pure
    if delta == 0:
        raise ValueError("a Gaussian mechanism has no epsilon without a delta")
    bounds = [_convert(mechanisms, float(delta))]
    bounds.append(pure + _convert(gaussian, float(delta)) if gaussian else pure)
    smooth = [mechanism.smooth for mechanism in gaussian if mechanism.smooth is not None]
    if len(smooth) < len(gaussian):
        return min(bounds)
    rho, numbers = sum(smooth, Fraction(0)), sum(mechanism.numbers for mechanism in gaussian)
    if gaussian:
        epsilon = smooth_epsilon(rho, numbers, float(delta))
        if math.isfinite(epsilon):
            bounds.append(pure + _round_up(epsilon))
    if pure:
        epsilons = Counter(float(mechanism.cost) for mechanism in mechanisms if mechanism.law == "laplace")
        raised = {math.nextafter(epsilon, math.inf): times for epsilon, times in epsilons.items()}
        bounds.append(_round_up(joint_epsilon(raised, shift_of(rho), numbers, float(delta), float(min(bounds)))))
    return min(bounds)


@lru_cache(maxsize=64)
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, to a part in a million, for which a Gaussian mechanism costs at most epsilon."""
    low, high = Fraction(0), epsilon
    for _ in range(40):
        middle = Fraction(math.floor((low + high) / 2 * PARTS), PARTS)
        if total_epsilon([Mechanism("gaussian", middle)], delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low


def _orders() -> list[float]:
    """Orders of divergences from nearly 1 to 100,000; each is a valid bound, so the best is not needed."""
    return [1 + math.exp(-4 + 0.08 * step) for step in range(200)]


def _convert(mechanisms: Sequence[Mechanism], delta: float) -> Fraction:
    """The least epsilon over the orders."""
    times_by_mechanism: dict[Mechanism, int] = {}
    for mechanism in mechanisms:
        times_by_mechanism[mechanism] = times_by_mechanism.get(mechanism, 0) + 1
    least = math.inf
    for order in _orders():
        divergence = math.fsum(times * _divergence(mechanism, order) for mechanism, times in times_by_mechanism.items())
        epsilon = divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
        least = min(least, max(epsilon, 0.0) if divergence > 0 else 0.0)
    return _round_up(least)


def _round_up(epsilon: float) -> Fraction:
    return Fraction(math.ceil(epsilon * (1 + ROUNDED) * PARTS), PARTS)


def _divergence(mechanism: Mechanism, order: float) -> float:
    cost = math.nextafter(float(mechanism.cost), math.inf)
    if mechanism.law == "gaussian":
        return order * cost
    # ln of p^a q^(1-a) + q^a p^(1-a) with p = e^eps / (1 + e^eps), q = 1 - p; the larger term is taken out.
    above = (order - 1) * cost - math.log1p(math.exp(-cost))
    below = -order * cost - math.log1p(math.exp(-cost))
    return min((above + math.log1p(math.exp(below - above))) / (order - 1), cost)
