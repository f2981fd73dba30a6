"""Uniques of a population, estimated of the class sizes of a simple random sample of it.

n rows of N persons, u classes of which s_i have i rows; pi = n / N. The three estimators, and the rule that chooses
one, are those of Dankar, El Emam, Neisa and Roffey 2012, "Estimating the re-identification risk of clinical data sets",
additional file 1 (appendix A) and section "Results". An estimator that has no solution for a table gives None: not
estimable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.results import PopulationUniques

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Doubles
    from sqlanon.risk.sizes import Sizes


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


SMALL_SAMPLE = 0.1
"""The sampling fraction up to which the rule takes Pitman's estimator."""
_ALPHAS = (1e-4, 1 - 1e-9)
"""Between which Pitman's alpha is looked for."""
_HALVINGS = 200


def estimate_uniques(sizes: Sizes, population: float) -> PopulationUniques:
    """All estimates, of the classes of a table with rows and a population of at least as many persons.

    The rule: up to a tenth of the population Pitman's estimate; beyond it the smaller one of those of Zayatz and of the
    slide negative binomial. Where a parameter of it cannot be estimated, that of Zayatz.
    """
    fraction = sizes.rows / population
    if sizes.rows >= population:
        uniques = float(sizes.of(1))
        return PopulationUniques(population, 1.0, None, None, uniques, None, uniques, "zayatz")
    first, second, third = pitman(sizes, population), zayatz(sizes, population), snb(sizes, population)
    if fraction <= SMALL_SAMPLE:
        method = ("pitman", first) if first is not None else ("zayatz", second)
    else:
        method = ("snb", third) if third is not None and third <= second else ("zayatz", second)
    return PopulationUniques(population, fraction, None, first, second, third, method[1], method[0])


