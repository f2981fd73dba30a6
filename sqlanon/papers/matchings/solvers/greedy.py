"""Solver ``greedy``: each row in lexicographic order takes the cheapest free box (Doka et al. 2015, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.papers.matchings.kernels.greedy import greedy
from sqlanon.papers.matchings.solvers import UnsolvedError
from sqlanon.papers.matchings.solvers.lexicographic import arranged, lexicographic, restored

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.papers.matchings.kernels.cost import Coordinates


def solve(rows: Coordinates, k: int) -> npt.NDArray[np.int64]:
    """See `sqlanon.papers.matchings.solvers`. Cost: O(k n^2 d)."""
    order = lexicographic(rows.codes)
    targets = np.empty((k, len(order)), np.int64)
    if not greedy(arranged(rows, order), targets):
        raise UnsolvedError("solver greedy found no matching; use method freeform")
    return restored(targets, order)
