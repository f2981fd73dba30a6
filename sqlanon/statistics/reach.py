"""Bounds sums of atoms over all tables of whole numbers that agree with the published cells.

Linear programs propose, and integers decide. Where the best table of a program has fractions, the tables are divided at
a fraction, as in branch and bound; each part has a bound, and the least of these holds.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.statistics.blocks import Block, block_of, divide
from sqlanon.statistics.program import Box, ProgramResult
from sqlanon.statistics.reader_cells import AtomRanges, SeenCells, narrow
from sqlanon.statistics.rows import build_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


MOST_WEIGHT = 2**31
"""Weights of sums, at most."""
MOST_PARTS = 40
"""Tables are divided into at most so many parts for an end; beyond that the bound is that of fractions."""
WHOLE = 1e-6
"""So near to a whole number is none for a fraction."""


@dataclass(frozen=True, slots=True)
class End:
    """An end of a sum.

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
        seconds: time left in seconds, asked before each linear program.
        whole: tables have whole numbers. Else tables of fractions are taken too: bounds hold and may be wider, and that
            a table reaches one is not known.

    Raises:
        PolicyError: the cells contradict each other.

    Cost: for each end that sums of shown cells do not give a linear program of the atoms that shown cells connect, at
        most `MOST_PARTS` of them; each starts where the last program ended.
    """

    def __init__(
        self,
        seen: SeenCells,
        fixed: Mapping[int, int] | None = None,
        seconds: Callable[[], float] | None = None,
        *,
        whole: bool = True,
    ) -> None:
        self._seen, self._seconds, self._is_whole = seen, seconds, whole
        self.narrowed: AtomRanges = narrow(seen, fixed)
        if len(self.narrowed.wrong):
            raise ContradictionError(self.narrowed.wrong)
        self._free = np.flatnonzero(self.narrowed.low < self.narrowed.high)
        box = Box(self.narrowed.low[self._free], self.narrowed.high[self._free])
        rows, sums, self._cells, links = build_rows(seen, self._free, self.narrowed.low)
        self._blocks = divide(rows, sums, box, links)
        self._block_of = np.full(len(self.narrowed.low), -1, np.int64)
        self._block_of[self._free] = block_of(self._blocks, len(self._free))
        self._place = np.full(len(self.narrowed.low), -1, np.int64)
        for block in self._blocks:
            self._place[self._free[block.atoms]] = np.arange(len(block.atoms))

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
        known_total = self._sum_shown(weight)
        if known_total is not None:
            return End(known_total), End(known_total)
        return self.least(weight), self.greatest(weight)

    def least(self, weight: Longs) -> End:
        """The least such sum."""
        places = np.flatnonzero(weight)
        value, solution = self._least_of(places, weight[places])
        return End(value, self._whole(solution) if solution is not None and value is not None else None)

    def greatest(self, weight: Longs) -> End:
        """The greatest such sum."""
        end = self.least(-weight)
        return End(None if end.value is None else -end.value, end.table)

    def span(self, atoms: Longs) -> tuple[int, int | None, bool]:
        """The least and the greatest sum of some atoms, and whether tables of their blocks reach both."""
        ones = np.ones(len(atoms), np.int64)
        low, first = self._least_of(atoms, ones)
        high, last = self._least_of(atoms, -ones)
        assert low is not None
        if high is None:  # an atom of no shown cell, which has any number
            return low, None, first is not None
        return low, -high, low == -high or (first is not None and last is not None)

    def keep(self, table: Longs) -> None:
        """Remember a table that has all shown cells, so that ends that it reaches need no program."""
        for block in self._blocks:
            block_table = table[self._free[block.atoms]]
            if block.program.has(block_table, block.box):
                block.keep(block_table)

    def blocks_of(self, atoms: Longs) -> set[int]:
        """The blocks that some atoms are in; other blocks say nothing about them."""
        blocks = self._block_of[atoms]
        return set(blocks[blocks >= 0].tolist())

    def check(self) -> bool:
        """Whether a table of whole numbers was found that agrees with all shown cells.

        Raises:
            ContradictionError: there is none.
        """
        ends = [self._search(block, np.zeros(len(block.atoms), np.int64)) for block in self._blocks]
        return all(end.table is not None for end in ends)

    def _least_of(self, atoms: Longs, weight: Longs) -> tuple[int | None, dict[int, Longs] | None]:
        """The least sum, and of each block that counts a table that has it."""
        of = self._block_of[atoms]
        sums = (weight[of < 0] * self.narrowed.low[atoms[of < 0]]).tolist()
        value: int | None = sum(sums)
        tables: dict[int, Longs] | None = {}
        for number in np.unique(of[of >= 0]).tolist():
            block, inside = self._blocks[number], of == number
            cost = np.zeros(len(block.atoms), np.int64)
            cost[self._place[atoms[inside]]] = weight[inside]
            end = self._search(block, cost)
            value = None if value is None or end.value is None else value + end.value
            if tables is not None and end.table is not None:
                tables[number] = end.table
            else:
                tables = None
        return value, tables

    def _whole(self, tables: Mapping[int, Longs]) -> Longs | None:
        """A table of all atoms, those of the other blocks any."""
        whole_table = self.narrowed.low.copy()
        for number, block in enumerate(self._blocks):
            nothing = np.zeros(len(block.atoms), np.int64)
            table = tables[number] if number in tables else self._search(block, nothing).table
            if table is None:
                return None
            whole_table[self._free[block.atoms]] = table
        return whole_table

    def _search(self, block: Block, cost: Longs) -> End:
        """The least cost in a block: parts of the tables, that with the least bound first."""
        cheapest, plain = block.cheapest(cost), block.program.certify(cost, block.box, None)
        if cheapest is not None and plain == int(cost @ cheapest):
            return End(plain, cheapest)
        if not len(block.program.sums.low):
            table = np.where(cost < 0, block.box.high, block.box.low)
            return End(plain, table if plain is not None else None)
        solved = self._solve(block, cost, block.box)
        if solved.table is None and block.program.contradicts(block.box, solved.multipliers):
            assert solved.multipliers is not None
            proof = block.rows[np.abs(solved.multipliers) > WHOLE]
            raise ContradictionError(np.unique(self._cells[proof[proof < len(self._cells)]]))
        bound = self._bound(block, cost, block.box, solved, plain)
        if bound is None:
            return End(None)
        if not self._is_whole and solved.table is not None:
            return End(bound, np.rint(solved.table).astype(np.int64))
        order = itertools.count()
        parts = [(bound, False, next(order), block.box, solved)]
        for _ in range(MOST_PARTS):
            if not parts:  # there are tables of fractions, and none of whole numbers
                raise ContradictionError(np.zeros(0, np.int64))
            bound, _, _, box, solved = heapq.heappop(parts)
            whole, fraction = self._round(block, cost, bound, solved)
            if whole is None and fraction is not None:
                whole = self._find_whole(block, cost, bound, box)
            if whole is not None:
                block.keep(whole)
            if whole is not None or fraction is None:
                return End(bound, whole)
            assert solved.table is not None
            for half in box.cut(fraction, int(np.floor(solved.table[fraction]))):
                solution = self._solve(block, cost, half)
                if solution.table is None and block.program.contradicts(half, solution.multipliers):
                    continue
                half_bound = self._bound(block, cost, half, solution, bound)
                assert half_bound is not None
                is_open = self._round(block, cost, half_bound, solution)[0] is None
                heapq.heappush(parts, (half_bound, is_open, next(order), half, solution))
        return End(parts[0][0] if parts else bound)

    def _bound(self, block: Block, cost: Longs, box: Box, solved: ProgramResult, above: int | None) -> int | None:
        """The best bound of a part: by multipliers, by the ends alone, or from the part that contains it."""
        tried = [solved.multipliers] if solved.table is not None else []
        bounds = [above, *(block.program.certify(cost, box, multipliers) for multipliers in (None, *tried))]
        return max((value for value in bounds if value is not None), default=None)

    def _round(self, block: Block, cost: Longs, bound: int, solved: ProgramResult) -> tuple[Longs | None, int | None]:
        """The table of a part if it is of whole numbers and reaches the bound, and an atom of it that is a fraction."""
        if solved.table is None:
            return None, None
        table = np.rint(solved.table).astype(np.int64)
        if int(cost @ table) == bound and block.program.has(table, block.box):
            return table, None
        away = np.abs(solved.table - table)
        away[block.program.unit > 1] *= WHOLE  # sums have numbers beyond the solver's digits: numbers of rows first
        place = int(np.argmax(away))
        return None, place if away[place] > (WHOLE if block.program.unit[place] == 1 else WHOLE / 8) else None

    def _find_whole(self, block: Block, cost: Longs, bound: int, box: Box) -> Longs | None:
        """A table that reaches the bound, by a program of whole numbers, where there are conditions with factors."""
        if block.program.links is None:
            return None
        table = block.program.find_whole(cost, box)
        if table is None or not block.program.has(table, box):
            return None
        block.keep(table)
        return table if int(cost @ table) == bound else None

    def _solve(self, block: Block, cost: Longs, box: Box) -> ProgramResult:
        return block.program.solve(cost, box, self._seconds)

    def is_known(self, weight: Longs) -> bool:
        """Whether a sum follows from shown cells without a linear program."""
        return self._sum_shown(weight) is not None

    def _sum_shown(self, weight: Longs) -> int | None:
        """The sum, where weights are 1 on atoms that shown cells divide among them, or on known atoms; else None."""
        open_weight = weight.copy()
        open_weight[self.narrowed.low == self.narrowed.high] = 0
        shown_sum = int(sum(map(int, (weight - open_weight) * self.narrowed.low)))
        values = np.unique(open_weight[open_weight != 0])
        if len(values) > 1:
            return None
        if not len(values):
            return shown_sum
        inside = weight == values[0]
        covered = np.zeros(len(weight), bool)
        total = 0
        cells = len(self._seen.value)
        for row in sorted(self._seen.of, key=lambda values: len(np.unique(values))):
            listed = row >= 0
            size, inside_count = (
                np.bincount(row[listed & some], minlength=cells) for some in (listed, inside & ~covered)
            )
            whole = np.flatnonzero((size > 0) & (size == inside_count) & (self._seen.value >= 0))
            total += int(self._seen.value[whole].sum())
            covered |= listed & np.isin(row, whole)
        rest = inside & ~covered
        if (open_weight[rest] != 0).any():
            return None
        total += int(self.narrowed.low[rest].sum())
        outside = ~inside & (weight != 0)
        return total * int(values[0]) + int(sum(map(int, weight[outside] * self.narrowed.low[outside])))


class ContradictionError(PolicyError):
    """No table has the published numbers.

    Attributes:
        cells: some cells with numbers that no table has; empty: not known.
    """

    def __init__(self, cells: Longs) -> None:
        super().__init__("the published numbers contradict each other: no table has all of them")
        self.cells = cells
