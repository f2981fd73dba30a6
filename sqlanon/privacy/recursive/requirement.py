"""Recursive (c, l)-diversity (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007, definition 4.2).

With r1 >= r2 >= ... the rows of the values in a class, r1 < c (r_l + r_{l+1} + ... + r_m). It is monotone: in a union
r1 is at most the sum of the parts' r1, and so are the rows of the l - 1 most frequent values; the rest is then at
least the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import TableRef
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement, Values
from sqlanon.privacy.counts import Counts, GroupShares, OfCounts
from sqlanon.privacy.diversity.requirement import FrequencyDiversity
from sqlanon.privacy.fractions import at_most
from sqlanon.privacy.reference import group_items
from sqlanon.privacy.shares import list_levels
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles
    from sqlanon.kernels.tally import Tally


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(OfCounts):
    """The most frequent value of ``column`` is rarer than ``c`` times those from the l-th on.

    The measured number is l, for this c.
    """

    name: ClassVar[str] = "recursive_cl"
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...]
    c: Fraction

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[RecursiveDiversity]:
        """One per sensitive column that is asked about, and one more each if joint."""
        return [cls(Fraction(limit.l), *place, limit.c) for limit, place in list_levels(privacy, cls.name, sensitive)]

    def in_best_form(self, values: int) -> Requirement:
        """See `Requirement.in_best_form`: of any number of values, where l is 1 or 2.

        From the first value on there are all N rows, from the second on N - r1: r1 < c N, and r1 < N c / (1 + c).
        """
        if self.asked > 2:
            return self
        bound = self.c if self.asked == 1 else self.c / (1 + self.c)
        share = at_most(bound, strict=True) if bound <= 1 else Fraction(1)
        return FrequencyDiversity(1 / share, self.column, self.value, self.within) if share > 0 else self

    def tally(self, coded: Coded) -> Tally:
        import numpy as np

        from sqlanon.kernels.tally import Tally
        from sqlanon.privacy.recursive import kernels

        items, groups, values, _ = group_items(coded, self.value, self.within)
        least = int(self.asked)
        bounds = np.array([*self.c.as_integer_ratio(), least, groups, values], np.int64)
        counts = 1 + groups * (kernels.OWN + least - 1) + 2 * values
        return Tally(kernels.add_recursive, kernels.clear_recursive, items, 2, bounds, counts)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        p, q = self.c.as_integer_ratio()
        scratch.execute(
            "privacy/below_recursive",
            **rows.parameters(failing, self.value, self.within),
            least=int(self.asked),
            p=p,
            q=q,
        )

    def inside(self, shares: GroupShares) -> Doubles:
        import numpy as np

        groups = np.bincount(shares.group)
        share = shares.share[np.lexsort((-shares.share, shares.group))]  # in each group, the largest first
        place = np.arange(len(share)) - (np.cumsum(groups) - groups)[shares.group]
        top = shares.sums(np.where(place == 0, share, 0))
        rest = shares.sums(np.where(place >= int(self.asked) - 1, share, 0))
        c = float(self.c)
        return (c * rest - top) / max(c, 1)

    def holds(self, shares: Mapping[int, Fraction], table: Mapping[int, Fraction], values: Values | None) -> bool:
        falling = sorted(shares.values(), reverse=True)
        return falling[0] < self.c * sum(falling[int(self.asked) - 1 :], Fraction(0))

    def judge(self, counts: Counts) -> Measured:
        """See `OfCounts.judge`: the largest l that every class reaches with this c; 0 where a class reaches none."""
        import numpy as np

        p, q = self.c.as_integer_ratio()
        group = np.repeat(np.arange(len(counts.start)), np.diff(np.append(counts.start, len(counts.n))))
        n = counts.n[np.lexsort((-counts.n, group))]  # within each class, the most frequent first
        before = np.concatenate([[0], np.cumsum(n)[:-1]])
        # r_l + ... + r_m for every l: the class without what comes before.
        tail = counts.size - (before - before[counts.start][group])
        reached = counts.some(n[counts.start][group] * q < tail * p)  # the tail falls with l
        return Measured(Fraction(int(reached.min())), int(np.count_nonzero(reached < int(self.asked))))
