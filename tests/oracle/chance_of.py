"""Exact intervals of a probability from how often something was seen, wrong with probability ALARM."""

from __future__ import annotations

import math

ALARM = 1e-6


def lower_bound(runs: int, with_victim: int, without: int, delta: float) -> float:
    """A lower bound on epsilon of an event that was seen so often, wrong with probability ALARM (Clopper, Pearson)."""
    high = binomial_end(runs, without, above=True)
    low = binomial_end(runs, with_victim, above=False)
    return math.log(max(low - delta, 1e-300) / high)


def binomial_end(runs: int, seen: int, *, above: bool) -> float:
    """One end of the interval of a probability, by bisection over the exact tail in logarithms."""

    def tail(p: float) -> float:
        spread = range(seen + 1) if above else range(seen, runs + 1)
        logs = [
            math.lgamma(runs + 1)
            - math.lgamma(x + 1)
            - math.lgamma(runs - x + 1)
            + x * math.log(p)
            + (runs - x) * math.log1p(-p)
            for x in spread
        ]
        return math.fsum(map(math.exp, logs))

    low, high = 1e-12, 1 - 1e-12
    for _ in range(50):
        middle = (low + high) / 2
        small = tail(middle) < ALARM / 2
        low, high = (low, middle) if small == above else (middle, high)
    return high if above else low
