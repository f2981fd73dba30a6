"""Common part of the models that bound the share of every value in a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlanon.declared import REQUIREMENTS
from sqlanon.declared.records import ByColumn
from sqlanon.engines.base import TableRef
from sqlanon.privacy.base import Coded, Grouped, Values
from sqlanon.privacy.counts import Counts, GroupShares, OfCounts
from sqlanon.privacy.fractions import at_least, at_most
from sqlanon.privacy.reference import count_reference, fresh_table, group_items
from sqlanon.spec import PrivacySpec
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Flags
    from sqlanon.kernels.tally import Tally

ONE = Fraction(1)
_NEAR = 1e-9
"""A gap within which doubles do not decide."""


@dataclass(frozen=True, slots=True)
class ShareBound:
    """Bound of the share of a value in a class.

    Attributes:
        most, least: bounds; ``least`` 0: none.
        strict: the share is below ``most`` and above ``least``, not equal.
    """

    most: Fraction = ONE
    least: Fraction = Fraction(0)
    strict: bool = False

    @property
    def exact(self) -> tuple[int, int, int, int]:
        """The bounds as pairs of 31 bits that decide alike: p and q of ``most``, of ``least``."""
        most = at_most(self.most, strict=self.strict) if self.most <= ONE else ONE
        least = at_least(self.least, strict=self.strict) if self.least > 0 else Fraction(0)
        return (*most.as_integer_ratio(), *least.as_integer_ratio())


def ratio_of(counts: Counts, index: int) -> tuple[Fraction, Fraction]:
    """Of one value in one class the share there by the share of the table, and the latter: exactly."""
    whole = counts.whole
    share = Fraction(int(whole[counts.value[index]]), int(whole.sum()))
    return Fraction(int(counts.n[index]), int(counts.size[index])) / share, share


class Shares(OfCounts):
    """No value of ``column`` has a share of a class beyond its bounds.

    Linear in the rows, so that unions of classes hold them too.
    """

    __slots__ = ()

    @property
    def between(self) -> bool:
        """Whether shares have lower bounds."""
        return False

    @property
    def absent_ignored(self) -> bool:
        """Whether a value that a class lacks is not compared with its lower bound."""
        return False

    @abstractmethod
    def bound(self, share: Fraction, text: str | None) -> ShareBound:
        """Bound of the share of a value with this share of the whole table, where it is known, and this text."""

    def beyond(self, ratio: Fraction, share: Fraction) -> bool:
        """Whether a value's share of a class, ``ratio`` times its table ``share``, is too far from it; for `over`."""
        raise NotImplementedError

    def over(self, counts: Counts, gap: Doubles, most: Doubles) -> Flags:
        """The values with a gap, in doubles, above ``most``.

        Where doubles do not decide, `beyond` does.
        """
        import numpy as np

        over = gap > most
        for group in np.flatnonzero(np.abs(gap - most) <= _NEAR * (1 + np.abs(gap))):
            over[group] = self.beyond(*ratio_of(counts, int(group)))
        return over

    def inside(self, shares: GroupShares) -> Doubles:
        import numpy as np

        text = _texts(shares.values, len(shares.reference))
        bounds = [self.bound(shares.table.get(v, Fraction(0)), value) for v, value in enumerate(text)]
        most = np.array([float(bound.most) for bound in bounds])[shares.value]
        least = np.array([float(bound.least) for bound in bounds])
        nearest = np.full(int(shares.group.max(initial=0)) + 1, np.inf)
        np.minimum.at(nearest, shares.group, np.minimum(most - shares.share, shares.share - least[shares.value]))
        if self.between and not self.absent_ignored:
            nearest[np.bincount(shares.group) < np.count_nonzero(least > 0)] = -1
        return nearest

    def holds(self, shares: Mapping[int, Fraction], table: Mapping[int, Fraction], values: Values | None) -> bool:
        text = _texts(values, max(shares) + 1)
        for value, share in shares.items():
            bound = self.bound(table.get(value, Fraction(0)), text[value])
            if not (bound.least <= share <= bound.most) or (bound.strict and share in (bound.least, bound.most)):
                return False
        return not self.between or self.absent_ignored or set(shares) == set(table)

    def tally(self, coded: Coded) -> Tally:
        import numpy as np

        from sqlanon.kernels.tally import Tally
        from sqlanon.privacy.kernels import shares as kernels

        codes, i = coded.codes[self.value], self.value
        whole = [int(n) for n in coded.whole[i]] if self.compares else [1] * codes
        total = sum(whole)
        text = _texts(coded.values[i] if self.reads_values else None, codes)
        bounds = [self.bound(Fraction(n, total), value).exact for n, value in zip(whole, text, strict=True)]
        if self.between:
            packed = np.array([codes, self.absent_ignored, *np.array(bounds, np.int64).T.ravel()], np.int64)
            return Tally(kernels.add_between, kernels.clear_between, coded.sensitive[i], 1, packed, 4 + codes)
        most = np.array(bounds, np.int64)[:, :2]
        if not self.within:
            packed = np.array([codes, 0, *most.T.ravel()], np.int64)
            return Tally(kernels.add_most, kernels.clear_most, coded.sensitive[i], 1, packed, 2 + codes)
        items, groups, values, value_of = group_items(coded, i, self.within)
        packed = np.array([values, 0, *most[value_of].T.ravel()], np.int64)
        counts = 1 + values + 2 * groups
        return Tally(kernels.add_most_within, kernels.clear_most_within, items, 2, packed, counts)

    def below(self, scratch: Scratch, failing: TableRef, rows: Grouped) -> None:
        reference = count_reference(scratch, rows, self.value)
        bounds = [
            (value, *self.bound(Fraction(n, reference.total), text).exact)
            for value, n, text in zip(reference.values, reference.rows, reference.texts, strict=True)
        ]
        columns = [("value", reference.type), *((name, "BIGINT") for name in ("p", "q", "least_p", "least_q"))]
        table = fresh_table(scratch, "bounds")
        scratch.engine.load_rows(table, columns, bounds)
        needed = 0
        if self.between and not self.absent_ignored:
            needed = sum(1 for bound in bounds if bound[3] > 0)
        scratch.execute(
            "privacy/below_shares",
            **rows.parameters(failing, self.value, self.within),
            bounds=table,
            needed=needed,
        )
        scratch.drop(table)


def _texts(values: Values | None, many: int) -> Sequence[str | None]:
    """The texts of values, where a model reads them; else so many that are not known."""
    return values.texts if values else [None] * many


Place = tuple[str, int, tuple[int, ...]]
"""A sensitive column, its place among them, and those within every combination of which it is looked at."""


def list_levels(privacy: PrivacySpec, name: str, sensitive: Sequence[str]) -> list[tuple[Any, Place]]:
    """Level for each column of a key that may be given by column; with ``joint`` once more within the other columns."""
    limits, declared = privacy.value(name), REQUIREMENTS[name]
    if limits is None:
        return []
    assert isinstance(declared.value, ByColumn)
    limits_at: list[tuple[Any, Place]] = [
        (value, (sensitive[i], i, ())) for i, value in declared.value.of(limits, sensitive)
    ]
    if privacy.joint and declared.joint:
        places = range(len(sensitive))
        limits_at += [
            (value, (column, i, tuple(j for j in places if j != i))) for value, (column, i, _) in list(limits_at)
        ]
    return limits_at
