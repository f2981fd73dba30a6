"""Controlled rounding: a multiple of a base for each cell, such that all sums hold, less than the base away.

Cox (1987), "A Constructive Procedure for Unbiased Controlled Rounding": in two dimensions there always is one; in three
and more there may be none. A multiple of the base is published as it is. Each finest cell goes up or down by a
keyed draw with its number as the mean, as far as the other cells allow; an integer program decides.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.highs import import_highs, make_program, make_solver
from sqlanon.statistics.whole_search import search_whole

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.statistics.system import System


MOST_NODES = 2000
"""Nodes that the search for whole numbers may visit."""
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
    seed = np.frombuffer(hmac.digest(secret, b"rounding", "sha256")[:8], np.uint64)[0]
    cost = np.random.default_rng(int(seed)).random(len(free)) - rest[free] / base
    solver = make_solver(_program(system, base, below, free, cost))
    if not search_whole(solver, gap=GAP, nodes=MOST_NODES):
        raise NoRoundingError(exhausted=solver.getModelStatus() != highs.HighsModelStatus.kInfeasible)
    multiples = below.copy()
    multiples[free] += np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
    return multiples * base


def _program(system: System, base: int, below: Longs, free: Longs, cost: Doubles) -> Any:  # noqa: ANN401
    """Columns: whether each free atom goes up. Rows: the cells of several atoms."""
    floor = system.sums(below)
    row_ends = (-(-(system.value - base + 1) // base) - floor, (system.value + base - 1) // base - floor)
    return make_program_of_cells(system, free, cost, (np.zeros(len(free)), np.ones(len(free))), row_ends)


def make_program_of_cells(
    system: System, free: Longs, cost: Doubles, ends: tuple[Doubles, Doubles], row_ends: tuple[Longs, Longs]
) -> Any:  # noqa: ANN401
    """A program of whole numbers with a row for each cell of several atoms, some of them free.

    ``cost`` and ``ends`` are of the free atoms, ``row_ends`` of all cells.
    """
    place = np.full(len(system.atoms.count), -1, np.int64)
    place[free] = np.arange(len(free))
    size = np.diff(system.at)
    wide = np.flatnonzero((size > 1) & (system.sums((place >= 0).astype(np.int64)) > 0))
    number = np.repeat(np.arange(len(system)), size)
    member = np.isin(number, wide) & (place[system.member] >= 0)
    row = number[member]
    matrix = (np.append(np.searchsorted(row, wide), len(row)), place[system.member[member]], np.ones(len(row)))
    low, high = (end[wide].astype(np.float64) for end in row_ends)
    program = make_program(cost, ends, (low, high), matrix)
    program.integrality_ = [import_highs().HighsVarType.kInteger] * len(free)
    return program
