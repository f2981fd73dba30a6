"""Solver ``greedy``: each row in lexicographic order takes the cheapest free box (Doka et al. 2015, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.methods.freeform.kernels.greedy import greedy
from sqlanon.methods.freeform.solvers import UnsolvedError
from sqlanon.methods.freeform.solvers.lexicographic import arranged, lexicographic, restored

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.methods.freeform.kernels.cost import Coordinates


def solve(rows: Coordinates, k: int) -> npt.NDArray[np.int64]:
    """See `sqlanon.methods.freeform.solvers`. Cost: O(k n^2 d)."""
    order = lexicographic(rows.codes)
    targets = np.empty((k, len(order)), np.int64)
    if not greedy(arranged(rows, order), targets):
        raise UnsolvedError("solver greedy found no matching; use solver hungarian")
    return restored(targets, order)
