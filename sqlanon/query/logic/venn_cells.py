"""The exact numbers of rows of a class that may satisfy a condition, by counting rows over the cells of a Venn diagram.

A cell is a combination of values of a row in the columns of a condition: for each column with a box a kind of values,
all of which decide the condition alike, and the rest that exact columns leave of the condition, which is known of every
row. The values that a class attains are at least so many rows of each kind. Columns are independent of one another, so
that every placement of rows in cells that agrees with these numbers is a consistent source, and the least and the
largest number of rows in cells that satisfy the condition are the bounds: nothing narrower is sound.

They are found by a dynamic program over the attained values that no row has yet: each row takes a value of each column.
Rows of a sort are alike, so that more rows than attained values change only their number: `Cells` counts them up to
there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ends: TypeAlias = npt.NDArray[np.float64]

MOST_STATES = 5_000
"""Combinations of attained values that are still without a row, for a class."""
MOST_ATTAINED = 60
"""Most attained values of a class."""
MOST_CELLS = 200
"""Cells of a condition."""


@dataclass(frozen=True)
class Cells:
    """Parameters that determine how many rows of a class satisfy a condition.

    Attributes:
        rows: the number of rows of each sort that the condition leaves open, then that of all other rows of the class;
            larger numbers than ``most`` are equal to it.
        reach: for each column, the kinds of values in the box.
        attained: for each column, the number of attained values of each kind.
    """

    rows: tuple[int, ...]
    reach: tuple[tuple[bool, ...], ...]
    attained: tuple[tuple[int, ...], ...]

    @property
    def most(self) -> int:
        """The number of attained values."""
        return sum(map(sum, self.attained))

    @property
    def few(self) -> bool:
        """Whether they are within the limits, `MOST_STATES` and `MOST_ATTAINED`."""
        states = math.prod(count + 1 for column in self.attained for count in column)
        return states <= MOST_STATES and self.most <= MOST_ATTAINED


@dataclass
class Solver:
    """Counts the rows of classes that satisfy a condition.

    Args:
        good: for each sort of rows the cells that satisfy the rest of the condition: of each column the number of a
            kind of values.
    """

    good: Sequence[frozenset[tuple[int, ...]]]
    _known: dict[tuple[object, ...], tuple[Ends, Ends]] = field(default_factory=dict)

    def solve(self, cells: Cells) -> tuple[int, int]:
        """The least and the largest number of rows that satisfy the condition, over all consistent sources.

        Cost: a step for each different number of rows, of as many operations as there are cells and states.

        Raises:
            ValueError: no source agrees with these numbers.
        """
        ends = self._after(cells.rows, cells.reach, cells.attained)
        low, high = (float(end.flat[-1]) for end in ends)
        if math.isinf(low):
            raise ValueError("no placement of rows has all attained values")
        return int(low), int(high)

    def alone(self, sort: int, reach: tuple[tuple[bool, ...], ...]) -> tuple[int, int]:
        """Whether a row of a sort that has to take no attained value must satisfy the condition, and may."""
        cells = itertools.product(*([i for i, kind in enumerate(kinds) if kind] for kinds in reach))
        is_good = [cell in self.good[sort] for cell in cells]
        return int(all(is_good)), int(any(is_good))

    def _after(
        self, rows: tuple[int, ...], reach: tuple[tuple[bool, ...], ...], attained: tuple[tuple[int, ...], ...]
    ) -> tuple[Ends, Ends]:
        """The numbers that the first rows can have, for every number of attained values that they must cover."""
        import numpy as np

        key = (rows, reach, attained)
        if key in self._known:
            return self._known[key]
        index = next((i for i, count in enumerate(rows) if count), None)
        if index is None:
            shape = [count + 1 for column in attained for count in column]
            ends = np.full(shape, np.inf), np.full(shape, -np.inf)
            for end in ends:
                end.flat[0] = 0.0
        else:
            fewer = (*rows[:index], rows[index] - 1, *rows[index + 1 :])
            good = self.good[index] if index < len(self.good) else frozenset()
            ends = _add_row(self._after(fewer, reach, attained), good, reach)
        self._known[key] = ends
        return ends


def _add_row(
    before: tuple[Ends, Ends], good: frozenset[tuple[int, ...]], reach: tuple[tuple[bool, ...], ...]
) -> tuple[Ends, Ends]:
    """The numbers with another row, which may be in each cell that the boxes reach."""
    import numpy as np

    first = [0, *itertools.accumulate(map(len, reach))]
    ends: list[Ends] = []
    for end, better in zip(before, (np.minimum, np.maximum), strict=True):
        best: Ends | None = None
        for cell in itertools.product(*([i for i, kind in enumerate(kinds) if kind] for kinds in reach)):
            covered = end
            for start, kind in zip(first, cell, strict=False):
                covered = _cover(covered, start + kind)
            covered = covered + 1.0 if cell in good else covered
            best = covered if best is None else better(best, covered)
        ends.append(end if best is None else best)
    return ends[0], ends[1]


def _cover(end: Ends, axis: int) -> Ends:
    """The numbers where a value of a kind need not be covered any more."""
    import numpy as np

    if end.shape[axis] == 1:
        return end
    places = np.maximum(np.arange(end.shape[axis]) - 1, 0)
    return np.take(end, places, axis=axis)
