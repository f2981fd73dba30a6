"""The scales of the noise: how the epsilon of a version is divided among the measurements.

Levels get shares that make the summed variance of all their groups the smallest: of Laplace noise in proportion to the
cube root of the number of groups times the squared sensitivity, of Gaussian noise to the square root of that product.
Tables share equally, and so do the measures of a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.errors import PolicyError
from sqlanon.noisy.accounting import Law, Mechanism, rho_of, total_epsilon
from sqlanon.noisy.shape import Series, Shape
from sqlanon.noisy.smooth import PARTS, smooth_rho

STEP = 1024
"""Scales are whole parts of this, which floating-point numbers hold exactly."""
LARGEST_SCALE = 2**40
"""More noise than this says nothing, and would leave the 64 bits of a number."""
KEPT_SHARE = Fraction(1, 20)
"""Of epsilon for the share of rows that bounding keeps."""
CHOICE_SHARE = Fraction(1, 10)
"""Of epsilon for the scores that choose the pairs of columns of synthetic rows."""
WEIGHTS = 2**20
SEARCHED = 20
"""The rho of a version is found to a part in a million."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of a version.

    Attributes:
        law: distribution of all noise.
        scales: scale of each series: b of a discrete Laplace law, sigma of a discrete Gaussian law.
        mechanisms: the exact charges.
    """

    law: Law
    scales: tuple[Fraction, ...]
    mechanisms: tuple[Mechanism, ...]

    def deviation(self, series: int) -> float:
        """The standard deviation of the noise of a series."""
        return deviation_of(self.law, float(self.scales[series]))


def deviation_of(law: Law, scale: float) -> float:
    """The standard deviation of discrete noise."""
    if law == "gaussian":
        return scale
    fade = math.exp(-1 / scale)
    return math.sqrt(2 * fade) / -math.expm1(-1 / scale)


def mean_distance(law: Law, scale: float) -> float:
    """The mean distance of a noisy number from the exact one; of Gaussian noise that of the continuous law."""
    if law == "gaussian":
        return scale * math.sqrt(2 / math.pi)
    fade = math.exp(-1 / scale)
    return 2 * fade / -math.expm1(-2 / scale)


def noise_of(shape: Shape) -> Noise:
    """The noise of a release, as the policy asks.

    Raises:
        PolicyError: epsilon is too small for the measurements.
    """
    noisy = shape.spec
    choices = []
    if noisy.noise in ("laplace", "auto") and noisy.nights is None and noisy.weight is None:
        choices.append(_laplace(shape))
    if noisy.noise != "laplace" and noisy.budget.delta > 0:
        choices += _least_gaussian(shape)
    best = min(choices, key=lambda series: _total(shape, series), default=None)
    if best is None or max(best.scales) > LARGEST_SCALE:
        raise PolicyError(
            f"{shape.release}: epsilon {float(noisy.epsilon):g} is too small for what is measured: fewer tables, "
            "measures or contributions, narrower ranges, or a larger epsilon"
        )
    return best


def _least_gaussian(shape: Shape) -> list[Noise]:
    """The Gaussian noise of the smallest scales that costs no more than epsilon; nothing if there is none."""
    epsilon, delta = shape.spec.epsilon, shape.spec.budget.delta
    low = rho_of(epsilon, delta)
    if low <= 0:
        return []
    noise, high = _gaussian(shape, low), 2 * low
    for _ in range(SEARCHED):
        middle = Fraction(math.floor((low + high) / 2 * PARTS), PARTS)
        tried = _gaussian(shape, middle)
        if total_epsilon(tried.mechanisms, delta) <= epsilon:
            low, noise = middle, tried
        else:
            high = middle
    return [noise]


def _total(shape: Shape, noise: Noise) -> float:
    """The sum over groups of the logarithms of deviations: measures have different units."""
    sizes = [_size(shape, series) for series in shape.series]
    return math.fsum(size * math.log(noise.deviation(place)) for place, size in enumerate(sizes))


def _size(shape: Shape, series: Series) -> int:
    return 1 if series.measure is None else shape.tables[series.table].levels[series.level].size


def _shares(shape: Shape, weigh: Sequence[float]) -> list[Fraction]:
    """The share of each series; they add up to 1, or less."""
    keys = [(series.table, series.measure, series.part) for series in shape.series]
    weights: dict[object, float] = {}
    for key, weight in zip(keys, weigh, strict=True):
        weights[key] = weights.get(key, 0.0) + weight
    parts: dict[object, int] = {}
    for key in dict.fromkeys(keys):
        parts[key[:2]] = parts.get(key[:2], 0) + 1
    measured = len(shape.published) * len(shape.spec.measures)
    rest = Fraction(1) - (KEPT_SHARE if shape.spec.kept else 0) - (CHOICE_SHARE if shape.chooses else 0)
    shares = []
    for key, weight in zip(keys, weigh, strict=True):
        # The parts of a measure share equally: the sums and numbers of means, and of the kept shares.
        key_share: Fraction = CHOICE_SHARE if key[2] == "gaps" else KEPT_SHARE if key[1] is None else rest / measured
        of = key_share / parts[key[:2]]
        within = math.floor(weight / weights[key] * (WEIGHTS - len(shape.series)))
        shares.append(of * Fraction(max(1, within), WEIGHTS))
    return shares


def _laplace(shape: Shape) -> Noise:
    shares = _shares(shape, [(_size(shape, series) * series.l1**2) ** (1 / 3) for series in shape.series])
    scales, charged = [], []
    for series, share in zip(shape.series, shares, strict=True):
        scale = Fraction(math.ceil(series.l1 / (shape.spec.epsilon * share) * STEP), STEP)
        scales.append(scale)
        charged.append(Mechanism("laplace", series.l1 / scale))
    return Noise("laplace", tuple(scales), tuple(charged))


def _gaussian(shape: Shape, rho: Fraction) -> Noise:
    shares = _shares(shape, [math.sqrt(_size(shape, series) * series.l2) for series in shape.series])
    times = 1 if shape.factor is None else shape.factor.squares
    scales = []
    for series, share in zip(shape.series, shares, strict=True):
        squared = series.l2 * times / (2 * rho * share) * STEP**2
        scales.append(Fraction(math.isqrt(math.ceil(squared) - 1) + 1, STEP))  # rounded up
    return Noise("gaussian", tuple(scales), (_charge(shape, scales, times, shape.spec.nights or 1),))


def _charge(shape: Shape, scales: Sequence[Fraction], times: int, nights: int) -> Mechanism:
    """The charge of Gaussian noise, where a person's squared change of each series is so many times that of a version.

    Args:
        shape: the measurements.
        scales: of each series.
        times: factor of the squares.
        nights: how often a person's numbers are measured.
    """
    squares = [series.l2 * times for series in shape.series]
    total = sum((change / (2 * scale**2) for change, scale in zip(squares, scales, strict=True)), Fraction(0))
    smooth = smooth_rho(squares, scales)
    numbers = shape.changed * nights if smooth is not None else 0
    return Mechanism("gaussian", Fraction(math.ceil(total * PARTS), PARTS), smooth, numbers)


def charge_again(shape: Shape, noise: Noise) -> Mechanism:
    """The charge of a night that is measured once more: at most what the night of a person's arrival costs."""
    assert shape.factor is not None
    return _charge(shape, noise.scales, int(shape.factor.measured[0]) ** 2, 1)
