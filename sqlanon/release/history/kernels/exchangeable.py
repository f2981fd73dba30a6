"""Pairs of rows and candidates that belong together in some assignment.

They are the edges of a graph that some perfect matching contains (Dulmage and Mendelsohn 1958).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.release.history.kernels.strong_components import find_strong_components

Longs = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def count_exchangeable(begins: Longs, other: Longs) -> Longs:
    """How many candidates of every record are possible, all records together.

    Record i is of row i, and that is known to nobody. A reader knows for every record the rows that it may be of, and
    that each row has one record. So he excludes a row that no assignment of all records has. Assignments differ in
    cycles: row j is possible for record i where a way along candidates leads from j back to i, which is where they are
    in one strongly connected component.

    Args:
        begins: int64[n + 1], where the candidates of a record begin in ``other``.
        other: the rows, each once a record; row i among those of record i.

    Returns:
        int64[n]: the possible candidates, at least 1.

    Cost: one step a candidate.
    """
    n, part = len(begins) - 1, find_strong_components(begins, other)
    counts = np.zeros(n, np.int64)
    for i in range(n):
        for e in range(begins[i], begins[i + 1]):
            counts[i] += part[other[e]] == part[i]
    return counts
