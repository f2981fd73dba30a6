"""Privacy models over persons by their definitions: exact, slow, and without the product's code.

``own`` are the rows of a class, ``everything`` those of the release: each a person, a value, and how many rows it is. A
person weighs one, split over its rows.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.oracle import models

Rows = Sequence[tuple[Any, Any, int]]
Meets = Callable[[Rows, Rows], bool]


def shares(rows: Rows) -> dict[Any, Fraction]:
    """The share of each value: the mean over persons of the part of their rows that have it."""
    owned: Counter[Any] = Counter()
    for person, _, n in rows:
        owned[person] += n
    found: dict[Any, Fraction] = defaultdict(Fraction)
    for person, value, n in rows:
        found[value] += Fraction(n, owned[person] * len(owned))
    assert sum(found.values()) == 1
    return dict(found)


def alpha(asked: Fraction, listed: Sequence[Any] | None = None) -> Meets:
    """No share above ``asked``."""
    return lambda own, _: all(
        share <= asked for value, share in shares(own).items() if listed is None or value in listed
    )


def recursive(c: Fraction, least: int) -> Meets:
    """r1 < c (r_l + ... + r_m)."""

    def meets(own: Rows, _: Rows) -> bool:
        r = sorted(shares(own).values())[::-1]
        return r[0] < c * sum(r[least - 1 :], Fraction(0))

    return meets


def entropy(least: Fraction) -> Meets:
    """The product of q^-q is at least l.

    Of integers, with all shares raised to the power of their common denominator, or by 200 digits.
    """

    def meets(own: Rows, _: Rows) -> bool:
        q = shares(own).values()
        whole = math.lcm(*(share.denominator for share in q))
        if whole < 10_000:
            numbers = [int(share * whole) for share in q]
            return whole**whole * least.denominator**whole >= least.numerator**whole * math.prod(n**n for n in numbers)
        with localcontext() as context:
            context.prec = 200
            parts = (Decimal(share.numerator) / Decimal(share.denominator) for share in q)
            asked = (Decimal(least.numerator) / Decimal(least.denominator)).ln()
            return sum((-part * part.ln() for part in parts), Decimal(0)) - asked > Decimal(10) ** -150

    return meets


def close(most: Fraction) -> Meets:
    """Half the sum of all differences of shares is at most t."""

    def meets(own: Rows, everything: Rows) -> bool:
        q, p = shares(own), shares(everything)
        return sum((abs(q.get(value, Fraction(0)) - share) for value, share in p.items()), Fraction(0)) / 2 <= most

    return meets


def near(most: Fraction, distance: Callable[[Sequence[Any]], Callable[[Any, Any], Fraction]]) -> Meets:
    """The earth mover's distance is at most t; ``distance`` makes one of the values of the whole release."""
    return lambda own, everything: (
        models.moved(shares(own), shares(everything), distance([row[1] for row in everything])) <= most
    )


def beta(most: Fraction, *, enhanced: bool) -> Meets:
    """(q - p) / p <= beta, or also <= -ln p, where q > p."""
    return models.beta(most, enhanced=enhanced, shares=shares)


def delta(most: Fraction, *, ignored: bool) -> Meets:
    """|log2(q / p)| < delta; a value that the class lacks has log 0."""
    return models.delta(most, ignored=ignored, shares=shares)
