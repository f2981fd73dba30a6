"""Linear programs over tables of numbers, of which nothing is believed: integers check each solution.

A table has a number for each atom, between two ends, and sums in some rows. By weak duality every vector of
multipliers of the rows gives a bound of a weighted sum, or shows that there is no table; exact arithmetic makes it, so
that no tolerance and no end of the program in time makes a wrong one (Neumaier and Shcherbina 2004, "Safe bounds in
linear and mixed-integer linear programming").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.highs import import_highs, make_solver
from sqlanon.statistics.seen import UNBOUNDED

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

SCALE = 2**8 * 3**3 * 5 * 7 * 11
"""Multipliers are rounded to parts of this: those of vertices are fractions of small numbers."""
MOST_DUAL = 2.0**20
"""Multipliers, at most."""


@dataclass(frozen=True, slots=True)
class Box:
    """The ends of each of some numbers: int64 twice; `UNBOUNDED`: nothing bounds it from above."""

    low: Longs
    high: Longs

    def holds(self, values: Longs) -> bool:
        """Whether each value is between the ends."""
        return bool((values >= self.low).all() and (values <= self.high).all())

    def cut(self, atom: int, at: int) -> tuple[Box, Box]:
        """Tables of at most ``at`` in an atom, and those of more."""
        high, low = self.high.copy(), self.low.copy()
        high[atom], low[atom] = at, at + 1
        return Box(self.low, high), Box(low, self.high)


@dataclass(frozen=True, slots=True)
class Solved:
    """Proposal of a program.

    Attributes:
        multipliers: float64[rows]; for a program without solutions they prove that. None if there are none.
        table: float64[atoms]; None without a table.
    """

    multipliers: Floats | None = None
    table: Floats | None = None


class Program:
    """Tables with sums between ends.

    Args:
        rows: int64[margins, atoms], the row of each atom in each margin; the number of rows: none.
        sums: the ends of each row.
    """

    def __init__(self, rows: Longs, sums: Box) -> None:
        self.rows, self.sums = rows, sums
        self._solver: Any = None
        self._box: Box | None = None

    def solve(self, cost: Longs, box: Box, seconds: Callable[[], float] | None = None) -> Solved:
        """Propose a table of the least cost.

        Args:
            cost: int64[atoms].
            box: the ends of the atoms.
            seconds: time left, in seconds.

        Cost: a linear program, which starts where the last program ended.
        """
        highs = import_highs()
        if self._solver is None:
            self._solver, self._box = self._make_solver(box), box
        solver = self._solver
        self._move(box)
        if seconds is not None:
            solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds(), 0.0))
        places = np.arange(len(cost), dtype=np.int32)
        solver.changeColsCost(len(cost), places, cost.astype(np.float64))
        solver.run()
        status = solver.getModelStatus()
        if status == highs.HighsModelStatus.kInfeasible:
            ray = solver.getDualRay()
            values = np.array(ray[2], np.float64) if ray[1] else None
            return Solved(None if values is None else values / max(np.abs(values).max(initial=0.0), 1e-9))
        if status != highs.HighsModelStatus.kOptimal:
            return Solved()
        solution = solver.getSolution()
        return Solved(np.array(solution.row_dual, np.float64), np.array(solution.col_value, np.float64))

    def certify(self, cost: Longs, box: Box, multipliers: Floats | None) -> int | None:
        """A number that no table costs less than, by exact arithmetic; None: the multipliers give none."""
        many = np.zeros(len(self.sums.low), np.int64)
        if multipliers is not None:
            many = np.rint(np.clip(np.nan_to_num(multipliers), -MOST_DUAL, MOST_DUAL) * SCALE).astype(np.int64)
        many = np.where((many < 0) & (self.sums.high >= UNBOUNDED), 0, many)
        right = np.where(many < 0, self.sums.high, self.sums.low)
        padded = np.append(many, 0)
        reduced = cost * SCALE
        for row in self.rows:
            reduced = reduced - padded[row]
        total: int = sum(a * b for a, b in zip(many.tolist(), right.tolist(), strict=True))
        columns = np.flatnonzero(reduced)
        falls = reduced[columns] < 0
        if (box.high[columns][falls] >= UNBOUNDED).any():
            return None
        ends = np.where(falls, box.high[columns], box.low[columns])
        total += sum(a * b for a, b in zip(reduced[columns].tolist(), ends.tolist(), strict=True))
        return -(-total // SCALE)

    def contradicts(self, box: Box, multipliers: Floats | None) -> bool:
        """Whether multipliers prove that there is no table: all of them would cost more than nothing."""
        if multipliers is None:
            return False
        nothing = np.zeros(len(box.low), np.int64)
        return any((self.certify(nothing, box, sign * multipliers) or 0) > 0 for sign in (1.0, -1.0))

    def has(self, table: Longs, box: Box) -> bool:
        """Whether a table of whole numbers has all sums, and lies between the ends."""
        sums = np.zeros(len(self.sums.low) + 1, np.int64)
        for row in self.rows:
            np.add.at(sums, row, table)
        return self.sums.holds(sums[:-1]) and box.holds(table)

    def _move(self, box: Box) -> None:
        """Give the solver other ends."""
        assert self._box is not None
        if box is self._box:
            return
        moved = np.flatnonzero((box.low != self._box.low) | (box.high != self._box.high))
        self._box = box
        if len(moved):
            low, high = box.low[moved].astype(np.float64), self._top(box.high[moved])
            self._solver.changeColsBounds(len(moved), moved.astype(np.int32), low, high)

    def _make_solver(self, box: Box) -> Any:  # noqa: ANN401 - HiGHS has no types
        highs = import_highs()
        many, rows = len(box.low), len(self.sums.low)
        program = highs.HighsLp()
        program.num_col_, program.num_row_ = many, rows
        program.col_cost_, program.col_lower_ = np.zeros(many), box.low.astype(np.float64)
        program.col_upper_ = self._top(box.high)
        program.row_lower_, program.row_upper_ = self.sums.low.astype(np.float64), self._top(self.sums.high)
        margin, atom = np.nonzero(self.rows < rows)
        order = np.lexsort((self.rows[margin, atom], atom))
        program.a_matrix_.format_ = highs.MatrixFormat.kColwise
        starts = np.searchsorted(atom[order], np.arange(many + 1))
        program.a_matrix_.start_ = starts.astype(np.int32)
        program.a_matrix_.index_ = self.rows[margin, atom][order].astype(np.int32)
        program.a_matrix_.value_ = np.ones(len(atom))
        return make_solver(program)

    def _top(self, high: Longs) -> Floats:
        return np.where(high < UNBOUNDED, high.astype(np.float64), import_highs().kHighsInf)
