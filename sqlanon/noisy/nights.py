"""Running counts over a declared number of nights: the square-root factor of the matrix of running sums.

Each person arrives once. With x the arrivals of each night, the running counts are A x, where A has ones on and below
the diagonal. Tonight's measurement is a row of R x with noise of its own, where R is the square root of A in whole
parts of `FIXED` (Fichtenberger, Henzinger, Upadhyay 2023, "Constant matters", Section 3). A person changes one entry of
x, and so one column of R: all nights together cost what Gaussian noise costs for the norm of the first column, the
longest, also where earlier answers decide who arrives later (Denisov, McMahan, Rush, Smith, Thakurta 2022, "Improved
differential privacy for SGD via optimal private linear operators on adaptive streams", Theorem 2.1). The running counts
are L y of the noisy measurements y, where L R = A for the rounded R, so that they have no error but the noise. Nothing
exact and no noise is carried from night to night: L y is computed of published numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs


FIXED = 4096
"""The factor is in whole parts of this."""


@dataclass(frozen=True, slots=True)
class Factor:
    """The factor of a number of nights.

    Attributes:
        measured: int64[nights], the first column of R, in parts of `FIXED`.
        running: float64[nights], the first column of L.
        arrived: float64[nights], the first column of the inverse of R: arrivals of one night.
    """

    measured: Longs
    running: Doubles
    arrived: Doubles

    @property
    def squares(self) -> int:
        """The most that an arrival of one changes all measurements together, as the sum of squares."""
        return int((self.measured**2).sum())


@lru_cache(maxsize=8)
def factor_of(nights: int) -> Factor:
    """The factor of so many nights.

    Cost: the square of the number of nights.
    """
    exact = Fraction(1)
    measured = np.empty(nights, np.int64)
    for night in range(nights):
        # The coefficients of (1 - x)^(-1/2); their digits are cut far below the parts of FIXED.
        measured[night] = round(exact * FIXED)
        exact = Fraction(round(exact * Fraction(2 * night + 1, 2 * night + 2) * 2**60), 2**60)
    share = measured / FIXED
    arrived = np.zeros(nights)
    arrived[0] = 1 / share[0]
    for night in range(1, nights):
        arrived[night] = -float(share[1 : night + 1] @ arrived[:night][::-1]) / share[0]
    return Factor(measured, np.cumsum(arrived), arrived)


def measure(factor: Factor, arrivals: Longs) -> Longs:
    """The exact measurement of the last night, int64[groups].

    Args:
        factor: of all nights.
        arrivals: int64[nights so far, groups].
    """
    return np.asarray(factor.measured[: len(arrivals)][::-1] @ arrivals)


def combine(weights: Doubles, measured: Longs) -> Doubles:
    """The last night's numbers, float64[groups], from the noisy measurements.

    Args:
        weights: `Factor.running` or `Factor.arrived`.
        measured: int64[nights so far, groups].
    """
    return np.asarray(weights[: len(measured)][::-1] @ measured) / FIXED


def spread_of(weights: Doubles, night: int) -> float:
    """The standard deviation of a number of a night, as a share of the measurements' noise; nights count from 1."""
    return math.sqrt(math.fsum((weights[:night] ** 2).tolist())) / FIXED
