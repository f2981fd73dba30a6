"""Bounds of sums of atoms over all tables of whole numbers that agree with what is published.

Linear programs propose, and integers decide. Where the best table of a program is not of whole numbers, the tables are
divided by one of its fractions, as in branch and bound; each part has a bound of its own, and the least of these holds.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.statistics.program import Box, Program, Solved
from sqlanon.statistics.seen import Narrowed, Seen, narrow

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

MOST_WEIGHT = 2**31
"""Weights of sums, at most."""
MOST_PARTS = 40
"""Into so many parts tables are divided for one end, at most; with more the bound is that of fractions."""
WHOLE = 1e-6
"""So near to a whole number is none for a fraction."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a sum.

    Attributes:
        value: no table leaves it; None: nothing bounds the sum.
        table: int64[atoms], a table that agrees with all shown cells and reaches it; None: none was found.
    """

    value: int | None
    table: Longs | None = None


class Reach:
    """The sums that readers can bound.

    Args:
        seen: the published cells.
        fixed: values of atoms that are known besides.
        seconds: how many are left, asked before each linear program.

    Raises:
        PolicyError: the cells contradict each other.

    Cost: for each end that sums of shown cells do not give a linear program, at most `MOST_PARTS` of them; each starts
        where the last one ended.
    """

    def __init__(
        self, seen: Seen, fixed: Mapping[int, int] | None = None, seconds: Callable[[], float] | None = None
    ) -> None:
        self._seen, self._seconds = seen, seconds
        self.narrowed: Narrowed = narrow(seen, fixed)
        if len(self.narrowed.wrong):
            raise ContradictionError(self.narrowed.wrong)
        self._free = np.flatnonzero(self.narrowed.low < self.narrowed.high)
        self._box = Box(self.narrowed.low[self._free], self.narrowed.high[self._free])
        self._program = Program(*self._build_rows())

    def within(self, seconds: Callable[[], float]) -> Reach:
        """The same; programs end when so many seconds are over."""
        self._seconds = seconds
        return self

    def bound(self, weight: Longs) -> tuple[End, End]:
        """The least and the greatest sum of the atoms with such weights.

        Args:
            weight: int64[atoms], at most `MOST_WEIGHT` each.

        Raises:
            UnsupportedError: HiGHS is needed, and not installed.
            PolicyError: the cells contradict each other.
        """
        known = self._sum_shown(weight)
        if known is not None:
            return End(known), End(known)
        return self.least(weight), self.greatest(weight)

    def least(self, weight: Longs) -> End:
        """The least such sum."""
        free = weight[self._free]
        fixed = int(sum(map(int, weight * self.narrowed.low))) - int(sum(map(int, free * self._box.low)))
        if not free.any():
            return End(fixed)
        found = self._search(free)
        table = None if found.table is None else self._whole(found.table)
        return End(None if found.value is None else found.value + fixed, table)

    def greatest(self, weight: Longs) -> End:
        """The greatest such sum."""
        found = self.least(-weight)
        return End(None if found.value is None else -found.value, found.table)

    def is_known(self, weight: Longs) -> bool:
        """Whether a sum follows from shown cells without a linear program."""
        return self._sum_shown(weight) is not None

    def _search(self, cost: Longs) -> End:
        """The least cost of the free atoms: parts of the tables, that with the least bound first."""
        whole, solved = self._box, self._solve(cost, self._box)
        if solved.table is None and self._program.contradicts(whole, solved.multipliers):
            raise ContradictionError(np.zeros(0, np.int64))
        bound = self._bound(cost, whole, solved, None)
        if bound is None:
            return End(None)
        order = itertools.count()
        parts = [(bound, False, next(order), whole, solved)]
        for _ in range(MOST_PARTS):
            if not parts:  # there are tables of fractions, and none of whole numbers
                raise ContradictionError(np.zeros(0, np.int64))
            bound, _, _, box, solved = heapq.heappop(parts)
            table, fraction = self._round(cost, bound, solved)
            if table is not None or fraction is None:
                return End(bound, table)
            assert solved.table is not None
            for half in box.cut(fraction, int(np.floor(solved.table[fraction]))):
                made = self._solve(cost, half)
                if made.table is None and self._program.contradicts(half, made.multipliers):
                    continue
                own = self._bound(cost, half, made, bound)
                assert own is not None
                heapq.heappush(parts, (own, self._round(cost, own, made)[0] is None, next(order), half, made))
        return End(parts[0][0] if parts else bound)

    def _bound(self, cost: Longs, box: Box, solved: Solved, above: int | None) -> int | None:
        """The best bound of a part: that of its multipliers, of its ends alone, or of the part that it is of."""
        tried = [solved.multipliers] if solved.table is not None else []
        bounds = [above, *(self._program.certify(cost, box, one) for one in (None, *tried))]
        return max((one for one in bounds if one is not None), default=None)

    def _round(self, cost: Longs, bound: int, solved: Solved) -> tuple[Longs | None, int | None]:
        """The table of a part if it is of whole numbers and reaches the bound, and an atom of it that is a fraction."""
        if solved.table is None:
            return None, None
        table = np.rint(solved.table).astype(np.int64)
        if int(cost @ table) == bound and self._program.has(table, self._box):
            return table, None
        away = np.abs(solved.table - table)
        place = int(np.argmax(away))
        return None, place if away[place] > WHOLE else None

    def _solve(self, cost: Longs, box: Box) -> Solved:
        return self._program.solve(cost, box, self._seconds)

    def _whole(self, free: Longs) -> Longs:
        made = self.narrowed.low.copy()
        made[self._free] = free
        return made

    def _sum_shown(self, weight: Longs) -> int | None:
        """The sum, where weights are one on atoms that shown cells divide among them, or on known atoms; else None."""
        left = weight.copy()
        left[self.narrowed.low == self.narrowed.high] = 0
        found = int(sum(map(int, (weight - left) * self.narrowed.low)))
        values = np.unique(left[left != 0])
        if len(values) > 1:
            return None
        if not len(values):
            return found
        inside = weight == values[0]
        covered = np.zeros(len(weight), bool)
        total = 0
        cells = len(self._seen.value)
        for row in sorted(self._seen.of, key=lambda one: len(np.unique(one))):
            listed = row >= 0
            size, own = (np.bincount(row[listed & some], minlength=cells) for some in (listed, inside & ~covered))
            whole = np.flatnonzero((size > 0) & (size == own) & (self._seen.value >= 0))
            total += int(self._seen.value[whole].sum())
            covered |= listed & np.isin(row, whole)
        rest = inside & ~covered
        if (left[rest] != 0).any():
            return None
        total += int(self.narrowed.low[rest].sum())
        others = ~inside & (weight != 0)
        return total * int(values[0]) + int(sum(map(int, weight[others] * self.narrowed.low[others])))

    def _build_rows(self) -> tuple[Longs, Longs]:
        """Shown cells over the free atoms, equal ones once.

        Returns:
            int64[margins, free atoms], the row of each; the last row is none. int64[rows], what is left for them.
        """
        seen, free = self._seen, self._free
        # Cells of equal sums are taken for one: where they are not, a bound is wider.
        marks = np.random.default_rng(0).integers(1, 2**62, len(free), dtype=np.int64)
        cells = len(seen.value)
        known: set[tuple[int, int]] = set()
        right: list[int] = []
        rows = np.full((len(seen.of), len(free)), -1, np.int64)
        for margin, of in enumerate(seen.of):
            least, sums = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
            listed = of >= 0
            np.add.at(least, of[listed], self.narrowed.low[listed])
            np.add.at(least, of[free][of[free] >= 0], -self._box.low[of[free] >= 0])
            inside = np.flatnonzero(of[free] >= 0)
            np.add.at(sums, of[free][inside], marks[inside])
            number = np.full(cells, -1, np.int64)
            for cell in np.unique(of[free][inside]):
                left = int(seen.value[cell] - least[cell])
                if seen.value[cell] >= 0 and (mark := (int(sums[cell]), left)) not in known:
                    known.add(mark)
                    number[cell] = len(right)
                    right.append(left)
            rows[margin, inside] = number[of[free][inside]]
        rows[rows < 0] = len(right)
        return rows, np.array(right, np.int64)


class ContradictionError(PolicyError):
    """No table has the published numbers.

    Attributes:
        cells: some whose numbers no table has; empty: they are not known.
    """

    def __init__(self, cells: Longs) -> None:
        super().__init__("the published numbers contradict each other: no table has all of them")
        self.cells = cells
