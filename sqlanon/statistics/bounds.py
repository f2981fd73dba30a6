"""What a reader can compute of hidden cells: the bounds of each over all tables that agree with the shown ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.highs import NEAR, import_highs, make_solver
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


def bound_hidden(system: System, hidden: Flags, witnesses: Longs) -> tuple[Longs, Longs]:
    """The least and the greatest value of each class; of a shown one both are its value.

    They are those of linear programs, rounded outwards: a reader of whole numbers may find narrower ones. Atoms are
    taken for published cells: that is so where one table has all columns.

    Args:
        system: the cells.
        hidden: bool[classes].
        witnesses: int64[witnesses, atoms], changes: an end that one of them reaches and that no table passes needs no
            program.

    Returns:
        int64[classes] twice; -1: there is no greatest value.

    Cost: at most two linear programs for each hidden class, each of which starts where the last one ended.
    """
    highs = import_highs()
    count, atoms, cells = system.atoms.count, len(system.atoms.count), len(system)
    low, high = system.value.copy(), system.value.copy()
    shown = ~hidden
    single = np.diff(system.at) == 1
    least = np.ones(atoms)
    most = np.full(atoms, highs.kHighsInf)
    known = system.member[system.at[:-1][single & shown]]
    least[known] = most[known] = count[known]
    program = highs.HighsLp()
    program.num_col_, program.num_row_ = atoms, cells
    program.col_cost_, program.col_lower_, program.col_upper_ = np.zeros(atoms), least, most
    program.row_lower_ = np.where(shown, system.value, 1).astype(np.float64)
    program.row_upper_ = np.where(shown, system.value.astype(np.float64), highs.kHighsInf)
    program.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    program.a_matrix_.start_ = system.at.astype(np.int32)
    program.a_matrix_.index_ = system.member.astype(np.int32)
    program.a_matrix_.value_ = np.ones(len(system.member))
    solver = make_solver(program)
    reached = np.stack([system.sums(one) for one in witnesses]).min(axis=0) + system.value
    optimal = highs.HighsModelStatus.kOptimal
    for cell in np.flatnonzero(hidden):
        members = system.members(int(cell))
        places = members.astype(np.int32)
        low[cell] = len(members)
        if reached[cell] > len(members):
            solver.changeColsCost(len(places), places, np.ones(len(places)))
            solver.run()
        if reached[cell] > len(members) and solver.getModelStatus() == optimal:
            low[cell] = np.ceil(solver.getInfo().objective_function_value - NEAR * (1 + abs(system.value[cell])))
        solver.changeColsCost(len(places), places, np.full(len(places), -1.0))
        solver.run()
        if solver.getModelStatus() == optimal:
            top = -solver.getInfo().objective_function_value
            high[cell] = np.floor(top + NEAR * (1 + abs(top)))
        else:
            high[cell] = -1
        solver.changeColsCost(len(places), places, np.zeros(len(places)))
    return low, high
