"""delta-disclosure privacy (Brickell and Shmatikov 2008): |log2(q / p)| < delta for every value.

p is the share of a value in all published rows, q in a class. A class that lacks a value has log 0: it violates the
definition, unless the policy says ``absent: ignored``. It is monotone where absent values violate: q lies between two
bounds for every value, and the share in a union is between those in its parts. Where they are ignored it is not: of two
classes one lacks a value, the other has just enough of it, and the union has too little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sqlanon.privacy.base import Measured
from sqlanon.privacy.counts import Counts
from sqlanon.privacy.fractions import power_of_two
from sqlanon.privacy.shares import ShareBound, Shares, list_levels
from sqlanon.spec import PrivacySpec

INFINITE = Fraction(1000)
"""Reported value of a class without a value of the table: |log2| is infinite; no other reaches 31 bits."""


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(Shares):
    """The share of every value of ``column`` in a class is within a factor 2^asked of its share of the table."""

    name: ClassVar[str] = "delta_disclosure"
    compares: ClassVar[bool] = True
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...]
    ignored: bool
    of_source: bool = False

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[DeltaDisclosure]:
        """One per sensitive column that is asked about."""
        limits = list_levels(privacy, cls.name, sensitive)
        return [cls(limit.max, *place, limit.absent == "ignored") for limit, place in limits]

    @property
    def monotone(self) -> bool:
        return not self.ignored

    @property
    def between(self) -> bool:
        return True

    @property
    def absent_ignored(self) -> bool:
        return self.ignored

    def bound(self, share: Fraction, text: str | None) -> ShareBound:
        factor = power_of_two(min(self.asked, Fraction(64)))
        return ShareBound(share * factor, share / factor, strict=True)

    def reaches(self, value: Fraction) -> bool:
        return value < self.asked

    def judge(self, counts: Counts) -> Measured:
        """See `OfCounts.judge`: the largest |log2(q / p)|."""
        import numpy as np

        share = counts.reference
        gap = np.abs(np.log2(counts.share / share[counts.value]))
        fails = counts.some(self.over(counts, gap, np.full(len(gap), float(self.asked)))) > 0
        lacks = counts.some(np.ones(len(gap), np.bool_)) < len(share)
        if not self.ignored:
            fails |= lacks
        reached = Fraction(float(gap.max())).limit_denominator(10**9)
        if not self.ignored and lacks.any():
            reached = INFINITE
        return Measured(reached, int(np.count_nonzero(fails)))

    def beyond(self, ratio: Fraction, share: Fraction) -> bool:
        factor = power_of_two(min(self.asked, Fraction(64)))
        return ratio >= factor or ratio * factor <= 1
