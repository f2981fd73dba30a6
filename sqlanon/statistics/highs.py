"""Imports HiGHS, an optional package, and makes solvers of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.errors import UnsupportedError

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs

    Ends = tuple[Doubles, Doubles]

NEAR = 1e-6
"""Numbers of a solution are whole if they are so near to a whole number."""


def import_highs() -> Any:  # noqa: ANN401 - HiGHS has no types
    """The module ``highspy``.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        import highspy
    except ImportError as missing:
        raise UnsupportedError("statistics need HiGHS: install sqlanon[statistics]") from missing
    return highspy


def make_program(
    cost: Doubles, ends: Ends, row_ends: Ends, matrix: tuple[Longs, Longs, Doubles], *, by_column: bool = False
) -> Any:  # noqa: ANN401
    """A linear program, with the solution of least cost.

    Args:
        cost: float64[columns].
        ends: the least and the greatest value of each column.
        row_ends: the same of each row.
        matrix: where each row begins, and behind the last one; of every entry the column; and the factor.
        by_column: the matrix has columns in place of rows, and of every entry the row.
    """
    highs = import_highs()
    program, form = highs.HighsLp(), highs.MatrixFormat
    program.num_col_, program.num_row_ = len(cost), len(row_ends[0])
    program.col_cost_, (program.col_lower_, program.col_upper_) = cost, ends
    program.row_lower_, program.row_upper_ = row_ends
    program.a_matrix_.format_ = form.kColwise if by_column else form.kRowwise
    starts, index, program.a_matrix_.value_ = matrix
    program.a_matrix_.start_, program.a_matrix_.index_ = starts.astype(np.int32), index.astype(np.int32)
    return program


def make_solver(program: Any) -> Any:  # noqa: ANN401
    """A silent solver of one thread for a program."""
    highs = import_highs()
    # The class itself writes a line on standard output where callbacks are prepared; the base class does not.
    solver = highs.Highs.__base__()
    for name, option in (("output_flag", False), ("threads", 1), ("random_seed", 0), ("presolve", "off")):
        solver.setOptionValue(name, option)
    solver.passModel(program)
    return solver
