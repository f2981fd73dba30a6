"""Other tables that agree with the published cells: linear programs over changes of atoms, solved by HiGHS.

A change is an integer for each atom. It is consistent if no atom becomes negative, no published cell zero, and no shown
cell changes. The programs look for the change of least weight that also changes shown cells: these are then hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.highs import NEAR, import_highs, make_solver
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

FREE = 1e-3
"""Cost of a hidden cell's change for each unit, so that changes stay in few cells."""
GAP = 0.1
"""The weight of a change in whole numbers may exceed the least weight by this share."""
UNIT_NEAR = 1e-3
"""The same of changes in other units, whose sums are compared in whole numbers."""
MOST_STEPS = 4
"""Most steps of the simplex method for a demand, per row."""
MOST_NODES = 500
"""Nodes that the search for whole numbers may visit for a demand."""
INTEGER_SECONDS = 10.0
"""Seconds that it may take at most, which nodes do not bound."""
STEPS_OF_NODE = 100
"""A node of such a search costs so many steps of the simplex method."""
MOST_WORK = 5_000_000_000
"""Cost limit of the programs of a run, in steps of the simplex method times rows; minutes of one core."""


class ExhaustedError(Exception):
    """The programs of a run reached the cost limit."""


class Work:
    """Counts the cost of programs, which is the same on every machine.

    Args:
        most: the limit, in steps of the simplex method times rows.
    """

    def __init__(self, most: int = MOST_WORK) -> None:
        self.most = self.left = most

    def add(self, solver: Any) -> None:  # noqa: ANN401 - HiGHS has no types
        """Count the last run of a solver.

        Raises:
            ExhaustedError: the limit is exceeded.
        """
        info = solver.getInfo()
        steps = max(int(info.simplex_iteration_count), 1) + STEPS_OF_NODE * max(int(info.mip_node_count), 0)
        self.left -= steps * (1000 + int(solver.getNumRow()))
        if self.left < 0:
            raise ExhaustedError


@dataclass(frozen=True, slots=True)
class Demand:
    """A cell that is to have another value, or atoms that are.

    Attributes:
        cell: the class of the cell; -1: none.
        most: greatest change of the value; None: any.
        fewest: least change of the value; None: any.
        fixed: atoms that an insider knows.
        between: atoms with other limits of the change than those of the system: place, least and greatest change.
    """

    cell: int
    most: int | None
    fewest: int | None
    fixed: tuple[int, ...] = ()
    between: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much numbers may change.

    Attributes:
        low, high: float64[atoms], the least and the greatest change of each atom; the latter may be infinite.
        shrinks: float64[classes], by how much each class may shrink; infinite where its atoms say it.
        unit: changes are solved in this unit, so that the numbers of the programs are not too large.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    shrinks: npt.NDArray[np.float64]
    unit: int = 1


def lower_bounds(system: System) -> npt.NDArray[np.float64]:
    """The least change of each atom: float64[atoms]; an atom that is a whole published cell keeps its least value."""
    least = -system.atoms.count.astype(np.float64)
    single = np.diff(system.at) == 1
    least[system.member[system.at[:-1][single]]] += system.floors()[single]
    return least


def count_limits(system: System) -> Limits:
    """Counts are not negative, and no published cell falls below its least value, which is 1 of most."""
    single = np.diff(system.at) == 1
    shrinks = np.where(single, np.inf, (system.value - system.floors()).astype(np.float64))
    return Limits(lower_bounds(system), np.full(len(system.atoms.count), np.inf), shrinks)


