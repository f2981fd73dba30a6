"""Sums and averages of a column over cells of a release of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.query.answer import Bounded
from sqlanon.query.counts.release import ReleasedSum
from sqlanon.query.counts.system import QuerySystem
from sqlanon.statistics.reach import End

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MOST_ROUNDS = 20
"""Tables of better averages, at most."""
MOST_PRODUCT = 2**60
"""Numbers of programs stay below it."""


class SumReader:
    """Bounds of sums and averages of one column.

    Args:
        system: all that the release publishes.
        column: the column's place among the sums.
        total: the column's sums.
    """

    def __init__(self, system: QuerySystem, column: int, total: ReleasedSum) -> None:
        self._system, self._column, self._one = system, column, total

    def sum(self, atoms: Longs) -> Bounded:
        """The sum of some finest cells, each with a weight of 1."""
        low, high = self._system.sums(self._column, atoms)
        exact = low.value is not None and low.value == high.value
        ends = [None if end.value is None else self._scale(end.value) for end in (low, high)]
        known_ends = [end for end in ends if end is not None]
        middle = self._middle(low, high) if len(known_ends) == 2 else (known_ends[0] if known_ends else None)
        tight = exact or (self._system.tight and low.table is not None and high.table is not None)
        return Bounded(middle, ends[0], ends[1], tight, exact)

    def average(self, atoms: Longs) -> Bounded:
        """The average of some finest cells.

        Ends of the sum and of the number of rows bound it apart (Charnes and Cooper 1962, "Programming with linear
        fractional functionals"). Rows and sums together say more: an end is the number for which the least sum above
        so much for each row is 0, which tables of better averages approach (Dinkelbach 1967, "On nonlinear fractional
        programming").

        Args:
            atoms: the finest cells, each with a weight of 1.
        """
        (low, high), (few, many) = self._system.sums(self._column, atoms), self._system.rows(atoms)
        fewest, most = few.value, many.value
        unit, of = 10**self._one.scale, self._one.of
        least, greatest = Fraction(of.low), Fraction(of.high)
        if low.value is not None:
            rows = fewest if low.value < 0 else most
            least = max(least, Fraction(low.value, rows)) if rows else least
        if high.value is not None:
            rows = most if high.value < 0 else fewest
            greatest = min(greatest, Fraction(high.value, rows)) if rows else greatest
        tight = False
        if least < greatest and fewest and most is not None and None not in (low.value, high.value):
            ratio = Ratio(self._system, self._column, atoms, (fewest, most))
            tables = [end.table for end in (low, high, few, many) if end.table is not None]
            (least, met), (greatest, also) = ratio.improve(least, tables, 1), ratio.improve(greatest, tables, -1)
            tight = self._system.tight and met and also
        exact = least == greatest
        ends = least / unit, greatest / unit
        middle = float((ends[0] + ends[1]) / 2)
        if exact:
            return Bounded(middle, middle, middle, True, True)
        return Bounded(middle, _below(ends[0]), _above(ends[1]), tight, False)

    def _scale(self, units: int) -> Any:  # noqa: ANN401 - a whole number or a decimal
        return Decimal(units).scaleb(-self._one.scale) if self._one.scale else units

    def _middle(self, low: End, high: End) -> Any:  # noqa: ANN401
        assert low.value is not None
        assert high.value is not None
        return self._scale((low.value + high.value) // 2)


class Ratio:
    """The ends of an average over tables of rows and sums.

    Args:
        system: all that the release publishes.
        column: the column's place among the sums.
        atoms: the finest cells, each with a weight of 1.
        rows: the least and the greatest number of their rows; the least is 1 or more.
    """

    def __init__(self, system: QuerySystem, column: int, atoms: Longs, rows: tuple[int, int]) -> None:
        self._system, self._rows, weight = system, rows, system.spread(atoms)
        self._of_rows = system.joint.rows(weight)
        self._of_sums = system.joint.sums(column, weight)

    def improve(self, bound: Fraction, tables: Sequence[Longs], sign: int) -> tuple[Fraction, bool]:
        """A closer end than one that holds, and whether a table of whole numbers has it.

        Args:
            bound: the end.
            tables: tables that agree with all that is published.
            sign: 1: the least average; -1: the greatest.
        """
        averages = [sign * self._average(table) for table in tables]
        nearest = min(averages, default=None)
        for _ in range(MOST_ROUNDS):
            if nearest is None or nearest <= sign * bound:
                return bound, nearest == sign * bound
            end = self._excess(nearest, sign)
            if end is None or end.value is None:
                return bound, False
            if end.value >= 0:
                return sign * nearest, True
            # Each table has at least so much less for all of its rows.
            bound = sign * max(sign * bound, nearest + Fraction(end.value, self._rows[0] * nearest.denominator))
            if end.table is None or sign * self._average(end.table) >= nearest:
                return bound, False
            nearest = sign * self._average(end.table)
        return bound, False

    def _average(self, table: Longs) -> Fraction:
        sums, rows = (sum(a * b for a, b in zip(of.tolist(), table.tolist(), strict=True) if a) for of in self._weights)
        return Fraction(sums, rows)

    @property
    def _weights(self) -> tuple[Longs, Longs]:
        return self._of_sums, self._of_rows

    def _excess(self, average: Fraction, sign: int) -> End | None:
        """The least sum above an average for each row, times the denominator; None: the numbers are too large."""
        over, under = average.denominator, average.numerator
        largest = over * int(np.abs(self._of_sums).max(initial=0)) + abs(under)
        if largest * max(self._rows[1], 1) * max(self._system.joint.widths) >= MOST_PRODUCT:
            return None
        return self._system.reach.least(sign * over * self._of_sums - under * self._of_rows)


def _below(value: Fraction) -> float:
    """A number at most as large."""
    converted = float(value)
    return converted if Fraction(converted) <= value else math.nextafter(converted, -math.inf)


def _above(value: Fraction) -> float:
    """A number at least as large."""
    converted = float(value)
    return converted if Fraction(converted) >= value else math.nextafter(converted, math.inf)
