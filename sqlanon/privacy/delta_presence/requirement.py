"""delta-presence (Nergiz, Atzori and Clifton 2007): min <= P(t in T | T*) <= max for every row t of the population.

In a cell of n published rows and m rows of the population the probability is n / m; rows of the population in no
published cell have 0, so that min above 0 needs cells that cover the population. Bounds of cells are bounds of their
union, whose share is a mean of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.privacy.base import Measured
from sqlanon.privacy.population import Line, OfPopulation, share
from sqlanon.spec import PrivacySpec

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class DeltaPresence(OfPopulation):
    """The probability of being in the table is at most ``asked``."""

    name: ClassVar[str] = "delta_presence"
    least: ClassVar[bool] = False
    asked: Fraction
    column: str | None = None

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[DeltaPresence]:
        """Both bounds; a lower one of 0 asks for nothing."""
        bounds = privacy.value("delta_presence")
        if bounds is None:
            return []
        return [DeltaPresence(bounds.max), *([LeastPresence(bounds.min)] if bounds.min > 0 else [])]

    @property
    def at_most(self) -> bool:
        return not self.least

    @property
    def monotone(self) -> bool:
        return True

    @property
    def line(self) -> Line:
        """See `OfPopulation.line`: rows / population <= p / q, or >=."""
        p, q = self.asked.as_integer_ratio()
        return Line(q, -p, 0, everywhere=True) if self.least else Line(-q, p, 0)

    def judge(self, rows: Longs, population: Longs) -> Measured:
        """See `OfPopulation.judge`.

        It is the largest share of a cell, or the least, which is 0 if rows of the population are in no cell.
        """
        import numpy as np

        cells, times = np.unique(np.stack([rows, population]), axis=1, return_counts=True)
        shares = [share(int(n), int(m)) for n, m in cells.T]
        failing = sum(int(n) for share, n in zip(shares, times, strict=True) if not self.reaches(share))
        return Measured((min if self.least else max)(shares, default=Fraction(0)), failing)


class LeastPresence(DeltaPresence):
    """The probability is at least ``asked``."""

    __slots__ = ()
    name: ClassVar[str] = "delta_presence, least"
    least: ClassVar[bool] = True
