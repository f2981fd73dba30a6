"""Finds other tables that agree with the published cells: linear programs over changes of atoms, solved by HiGHS.

A change is an integer for each atom. It is consistent if no atom becomes negative, no published cell zero, and no shown
cell changes. A program finds the change of least weight that may also change shown cells; these are then hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.demands import Demand, Limits, count_limits, split_growth
from sqlanon.statistics.equations import find_parts
from sqlanon.statistics.highs import NEAR, import_highs, make_program, make_solver
from sqlanon.statistics.pricing import Pricing
from sqlanon.statistics.system import System
from sqlanon.statistics.whole_search import search_whole
from sqlanon.statistics.work import ExhaustedError, Work

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Flags, Longs


FREE = 1e-5
"""Cost of a hidden atom's change for each unit, so that changes stay in few cells."""
FREE_ATOM = 1e-3
"""The same of any atom's change."""
UNIT_NEAR = 1e-3
"""The same of changes in other units, whose sums are compared in whole numbers."""
MOST_STEPS = 4
"""Most steps of the simplex method for a demand, per row."""
MOST_ENTRIES = 1_000_000
"""Entries of the matrix of all atoms, at most, of which whole numbers are searched for."""
MOST_READ_AT_ONCE = 200_000
"""Entries of the matrix, at most, with which a program has all atoms from the beginning."""
MOST_ROUNDS = 100
"""Atoms enter a program so many times for a demand, at most."""
ENTERING = 200
"""So many at once, at most."""
NEAREST = (1_000, 4_000, 16_000)
"""Atoms of least reduced cost of which whole numbers are searched for, one number after the other."""
GAIN = 1e-4
"""An atom enters where the weight falls by more than this for each unit of the change."""


