"""Costs of mechanisms together: never below an independent accountant, and at most 1.15 times what it says.

The figures are those of dp-accounting 0.6.0 (privacy loss distributions, discretized by 1e-4, pessimistic), for delta
1e-6; `test_against_the_accountant` makes them anew where it is installed, as its pins do not fit this environment.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from sqlanon.noisy.accounting import Law, Mechanism, rho_of, total_epsilon
from sqlanon.noisy.smooth import smooth_epsilon, smooth_rho

DELTA = Fraction(1, 10**6)
KNOWN: dict[str, tuple[list[tuple[Law, str, int]], float]] = {
    "one Laplace": ([("laplace", "1", 1)], 1.0),
    "ten Laplace": ([("laplace", "1/10", 10)], 0.9993709057),
    "a year of Laplace": ([("laplace", "1/50", 365)], 1.6723383193),
    "large Laplace": ([("laplace", "1/2", 30)], 13.9520075396),
    "some Laplace": ([("laplace", "1/2", 8)], 3.9999556266),
    "one Gaussian": ([("gaussian", "244/10000", 1)], 0.9282945015),
    "a year of Gaussian": ([("gaussian", "1/10000", 365)], 1.1534567724),
    "both": ([("laplace", "1/20", 30), ("gaussian", "1/200", 3)], 1.3656820911),
}
"""Mechanisms, how many of each, and the larger of the accountant's figures for discrete and continuous noise."""

MIXED: dict[str, tuple[list[tuple[Law, str, int]], float]] = {
    "one Laplace and one Gaussian": ([("laplace", "1", 1), ("gaussian", "1/50", 1)], 1.8200608352),
    "nights of Laplace and quarters of Gaussian": ([("laplace", "1/50", 365), ("gaussian", "1/20", 4)], 3.4728230052),
    "many kinds": (
        [
            ("laplace", "1/10", 7),
            ("laplace", "1/7", 5),
            ("laplace", "1/3", 2),
            ("gaussian", "1/100", 6),
            ("gaussian", "1/1000", 10),
        ],
        2.9757318455,
    ),
    "large": ([("laplace", "1", 10), ("gaussian", "1/2", 3)], 18.0548381837),
    "small": ([("laplace", "1/1000", 100), ("gaussian", "1/100000", 5)], 0.0487875743),
    "both": KNOWN["both"],
}
"""The same, of both laws."""


def made(asked: list[tuple[Law, str, int]]) -> list[Mechanism]:
    return [Mechanism(law, Fraction(cost)) for law, cost, times in asked for _ in range(times)]


@pytest.mark.parametrize("name", KNOWN)
def test_cost_is_at_most_115_percent_of_the_accountants_and_never_below(name: str) -> None:
    asked, known = KNOWN[name]
    charged = float(total_epsilon(made(asked), DELTA))
    assert known * (1 - 1e-6) <= charged <= 1.15 * known


def gaussian(law: Law, cost: str, times: int, numbers: int = 10) -> list[Mechanism]:
    """Gaussian mechanisms of large scales, whose continuous rho is next to theirs."""
    return [Mechanism(law, Fraction(cost), Fraction(cost) * Fraction(1_000_001, 1_000_000), numbers)] * times


@pytest.mark.parametrize("name", ["one Gaussian", "a year of Gaussian", "both"])
def test_gaussian_noise_of_known_scales_costs_what_the_accountant_says(name: str) -> None:
    asked, known = KNOWN[name]
    found = [one for part in asked for one in (gaussian(*part) if part[0] == "gaussian" else made([part]))]
    charged = float(total_epsilon(found, DELTA))
    # The accountant rounds losses up to 1e-4, so that its own figures are too large by some millionths.
    assert known * (1 - 1e-5) <= charged <= 1.001 * known
    assert charged <= float(total_epsilon(made(asked), DELTA))


@pytest.mark.parametrize("name", MIXED)
def test_both_laws_together_cost_what_the_accountant_says(name: str) -> None:
    asked, known = MIXED[name]
    found = [one for part in asked for one in (gaussian(*part) if part[0] == "gaussian" else made([part]))]
    # The accountant rounds each loss up to 1e-4, and ours are rounded up to a part in 2,000 of the whole.
    assert known * (1 - 1e-5) <= float(total_epsilon(found, DELTA)) <= 1.002 * known


