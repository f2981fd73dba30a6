"""The digamma function, whose differences are sums of reciprocals.

It is the only special function here that Python lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Doubles

_LEAST = 10
"""From where on the series has 15 digits."""
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""B_2k / 2k."""


def digamma(x: npt.ArrayLike) -> Doubles:
    """The derivative of the logarithm of the gamma function, for x > 0.

    Abramowitz and Stegun 1964: by the recurrence 6.3.5 up to 10, then by the asymptotic series 6.3.18.

    >>> digamma(1.0).round(12).tolist()
    -0.577215664902
    """
    import numpy as np

    at = np.array(x, np.float64)
    found = np.zeros(at.shape)
    for _ in range(_LEAST):
        low = at < _LEAST
        if not low.any():
            break
        found = np.where(low, found - 1 / np.where(low, at, 1), found)
        at = np.where(low, at + 1, at)
    power = square = 1 / (at * at)
    found = found + np.log(at) - 1 / (2 * at)
    for factor in _SERIES:
        found = found - factor * power
        power = power * square
    return np.asarray(found)
