"""Discrete Laplace and Gaussian noise from random integers alone, after Canonne, Kamath, Steinke 2020, Section 5.

No floating-point number and no code of the product or of OpenDP: an oracle for the noise that is published.
"""

from __future__ import annotations

import secrets
from fractions import Fraction


def _happens(chance: Fraction) -> bool:
    """An event of this probability."""
    return secrets.randbelow(chance.denominator) < chance.numerator


def _happens_exp(rate: Fraction) -> bool:
    """An event of probability exp(-rate), of a rate of at least 0 (there, Algorithm 1)."""
    while rate > 1:
        if not _happens_exp(Fraction(1)):
            return False
        rate -= 1
    tried = 1
    while _happens(rate / tried):
        tried += 1
    return tried % 2 == 1


def draw_laplace(scale: Fraction) -> int:
    """An integer with probability proportional to exp(-|x| / scale) (there, Algorithm 2)."""
    top, bottom = scale.numerator, scale.denominator
    while True:
        part = secrets.randbelow(top)
        if not _happens_exp(Fraction(part, top)):
            continue
        whole = 0
        while _happens_exp(Fraction(1)):
            whole += 1
        size = (part + top * whole) // bottom
        negative = secrets.randbelow(2) == 1
        if size or not negative:
            return -size if negative else size


def draw_gaussian(scale: Fraction) -> int:
    """An integer with probability proportional to exp(-x^2 / (2 scale^2)) (there, Algorithm 3)."""
    wide = Fraction(int(scale) + 1)
    while True:
        drawn = draw_laplace(wide)
        if _happens_exp((abs(drawn) - scale**2 / wide) ** 2 / (2 * scale**2)):
            return drawn
