"""beta-likeness (Cao and Karras 2012): how much a class may raise the share of a value.

With p the share of a value in all published rows and q > p its share in a class: (q - p) / p <= beta (basic), or <=
min(beta, -ln p) (enhanced). It is monotone: of every value q is bounded by p (1 + beta), or by p (1 + min(beta, -ln
p)), and the share in a union is between those in its parts. -ln p is taken to 80 digits, so that shares of whole rows
are compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sqlanon.privacy.base import Measured
from sqlanon.privacy.counts import Counts
from sqlanon.privacy.fractions import compute_logarithm
from sqlanon.privacy.shares import ShareBound, Shares, list_levels, ratio_of
from sqlanon.spec import PrivacySpec


@dataclass(frozen=True, slots=True)
class BetaLikeness(Shares):
    """No value of ``column`` gains more than ``asked`` times its share of the table."""

    name: ClassVar[str] = "beta"
    compares: ClassVar[bool] = True
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...]
    enhanced: bool
    of_source: bool = False

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[BetaLikeness]:
        """One per sensitive column that is asked about."""
        limits = list_levels(privacy, cls.name, sensitive)
        return [cls(limit.max, *place, limit.kind == "enhanced") for limit, place in limits]

    def bound(self, share: Fraction, text: str | None) -> ShareBound:
        gain = self.asked
        if self.enhanced and share > 0:
            gain = min(gain, -compute_logarithm(share))
        return ShareBound(share * (1 + gain))

    def judge(self, counts: Counts) -> Measured:
        """See `OfCounts.judge`: the largest gain."""
        import numpy as np

        share = counts.reference
        gain = counts.share / share[counts.value] - 1
        most = np.full(len(share), float(self.asked))
        if self.enhanced:
            most = np.minimum(most, -np.log(share))
        over = self.over(counts, gain, most[counts.value])
        ratio, _ = ratio_of(counts, int(np.argmax(gain)))
        return Measured(max(ratio - 1, Fraction(0)), int(np.count_nonzero(counts.some(over))))

    def beyond(self, ratio: Fraction, share: Fraction) -> bool:
        gain = ratio - 1
        return gain > 0 and (gain > self.asked or (self.enhanced and gain > -compute_logarithm(share)))
