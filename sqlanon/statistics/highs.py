"""Imports HiGHS, an optional package, and makes solvers of it."""

from __future__ import annotations

from typing import Any

from sqlanon.errors import UnsupportedError

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


def make_solver(program: Any) -> Any:  # noqa: ANN401
    """A silent solver of one thread for a program."""
    highs = import_highs()
    # The class itself writes a line on standard output where callbacks are prepared; the base class does not.
    solver = highs.Highs.__base__()
    for name, option in (("output_flag", False), ("threads", 1), ("random_seed", 0), ("presolve", "off")):
        solver.setOptionValue(name, option)
    solver.passModel(program)
    return solver
