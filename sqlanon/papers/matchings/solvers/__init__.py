"""The paper's solvers (Doka et al. 2015): pure functions from rows and k to k matchings.

A solver is a function ``solve(rows, k)`` of `sqlanon.papers.matchings.kernels.cost.Coordinates` that returns int64[k,
n]: row i of matching t goes to box ``targets[t, i]``. Every matching is a permutation, the first the identity, and
no row has a box twice. `solve_matchings` checks the number of rows first.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Longs
    from sqlanon.papers.matchings.kernels.cost import Coordinates

MOST_ROWS: Mapping[str, int] = {"mip": 20, "flow": 2_000, "greedy": 10_000, "sortgreedy": 10_000, "ring": 1_000_000}
"""The solvers, with the largest number of rows that each takes together.

It follows from the cost: exponential (`mip`, see `MOST_SETS`), n^3 (`flow`), n^2 k (greedy solvers, which take a minute
or two for so many rows and k = 10); `ring` costs n k.
"""

MOST_SETS = 100_000
"""Boxes x sets of k - 1 other rows that `mip` takes, at most: a variable each."""


class UnsolvedError(ValueError):
    """A solver gave up on a number of rows that it accepts.

    The text names method freeform and no value.
    """


def explain_refusal(solver: str, rows: int, k: int) -> str | None:
    """Why a solver cannot take so many rows at a time; None if it can."""
    if rows > MOST_ROWS[solver]:
        return (
            f"solver {solver} takes at most {MOST_ROWS[solver]} rows at a time, and here are {rows}; use method "
            "freeform"
        )
    if k > rows:
        return f"{k} matchings need as many rows, and here are {rows}"
    if solver in ("greedy", "sortgreedy") and 2 * k >= rows + 3:
        return (
            f"solver {solver} takes k below (n + 3) / 2, for {rows} rows at most {(rows + 2) // 2}; use method freeform"
        )
    if solver == "mip" and rows * comb(rows - 1, k - 1) > MOST_SETS:
        return (
            f"solver mip takes at most {MOST_SETS} sets of rows, and boxes of {k} among {rows} rows have more; use "
            "method freeform"
        )
    return None


def solve_matchings(solver: str, rows: Coordinates, k: int, *, any_size: bool = False) -> Longs:
    """The matchings that a solver finds.

    Args:
        solver: one of `MOST_ROWS`.
        rows: n rows.
        k: matchings, at least 1.
        any_size: take more rows than `MOST_ROWS`, however long that lasts.

    Returns:
        int64[k, n], see above.

    Raises:
        ValueError: the solver cannot take these rows; the text names method freeform and no value.
        UnsolvedError: it found nothing.
    """
    n = len(rows.codes)
    refused = explain_refusal(solver, min(n, MOST_ROWS[solver]) if any_size else n, k)
    if refused is not None:
        raise ValueError(refused)
    file, name = ("greedy", "solve_sorted") if solver == "sortgreedy" else (solver, "solve")
    return getattr(import_module(f"{__name__}.{file}"), name)(rows, k)  # type: ignore[no-any-return]
