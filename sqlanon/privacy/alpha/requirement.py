"""(alpha, k)-anonymity (Wong, Li, Fu and Wang 2006): in a class, the share of a sensitive value is at most alpha.

The paper asks it of one value, or of every value of a list; without a list it is asked of all, NULL among them. It is
monotone: the share in a union is between those in its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from sqlanon.engines.base import TableRef
from sqlanon.privacy.base import Grouped, Measured, Shape, Values
from sqlanon.privacy.counts import Counts
from sqlanon.privacy.shares import ShareBound, Shares, list_levels
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Alpha(Shares):
    """No value of ``column`` is more than ``asked`` of a class, or none of ``listed``."""

    name: ClassVar[str] = "alpha"
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...] = ()
    listed: tuple[str, ...] = ()

    @classmethod
    def from_policy(cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]) -> Sequence[Alpha]:
        """One per sensitive column that is asked about, and one more each if joint."""
        limits = list_levels(privacy, cls.name, sensitive)
        return [
            cls(limit.max, *place, listed=limit.values if isinstance(limit.values, tuple) else ())
            for limit, place in limits
        ]

    @property
    def shape(self) -> Shape:
        """See `Requirement.shape`: of all values it is frequency l-diversity with l = 1 / alpha."""
        if self.listed:
            return Shape("other")
        return Shape("frequency", self.asked.denominator, self.asked.numerator, self.value, self.within)

    @property
    def reads_values(self) -> bool:
        return bool(self.listed)

    def refusal(self, values: Values) -> str | None:
        """A value that is nowhere is rather one that is spelled otherwise."""
        missing = len(set(self.listed) - {text for text in values.texts if text is not None})
        if not missing:
            return None
        return (
            f"alpha of {self.column}: {missing} of the listed values occur in no row; list values as the database "
            "writes them as text"
        )

    def bound(self, share: Fraction, text: str | None) -> ShareBound:
        return ShareBound(self.asked) if not self.listed or text in self.listed else ShareBound()

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`; where values are hashes, no value may be above alpha, listed or not."""
        if self.listed and rows.values:
            return super(Alpha, self).below(scratch, failing, rows)
        return scratch.execute(
            "privacy/below_values",
            **rows.parameters(failing, self.value, self.within),
            distinct=None,
            p=self.asked.denominator,
            q=self.asked.numerator,
        )

    def of_hashes(self) -> Alpha:
        """See `OfCounts.of_hashes`: of all values."""
        return replace(self, listed=())

    def judge(self, counts: Counts) -> Measured:
        """See `OfCounts.judge`: the largest share of a value that is asked about."""
        import numpy as np

        is_listed = np.ones(len(counts.n), np.bool_)
        if self.listed:
            assert counts.values is not None
            is_listed = np.array([text in self.listed for text in counts.values.texts], np.bool_)[counts.value]
        n, size = counts.n[is_listed], counts.size[is_listed]
        if not len(n):
            return Measured(Fraction(0), 0)
        worst = int(np.argmax(n / size))
        over = is_listed.copy()
        over[is_listed] = n * self.asked.denominator > size * self.asked.numerator
        failing = int(np.count_nonzero(counts.some(over)))
        return Measured(Fraction(int(n[worst]), int(size[worst])), failing)
