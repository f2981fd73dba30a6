"""Estimates of a population: against hand computation, sums of probabilities, and SciPy's optimizer and functions."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from sqlanon.risk.individual import measure_individual
from sqlanon.risk.sizes import Sizes
from sqlanon.risk.uniques import digamma, estimate_uniques, pitman, shlosser, snb, zayatz
from tests.oracle import risk as oracle


def sizes_of(listed: list[int]) -> Sizes:
    counts = sorted(Counter(listed).items())
    size, classes = (np.array(part, np.int64) for part in zip(*counts, strict=True))
    return Sizes(size, size * classes, classes)


def sample(seed: int, classes: int, shape: float, mean: float, pi: float) -> tuple[list[int], int, int]:
    """A population of classes of 1 + negative binomial rows, sampled.

    Returns the sizes in the sample, the population, and its uniques.
    """
    rng = np.random.default_rng(seed)
    held = 1 + rng.negative_binomial(shape, shape / (shape + mean), classes)
    people = np.repeat(np.arange(classes), held)
    drawn = rng.choice(people, int(pi * len(people)), replace=False)
    return list(Counter(drawn.tolist()).values()), len(people), int((held == 1).sum())


def test_individual_by_hand() -> None:
    """Benedetti and Franconi's closed forms for one and two rows; one row of p = 1/2 has ln 2."""
    p = 0.1
    one, two = p / (1 - p) * -math.log(p), p / (1 - p) ** 2 * (p * math.log(p) + 1 - p)
    assert measure_individual([1, 2, 1], [p, p, 0.5]) == pytest.approx([one, two, math.log(2)])
    assert measure_individual([4, 1], [1.0, 1.0]).tolist() == [0.25, 1]
    for f, drawn in ((1, 0.02), (5, 0.3), (29, 0.01), (31, 0.02), (40, 0.6), (3, 0.97)):
        assert measure_individual(f, drawn) == pytest.approx(oracle.individual(f, drawn, 60_000), rel=1e-9), (f, drawn)


@pytest.mark.thorough
def test_individual_is_the_hypergeometric_function() -> None:
    """Franconi and Polettini 2004: p^f / f 2F1(f, f; f + 1; 1 - p)."""
    from scipy.special import hyp2f1

    for f in (1, 2, 3, 7, 15):
        p = np.array([1e-3, 0.01, 0.2, 0.499, 0.5, 0.501, 0.9, 0.999])
        assert measure_individual(f, p) == pytest.approx(p**f / f * hyp2f1(f, f, f + 1, 1 - p), rel=1e-8)
    # Many rows: E(1 / F) is near p / f, whatever branch computes it.
    assert measure_individual(10**6, [0.001, 0.7]) * 10**6 == pytest.approx([0.001, 0.7], rel=1e-5)
    steps = measure_individual(np.arange(25, 36), 0.4999)
    assert (np.diff(steps) < 0).all()


@pytest.mark.thorough
def test_digamma_is_that_of_scipy() -> None:
    from scipy.special import psi

    x = np.concatenate([np.logspace(-9, 12, 500), np.arange(1, 30)])
    assert digamma(x) == pytest.approx(psi(x), rel=1e-13, abs=1e-14)


def test_zayatz() -> None:
    """Two rows alone and one class of two, of 8 persons, by hand: P(f = 1 | F = 1) = 1/2, P(f = 1 | F = 2) = 4/7.

    Then 2 (1/3) / (1/3 + 4/21) 2.
    """
    assert zayatz(sizes_of([1, 1, 2]), 8) == pytest.approx(2 * (1 / 3) / (1 / 3 + 4 / 21) * 2)
    rng = random.Random(3)
    for _ in range(20):
        sizes = [rng.choice([1, 1, 2, 3, 9]) for _ in range(rng.randrange(1, 30))]
        population = sum(sizes) + rng.randrange(1, 200)
        assert zayatz(sizes_of(sizes), population) == pytest.approx(float(oracle.zayatz(sizes, population)))
    assert zayatz(sizes_of([2, 3]), 50) == 0


