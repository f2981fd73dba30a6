"""Costs of mechanisms together: never below an independent accountant, and at most 1.15 times what it says.

The figures are those of dp-accounting 0.6.0 (privacy loss distributions, discretized by 1e-4, pessimistic), for delta
1e-6; `test_against_the_accountant` makes them anew where it is installed, as its pins do not fit this environment.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from sqlanon.noisy.accounting import Law, Mechanism, rho_of, total_epsilon

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


def made(asked: list[tuple[Law, str, int]]) -> list[Mechanism]:
    return [Mechanism(law, Fraction(cost)) for law, cost, times in asked for _ in range(times)]


@pytest.mark.parametrize("name", KNOWN)
def test_cost_is_at_most_115_percent_of_the_accountants_and_never_below(name: str) -> None:
    asked, known = KNOWN[name]
    charged = float(total_epsilon(made(asked), DELTA))
    assert known * (1 - 1e-6) <= charged <= 1.15 * known


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
    for name, (asked, known) in KNOWN.items():
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