def zayatz(sizes: Sizes, population: float) -> float:
    """Zayatz 1991, "Estimation of the number of unique population elements using a sample".

    S_1 = s_1 P(F = 1 | f = 1) / pi, by Bayes' rule: P(f = 1 | F = i) is hypergeometric, and P(F = i) is taken as s_i /
    u.
    """
    import numpy as np

    n, size, classes = sizes.rows, sizes.size, sizes.classes
    alone = sizes.of(1)
    if not alone:
        return 0.0
    pi = n / population
    # P(f = 1 | F = i) = i pi (N - n) (N - n - 1) .. / ((N - 1) (N - 2) ..), i - 1 factors each.
    steps = np.arange(int(size.max()) - 1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.maximum(population - n - steps, 0) / (population - 1 - steps)
        log = np.concatenate([[0.0], np.cumsum(np.log(ratios))])[size - 1]
    once = size * pi * np.exp(log)
    return alone * (alone * pi / float((once * classes).sum())) / pi


def pitman(sizes: Sizes, population: float) -> float | None:
    """Hoshino 2001, "Applying Pitman's sampling formula to microdata disclosure risk assessment", sections 2 and 3.

    Parameters 0 < alpha < 1 and theta > -alpha of the largest likelihood

        (theta + alpha) .. (theta + (u - 1) alpha) / ((theta + 1) .. (theta + n - 1)) prod_j ((1 - alpha) .. (j - 1 -
        alpha))^(s_j),

    where both derivatives are 0; then E(S_1) = N (theta + alpha) .. (theta + alpha + N - 2) / ((theta + 1) .. (theta +
    N - 1)).
    """
    n, u = sizes.rows, sizes.count
    if not 2 <= u < n:
        return None

    def theta_of(alpha: float) -> float | None:
        # The derivative by theta falls from infinity at -alpha; looked for on a scale of logarithms.
        return _exp_root(lambda x: _by_theta(u, n, alpha, x - alpha), 1e-12, 1e12 * n, alpha)

    def by_alpha(alpha: float) -> float | None:
        theta = theta_of(alpha)
        return None if theta is None else _by_alpha(sizes, alpha, theta)

    low, high = _ALPHAS
    at_low, at_high = by_alpha(low), by_alpha(high)
    if at_low is None or at_high is None or at_low <= 0 or at_high >= 0:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        slope = by_alpha(middle)
        if slope is None:
            return None
        low, high = (middle, high) if slope > 0 else (low, middle)
        if high - low < 1e-13:
            break
    alpha = (low + high) / 2
    theta = theta_of(alpha)
    if theta is None:
        return None
    log = (
        math.lgamma(theta + alpha + population - 1)
        - math.lgamma(theta + population)
        + math.lgamma(theta + 1)
        - math.lgamma(theta + alpha)
    )
    return population * math.exp(log)


def _by_theta(u: int, n: int, alpha: float, theta: float) -> float:
    """The derivative of the log-likelihood by theta.

    It is the sum of 1 / (theta + i alpha) for i < u, less that of 1 / (theta + i) for i < n.
    """
    return _reciprocals(u, alpha, theta) - float(digamma(theta + n) - digamma(theta + 1))


def _reciprocals(u: int, alpha: float, theta: float) -> float:
    """The sum of 1 / (theta + i alpha) for i = 1 .. u - 1."""
    first = theta / alpha + 1
    return float(digamma(first + u - 1) - digamma(first)) / alpha


def _by_alpha(sizes: Sizes, alpha: float, theta: float) -> float:
    """The derivative by alpha.

    It is the sum of i / (theta + i alpha) for i < u, less that of 1 / (i - alpha) for i < j of every class of j rows.
    """
    u = sizes.count
    spread = (u - 1 - theta * _reciprocals(u, alpha, theta)) / alpha
    within = digamma(sizes.size - alpha) - digamma(1 - alpha)
    return spread - float((within * sizes.classes).sum())


def _exp_root(falls: Callable[[float], float], low: float, high: float, alpha: float) -> float | None:
    """The root of a function that falls from above 0 to below, less alpha; None: it has no such root."""
    if falls(low) <= 0 or falls(high) >= 0:
        return None
    a, b = math.log(low), math.log(high)
    for _ in range(_HALVINGS):
        middle = (a + b) / 2
        a, b = (middle, b) if falls(math.exp(middle)) > 0 else (a, middle)
        if b - a < 1e-14:
            break
    return math.exp((a + b) / 2) - alpha


def snb(sizes: Sizes, population: float) -> float | None:
    """Slide negative binomial estimator.

    Chen and Keller-McNulty 1998, "Estimation of identification disclosure risk in microdata", section 3.

    Population classes have F = 1 + X rows, X negative binomial: P(F = 1) = beta^alpha. With q = 1 - beta, w = 1 - pi
    and D = 1 - q w, the generating function s (beta / (1 - q s))^alpha of F at 1 - pi + pi s gives

        E(s_1) = K pi (beta / D)^alpha (1 + alpha q w / D)
        E(s_2) = K pi^2 / 2 beta^alpha alpha q D^-(alpha + 2) (2 - (1 - alpha) q w),

    which are set equal to s_1 and s_2; K, the classes of the population, is `shlosser`. Then S_1 = K beta^alpha. The
    ratio of both fixes alpha for each beta, and the largest beta that solves the first is taken.
    """
    import numpy as np

    s1, s2, pi = sizes.of(1), sizes.of(2), sizes.rows / population
    if not s1 or not s2:
        return None
    classes = shlosser(sizes, pi)
    if classes is None:
        return None
    ratio, w = s2 / s1, 1 - pi

    def evaluate_at(x: float) -> tuple[float, float]:
        """The logarithm of E(s_1) / s_1, and of beta^alpha; ``x`` is that of beta / (1 - beta)."""
        q = 1 / (1 + math.exp(x))
        log_beta = -math.log1p(math.exp(-x))
        d = 1 - q * w
        # ratio = pi alpha q (2 - (1 - alpha) q w) / (2 D (D + alpha q w)), a quadratic in alpha with one root above 0.
        a, b, c = pi * q * q * w, pi * q * (2 - q * w) - 2 * d * ratio * q * w, -2 * d * d * ratio
        root = math.sqrt(b * b - 4 * a * c)
        alpha = 2 * -c / (b + root) if b > 0 else (root - b) / (2 * a)
        log_share = alpha * log_beta
        expected = math.log(classes * pi) + log_share - alpha * math.log(d) + math.log1p(alpha * q * w / d)
        return expected - math.log(s1), log_share

    grid = np.linspace(30, -30, 601).tolist()
    values = [evaluate_at(x)[0] for x in grid]
    for i in range(1, len(grid)):
        if (values[i - 1] > 0) == (values[i] > 0):
            continue
        low, other = grid[i - 1], grid[i]
        for _ in range(_HALVINGS):
            middle = (low + other) / 2
            low, other = (middle, other) if (evaluate_at(middle)[0] > 0) == (values[i - 1] > 0) else (low, middle)
        estimate = classes * math.exp(evaluate_at((low + other) / 2)[1])
        return estimate if estimate <= population else None
    return None


def shlosser(sizes: Sizes, pi: float) -> float | None:
    """Estimator of the classes of the population.

    Haas and Stokes 1998, "Estimating the number of classes in a finite population", the modified Shlosser estimator.

    u + s_1 (sum i pi^2 (1 - pi^2)^(i-1) s_i / sum (1 - pi)^i ((1 + pi)^i - 1) s_i) (sum (1 - pi)^i s_i / sum i pi (1 -
    pi)^(i-1) s_i)^2.
    """
    i, s = sizes.size.astype(float), sizes.classes
    w = 1 - pi
    above = float((i * pi**2 * (1 - pi**2) ** (i - 1) * s).sum())
    below = float((((1 - pi**2) ** i - w**i) * s).sum())
    top, bottom = float((w**i * s).sum()), float((i * pi * w ** (i - 1) * s).sum())
    if below <= 0 or bottom <= 0:
        return None
    return sizes.count + sizes.of(1) * (above / below) * (top / bottom) ** 2
