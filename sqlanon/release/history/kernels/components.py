"""Connected components of a bipartite graph by union-find, with path halving (Tarjan and van Leeuwen, 1984)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit


@njit(nogil=True, cache=True)
def find_components(
    left: npt.NDArray[np.int64], right: npt.NDArray[np.int64], lefts: int, rights: int
) -> npt.NDArray[np.int64]:
    """The component of every node: left nodes first, then right nodes; the smallest node names a component.

    Args:
        left: per edge the left node, 0 to ``lefts`` - 1.
        right: per edge the right node, 0 to ``rights`` - 1.
        lefts: how many left nodes there are.
        rights: how many right nodes there are.

    Cost: nearly one step an edge.
    """
    parent = np.arange(lefts + rights)
    for edge in range(len(left)):
        a, b = left[edge], lefts + right[edge]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    for node in range(lefts + rights):
        parent[node] = parent[parent[node]]  # a parent is smaller than its child, and so already final
    return parent