@pytest.mark.parametrize("epsilons", [["1/2"] * 8, ["1/10", "1/3", "1/3", "1", "3/2"], ["1/20"] * 12])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**9)])
def test_laplace_mechanisms_cost_what_all_answers_of_randomized_response_say(
    epsilons: list[str], delta: Fraction
) -> None:
    sizes = [float(Fraction(one)) for one in epsilons]

    def brute_delta(epsilon: float) -> float:
        total = 0.0
        for answers in itertools.product((0, 1), repeat=len(sizes)):
            p = math.prod(
                (math.exp(e) if one else 1) / (1 + math.exp(e)) for e, one in zip(sizes, answers, strict=True)
            )
            q = math.prod(
                (1 if one else math.exp(e)) / (1 + math.exp(e)) for e, one in zip(sizes, answers, strict=True)
            )
            total += max(0.0, p - math.exp(epsilon) * q)
        return total

    charged = float(total_epsilon(made([("laplace", one, 1) for one in epsilons]), delta))
    assert brute_delta(charged) <= float(delta)
    assert charged == 0 or brute_delta(charged * 0.995) > float(delta)


def exact_delta(epsilon: float, scale: float, shifts: tuple[int, ...]) -> float:
    """The delta of discrete Gaussian noise on a vector, added up over all answers."""
    reach = range(-40, 41)
    laws = []
    for shift in (0, *shifts):
        weights = [math.exp(-((at - shift) ** 2) / (2 * scale**2)) for at in reach]
        laws.append([one / math.fsum(weights) for one in weights])
    pairs = [list(zip(laws[0], other, strict=True)) for other in laws[1:]]
    return math.fsum(
        max(0.0, math.prod(p for p, _ in one) - math.exp(epsilon) * math.prod(q for _, q in one))
        for one in itertools.product(*pairs)
    )


@pytest.mark.parametrize("scale", ["5/4", "3/2", "2", "3", "5"])
@pytest.mark.parametrize("shifts", [(1,), (-3,), (1, 1), (2, -1)])
def test_the_cost_of_discrete_noise_is_never_below_its_own(scale: str, shifts: tuple[int, ...]) -> None:
    size = Fraction(scale)
    rho = smooth_rho([sum(one**2 for one in shifts)], [size])
    assert rho is not None
    for delta in (1e-2, 1e-4, 1e-7):
        epsilon = smooth_epsilon(rho, len(shifts), delta)
        assert exact_delta(epsilon, float(size), shifts) <= delta


@pytest.mark.parametrize("scale", [1.25, 1.5, 2.0])
def test_the_law_of_continuous_noise_is_below_the_cost_of_discrete_noise(scale: float) -> None:
    shift, more = 1 / scale, 0.0
    for step in range(1, 120):
        epsilon = step / 20
        above, below = (math.erfc((epsilon / shift + at) / math.sqrt(2)) / 2 for at in (-shift / 2, shift / 2))
        exact = exact_delta(epsilon, scale, (1,))
        if exact > 1e-9:
            more = max(more, exact / (above - math.exp(epsilon) * below))
    assert more > 1.3


def test_noise_of_a_small_scale_has_no_continuous_law() -> None:
    assert smooth_rho([1], [Fraction(1)]) is None


def test_without_delta_epsilons_add_up_exactly() -> None:
    assert total_epsilon(made([("laplace", "1/10", 10), ("laplace", "1/3", 1)]), Fraction(0)) == Fraction(4, 3)
    with pytest.raises(ValueError, match="without a delta"):
        total_epsilon(made([("gaussian", "1/10", 1)]), Fraction(0))


def test_nothing_costs_nothing_and_more_costs_more() -> None:
    assert total_epsilon([], DELTA) == 0
    mixed = made([("laplace", "1/20", 12), ("gaussian", "1/50", 3), ("laplace", "1/2", 5)])
    costs = [total_epsilon(mixed[:n], DELTA) for n in range(len(mixed) + 1)]
    assert costs == sorted(costs)


@pytest.mark.parametrize("epsilon", ["1/100", "1/2", "1", "4", "20"])
def test_the_rho_of_an_epsilon_costs_that_epsilon(epsilon: str) -> None:
    asked = Fraction(epsilon)
    cost = total_epsilon([Mechanism("gaussian", rho_of(asked, DELTA))], DELTA)
    assert asked * Fraction(999, 1000) < cost <= asked


@pytest.mark.thorough
def test_against_the_accountant() -> None:
    found = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for name, (asked, known) in (KNOWN | MIXED).items():
        if name == "one Laplace":
            continue
        largest = 0.0
        for discrete in (True, False):
            total = None
            for law, cost, times in asked:
                size = float(Fraction(cost))
                if law == "gaussian":
                    one = found.from_gaussian_mechanism((1 / (2 * size)) ** 0.5, value_discretization_interval=1e-4)
                elif discrete:
                    one = found.from_discrete_laplace_mechanism(size, 1, value_discretization_interval=1e-4)
                else:
                    one = found.from_laplace_mechanism(1 / size, value_discretization_interval=1e-4)
                one = one.self_compose(times)
                total = one if total is None else total.compose(one)
            largest = max(largest, total.get_epsilon_for_delta(1e-6))
        assert largest == pytest.approx(known, rel=1e-4), name
