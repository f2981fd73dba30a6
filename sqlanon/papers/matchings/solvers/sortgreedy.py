"""Solver ``sortgreedy``: the cheapest edges of all first (Doka et al. 2015, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.papers.matchings.kernels.greedy import sort_greedy
from sqlanon.papers.matchings.solvers import UnsolvedError
from sqlanon.papers.matchings.solvers.lexicographic import arrange_rows, restore_order, sort_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.papers.matchings.kernels.cost import Coordinates


def solve(rows: Coordinates, k: int) -> Longs:
    """See `sqlanon.papers.matchings.solvers`. Cost: see `sort_greedy`."""
    order = sort_rows(rows.codes)
    targets = np.empty((k, len(order)), np.int64)
    if not sort_greedy(arrange_rows(rows, order), targets):
        raise UnsolvedError("solver sortgreedy found no matching; use method freeform")
    return restore_order(targets, order)
