"""Sums and averages of a column over cells of a release of counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.query.answer import Bounded
from sqlanon.query.counts.released import ReleasedCounts, ReleasedSum
from sqlanon.query.counts.shown_cells import read_sums
from sqlanon.statistics.reach import End, Reach
from sqlanon.statistics.seen import SeenColumn

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.engines.base import Engine

    Longs = npt.NDArray[np.int64]


class SumReader:
    """Bounds of sums and averages of one column.

    Args:
        engine: the database.
        released: the release.
        columns: those of the table that is asked.
        one: the column's sums.
        seconds: time left, in seconds.
    """

    def __init__(
        self,
        engine: Engine,
        released: ReleasedCounts,
        columns: Sequence[SeenColumn],
        total: ReleasedSum,
        seconds: Callable[[], float],
    ) -> None:
        self._one, self._shifted = total, read_sums(engine, released, columns, total)
        key = ("sum reach", total.name, tuple(column.name for column in columns))
        self._reach: Reach = released.once(key, lambda: Reach(self._shifted.seen)).within(seconds)

    def sum(self, atoms: Longs) -> Bounded:
        """The sum of some atoms, each with a weight of 1."""
        low, high = self._shifted.bound(self._reach, atoms)
        exact = low.value is not None and low.value == high.value
        ends = [None if end.value is None else self._scale(end.value) for end in (low, high)]
        known_ends = [end for end in ends if end is not None]
        middle = self._middle(low, high) if len(known_ends) == 2 else (known_ends[0] if known_ends else None)
        return Bounded(middle, ends[0], ends[1], exact, exact)

    def average(self, atoms: Longs, counts: tuple[End, End]) -> Bounded:
        """The average of some atoms.

        Sums and numbers of rows are bounded apart; the quotients of their ends are the ends of the average, but for
        the range of a row, which bounds it as well (Charnes and Cooper 1962, "Programming with linear fractional
        functionals": over a product of two polytopes the optimum is at two such ends).

        Args:
            atoms: the atoms, each with a weight of 1.
            counts: the ends of their number of rows.
        """
        low, high = self._shifted.bound(self._reach, atoms)
        fewest, most = (end.value for end in counts)
        unit, of = 10**self._one.scale, self._one.of
        least, greatest = Fraction(of.low), Fraction(of.high)
        if low.value is not None:
            rows = fewest if low.value < 0 else most
            least = max(least, Fraction(low.value, rows)) if rows else least
        if high.value is not None:
            rows = most if high.value < 0 else fewest
            greatest = min(greatest, Fraction(high.value, rows)) if rows else greatest
        exact = least == greatest
        ends = least / unit, greatest / unit
        middle = float((ends[0] + ends[1]) / 2)
        if exact:
            return Bounded(middle, middle, middle, True, True)
        return Bounded(middle, _below(ends[0]), _above(ends[1]), False, False)

    def _scale(self, units: int) -> Any:  # noqa: ANN401 - a whole number or a decimal
        return Decimal(units).scaleb(-self._one.scale) if self._one.scale else units

    def _middle(self, low: End, high: End) -> Any:  # noqa: ANN401
        assert low.value is not None
        assert high.value is not None
        return self._scale((low.value + high.value) // 2)


def _below(value: Fraction) -> float:
    """A number at most as large."""
    converted = float(value)
    return converted if Fraction(converted) <= value else math.nextafter(converted, -math.inf)


def _above(value: Fraction) -> float:
    """A number at least as large."""
    converted = float(value)
    return converted if Fraction(converted) >= value else math.nextafter(converted, math.inf)
