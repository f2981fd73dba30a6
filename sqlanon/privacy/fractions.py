"""Bounds on shares as fractions of few bits that decide exactly as the bounds do.

A share n / N has a denominator of at most `MOST`. So it is below a bound, rational or not, exactly where it is below
the largest fraction with such a denominator below the bound; and products of two such numbers fit 64 bits.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

MOST = 2**31 - 1
"""Rows of a class, at most."""

EXACT = Context(prec=80)
"""Digits of irrational numbers: far more than two different fractions can share."""


def at_most(bound: Fraction, *, strict: bool = False) -> Fraction:
    """The largest fraction with a denominator of at most `MOST` that is not above (with ``strict``: is below) a bound.

    >>> at_most(Fraction(1, 3)), at_most(Fraction(10**12, 3 * 10**12 + 1)) < Fraction(1, 3)
    (Fraction(1, 3), True)
    """
    if bound.denominator > MOST:
        return _neighbours(bound)[0]
    if not strict:
        return bound
    # The fraction before a / b in the Farey sequence: c / d with a d - b c = 1 and the largest d.
    a, b = bound.numerator, bound.denominator
    d = pow(a, -1, b) if b > 1 else 0
    d += (MOST - d) // b * b
    return Fraction((a * d - 1) // b, d)


def at_least(bound: Fraction, *, strict: bool = False) -> Fraction:
    """The least fraction with a denominator of at most `MOST` that is not below (with ``strict``: is above) a bound."""
    return -at_most(-bound, strict=strict)


def _neighbours(x: Fraction) -> tuple[Fraction, Fraction]:
    """The two neighbours, below and above, of a fraction with a large denominator.

    Their denominators are at most `MOST`.
    """
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = x.numerator, x.denominator
    while True:
        a = n // d
        if q0 + a * q1 > MOST:
            break
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
        n, d = d, n - a * d
    k = (MOST - q0) // q1
    low, high = sorted((Fraction(p1, q1), Fraction(p0 + k * p1, q0 + k * q1)))
    return low, high


def power_of_two(exponent: Fraction) -> Fraction:
    """2 to the power of a fraction; of a whole number exactly."""
    if exponent.denominator == 1:
        return Fraction(2) ** exponent.numerator
    number = EXACT.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(EXACT.power(Decimal(2), number))


def compute_logarithm(x: Fraction) -> Fraction:
    """The natural logarithm, to 80 digits."""
    number = EXACT.divide(Decimal(x.numerator), Decimal(x.denominator))
    return Fraction(number.ln(EXACT))
