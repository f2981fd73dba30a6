"""Strongly connected components of a graph with arcs listed by node (Tarjan 1972), without recursion."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Longs = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def find_strong_components(begins: Longs, other: Longs) -> Longs:
    """The component of every node.

    Args:
        begins: int64[n + 1], where the arcs of a node begin in ``other``.
        other: the nodes that they lead to.

    Returns:
        int64[n]: the same number for nodes that are in the same component, from 0 on.

    Cost: one step an arc.
    """
    n = len(begins) - 1
    index, low, part = np.full(n, -1, np.int64), np.zeros(n, np.int64), np.full(n, -1, np.int64)
    arc, open_, path = begins[:-1].copy(), np.empty(n, np.int64), np.empty(n, np.int64)
    number = opened = parts = 0
    for root in range(n):
        if index[root] >= 0:
            continue
        length = 1
        path[0] = root
        index[root] = low[root] = number
        open_[opened] = root
        number, opened = number + 1, opened + 1
        while length:
            node = path[length - 1]
            if arc[node] < begins[node + 1]:
                ahead = other[arc[node]]
                arc[node] += 1
                if index[ahead] < 0:
                    index[ahead] = low[ahead] = number
                    open_[opened], path[length] = ahead, ahead
                    number, opened, length = number + 1, opened + 1, length + 1
                elif part[ahead] < 0:
                    low[node] = min(low[node], index[ahead])
                continue
            length -= 1
            if length:
                low[path[length - 1]] = min(low[path[length - 1]], low[node])
            if low[node] == index[node]:
                while True:
                    opened -= 1
                    part[open_[opened]] = parts
                    if open_[opened] == node:
                        break
                parts += 1
    return part
