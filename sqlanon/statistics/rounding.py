"""Controlled rounding: multiples of a base for all cells, of which all sums hold, each within the base of its number.

Cox (1987), "A Constructive Procedure for Unbiased Controlled Rounding": in two dimensions there always is one; in three
and more there may be none. A multiple of the base is published as it is. Each finest cell goes up or down by a
keyed draw whose mean is its number, as far as the other cells allow; a program of whole numbers decides.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.highs import import_highs, make_solver
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.seen import HIDDEN, Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from sqlanon.statistics.system import System

    Longs = npt.NDArray[np.int64]

MOST_NODES = 2000
"""Nodes that the search for whole numbers may visit."""
SECONDS = 120.0
"""Seconds that it may take, which nodes do not bound."""
GAP = 0.01
"""The draws may cost so much more than the least, as a part of that."""


class NoRoundingError(Exception):
    """No rounding was found.

    Attributes:
        exhausted: the search reached its limit; else there is none.
    """

    def __init__(self, *, exhausted: bool) -> None:
        super().__init__("no controlled rounding")
        self.exhausted = exhausted


def round_atoms(system: System, base: int, secret: bytes) -> Longs:
    """Rounded numbers of the atoms, whose sums are the rounded numbers of all cells.

    Args:
        system: the cells; each atom is one of them.
        base: rounded numbers are multiples of it.
        secret: key of the draws.

    Raises:
        NoRoundingError: none was found.
        UnsupportedError: HiGHS is not installed.

    Cost: a program of whole numbers with a variable for each atom and a row for each cell.
    """
    highs = import_highs()
    below, rest = np.divmod(system.atoms.count, base)
    free = np.flatnonzero(rest)
    if not len(free):
        return below * base
    drawn = np.frombuffer(hmac.digest(secret, b"rounding", "sha256")[:8], np.uint64)[0]
    cost = np.random.default_rng(int(drawn)).random(len(free)) - rest[free] / base
    solver = make_solver(_program(system, base, below, free, cost))
    for name, option in (("presolve", "on"), ("mip_rel_gap", GAP), ("mip_max_nodes", MOST_NODES)):
        solver.setOptionValue(name, option)
    solver.setOptionValue("time_limit", SECONDS)
    solver.run()
    if solver.getInfo().primal_solution_status != highs.SolutionStatus.kSolutionStatusFeasible:
        raise NoRoundingError(exhausted=solver.getModelStatus() != highs.HighsModelStatus.kInfeasible)
    made = below.copy()
    made[free] += np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
    return made * base


def _program(system: System, base: int, below: Longs, free: Longs, cost: npt.NDArray[np.float64]) -> Any:  # noqa: ANN401
    """Columns: whether each free atom goes up. Rows: the cells of several atoms."""
    highs, place = import_highs(), np.full(len(below), -1, np.int64)
    place[free] = np.arange(len(free))
    size = np.diff(system.at)
    floor = system.sums(below)
    wide = np.flatnonzero((size > 1) & (system.sums((place >= 0).astype(np.int64)) > 0))
    member = np.isin(np.repeat(np.arange(len(system)), size), wide) & (place[system.member] >= 0)
    row = np.repeat(np.arange(len(system)), size)[member]
    program = highs.HighsLp()
    program.num_col_, program.num_row_ = len(free), len(wide)
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, np.zeros(len(free)), np.ones(len(free))
    program.integrality_ = [highs.HighsVarType.kInteger] * len(free)
    program.row_lower_ = (-(-(system.value[wide] - base + 1) // base) - floor[wide]).astype(np.float64)
    program.row_upper_ = ((system.value[wide] + base - 1) // base - floor[wide]).astype(np.float64)
    program.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.append(np.searchsorted(row, wide), len(row)).astype(np.int32)
    program.a_matrix_.index_ = place[system.member[member]].astype(np.int32)
    program.a_matrix_.value_ = np.ones(len(row))
    return program


def see_rounded(system: System, of: Longs, rounded: Longs, base: int) -> Seen:
    """The cells as readers have them; ``rounded`` has a number for each class."""
    ends = np.maximum(rounded - base + 1, 1), rounded + base - 1
    least = np.ones(len(system.atoms.count), np.int64)
    return Seen(of, np.full_like(rounded, HIDDEN), least, (), {}, 0, ends)


class Served:
    """The tables of whole numbers that agree with all rounded cells, and the small cells that have both ends in one.

    Args:
        system: the cells.
        seen: as readers have them.
        most: every small cell must have a table with this number or more, and one with the least that its parts allow.
        seconds: time left, in seconds.
    """

    def __init__(self, system: System, seen: Seen, most: int, seconds: Callable[[], float]) -> None:
        self._system, self._most = system, most
        self._reach = Reach(seen, seconds=seconds)
        self.tables: list[Longs] = [system.atoms.count]
        self._reach.keep(system.atoms.count)
        self._low = system.value <= system.least
        self._high = system.value >= most

    def serve(self) -> Longs:
        """Look for the tables.

        Returns:
            int64: the small cells without them.
        """
        small = np.flatnonzero(self._system.small)
        for low in (True, False):
            finest = small[np.diff(self._system.at)[small] == 1]
            self._try(self._missing(finest, low=low), low=low)
            for cell in self._missing(small, low=low).tolist():
                if not (self._low if low else self._high)[cell]:
                    self._try(np.array([cell]), low=low)
        return small[~(self._low & self._high)[small]]

    def _missing(self, cells: Longs, *, low: bool) -> Longs:
        found: Longs = cells[~(self._low if low else self._high)[cells]]
        return found

    def _try(self, cells: Longs, *, low: bool) -> None:
        """A table with the least or the greatest sum of some cells."""
        if not len(cells):
            return
        weight = np.zeros(len(self._system.atoms.count), np.int64)
        for cell in cells.tolist():
            weight[self._system.members(cell)] += 1
        end = self._reach.least(weight) if low else self._reach.greatest(weight)
        if end.table is None:
            return
        sums = self._system.sums(end.table)
        new = ((sums <= self._system.least) & ~self._low) | ((sums >= self._most) & ~self._high)
        if new[self._system.small].any():
            self.tables.append(end.table)
            self._low |= sums <= self._system.least
            self._high |= sums >= self._most