@pytest.mark.thorough
def test_pitman_expects_what_seating_gives() -> None:
    """Where the likelihood is a maximum, E(S_1) is that of the process person by person.

    The maximum is found by comparison with its neighbours.
    """
    sizes = [1] * 12 + [2] * 4 + [3, 5, 9]
    found = pitman(sizes_of(sizes), 60)
    best = max(
        ((a / 100, t / 10) for a in range(1, 100) for t in range(-9, 200, 2) if t / 10 > -a / 100),
        key=lambda at: oracle.pitman_likelihood(sizes, *at),
    )
    assert found == pytest.approx(oracle.pitman_uniques(*best, 60), rel=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_pitman_has_the_largest_likelihood(seed: int) -> None:
    """SciPy's optimizer on the likelihood that is written out factor by factor."""
    from scipy.optimize import minimize

    rng = random.Random(seed)
    sizes = [1] * rng.randrange(10, 30) + [rng.choice([2, 2, 3, 4, 8, 15]) for _ in range(rng.randrange(5, 20))]
    ended = minimize(
        lambda at: -oracle.pitman_likelihood(sizes, at[0], math.exp(at[1]) - at[0]),
        (0.4, 2.0),
        method="Nelder-Mead",
        bounds=((0.001, 0.999), (-10, 12)),
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000},
    )
    alpha, theta = ended.x[0], math.exp(ended.x[1]) - ended.x[0]
    if not 0.01 < alpha < 0.99:
        assert pitman(sizes_of(sizes), 150) is None  # the largest is not inside
        return
    assert pitman(sizes_of(sizes), 150) == pytest.approx(oracle.pitman_uniques(alpha, theta, 150), rel=1e-4)


def test_estimators_without_a_solution() -> None:
    """All rows alone; no row alone; one class; all in one class: no number is made up."""
    for sizes in ([1, 1, 1], [5], [2, 2, 2], [1]):
        assert pitman(sizes_of(sizes), 100) is None
        assert snb(sizes_of(sizes), 100) is None
    found = estimate_uniques(sizes_of([1, 1, 1]), 100)
    assert (found.pitman, found.snb, found.rule) == (None, None, "zayatz")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_snb_solves_its_equations(seed: int) -> None:
    """The expected s_1 and s_2 of the estimate, as sums over the sizes of the population, are those of the sample."""
    from scipy.optimize import fsolve

    listed, population, uniques = sample(seed, 600, 0.8 + 0.3 * seed, 4, 0.3)
    sizes = sizes_of(listed)
    found, pi = snb(sizes, population), sizes.rows / population
    assert found is not None
    k = shlosser(sizes, pi)
    assert k is not None

    def off(at: np.ndarray) -> list[float]:
        alpha, beta = math.exp(at[0]), 1 / (1 + math.exp(-at[1]))
        one, two = oracle.snb_expected(k, alpha, beta, pi, 400)
        return [one / sizes.of(1) - 1, two / sizes.of(2) - 1]

    solved, _, flag, _ = fsolve(off, (0.0, -1.0), full_output=True)
    assert flag == 1
    assert found == pytest.approx(k / (1 + math.exp(-solved[1])) ** math.exp(solved[0]), rel=1e-4)
    assert found == pytest.approx(uniques, rel=0.6)  # an estimate


def test_shlosser_by_hand() -> None:
    """Two alone, one class of two, pi = 1/2: 3 + 2 (A / B) (C / D)^2."""
    a = 2 * 0.25 + 2 * 0.25 * 0.75
    b = 2 * 0.5 * 0.5 + 0.25 * 1.25
    c, d = 2 * 0.5 + 0.25, 2 * 0.5 + 2 * 0.5 * 0.5
    assert shlosser(sizes_of([1, 1, 2]), 0.5) == pytest.approx(3 + 2 * a / b * (c / d) ** 2)


@pytest.mark.thorough
def test_the_rule_of_dankar() -> None:
    """Pitman up to a tenth, beyond it the smaller of Zayatz and SNB."""
    people = np.repeat(np.arange(4000), np.minimum(np.random.default_rng(1).zipf(1.7, 4000), 500))
    population = len(people)
    for pi in (0.05, 0.4):
        drawn = np.random.default_rng(2).choice(people, int(pi * population), replace=False)
        listed = list(Counter(drawn.tolist()).values())
        found = estimate_uniques(sizes_of(listed), population)
        assert found.pitman is not None
        assert found.zayatz is not None
        assert found.snb is not None
        wanted = found.pitman if pi <= 0.1 else min(found.snb, found.zayatz)
        assert found.dankar == wanted
        assert getattr(found, str(found.rule)) == wanted
