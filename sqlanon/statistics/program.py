"""Solves linear programs over tables of numbers, and checks each solution by integers.

A table has a number for each atom, between two ends, and sums in some rows. By weak duality every vector of multipliers
of the rows gives a bound of a weighted sum, or proves that there is no table. Exact arithmetic computes it, so that
neither tolerance nor an early end of the solver gives a wrong bound (Neumaier and Shcherbina 2004, "Safe bounds in
linear and mixed-integer linear programming").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.highs import import_highs, make_program, make_solver
from sqlanon.statistics.reader_cells import UNBOUNDED

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.statistics.links import Links


SCALE = 2**8 * 3**3 * 5 * 7 * 11
"""Multipliers are rounded to parts of this: those of vertices are fractions of small numbers."""
MOST_DUAL, MOST_LINKED_DUAL = 2.0**20, 2.0**40
"""Multipliers, at most; with links, where whole numbers have no bound."""
MOST_NODES = 200
"""Parts of the tables that a program of whole numbers looks at, at most."""


@dataclass(frozen=True, slots=True)
class Box:
    """The ends of each of some numbers: int64 twice; `UNBOUNDED`: nothing bounds it from above."""

    low: Longs
    high: Longs

    def holds(self, values: Longs) -> bool:
        """Whether each value is between the ends."""
        return bool((values >= self.low).all() and (values <= self.high).all())

    def cut(self, atom: int, value: int) -> tuple[Box, Box]:
        """Tables of at most ``value`` in an atom, and those of more."""
        high, low = self.high.copy(), self.low.copy()
        high[atom], low[atom] = value, value + 1
        return Box(self.low, high), Box(low, self.high)


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """Proposal of a program.

    Attributes:
        multipliers: float64[rows]; for a program without solutions they prove that. None if there are none.
        table: float64[atoms]; None without a table.
    """

    multipliers: Doubles | None = None
    table: Doubles | None = None


class Program:
    """Tables with sums between ends.

    Args:
        rows: int64[margins, atoms], the row of each atom in each margin; the number of rows: none.
        sums: the ends of each row.
        links: the last rows, which have factors; None: there are none.
    """

    def __init__(self, rows: Longs, sums: Box, links: Links | None = None) -> None:
        self.rows, self.sums, self.links = rows, sums, links
        self._solver: Any = None
        self._box: Box | None = None
        self.unit = np.ones(rows.shape[1], np.int64) if links is None else links.unit
        self._row_unit = np.ones(len(sums.low), np.int64)
        if links is not None:
            self._row_unit[len(sums.low) - len(links.low) :] = links.row_unit
            for row in rows:
                np.maximum.at(self._row_unit, row[row < len(sums.low)], self.unit[row < len(sums.low)])
        self._common = math.lcm(*np.unique(self._row_unit).tolist())

    def solve(self, cost: Longs, box: Box, seconds: Callable[[], float] | None = None) -> ProgramResult:
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
        scale = self._set_cost(solver, cost)
        solver.run()
        status = solver.getModelStatus()
        if status == highs.HighsModelStatus.kInfeasible:
            ray = solver.getDualRay()
            values = np.array(ray[2], np.float64) if ray[1] else None
            return ProgramResult(None if values is None else values / max(np.abs(values).max(initial=0.0), 1e-9))
        if status != highs.HighsModelStatus.kOptimal:
            return ProgramResult()
        solution = solver.getSolution()
        table = np.array(solution.col_value, np.float64) * self.unit
        return ProgramResult(np.array(solution.row_dual, np.float64) * scale, table)

    def find_whole(self, cost: Longs, box: Box) -> Longs | None:
        """A table of whole numbers of about the least cost, which is not checked; None: none was found.

        Args:
            cost: int64[atoms].
            box: the ends of the atoms.

        Cost: a program of whole numbers of at most `MOST_NODES` nodes.
        """
        highs = import_highs()
        solver = self._make_solver(box)
        whole = np.flatnonzero(self.unit == 1).astype(np.int32)
        kinds = np.full(len(whole), highs.HighsVarType.kInteger)
        for place, kind in zip(whole, kinds, strict=True):
            solver.changeColIntegrality(int(place), kind)
        solver.setOptionValue("mip_max_nodes", MOST_NODES)
        self._set_cost(solver, cost)
        solver.run()
        solution = solver.getSolution()
        if not solution.value_valid:
            return None
        return np.rint(np.array(solution.col_value, np.float64) * self.unit).astype(np.int64)

    def _set_cost(self, solver: Any, cost: Longs) -> float:  # noqa: ANN401 - HiGHS has no types
        """Give the solver a cost; the unit of the cost in the program."""
        costs = cost.astype(np.float64) * self.unit
        scale = 1.0 if self.links is None else max(float(np.abs(costs).max(initial=0.0)), 1.0)
        solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), costs / scale)
        return scale

    def certify(self, cost: Longs, box: Box, multipliers: Doubles | None) -> int | None:
        """A number that no table costs less than, by exact arithmetic; None: the multipliers give none."""
        many = np.zeros(len(self.sums.low), np.int64)
        if multipliers is not None:
            most = MOST_DUAL if self.links is None else MOST_LINKED_DUAL
            many = np.rint(np.clip(np.nan_to_num(multipliers), -most, most) * SCALE).astype(np.int64)
        many = np.where((many < 0) & (self.sums.high >= UNBOUNDED), 0, many)
        many = np.where((many > 0) & (self.sums.low <= -UNBOUNDED), 0, many)
        right = np.where(many < 0, self.sums.high, self.sums.low)
        scale, reduced = SCALE * self._common, self._reduce(cost, many)
        shares = (self._common // self._row_unit).tolist()
        total: int = sum(a * b * c for a, b, c in zip(many.tolist(), right.tolist(), shares, strict=True))
        columns = np.flatnonzero(reduced)
        falls = (reduced[columns] < 0).astype(bool)
        if (box.high[columns][falls] >= UNBOUNDED).any():
            return None
        ends = np.where(falls, box.high[columns], box.low[columns])
        total += sum(a * b for a, b in zip(reduced[columns].tolist(), ends.tolist(), strict=True))
        return -(-total // scale)

    def _reduce(self, cost: Longs, many: Longs) -> Longs:
        """What is left of the cost of each atom, times `SCALE` and the common unit; with links Python's integers."""
        if self.links is None:
            padded, reduced = np.append(many, 0), cost * SCALE
            for row in self.rows:
                reduced = reduced - padded[row]
            return reduced
        shares = many.astype(object) * (self._common // self._row_unit).astype(object)
        padded, exact = np.append(shares, 0), cost.astype(object) * (SCALE * self._common)
        for row in self.rows:
            exact = exact - padded[row]
        links = self.links
        linked = shares[len(shares) - len(links.low) :][links.row] * links.factor.astype(object)
        np.subtract.at(exact, links.atom, linked)
        return exact

    def contradicts(self, box: Box, multipliers: Doubles | None) -> bool:
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
        if self.links is not None:
            sums[len(sums) - 1 - len(self.links.low) : -1] = self.links.sum(table)
        return self.sums.holds(sums[:-1]) and box.holds(table)

    def _move(self, box: Box) -> None:
        """Give the solver other ends."""
        assert self._box is not None
        if box is self._box:
            return
        moved = np.flatnonzero((box.low != self._box.low) | (box.high != self._box.high))
        self._box = box
        if len(moved):
            low, high = (end[moved] / self.unit[moved] for end in (box.low, self._top(box.high)))
            self._solver.changeColsBounds(len(moved), moved.astype(np.int32), low, high)

    def _make_solver(self, box: Box) -> Any:  # noqa: ANN401 - HiGHS has no types
        many, rows = len(box.low), len(self.sums.low)
        ends = (box.low / self.unit, self._top(box.high) / self.unit)
        row_ends = (-self._top(-self.sums.low) / self._row_unit, self._top(self.sums.high) / self._row_unit)
        margin, atom = np.nonzero(self.rows < rows)
        row, value = self.rows[margin, atom], np.ones(len(atom), np.int64)
        if self.links is not None:
            row = np.concatenate([row, self.links.row + rows - len(self.links.low)])
            atom, value = np.concatenate([atom, self.links.atom]), np.concatenate([value, self.links.factor])
        order = np.lexsort((row, atom))
        row, atom, value = row[order], atom[order], value[order]
        starts = np.searchsorted(atom, np.arange(many + 1))
        matrix = (starts, row, value * (self.unit[atom] / self._row_unit[row]))
        return make_solver(make_program(np.zeros(many), ends, row_ends, matrix, by_column=True))

    def _top(self, high: Longs) -> Doubles:
        return np.where(high < UNBOUNDED, high.astype(np.float64), import_highs().kHighsInf)
