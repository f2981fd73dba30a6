"""(alpha, k)-anonymity (Wong, Li, Fu and Wang 2006): in a class, the share of a sensitive value is at most alpha.

The paper asks it of one value, or of every value of a list; without a list it is asked of all, NULL among them. It is monotone: the
share in a union is between those in its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.privacy.base import Grouped, Measured, Values
from sqlanon.privacy.counts import Counts, counted, texts
from sqlanon.privacy.shares import Bound, Shares, each_asked
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
    def asked_by(
        cls, privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...]
    ) -> Sequence[Alpha]:
        """One per sensitive column that is asked about, and one more each if joint."""
        found = each_asked(privacy, cls.name, sensitive)
        return [
            cls(one.max, *place, listed=one.values if isinstance(one.values, tuple) else ())
            for one, place in found
        ]

    @property
    def reads_values(self) -> bool:
        """See `Requirement.reads_values`."""
        return bool(self.listed)

    def refusal(self, values: Values) -> str | None:
        """A value that is nowhere is rather one that is spelled otherwise."""
        missing = len(set(self.listed) - {text for text in values.texts if text is not None})
        if not missing:
            return None
        return f"alpha of {self.column}: {missing} of the listed values occur in no row; list values as the database writes them as text"

    def bound(self, share: Fraction, text: str | None) -> Bound:
        """See `Shares.bound`."""
        return Bound(self.asked) if not self.listed or text in self.listed else Bound()

    def below(self, scratch: Scratch, made: TableRef, rows: Grouped) -> None:
        """See `Requirement.below`; where values are hashes, no value may be above alpha, listed or not."""
        if self.listed and rows.values:
            return super(Alpha, self).below(scratch, made, rows)
        return scratch.execute(
            "privacy/below_values", made=made, rows=rows.table, groups=list(rows.groups), within=[rows.names[i] for i in self.within],
            value=rows.names[self.value], count=rows.count, distinct=None, p=self.asked.denominator, q=self.asked.numerator,
        )  # fmt: skip

    def measure(
        self, engine: Engine, target: TableRef, classes: Sequence[str], names: Sequence[str], count: str | None = None,
        persons: Sequence[str] = (),
    ) -> Measured:  # fmt: skip
        """See `Requirement.measure`: the largest share."""
        import numpy as np

        if not self.listed:
            return super(Alpha, self).measure(engine, target, classes, names, count)
        by = [*classes, *(names[i] for i in self.within)]
        found = counted(engine, target, by, names[self.value], count)
        shown = texts(engine, target, names[self.value])
        return self._judged(found, np.array([text in self.listed for text in shown], np.bool_)[found.value])

    def judged(self, found: Counts) -> Measured:
        """See `OfCounts.judged`: the largest share of any value."""
        import numpy as np

        return self._judged(found, np.ones(len(found.n), np.bool_))

    def _judged(self, found: Counts, asked: npt.NDArray[np.bool_]) -> Measured:
        """The largest share of those that are asked about."""
        import numpy as np

        n, size = found.n[asked], found.size[asked]
        if not len(n):
            return Measured(Fraction(0), 0)
        worst = int(np.argmax(n / size))
        over = asked.copy()
        over[asked] = n * self.asked.denominator > size * self.asked.numerator
        failing = int(np.count_nonzero(found.some(over)))
        return Measured(Fraction(int(n[worst]), int(size[worst])), failing)