class Deviations:
    """A linear program with bounds and costs for each demand; it starts where the last demand ended.

    Variables: the change of each atom, and of each class how much it grows and how much it shrinks.

    Args:
        system: the cells.
        hidden: bool[classes], which are hidden; `hide` and `show` change it.
        work: counts the cost of the programs.
        limits: how much atoms and classes may change; default: those of counts.

    Raises:
        UnsupportedError: HiGHS is not installed.
    """

    def __init__(self, system: System, hidden: Flags, work: Work, limits: Limits | None = None) -> None:
        self._highs, self._system = import_highs(), system
        self._atoms, self._cells = len(system.atoms.count), len(system)
        limits = limits or count_limits(system)
        self._limits = replace(limits, shrinks=np.where(system.fixed, 0.0, limits.shrinks))
        self._work = work
        self._unit = self._limits.unit
        self._infinite = self._highs.kHighsInf
        self.hidden = hidden
        self._solver = self._build()
        hidden_before = np.flatnonzero(hidden)
        hidden[hidden_before] = False
        self.hide(hidden_before)

    def _build(self) -> Any:  # noqa: ANN401 - HiGHS has no types
        system, atoms, cells, highs = self._system, self._atoms, self._cells, self._highs
        limits = self._limits
        program = highs.HighsLp()
        program.num_col_, program.num_row_ = atoms + 2 * cells, cells
        program.col_cost_ = np.concatenate([np.zeros(atoms), system.weight, system.weight])
        program.col_lower_ = np.concatenate([limits.low / limits.unit, np.zeros(2 * cells)])
        program.col_upper_ = np.concatenate(
            [limits.high / limits.unit, np.where(system.fixed, 0.0, self._infinite), limits.shrinks / limits.unit]
        )
        program.row_lower_ = program.row_upper_ = np.zeros(cells)
        lengths = np.diff(system.at)
        starts = system.at + 2 * np.arange(cells + 1)
        index, value = np.empty(starts[-1], np.int32), np.ones(starts[-1])
        ends = starts[1:]
        inner = np.ones(starts[-1], bool)
        inner[ends - 1] = inner[ends - 2] = False
        index[inner] = system.member
        if system.times is not None:
            value[inner] = system.times
        index[ends - 2], value[ends - 2] = atoms + np.arange(cells), -1.0
        index[ends - 1], value[ends - 1] = atoms + cells + np.arange(cells), 1.0
        assert len(lengths) == cells
        program.a_matrix_.format_ = highs.MatrixFormat.kRowwise
        program.a_matrix_.start_, program.a_matrix_.index_ = starts.astype(np.int32), index
        program.a_matrix_.value_ = value
        solver = make_solver(program)
        # With many equal costs the simplex method may turn in a circle.
        solver.setOptionValue("simplex_iteration_limit", MOST_STEPS * (1000 + cells))
        return solver

    def hide(self, cells: Longs) -> None:
        """These classes are not shown: their changes are free, but for a little."""
        new = cells[~self.hidden[cells]]
        self.hidden[new] = True
        for cell in new:
            for index in (self._atoms + cell, self._atoms + self._cells + cell):
                self._solver.changeColCost(int(index), FREE * float(np.sqrt(self._system.weight[cell])))

    def show(self, cell: int) -> None:
        """This class is shown."""
        self.hidden[cell] = False
        for index in (self._atoms + cell, self._atoms + self._cells + cell):
            self._solver.changeColCost(int(index), float(self._system.weight[cell]))

    def solve(
        self, demand: Demand, *, keep_shown: bool = False, instead: Callable[[], Longs | None] | None = None
    ) -> Longs | None:
        """The change of least weight that meets a demand: int64[atoms]; None: there is none.

        Args:
            demand: the demand.
            keep_shown: no shown cell may change.
            instead: finds another change where the program's has fractions or takes too many steps.

        Raises:
            ExhaustedError: the program takes too many steps, and there is no other.

        Cost: a linear program; where the solution has fractions and there is no other, another with whole numbers.
        """
        solver, unit = self._solver, self._unit
        changed = self._demanded(demand)
        changed += [(atom, 0.0, 0.0) for atom in demand.fixed]
        changed += [(atom, low / unit, high / unit) for atom, low, high in demand.between]
        if keep_shown:
            for cell in np.flatnonzero(~self.hidden):
                changed += [(self._atoms + int(cell), 0.0, 0.0), (self._atoms + self._cells + int(cell), 0.0, 0.0)]
        before = [(column, *self._bounds(column)) for column, _, _ in changed]
        self._set(changed)
        try:
            solver.run()
            self._work.add(solver)
            status, able = solver.getModelStatus(), self._highs.HighsModelStatus
            if status == able.kIterationLimit:
                solver.clearSolver()
                alternative = instead() if instead is not None else None
                if alternative is None and not keep_shown:
                    raise ExhaustedError
                return alternative
            if status != able.kOptimal:
                return None
            solution = np.array(solver.getSolution().col_value[: self._atoms])
            whole = self._round(solution)
            if whole is not None:
                return whole
            alternative = instead() if instead is not None else None
            return alternative if alternative is not None else self._whole(solution)
        finally:
            self._set(before)

    def _demanded(self, demand: Demand) -> list[tuple[int, float, float]]:
        """Bounds for the demanded class: either part is zero, and the other is bounded."""
        if demand.cell < 0:
            return []
        grows, shrinks = self._atoms + demand.cell, self._atoms + self._cells + demand.cell
        if demand.fewest is not None:
            return [(grows, demand.fewest / self._unit, self._infinite), (shrinks, 0.0, 0.0)]
        assert demand.most is not None
        return [(shrinks, -demand.most / self._unit, self._bounds(shrinks)[1]), (grows, 0.0, 0.0)]

    def _round(self, found: npt.NDArray[np.float64]) -> Longs | None:
        """The change in whole numbers, if the program's is one: no class changes by the rounding."""
        exact = found * self._unit
        whole = np.rint(exact)
        near = NEAR if self._unit == 1 else UNIT_NEAR
        if np.any(np.abs(exact - whole) >= near):
            return None
        change: Longs = whole.astype(np.int64)
        still = np.abs(self._system.sums_of(exact)) < len(exact) * near
        return None if self._system.sums(change)[still].any() else change

    def _whole(self, found: npt.NDArray[np.float64]) -> Longs | None:
        """The same program with whole numbers: of the atoms that change in ``found``, and if need be of all."""
        still = np.flatnonzero(np.abs(found) < NEAR)
        before = [self._column_bounds(int(column)) for column in still]
        self._set([(int(column), 0.0, 0.0) for column in still])
        try:
            first = self._solve_whole(np.flatnonzero(np.abs(found) >= NEAR))
        finally:
            self._set([(int(column), *bounds) for column, bounds in zip(still, before, strict=True)])
        return first if first is not None else self._solve_whole(np.arange(self._atoms))

    def _solve_whole(self, atoms: Longs) -> Longs | None:
        solver, highs, places = self._solver, self._highs, atoms.astype(np.int32)
        kinds = highs.HighsVarType
        solver.changeColsIntegrality(len(places), places, np.full(len(places), int(kinds.kInteger), np.uint8))
        limits = (("mip_max_nodes", MOST_NODES), ("time_limit", solver.getRunTime() + INTEGER_SECONDS))
        for name, option in (("presolve", "on"), ("mip_rel_gap", GAP), *limits):
            solver.setOptionValue(name, option)
        try:
            solver.run()
            self._work.add(solver)
            if solver.getInfo().primal_solution_status != highs.SolutionStatus.kSolutionStatusFeasible:
                return None
            solution = np.rint(np.array(solver.getSolution().col_value[: self._atoms]))
            change: Longs = solution.astype(np.int64) * self._unit
            return change
        finally:
            solver.changeColsIntegrality(len(places), places, np.full(len(places), int(kinds.kContinuous), np.uint8))
            for name, option in (("presolve", "off"), ("time_limit", self._infinite)):
                solver.setOptionValue(name, option)

    def _column_bounds(self, at: int) -> tuple[float, float]:
        """The bounds of a variable as they are now."""
        _, _, low, high, _ = self._solver.getCol(at)
        return float(low), float(high)

    def _bounds(self, at: int) -> tuple[float, float]:
        limits = self._limits
        if at < self._atoms:
            return float(limits.low[at] / limits.unit), float(limits.high[at] / limits.unit)
        if at < self._atoms + self._cells:
            return 0.0, 0.0 if self._system.fixed[at - self._atoms] else self._infinite
        return 0.0, float(limits.shrinks[at - self._atoms - self._cells] / limits.unit)

    def _set(self, changed: list[tuple[int, float, float]]) -> None:
        for column, low, high in changed:
            self._solver.changeColBounds(int(column), low, high)