class Deviations:
    """A linear program with bounds and costs for each demand.

    Variables: of each atom, and of each shown class of several atoms, how much it grows and how much it shrinks. A
    class of one atom is that atom. Where other classes divide a class among them it is the sum of these, which has
    fewer entries than its atoms, and takes fewer steps; where none do so, a hidden class has ends alone. Each program
    starts where nothing changes: as the demands are of few cells, that is nearer than the solution of another demand.

    Args:
        system: the cells.
        hidden: bool[classes], which are hidden; `hide` and `set_hidden` change it.
        work: counts the cost of the programs.
        limits: how much atoms and classes may change; default: those of counts.

    Raises:
        UnsupportedError: HiGHS is not installed.
    """

    def __init__(self, system: System, hidden: Flags, work: Work, limits: Limits | None = None) -> None:
        self._highs, self._system, self._work, self.hidden = import_highs(), system, work, hidden
        self._limits = limits or count_limits(system)
        self._atoms, self._unit = len(system.atoms.count), self._limits.unit
        self._dearer = np.ones(len(system))
        self._single = (np.diff(system.at) == 1) & (system.first_times() == 1)
        wide = np.flatnonzero(~self._single)
        self._row = np.cumsum(~self._single) - 1
        self._parts_of = find_parts(system)
        self._grows = np.empty(len(system), np.int64)
        self._grows[self._single] = system.member[system.at[:-1][self._single]]
        self._grows[wide] = 2 * self._atoms + np.arange(len(wide))
        self._shrinks = self._grows + np.where(self._single, self._atoms, len(wide))
        self._low, self._high = self._list_bounds(wide)
        self._open(np.flatnonzero(hidden & ~self._single))
        self._cost = np.full(len(self._low), FREE_ATOM)
        self._cost[self._grows] = self._cost[self._shrinks] = self._price(np.arange(len(system)))
        self._list_entries(wide)
        self._pricing: Pricing | None = None
        inside = np.ones(len(self._low), bool)
        if not self._parts_of and system.times is not None and len(self._index) > MOST_READ_AT_ONCE:
            # Nobody has the other atoms, so that they only grow: they enter where that costs less.
            self._pricing = Pricing(system, np.where(self._single, -1, self._row))
            inside[: 2 * self._atoms] = np.tile(self._limits.low < 0, 2)
        self._place = np.where(inside, np.cumsum(inside) - 1, -1)
        self._columns = int(inside.sum())
        self._solver = make_solver(self._select(inside, (self._low, self._high), self._list_rows(wide)))

    def _list_bounds(self, wide: Longs) -> tuple[Doubles, Doubles]:
        """The least and the greatest value of each variable."""
        limits, atoms = self._limits, np.arange(self._atoms)
        low = np.zeros(2 * (self._atoms + len(wide)))
        high = np.full(len(low), self._highs.kHighsInf)
        for columns, ends in zip((atoms, atoms + self._atoms), split_growth(limits.low, limits.high), strict=True):
            low[columns], high[columns] = (of / self._unit for of in ends)
        np.minimum.at(high, self._shrinks, limits.shrinks / self._unit)
        fixed = self._system.fixed
        high[self._grows[fixed]] = high[self._shrinks[fixed]] = 0.0
        return low, high

    def _open(self, cells: Longs) -> None:
        """Hidden classes have no variables, where none is a sum of others."""
        if self._parts_of:
            return
        self._high[self._grows[cells]] = self._high[self._shrinks[cells]] = 0.0

    def _close(self, cells: Longs) -> None:
        """Shown classes have."""
        self._high[self._grows[cells]] = np.where(self._system.fixed[cells], 0.0, self._highs.kHighsInf)
        shrinks = self._limits.shrinks[cells] / self._unit
        self._high[self._shrinks[cells]] = np.where(self._system.fixed[cells], 0.0, shrinks)

    def _list_rows(self, cells: Longs) -> tuple[Doubles, Doubles]:
        """The ends of the rows of classes of several atoms; of shown ones variables have the change."""
        hidden, fixed = self.hidden[cells] & (not self._parts_of), self._system.fixed[cells]
        low = np.where(hidden, np.where(fixed, 0.0, -self._limits.shrinks[cells] / self._unit), 0.0)
        return low, np.where(hidden & ~fixed, self._highs.kHighsInf, 0.0)

    def _list_entries(self, wide: Longs) -> None:
        """The entries of the matrix of all columns, row by row."""
        system = self._system
        index, value = [], []
        for cell in wide.tolist():
            if cell in self._parts_of:
                parts = self._parts_of[cell]
                more, less, times = self._grows[parts], self._shrinks[parts], np.ones(len(parts))
            else:
                more, times = system.members(cell), system.times_of(cell).astype(np.float64)
                less = more + self._atoms
            index.append(np.concatenate([more, less, [self._grows[cell], self._shrinks[cell]]]))
            value.append(np.concatenate([times, -times, [-1.0, 1.0]]))
        self._starts = np.cumsum([0, *map(len, index)])
        self._index = np.concatenate([np.zeros(0, np.int32), *(columns.astype(np.int32) for columns in index)])
        self._value = np.concatenate([np.zeros(0), *value])

    def _select(self, inside: Flags, ends: tuple[Doubles, Doubles], row_ends: tuple[Doubles, Doubles]) -> Any:  # noqa: ANN401
        """The program of some columns.

        Args:
            inside: bool[columns].
            ends: the least and the greatest value of each column.
            row_ends: the same of each row.
        """
        columns, number, entries = np.flatnonzero(inside), np.cumsum(inside) - 1, inside[self._index]
        rows = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))[entries]
        starts = np.searchsorted(rows, np.arange(len(self._starts)))
        matrix = (starts, number[self._index[entries]], self._value[entries])
        return make_program(self._cost[columns], (ends[0][columns], ends[1][columns]), row_ends, matrix)

    def _price(self, cells: Longs) -> Doubles:
        """The cost of a class's change for each unit; of a hidden one it is free, but for a little."""
        weight = self._system.weight[cells] * self._dearer[cells]
        price: Doubles = np.where(self.hidden[cells], FREE * np.sqrt(weight), weight)
        price[self._single[cells]] += FREE_ATOM
        return price

    def hide(self, cells: Longs) -> None:
        """These classes are not shown."""
        cells = cells[~self.hidden[cells]]
        self.hidden[cells] = True
        self._change(cells)

    def set_hidden(self, hidden: Flags) -> None:
        """These classes are hidden, and no others."""
        changed = np.flatnonzero(hidden != self.hidden)
        self.hidden[:] = hidden
        self._change(changed)

    def set_dearer(self, cells: Longs, times: float) -> None:
        """Let changes of these classes cost so many times their weight."""
        self._dearer[cells] = times
        self._change_cost(cells)

    def _change(self, cells: Longs) -> None:
        """Give the solver what follows from classes that are hidden, or are no longer."""
        wide = cells[~self._single[cells]]
        self._open(wide[self.hidden[wide]])
        self._close(wide[~self.hidden[wide]])
        self._set(np.concatenate([self._grows[wide], self._shrinks[wide]]), self._low, self._high)
        if len(wide):
            self._solver.changeRowsBounds(len(wide), self._row[wide].astype(np.int32), *self._list_rows(wide))
        self._change_cost(cells)

    def _change_cost(self, cells: Longs) -> None:
        columns, price = np.concatenate([self._grows[cells], self._shrinks[cells]]), self._price(cells)
        self._cost[columns] = np.concatenate([price, price])
        columns = columns[self._place[columns] >= 0]
        self._solver.changeColsCost(len(columns), self._place[columns].astype(np.int32), self._cost[columns])

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
        solver = self._solver
        low, high = self._bound_variables(demand, keep_shown=keep_shown)
        changed = np.flatnonzero((low != self._low) | (high != self._high))
        if (low > high).any():
            return None
        row = self._row_of(demand)
        self._set(changed, low, high)
        if row is not None:
            solver.changeRowBounds(*row)
        try:
            solver.clearSolver()
            # With many equal costs the simplex method may turn in a circle.
            self._run(high)
            status, able = solver.getModelStatus(), self._highs.HighsModelStatus
            if status == able.kIterationLimit:
                alternative = instead() if instead is not None else None
                if alternative is None and not keep_shown:
                    raise ExhaustedError
                return alternative
            if status != able.kOptimal:
                return None
            solution = self._read()
            whole = self._round(solution)
            if whole is not None:
                return whole
            alternative = instead() if instead is not None else None
            return (
                alternative
                if alternative is not None
                else self._whole(solution, demand, (low, high), keep_shown=keep_shown)
            )
        finally:
            self._set(changed, self._low, self._high)
            if row is not None:
                cells = np.array([demand.cell])
                solver.changeRowsBounds(1, self._row[cells].astype(np.int32), *self._list_rows(cells))

    def _run(self, high: Doubles) -> None:
        """Run the program; atoms outside of it enter as long as it would be less with them, or has no solution."""
        solver, able = self._solver, self._highs.HighsModelStatus
        for _ in range(MOST_ROUNDS):
            self._work.limit(solver, MOST_STEPS * (1000 + len(self._system)))
            solver.run()
            self._work.add(solver)
            if self._pricing is None or solver.getModelStatus() not in (able.kOptimal, able.kInfeasible):
                return
            entering = self._choose_entering(high[: self._atoms] > 0)
            if not len(entering):
                return
            self._enter(entering, high[entering])

    def _choose_entering(self, can_grow: Flags) -> Longs:
        """Atoms outside of the program with which it would be less, the best first."""
        assert self._pricing is not None
        outside = np.flatnonzero(can_grow & (self._place[: self._atoms] < 0))
        self._work.read(self._pricing.entries)
        if self._solver.getModelStatus() == self._highs.HighsModelStatus.kOptimal:
            reduced = self._cost[: self._atoms] - self._pricing.value(np.array(self._solver.getSolution().row_dual))
            self._reduced = reduced
            outside = outside[reduced[outside] < -GAIN]
            return outside[np.argsort(reduced[outside], kind="stable")[:ENTERING]]
        ray = self._solver.getDualRay()
        if not ray[1]:
            return outside
        gain = np.abs(self._pricing.value(np.array(ray[2])))
        outside = outside[gain[outside] > GAIN]
        return outside[np.argsort(-gain[outside], kind="stable")[:ENTERING]]

    def _enter(self, atoms: Longs, high: Doubles) -> None:
        assert self._pricing is not None
        starts, rows, times = self._pricing.columns(atoms)
        self._solver.addCols(len(atoms), self._cost[atoms], np.zeros(len(atoms)), high, len(rows), starts, rows, times)
        self._place[atoms] = self._columns + np.arange(len(atoms))
        self._columns += len(atoms)

    def _row_of(self, demand: Demand) -> tuple[int, float, float] | None:
        """The row of a hidden class that is demanded to change, with its ends; None: variables have them."""
        if self._parts_of or demand.cell < 0 or self._single[demand.cell] or not self.hidden[demand.cell]:
            return None
        (low,), (high,) = self._list_rows(np.array([demand.cell]))
        least = low if demand.fewest is None else demand.fewest / self._unit
        most = high if demand.most is None else demand.most / self._unit
        return int(self._row[demand.cell]), least, most

    def _read(self) -> Doubles:
        values, inside = np.zeros(2 * self._atoms), self._place[: 2 * self._atoms] >= 0
        values[inside] = np.array(self._solver.getSolution().col_value)[self._place[: 2 * self._atoms][inside]]
        changes: Doubles = values[: self._atoms] - values[self._atoms :]
        return changes

    def _bound_variables(self, demand: Demand, *, keep_shown: bool) -> tuple[Doubles, Doubles]:
        """Bounds of all variables; of the demanded class either part is zero, and the other is bounded."""
        low, high, unit = self._low.copy(), self._high.copy(), self._unit
        if keep_shown:
            shown = np.flatnonzero(~self.hidden)
            high[self._grows[shown]] = high[self._shrinks[shown]] = 0.0
        for atom in demand.fixed:
            high[atom] = high[self._atoms + atom] = 0.0
        for atom, least in demand.kept:
            high[self._atoms + atom] = min(high[self._atoms + atom], -least / unit)
        for atom, least, most in demand.between:
            for column, ends in zip((atom, self._atoms + atom), split_growth(least / unit, most / unit), strict=True):
                low[column], high[column] = ends
        if demand.cell >= 0 and self._row_of(demand) is None:
            grows, shrinks = int(self._grows[demand.cell]), int(self._shrinks[demand.cell])
            if demand.fewest is not None:
                low[grows], high[shrinks] = max(low[grows], demand.fewest / unit), 0.0
            else:
                assert demand.most is not None
                low[shrinks], high[grows] = max(low[shrinks], -demand.most / unit), 0.0
        return low, high

    def _round(self, solution: Doubles) -> Longs | None:
        """The change in whole numbers, if the program's is one: no class changes by the rounding."""
        exact = solution * self._unit
        whole = np.rint(exact)
        near = NEAR if self._unit == 1 else UNIT_NEAR
        if np.any(np.abs(exact - whole) >= near):
            return None
        change: Longs = whole.astype(np.int64)
        still = np.abs(self._system.sums_of(exact)) < len(exact) * near
        return None if self._system.sums(change)[still].any() else change

    def _whole(
        self, solution: Doubles, demand: Demand, ends: tuple[Doubles, Doubles], *, keep_shown: bool
    ) -> Longs | None:
        """The same program with whole numbers: of the atoms that change in ``solution``, and if need be of all.

        Raises:
            ExhaustedError: whole numbers were not found, and may exist.
        """
        first, _ = self._solve_whole(np.flatnonzero(np.abs(solution) >= NEAR), demand, ends)
        if first is not None:
            return first
        if self._pricing is not None:
            order = self._order_near(solution)
            for most in (most for most in NEAREST if most < len(order)):
                near, _ = self._solve_whole(np.sort(order[:most]), demand, ends)
                if near is not None:
                    return near
        change, is_sure = None, False
        if len(self._index) <= MOST_ENTRIES:
            change, is_sure = self._solve_whole(np.arange(self._atoms), demand, ends)
        if change is None and not is_sure and not keep_shown:
            raise ExhaustedError
        return change

    def _order_near(self, solution: Doubles) -> Longs:
        """The atoms that change in a solution, then the others from the least reduced cost on."""
        cost = np.where(np.abs(solution) >= NEAR, -1.0, np.abs(self._reduced))
        order: Longs = np.argsort(cost, kind="stable").astype(np.int64)
        return order

    def _solve_whole(self, atoms: Longs, demand: Demand, ends: tuple[Doubles, Doubles]) -> tuple[Longs | None, bool]:
        """A change of some atoms in whole numbers; and whether without one there is none."""
        highs, many = self._highs, len(self._low)
        used = np.ones(many, bool)
        used[: 2 * self._atoms] = False
        used[atoms] = used[atoms + self._atoms] = True
        columns = np.flatnonzero(used)
        row_ends = self._list_rows(np.flatnonzero(~self._single))
        row = self._row_of(demand)
        if row is not None:
            row_ends[0][row[0]], row_ends[1][row[0]] = row[1:]
        whole = columns < 2 * self._atoms
        program, kinds = self._select(used, ends, row_ends), highs.HighsVarType
        program.integrality_ = [kinds.kInteger if of else kinds.kContinuous for of in whole.tolist()]
        solver = make_solver(program)
        if not search_whole(solver, self._work):
            return None, solver.getModelStatus() == highs.HighsModelStatus.kInfeasible
        values = np.zeros(2 * self._atoms)
        values[columns[whole]] = np.array(solver.getSolution().col_value)[whole]
        change = np.rint(values[: self._atoms] - values[self._atoms :]).astype(np.int64) * self._unit
        return change, True

    def _set(self, columns: Longs, low: Doubles, high: Doubles) -> None:
        columns = columns[self._place[columns] >= 0]
        if len(columns):
            places = self._place[columns].astype(np.int32)
            self._solver.changeColsBounds(len(columns), places, low[columns], high[columns])
