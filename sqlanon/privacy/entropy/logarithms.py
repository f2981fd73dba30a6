"""Additive logarithms as integers.

The number of a product is the sum of the numbers of its factors, as with real logarithms.

Each prime has log2(p) times 2^26, rounded; every other number is made of these. So equal products have equal
numbers, and numbers that differ by more than `ERROR` a factor differ by their logarithms. n times the number of n fits
64 bits for n below 2^31.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

SCALE = 1 << 26
"""1 bit."""


@lru_cache(maxsize=2)
def make_table(most: int) -> Longs:
    """The numbers of 0 (which has 0) to ``most``. Cost: about 30 ms for a million."""
    import numpy as np

    logs = np.zeros(most + 1, np.int64)
    rest_of = np.arange(most + 1, dtype=np.int64)
    p = 2
    while p * p <= most:
        if rest_of[p] == p:  # a prime: no smaller one divides it
            log, power = _of_prime(p), p
            while power <= most:
                logs[power::power] += log
                rest_of[power::power] //= p
                power *= p
        p += 1
    rest = rest_of > 1  # what no prime up to the root divides is a prime
    logs[rest] += np.rint(np.log2(rest_of[rest].astype(np.float64)) * SCALE).astype(np.int64)
    return logs


def factorize(number: int) -> int:
    """The number of a whole number, by trial division."""
    total, p = 0, 2
    while p * p <= number:
        while number % p == 0:
            total += _of_prime(p)
            number //= p
        p += 1 + (p > 2)
    return total + (_of_prime(number) if number > 1 else 0)


def of_fraction(number: Fraction) -> int:
    """The number of a fraction: of its numerator, less that of its denominator."""
    return factorize(number.numerator) - factorize(number.denominator)


def bound_error(number: Fraction) -> int:
    """How far the difference of an entropy and the logarithm of this fraction can be off, per row, in the same units.

    Half a unit for each prime factor of rows (fewer than 31 of any count of rows; twice, as counts and their sum are
    compared), and for those of the fraction.
    """
    factors = sum(part.bit_length() for part in number.as_integer_ratio())
    return 31 + -(-factors // 2)


def _of_prime(p: int) -> int:
    import numpy as np

    return int(np.rint(np.log2(np.float64(p)) * SCALE))
