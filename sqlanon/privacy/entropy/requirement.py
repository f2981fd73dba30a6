"""Entropy l-diversity (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007, definition 4.1).

H(values in a class) >= log l.

It is monotone: entropy is concave, so that a union's is at least the mean of its parts'. Methods compare integers (see
`sqlanon.privacy.entropy.logarithms`): a class whose entropy is log l exactly meets it, one that is above by less than
2e-6 bits may be refused, one below is not accepted. `EntropyDiversity.measure` uses 60 digits where doubles do not
decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.privacy.base import Coded, Grouped, Measured, Requirement, Values
from sqlanon.privacy.counts import Counts, GroupShares, OfCounts
from sqlanon.privacy.diversity.requirement import FrequencyDiversity
from sqlanon.privacy.entropy import logarithms
from sqlanon.privacy.fractions import at_most, compute_logarithm
from sqlanon.privacy.reference import fresh_table, group_items
from sqlanon.privacy.shares import list_levels
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles
    from sqlanon.kernels.tally import Tally

_NEAR = 1e-9
"""Nats within which doubles do not decide."""
_DIGITS = Context(prec=60)
_EQUAL = Decimal(10) ** -40
"""Rounding error at 60 digits of a difference of zero."""
_EQUAL_SHARES = Fraction(1, 10**60)
"""The same of 80 digits."""


@dataclass(frozen=True, slots=True)
class EntropyDiversity(OfCounts):
    """The entropy of ``column`` in a class is at least that of ``asked`` equally frequent values."""

    name: ClassVar[str] = "entropy_l"
    compares: ClassVar[bool] = True  # for the number of rows, up to which logarithms are needed
    asked: Fraction
    column: str
    value: int
    within: tuple[int, ...] = ()

    @classmethod
    def from_policy(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[EntropyDiversity]:
        """One per sensitive column that is asked about, and one more each if joint."""
        return [cls(limit, *place) for limit, place in list_levels(privacy, cls.name, sensitive)]

    def in_best_form(self, values: int) -> Requirement:
        """See `Requirement.in_best_form`: with shares p and 1 - p the entropy falls in the larger one."""
        if values != 2 or self.asked > 2:
            return self
        return FrequencyDiversity(1 / at_most(_larger_share(self.asked)), self.column, self.value, self.within)

    @property
    def _asked(self) -> tuple[int, int]:
        """The logarithm of the level asked, and the error of a row."""
        return logarithms.of_fraction(self.asked), logarithms.bound_error(self.asked)

    def tally(self, coded: Coded) -> Tally:
        import numpy as np

        from sqlanon.kernels.tally import Tally
        from sqlanon.privacy.entropy import kernels

        items, groups, values, _ = group_items(coded, self.value, self.within)
        rows = int(np.sum(coded.whole[self.value]))
        bounds = np.concatenate([np.array([groups, values, *self._asked], np.int64), logarithms.make_table(rows + 1)])
        return Tally(kernels.add_entropy, kernels.clear_entropy, items, 2, bounds, 1 + values + 2 * groups)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`. The logarithms are those of the numbers of rows that there are."""
        import numpy as np

        sizes, numbers = fresh_table(scratch, "sizes"), fresh_table(scratch, "numbers")
        shared: dict[str, object] = {
            "rows": rows.table,
            "groups": list(rows.groups),
            "within": [rows.names[i] for i in self.within],
            "value": rows.names[self.value],
            "count": rows.count,
        }
        scratch.execute("privacy/value_sizes", None, made=sizes, **shared)
        distinct_sizes = [read_integer(row[0]) for row in scratch.fetch("privacy/sizes", sizes=sizes)]
        n = np.array(distinct_sizes, np.int64)
        logs = logarithms.make_table(max(distinct_sizes, default=0))
        scratch.engine.load_arrays(numbers, {"n": n, "log": logs[n]})
        least, error = self._asked
        places = [f"g{i}" for i in range(1, len(rows.groups) + len(self.within) + 1)]
        scratch.execute(
            "privacy/below_entropy",
            made=failing,
            sizes=sizes,
            numbers=numbers,
            groups=list(rows.groups),
            places=places,
            least=least,
            error=error,
        )
        for table in (sizes, numbers):
            scratch.drop(table)

    def inside(self, shares: GroupShares) -> Doubles:
        import numpy as np

        return shares.sums(-shares.share * np.log(shares.share)) - math.log(self.asked)

    def holds(self, shares: Mapping[int, Fraction], table: Mapping[int, Fraction], values: Values | None) -> bool:
        """See `OfCounts.holds`; by 80 digits."""
        entropy = sum((-share * compute_logarithm(share) for share in shares.values()), Fraction(0))
        return entropy - compute_logarithm(self.asked) > -_EQUAL_SHARES

    def judge(self, counts: Counts) -> Measured:
        """See `OfCounts.judge`: e to the least entropy, so many equally frequent values."""
        import numpy as np

        share = counts.share
        entropy = -np.add.reduceat(share * np.log(share), counts.start)
        least = float(np.log(float(self.asked)))
        fails = entropy < least
        # No class falls short of one value.
        near = np.abs(entropy - least) < _NEAR if self.asked > 1 else np.zeros(len(entropy), np.bool_)
        verdicts: dict[tuple[int, ...], bool] = {}
        for group in np.flatnonzero(near):
            past = counts.start[group + 1] if group + 1 < len(counts.start) else len(counts.n)
            group_counts = tuple(sorted(map(int, counts.n[counts.start[group] : past])))
            common = math.gcd(*group_counts)
            group_counts = tuple(n // common for n in group_counts)
            if group_counts not in verdicts:
                verdicts[group_counts] = self._falls_short(group_counts)
            fails[group] = verdicts[group_counts]
        failing = int(np.count_nonzero(fails))
        reached = Fraction(float(np.exp(entropy.min()))).limit_denominator(10**9)
        # Doubles may be on the other side of what was asked.
        return Measured(max(reached, self.asked) if not failing else reached, failing)

    def _falls_short(self, group_counts: Sequence[int]) -> bool:
        """Whether N log N - sum of n log n is less than N log l, by 60 digits."""
        total = sum(group_counts)
        with localcontext(_DIGITS):
            limit = Decimal(self.asked.numerator).ln() - Decimal(self.asked.denominator).ln()
            above = total * (Decimal(total).ln() - limit) - sum(n * Decimal(n).ln() for n in group_counts)
            return above < -_EQUAL * total


def _larger_share(level: Fraction) -> Fraction:
    """The largest share of one of two values whose entropy is the logarithm of the level asked, from 1 to 2.

    It is not above the exact one, and less than 2^-80 below it.
    """
    least, low, high = compute_logarithm(level), Fraction(1, 2), Fraction(1)
    if level == 1:
        return high
    while high - low > Fraction(1, 2**80):
        middle = (low + high) / 2
        entropy = -sum((share * compute_logarithm(share) for share in (middle, 1 - middle)), Fraction(0))
        low, high = (middle, high) if entropy >= least else (low, middle)
    return low
