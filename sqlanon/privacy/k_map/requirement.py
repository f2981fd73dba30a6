"""k-map (Sweeney 2002; El Emam and Dankar 2008).

Every published row could be of at least k rows of a population that has the source's.

It holds against a reader who does not know whether a person is in the table; who knows that is left with the rows of
the class, which may be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.privacy.base import Measured
from sqlanon.privacy.population import Line, OfPopulation
from sqlanon.spec import PrivacySpec

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class KMap(OfPopulation):
    """At least ``asked`` rows of the population in every published cell."""

    name: ClassVar[str] = "k_map"
    asked: Fraction
    column: str | None = None

    @classmethod
    def from_policy(cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]) -> Sequence[KMap]:
        limit = privacy.value("k_map")
        return [] if limit is None else [cls(Fraction(limit.k))]

    @property
    def line(self) -> Line:
        return Line(0, 1, int(self.asked))

    def judge(self, rows: Longs, population: Longs) -> Measured:
        """See `OfPopulation.judge`: the fewest rows of the population in a cell that is published."""
        published = population[rows > 0]
        fewest = int(published.min()) if len(published) else 0
        return Measured(Fraction(fewest), int((published < int(self.asked)).sum()))
