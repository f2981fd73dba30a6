"""Solver ``flow``: the k-regular graph with the least sum of pairwise costs (Doka et al. 2015, section 8, minCostFlow).

A box of more than two rows is not as wide as the sum of its pairs, so that the loss is least for k = 2 only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.methods.freeform.kernels.remix import decompose_graph
from sqlanon.methods.freeform.kernels.stream import stream
from sqlanon.papers.matchings.kernels.flow import find_cheapest_regular, price_pairs

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.papers.matchings.kernels.cost import Coordinates


def solve(rows: Coordinates, k: int) -> Longs:
    """See `sqlanon.papers.matchings.solvers`. Cost: O(k n^3) at worst, memory O(n^2)."""
    edges = np.empty((len(rows.codes), k), np.int64)
    find_cheapest_regular(price_pairs(rows), k, edges)
    return decompose_graph(edges, stream(bytes(32)))
