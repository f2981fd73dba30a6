"""Solver ``sortgreedy``: the cheapest edges of all first (Doka et al. 2015, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.methods.freeform.kernels.greedy import sort_greedy
from sqlanon.methods.freeform.solvers import UnsolvedError
from sqlanon.methods.freeform.solvers.lexicographic import arranged, lexicographic, restored

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.methods.freeform.kernels.cost import Coordinates


def solve(rows: Coordinates, k: int) -> npt.NDArray[np.int64]:
    """See `sqlanon.methods.freeform.solvers`. Cost: see `sort_greedy`."""
    order = lexicographic(rows.codes)
    targets = np.empty((k, len(order)), np.int64)
    if not sort_greedy(arranged(rows, order), targets):
        raise UnsolvedError("solver sortgreedy found no matching; use solver hungarian")
    return restored(targets, order)
