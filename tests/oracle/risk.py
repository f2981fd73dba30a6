"""Privacy models and risks of a table by their definitions, on Python values.

No code of the product, and none of NumPy.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.oracle.models import equal, ordered, shares, transport

Rows = Sequence[dict[str, Any]]


def classes(rows: Rows, quasi: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Rows by their quasi values; None is a value."""
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append(row)
    return list(found.values())


def models(rows: Rows, quasi: Sequence[str], column: str, *, is_ordered: bool) -> dict[tuple[str, str], Any]:
    """What the worst class reaches, by model and form; None: whatever is asked, a class fails."""
    everything = [row[column] for row in rows]
    own = [[row[column] for row in members] for members in classes(rows, quasi)]
    p = shares(everything)
    found: dict[tuple[str, str], Any] = {
        ("distinct_l", ""): min(len(set(values)) for values in own),
        ("l", ""): min(1 / max(shares(values).values()) for values in own),
        ("alpha", ""): max(max(shares(values).values()) for values in own),
        ("entropy_l", ""): min(
            math.exp(-sum(float(q) * math.log(q) for q in shares(values).values())) for values in own
        ),
    }
    for c in (1, 3):
        found["recursive_cl", f"l for c={c}"] = min(_largest_l(values, c) for values in own)
    found["t", "equal"] = max(transport(values, everything, equal) for values in own)
    if is_ordered:
        found["t", "ordered"] = max(transport(values, everything, ordered(everything)) for values in own)
    gains = [(q / p[value] - 1, p[value]) for values in own for value, q in shares(values).items()]
    top = max((gain for gain, _ in gains if gain > 0), default=Fraction(0))
    found["beta", "basic"] = top
    above = any(gain > 0 and float(gain) > -math.log(share) for gain, share in gains)
    found["beta", "enhanced"] = None if above else top
    logs = [abs(math.log2(q / p[value])) for values in own for value, q in shares(values).items()]
    found["delta_disclosure", "absent ignored"] = max(logs)
    lacks = any(len(set(values)) < len(p) for values in own)
    found["delta_disclosure", "absent violates"] = None if lacks else max(logs)
    return found


def _largest_l(values: Sequence[Any], c: int) -> int:
    counts = sorted(Counter(values).values(), reverse=True)
    return max((i for i in range(1, len(counts) + 1) if counts[0] < c * sum(counts[i - 1 :])), default=0)


def prosecutor(rows: Rows, quasi: Sequence[str], person: str | None = None) -> list[Fraction]:
    """Of each row 1 / the rows, or the persons, of its class."""
    return [
        Fraction(1, len(members) if person is None else len({row[person] for row in members}))
        for members in classes(rows, quasi)
        for _ in members
    ]


def journalist(rows: Rows, population: Rows, quasi: Sequence[str]) -> tuple[list[Fraction], list[Fraction]]:
    """For each row 1 / the persons of the population in its class.

    The second result is the same for each person with a class in the table.
    """

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in quasi)

    held = Counter(map(key, population))
    here = {key(row) for row in rows}
    return [Fraction(1, held[key(row)]) for row in rows], [
        Fraction(1, held[key(row)]) for row in population if key(row) in here
    ]


def zayatz(sizes: Sequence[int], population: int) -> Fraction:
    """Bayes' rule with hypergeometric probabilities of whole numbers."""
    n, u = sum(sizes), len(sizes)
    counts = Counter(sizes)

    def once(i: int) -> Fraction:
        return Fraction(i * math.comb(population - i, n - 1), math.comb(population, n))

    total = sum((Fraction(s, u) * once(i) for i, s in counts.items()), Fraction(0))
    given = Fraction(counts[1], u) * once(1) / total
    return counts[1] * given * Fraction(population, n)


def pitman_likelihood(sizes: Sequence[int], alpha: float, theta: float) -> float:
    """The logarithm of Pitman's sampling formula, factor by factor, without what does not depend on the parameters."""
    n, u = sum(sizes), len(sizes)
    found = sum(math.log(theta + i * alpha) for i in range(1, u)) - sum(math.log(theta + i) for i in range(1, n))
    return found + sum(math.log(i - alpha) for size in sizes for i in range(1, size))


def pitman_uniques(alpha: float, theta: float, population: int) -> float:
    """E(S_1) by seating one person after the other.

    The expected number of classes of one grows with a new class, and shrinks with a joined one.

    The probabilities of a new class depend on the number of classes, so the distribution of both numbers is followed.
    """
    state = {(1, 1): 1.0}
    for m in range(1, population):
        after: dict[tuple[int, int], float] = defaultdict(float)
        for (u, alone), p in state.items():
            after[u + 1, alone + 1] += p * (theta + u * alpha) / (theta + m)
            after[u, alone - 1] += p * alone * (1 - alpha) / (theta + m)
            after[u, alone] += p * (m - alone - (u - alone) * alpha) / (theta + m)
        state = {key: p for key, p in after.items() if p}
    return sum(p * alone for (_, alone), p in state.items())


def snb_expected(k: float, alpha: float, beta: float, pi: float, most: int = 3000) -> tuple[float, float]:
    """E(s_1) and E(s_2).

    Sums over the population's sizes of the negative binomial's and the binomial's probabilities.
    """
    one = two = 0.0
    for size in range(1, most):
        x = size - 1
        log = math.lgamma(alpha + x) - math.lgamma(alpha) - math.lgamma(x + 1) + alpha * math.log(beta)
        p = math.exp(log + x * math.log1p(-beta))
        one += p * size * pi * (1 - pi) ** (size - 1)
        two += p * math.comb(size, 2) * pi**2 * (1 - pi) ** (size - 2)
    return k * one, k * two


def individual(f: int, p: float, most: int = 200_000) -> float:
    """E(1 / F | f) as the sum over F of the negative binomial's probabilities."""
    total, chance = 0.0, p**f
    for size in range(f, f + most):
        total += chance / size
        chance *= size / (size - f + 1) * (1 - p)
    return total
