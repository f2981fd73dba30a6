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

    points = np.array(x, np.float64)
    total = np.zeros(points.shape)
    for _ in range(_LEAST):
        low = points < _LEAST
        if not low.any():
            break
        total = np.where(low, total - 1 / np.where(low, points, 1), total)
        points = np.where(low, points + 1, points)
    power = square = 1 / (points * points)
    total = total + np.log(points) - 1 / (2 * points)
    for factor in _SERIES:
        total = total - factor * power
        power = power * square
    return np.asarray(total)
