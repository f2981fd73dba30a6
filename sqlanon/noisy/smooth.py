"""Discrete Gaussian noise as rounded continuous noise with an exactly known cost.

Let g be an integer x with continuous Gaussian noise of variance s - t, and y an integer drawn with weights
exp(-(y - g)^2 / 2t). Were the sum of the weights the same for every g, y would be x with discrete Gaussian noise of
variance s. By Poisson's summation formula it differs from sqrt(2 pi t) by a factor between 1 - h and 1 + h, where
h = 2 exp(-2 pi^2 t) / (1 - exp(-6 pi^2 t)), and so does that of the discrete law. So the probability of each y is that
of a function of g, but for a factor of at most (1 + h) / (1 - h), once for each number that a person can change, as all
others cancel.

Continuous Gaussian mechanisms together are one (Dong, Roth, Su 2022, "Gaussian differential privacy", Section 3), with
an exactly known delta for an epsilon (Balle, Wang 2018, "Improving the Gaussian mechanism for differential privacy",
Theorem 8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

PARTS = 10**12
"""Denominator of costs that are computed; they are rounded up."""
ROUNDED = Fraction(3, 2)
"""The variance t of the rounding."""
SLACK = 2.2 * (2 * math.exp(-2 * math.pi**2 * float(ROUNDED)) / (1 - math.exp(-6 * math.pi**2 * float(ROUNDED))))
"""The logarithm of the factor of a number, at most: ln((1 + h) / (1 - h)) is below 2.2 h for h below 0.1."""
FLOATS = 1e-11
"""Relative errors of the error function and of exponentials are far below."""
MOST_EPSILON = 500.0
"""Above it nothing is computed."""


def smooth_rho(sensitivities: Sequence[int], scales: Sequence[Fraction]) -> Fraction | None:
    """The rho of the continuous mechanism of which discrete Gaussian noise is a function.

    Args:
        sensitivities: for each vector of numbers, the change by a person, as the sum of squares.
        scales: for each vector, the scale of the noise.

    Returns:
        Rounded up; None: a scale is too small.
    """
    total = Fraction(0)
    for squares, scale in zip(sensitivities, scales, strict=True):
        remaining = scale**2 - ROUNDED
        if remaining <= 0:
            return None
        total += squares / (2 * remaining)
    return Fraction(math.ceil(total * PARTS), PARTS)


def smooth_epsilon(rho: Fraction, numbers: int, delta: float) -> float:
    """The epsilon of discrete Gaussian mechanisms together, at most; infinite: none was found.

    Args:
        rho: the sum of the results of `smooth_rho`.
        numbers: the most noisy numbers that a person can change in all.
        delta: delta of the whole.
    """
    slack = numbers * SLACK * (1 + FLOATS)
    shift = shift_of(rho)
    allowed = delta * math.exp(-slack)
    if shift == 0:
        return 2 * slack
    low, high = 0.0, MOST_EPSILON
    if slack > 1 or gaussian_delta(high, shift) > allowed:
        return math.inf
    while high - low > 1e-12 * (1 + high):
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_delta(middle, shift) <= allowed else (middle, high)
    return high + 2 * slack


def shift_of(rho: Fraction) -> float:
    """How many deviations the answer of a Gaussian mechanism moves, at most."""
    return math.sqrt(2 * math.nextafter(float(rho), math.inf)) * (1 + FLOATS) if rho else 0.0


def gaussian_delta(epsilon: float, shift: float) -> float:
    """The delta of a Gaussian mechanism for an epsilon when the answer moves by so many deviations, at most."""
    above = _tail(epsilon / shift - shift / 2)
    if epsilon > MOST_EPSILON:
        return above * (1 + FLOATS)
    below = _tail(epsilon / shift + shift / 2)
    return above * (1 + FLOATS) - math.exp(epsilon) * below * (1 - FLOATS)


def _tail(ends: float) -> float:
    return math.erfc(ends / math.sqrt(2)) / 2
