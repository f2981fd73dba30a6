"""Solver ``ring``: each box covers k neighbours of a ring (Wong, Mamoulis and Cheung 2010).

A ring lies inside a class of k to 2k - 1 rows.

The partitioner is ours: the order in which the rows come, divided into classes with the least loss (Ghinita et al.
2009, section 3). A ring goes through every other row of the class and comes back through those between, so that
neighbours are near at the ends too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH
from sqlanon.kernels.runs import find_exact_runs

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.papers.matchings.kernels.cost import Coordinates


def divide_rows(rows: Coordinates, k: int) -> list[Longs]:
    """The rows of each class, k to 2k - 1, in their order. Cost: O(n k d)."""
    n = len(rows.codes)
    halves = rows.box.reshape(n, -1, 2, WIDTH)
    places = np.ascontiguousarray(halves[:, :, 0, :]).reshape(n, -1)
    geometry = Geometry(rows.measure.facts, rows.measure.table)
    first, _ = find_exact_runs(places, places, rows.mask, np.ones(n, np.int64), geometry, k)
    return np.split(np.arange(n), np.flatnonzero(first)[1:])


def solve(rows: Coordinates, k: int) -> Longs:
    """See `sqlanon.papers.matchings.solvers`. Cost: O(n k d)."""
    targets = np.empty((k, len(rows.codes)), np.int64)
    for members in divide_rows(rows, k):
        ring = np.concatenate([members[::2], members[1::2][::-1]])
        for t in range(k):
            targets[t, ring] = np.roll(ring, -t)
    return targets
