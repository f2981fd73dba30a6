"""Finds rows of equal codes in different classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.shared.threads import spread

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Ints


@dataclass(frozen=True, slots=True)
class EqualRows:
    """Rows with codes that some other row has as well.

    Attributes:
        number: int32[m], their numbers, group after group.
        begins: bool[m], where a group begins.
    """

    number: Ints
    begins: Flags

    @classmethod
    def of(cls, rows: TreeRows, threads: int = 1) -> Self:
        """The groups, of rows in an order where equal rows are neighbours. Cost: O(n d)."""
        words = rows.codes.view(np.uint64)  # several codes are compared at a time; lanes are a multiple of 8
        same = np.zeros(len(words) + 1, np.bool_)
        same[1:-1] = True

        def compare(start: int, stop: int) -> None:
            for column in words[max(start - 1, 0) : stop].T:
                same[max(start, 1) : stop] &= column[1:] == column[:-1]

        spread(compare, len(words), threads)
        rest = same[:-1] | same[1:]
        return cls(rows.number[rest], ~same[:-1][rest])

    def list_divided(self, classes: Ints) -> Ints:
        """The numbers of all rows of the groups that ``classes`` (int32[n], by number) divides."""
        of = classes[self.number]
        apart = ~self.begins
        apart[1:] &= of[1:] != of[:-1]
        group = np.cumsum(self.begins) - 1
        is_equal = np.zeros(len(group), np.bool_)
        is_equal[group[apart]] = True
        numbers: Ints = self.number[is_equal[group]]
        return numbers
