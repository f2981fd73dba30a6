"""Routes a change of sums through a graph of finest cells, so that cells change by given numbers and no others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def route_change(
    graph: tuple[Ints, Ints, Ints, Ints, Ints],
    low: Ints,
    high: Ints,
    change: Ints,
    need: Ints,
    nodes: Ints,
    most: int,
) -> tuple[bool, int]:
    """Change edges until no node needs a change, along shortest paths of alternating signs (Edmonds and Karp 1972).

    Args:
        graph: of each node where its edges begin in the next, and the edges; of each edge the left and the right node;
            the first right node, as an array of one.
        low, high: the least and the greatest change of each edge.
        change: the changes, which are made larger and smaller.
        need: of each node by how much its edges must change in addition, which becomes 0.
        nodes: the nodes with a need.
        most: edges that are looked at, at most.

    Returns:
        whether all needs are met, and how many edges were looked at.
    """
    starts, edges, left, right, first = graph
    lefts, steps = first[0], 0
    through = np.full(len(need), -2, np.int64)
    queue = np.empty(len(need), np.int64)
    while True:
        tail, unmet = 0, False
        for node in nodes:
            if need[node] != 0:
                unmet = True
                if (need[node] > 0) == (node < lefts):
                    through[node] = -1
                    queue[tail] = node
                    tail += 1
        if not unmet:
            return True, steps
        head, target = 0, -1
        while head < tail and target < 0:
            node = queue[head]
            head += 1
            for place in range(starts[node], starts[node + 1]):
                edge = edges[place]
                steps += 1
                if node < lefts:
                    if change[edge] >= high[edge]:
                        continue
                    other = right[edge]
                else:
                    if change[edge] <= low[edge]:
                        continue
                    other = left[edge]
                if through[other] != -2:
                    continue
                through[other] = edge
                queue[tail] = other
                tail += 1
                if need[other] != 0 and (need[other] > 0) == (other >= lefts):
                    target = other
                    break
        if target < 0 or steps > most:
            return False, steps
        by, node = abs(need[target]), target
        while through[node] >= 0:
            edge = through[node]
            if node >= lefts:
                by, node = min(by, high[edge] - change[edge]), left[edge]
            else:
                by, node = min(by, change[edge] - low[edge]), right[edge]
        by = min(by, abs(need[node]))
        need[node] += by if need[node] < 0 else -by
        need[target] += by if need[target] < 0 else -by
        node = target
        while through[node] >= 0:
            edge = through[node]
            if node >= lefts:
                change[edge] += by
                node = left[edge]
            else:
                change[edge] -= by
                node = right[edge]
        for place in range(tail):
            through[queue[place]] = -2
