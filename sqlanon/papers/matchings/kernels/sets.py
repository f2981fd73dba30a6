"""Costs of a box with every set of rows that it may have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.unions import copy_box
from sqlanon.papers.matchings.kernels.cost import Coordinates, grow

Longs = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def price_sets(c: Coordinates, sets: Longs) -> Longs:
    """How wide the box of each row is with each set of others.

    Args:
        c: n rows.
        sets: int64[m, size], numbers below n - 1; of the box of row j those from j on mean the row after.

    Returns:
        int64[n, m]. Cost: O(n m size d).
    """
    n, box, mask = len(c.box), c.box[:1].copy(), c.mask[:1].copy()
    widths = np.empty((n, len(sets)), np.int64)
    for j in range(n):
        for s in range(len(sets)):
            copy_box(box, mask, 0, c.box, c.mask, j)
            for i in sets[s]:
                grow(box, mask, 0, c.box, c.mask, i + (i >= j))
            widths[j, s] = measure_joint_width(box, mask, 0, box, mask, 0, c.measure)
    return widths
