"""Finds changes of atoms near a cell: small linear programs, for systems where a program of all atoms takes long.

The program has the atoms of the cell and of the smallest published cells that contain it. Cells with the same of these
atoms change equally and are one row. The change is consistent in the whole system. The best change of all atoms may
weigh less, and may exist where this program has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.demands import Demand, Limits, count_limits
from sqlanon.statistics.deviations import FREE_ATOM, UNIT_NEAR
from sqlanon.statistics.highs import NEAR, import_highs, make_program, make_solver
from sqlanon.statistics.system import System
from sqlanon.statistics.whole_search import search_whole
from sqlanon.statistics.work import Work

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Flags, Longs


ENOUGH = 20
"""An atom of more rows than this is as good as an atom of exactly so many."""
WHOLE = 60_000_000
"""Atoms by classes of a system, at most, of which programs of all atoms are tried while there are others."""
NEARBY = (150, 600)
"""Atoms of programs near a cell; where the last has no solution, all atoms are taken."""


class NearbyPrograms:
    """Programs over the atoms near a cell.

    Args:
        system: the cells.
        hidden: bool[classes], which are hidden; the caller changes it.
        work: counts the cost of the programs.
        limits: how much atoms and classes may change; default: those of counts.
    """

    def __init__(self, system: System, hidden: Flags, work: Work, limits: Limits | None = None) -> None:
        self._highs, self._system, self._hidden, self._work = import_highs(), system, hidden, work
        atoms = len(system.atoms.count)
        self._size = np.diff(system.at)
        order = np.argsort(system.member, kind="stable")
        self._holding = np.repeat(np.arange(len(system), dtype=np.int64), self._size)[order]
        self._starts = np.searchsorted(system.member[order], np.arange(atoms + 1)).astype(np.int64)
        times = np.ones(len(system.member), np.int64) if system.times is None else system.times
        self._times = times[order]
        self._limits = limits or count_limits(system)
        # Sets of atoms are equal where these sums are, but for a chance of 2^-62 for each pair.
        self._marks = np.random.default_rng(0).integers(1, 2**62, atoms, dtype=np.int64)

    def solve(self, demand: Demand, most: int, *, keep_shown: bool = False) -> Longs | None:
        """A change of at most so many atoms that meets a demand: int64[atoms]; None: there is none.

        Args:
            demand: the demand.
            most: atoms of the program, at most.
            keep_shown: no shown cell may change.
        """
        pool = self._choose_atoms(demand, most)
        inside = self._list_asked(demand)
        inside_places = np.flatnonzero(np.isin(pool, inside))
        if not len(inside_places) or (demand.between and not np.isin(inside, pool).all()):
            return None
        solver = make_solver(self._build(pool, inside_places, demand, keep_shown))
        solver.run()
        self._work.add(solver)
        if solver.getModelStatus() != self._highs.HighsModelStatus.kOptimal:
            return None
        unit = self._limits.unit
        solution = self._read(solver, len(pool)) * unit
        whole = np.rint(solution)
        if np.any(np.abs(solution - whole) >= (NEAR if unit == 1 else UNIT_NEAR)):
            if not self._solve_whole(solver, len(pool)):
                return None
            whole = np.rint(self._read(solver, len(pool))) * unit
        change = np.zeros(len(self._system.atoms.count), np.int64)
        change[pool] = whole.astype(np.int64)
        return change

    def _read(self, solver: Any, atoms: int) -> Doubles:  # noqa: ANN401 - HiGHS has no types
        values = np.array(solver.getSolution().col_value[: 2 * atoms])
        changes: Doubles = values[:atoms] - values[atoms:]
        return changes

    def _solve_whole(self, solver: Any, atoms: int) -> bool:  # noqa: ANN401
        places = np.arange(2 * atoms, dtype=np.int32)
        whole = np.full(len(places), int(self._highs.HighsVarType.kInteger), np.uint8)
        solver.changeColsIntegrality(len(places), places, whole)
        return search_whole(solver, self._work)

    def _cells_of(self, atom: int) -> Longs:
        """The classes that have an atom."""
        return self._holding[self._starts[atom] : self._starts[atom + 1]]

    def _list_asked(self, demand: Demand) -> Longs:
        """The atoms that a demand is about."""
        if demand.cell >= 0:
            return self._system.members(demand.cell)
        return np.array([atom for atom, _, _ in demand.between], np.int64)

    def _choose_atoms(self, demand: Demand, most: int) -> Longs:
        """The atoms of the demand and of the smallest cells around; if too many, those with the cheapest changes."""
        system = self._system
        asked_atoms = self._list_asked(demand)
        kept_atoms = asked_atoms if demand.cell < 0 else self._add_kin(asked_atoms, most)
        around = np.intersect1d(self._cells_of(int(asked_atoms[0])), self._cells_of(int(asked_atoms[-1])))
        around = around[self._size[around] > len(asked_atoms)]
        pool = kept_atoms
        for cell in around[np.argsort(self._size[around], kind="stable")]:
            if len(pool) >= most:
                break
            members = system.members(int(cell))
            if np.isin(asked_atoms, members).all():
                pool = np.union1d(pool, members)
        if len(pool) > most:
            cost = np.array([self._cost_of(int(atom)) for atom in pool])
            cost[np.isin(pool, kept_atoms)] = -1
            pool = np.sort(pool[np.argsort(cost, kind="stable")[:most]])
        usable: Longs = np.setdiff1d(pool, np.array(demand.fixed, np.int64))
        return usable

    def _add_kin(self, atoms: Longs, most: int) -> Longs:
        """Some atoms with those that are made of them; of cells with many the empty ones are left out."""
        kin = self._system.kin
        if kin is None:
            return atoms
        real = atoms[self._system.atoms.count[atoms] > 0]
        related = np.union1d(atoms, kin[np.isin(kin[:, 0], real), 1])
        if len(related) <= most // 2:
            return related
        return real if len(real) else atoms[:1]

    def _count_asked(self, atoms: Longs, demand: Demand) -> Doubles:
        """How often the class of a demand counts some of its atoms."""
        if demand.cell < 0 or self._system.times is None:
            return np.ones(len(atoms))
        members = self._system.members(demand.cell)
        times = self._system.times[self._system.at[demand.cell] : self._system.at[demand.cell + 1]]
        counted: Doubles = times[np.searchsorted(members, atoms)].astype(np.float64)
        return counted

    def _cost_of(self, atom: int) -> float:
        cells = self._cells_of(atom)
        shown = self._system.weight[cells[~self._hidden[cells]]].sum()
        return float(shown / (1 + min(int(self._system.atoms.count[atom]), ENOUGH)))

    def _merge(self, pool: Longs) -> tuple[Doubles, Doubles, Flags, Longs, Longs, Longs]:
        """The cells of some atoms, merged where they have the same of these atoms.

        Returns:
            float64[rows], the cost of changing each; float64[rows], the least change; bool[rows], which may not change;
            and the atoms of a row by their places in ``pool``, and how often it counts each: of row i
            ``columns[at[i]:at[i + 1]]``.
        """
        lengths = self._starts[pool + 1] - self._starts[pool]
        columns = np.repeat(np.arange(len(pool), dtype=np.int64), lengths)
        places = np.concatenate([np.arange(self._starts[atom], self._starts[atom + 1]) for atom in pool])
        cells, at_cell = np.unique(self._holding[places], return_inverse=True)
        times, sums = self._times[places], np.zeros(len(cells), np.int64)
        np.add.at(sums, at_cell, self._marks[pool][columns] * times)
        _, first, row_of = np.unique(sums, return_index=True, return_inverse=True)
        rows = len(first)
        weight = np.where(self._hidden[cells], 0.0, self._system.weight[cells])
        cost = np.bincount(row_of, weight, rows).astype(np.float64)
        least = np.full(rows, -self._highs.kHighsInf)
        np.maximum.at(least, row_of, -self._limits.shrinks[cells] / self._limits.unit)
        fixed = np.zeros(rows, bool)
        fixed[row_of[self._system.fixed[cells]]] = True
        is_first = np.zeros(len(cells), bool)
        is_first[first] = True
        entries = is_first[at_cell]
        row, column = row_of[at_cell[entries]], columns[entries]
        order = np.argsort(row, kind="stable")
        starts = np.searchsorted(row[order], np.arange(rows + 1)).astype(np.int64)
        return cost, least, fixed, starts, column[order], times[entries][order]

    def _bounds(self, pool: Longs, demand: Demand) -> tuple[Doubles, Doubles]:
        """The least and the greatest change of each atom."""
        low, high = self._limits.low.copy(), self._limits.high.copy()
        for atom, least in demand.kept:
            low[atom] = max(low[atom], least)
        for atom, least, most in demand.between:
            low[atom], high[atom] = least, most
        return low[pool] / self._limits.unit, high[pool] / self._limits.unit

    def _build(self, pool: Longs, asked_places: Longs, demand: Demand, keep_shown: bool) -> Any:  # noqa: ANN401
        """Columns: how much each atom grows and shrinks, then each row that costs. The last row is the demand."""
        infinite, many = self._highs.kHighsInf, len(pool)
        cost, least, fixed, row_starts, columns, times = self._merge(pool)
        is_alone = (np.diff(row_starts) == 1) & (times[row_starts[:-1]] == 1)
        alone, wide = np.flatnonzero(is_alone), np.flatnonzero(~is_alone)
        costly = (cost[wide] > 0) & ~fixed[wide]
        number = np.cumsum(costly) - 1
        paid = wide[costly]
        single = np.full(many, FREE_ATOM)
        single[columns[row_starts[alone]]] += cost[alone]
        low, high = self._bounds(pool, demand)
        lowest = np.concatenate([np.maximum(low, 0.0), np.maximum(-high, 0.0), np.zeros(2 * len(paid))])
        grows, shrinks = np.maximum(high, 0.0), np.maximum(-low, 0.0)
        more, less = np.full(len(paid), infinite), np.maximum(-least[paid], 0.0)
        np.minimum.at(shrinks, columns[row_starts[alone]], np.maximum(-least[alone], 0.0))
        still = columns[row_starts[alone[fixed[alone]]]]
        grows[still] = shrinks[still] = 0.0
        if keep_shown:
            settled = columns[row_starts[alone[cost[alone] > 0]]]
            grows[settled] = shrinks[settled] = more[:] = less[:] = 0.0
        ends = (lowest, np.concatenate([grows, shrinks, more, less]))
        index, value, starts = [], [], [0]
        for place, row in enumerate(wide):
            inside, counted = (of[row_starts[row] : row_starts[row + 1]] for of in (columns, times))
            parts = [inside, inside + many]
            signs = [counted.astype(np.float64), -counted.astype(np.float64)]
            if costly[place]:
                parts.append(2 * many + number[place] + np.array([0, len(paid)]))
                signs.append(np.array([-1.0, 1.0]))
            index.append(np.concatenate(parts))
            value.append(np.concatenate(signs))
            starts.append(starts[-1] + len(index[-1]))
        index.append(np.concatenate([asked_places, asked_places + many]))
        asked_times = self._count_asked(pool[asked_places], demand)
        value.append(np.concatenate([asked_times, -asked_times]))
        starts.append(starts[-1] + 2 * len(asked_places))
        unit = self._limits.unit
        fewest = -infinite if demand.fewest is None else demand.fewest / unit
        most = infinite if demand.most is None else demand.most / unit
        zero = costly | fixed[wide]
        row_ends = (np.append(np.where(zero, 0.0, least[wide]), fewest), np.append(np.where(zero, 0.0, infinite), most))
        matrix = (np.array(starts), np.concatenate(index), np.concatenate(value))
        return make_program(np.concatenate([single, single, cost[paid], cost[paid]]), ends, row_ends, matrix)
