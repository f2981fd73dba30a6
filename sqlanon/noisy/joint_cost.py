"""The joint cost of Laplace and Gaussian mechanisms, by the distribution of their privacy losses.

Every mechanism of epsilon is dominated by randomized response of that epsilon (Kairouz, Oh, Viswanath 2015, Theorem
3.2), whose loss is epsilon or -epsilon. Losses of mechanisms together add up (Dwork, Rothblum 2016, Section 3), and
dominating pairs compose (Zhu, Dong, Wang 2022, "Optimal accounting of differential privacy via characteristic
function", Theorem 10). So delta of an epsilon is the mean, over the summed loss of the responses, of the delta that
Gaussian noise has for the rest of epsilon; without Gaussian noise it is the mean of 1 - exp(loss - epsilon) where that
is positive. Losses are rounded up to steps of a grid, which makes delta larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.noisy.smooth import FLOATS, SLACK, gaussian_delta

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles


STEPS = 2**11
"""Steps of the grid up to the epsilon that is known already."""
MOST_STEPS = 2**16
"""Steps of the grid from the lowest to the highest loss, at most."""
RARE = 1e-30
"""Losses of a smaller probability are taken as infinite."""
ROUNDED = 1 + 1e-9
"""Sums of floating-point numbers are raised by this factor, which exceeds the rounding error."""


def joint_epsilon(pure: Mapping[float, int], shift: float, numbers: int, delta: float, bound: float) -> float:
    """The epsilon of Laplace and Gaussian mechanisms together, at most.

    Args:
        pure: how many mechanisms there are of each epsilon.
        shift: square root of twice the rho of all continuous Gaussian mechanisms (`sqlanon.noisy.smooth`); 0: none.
        numbers: the most noisy numbers with Gaussian noise that a person can change.
        delta: delta of the whole.
        bound: an upper bound of the result.

    Returns:
        ``bound`` where nothing smaller is found.

    Cost: a pass over the grid for each mechanism.
    """
    slack = numbers * SLACK * (1 + FLOATS)
    step = max(bound / STEPS, 2 * _sum(pure) / MOST_STEPS)
    if step <= 0 or slack > bound:
        return bound
    losses, infinite = _distribute(pure, step)
    middle, highest = len(losses) // 2, math.ceil(bound / step)
    # A loss at index i leaves of the epsilon of a place the rest at index place + len(losses) - 1 - i.
    rests = (np.arange(highest + len(losses)) - middle) * step
    deltas = np.array([_rest_delta(rest, shift) for rest in rests.tolist()])
    allowed = delta * math.exp(-slack) / ROUNDED - infinite

    def suffices(place: int) -> bool:
        return float(losses @ deltas[place : place + len(losses)][::-1]) <= allowed

    low, high = -1, highest
    while high - low > 1:
        tried = (low + high) // 2
        low, high = (low, tried) if suffices(tried) else (tried, high)
    return min(bound, high * step * ROUNDED + 2 * slack) if suffices(high) else bound


def _sum(pure: Mapping[float, int]) -> float:
    return math.fsum(epsilon * times for epsilon, times in pure.items())


def _distribute(pure: Mapping[float, int], step: float) -> tuple[Doubles, float]:
    """The distribution of the summed losses on the grid, float64[2 m + 1] for losses from -m to m steps.

    Returns:
        It, and the probability of an infinite loss.
    """
    # Each kind of mechanism is rounded up once.
    middle = math.ceil(_sum(pure) * ROUNDED / step) + len(pure)
    losses = np.zeros(2 * middle + 1)
    losses[middle] = 1.0
    infinite = 0.0
    for epsilon, times in pure.items():
        shifted = np.zeros_like(losses)
        likely = -math.log1p(math.exp(-epsilon))  # the logarithm of the probability of a loss of epsilon
        for above in range(times + 1):
            log_ways = math.lgamma(times + 1) - math.lgamma(above + 1) - math.lgamma(times - above + 1)
            mass = math.exp(min(0.0, log_ways + times * likely - (times - above) * epsilon)) * ROUNDED
            loss = (2 * above - times) * epsilon
            if mass < RARE:
                infinite += mass
                continue
            by = math.ceil(loss * (ROUNDED if loss > 0 else 1 / ROUNDED) / step)
            shifted[max(by, 0) : len(shifted) + min(by, 0)] += mass * losses[max(-by, 0) : len(shifted) - max(by, 0)]
        losses = shifted
    return losses, infinite


def _rest_delta(rest: float, shift: float) -> float:
    """The delta that Gaussian noise has for an epsilon, which may be negative."""
    if shift > 0:
        return max(0.0, gaussian_delta(rest, shift))
    return -math.expm1(rest) if rest < 0 else 0.0
