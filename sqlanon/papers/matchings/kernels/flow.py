"""The k-regular graph of rows and boxes with the least sum of pairwise costs.

It is a flow of minimum cost (Doka et al. 2015, section 8).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.papers.matchings.kernels.cost import Coordinates

Longs = npt.NDArray[np.int64]

_FAR = np.int64(1) << 60


@njit(nogil=True, cache=True)
def price_pairs(c: Coordinates) -> Longs:
    """int64[n, n]: how wide the box of two rows is. Cost: O(n^2 d)."""
    n = len(c.box)
    cost = np.zeros((n, n), np.int64)
    for i in range(n):
        for j in range(i):
            cost[i, j] = measure_joint_width(c.box, c.mask, j, c.box, c.mask, i, c.measure)
            cost[j, i] = cost[i, j]
    return cost


@njit(nogil=True, cache=True)
def find_cheapest_regular(cost: Longs, k: int, edges: Longs) -> None:
    """Find the k-regular graph of least cost with an edge from every row to the row's own box.

    Args:
        cost: int64[n, n], of row i and box j; k is at most n.
        k: boxes of a row and rows of a box.
        edges: int64[n, k], written: the boxes of each row, the row's own first.

    Every row sends k - 1 units to other boxes, at most one to each. Each unit in turn goes the shortest way in the
    residual graph (successive shortest paths with potentials, Edmonds and Karp 1972).

    Cost: O(k n^3) at worst, memory O(n^2).
    """
    n = len(cost)
    edge_used, degree = np.zeros((n, n), np.bool_), np.zeros(n, np.int64)
    owners = np.empty((n, max(k - 1, 1)), np.int64)
    of_row, of_box = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for j in range(n):
        of_box[j] = _FAR
        for i in range(n):
            if i != j:
                of_box[j] = min(of_box[j], cost[i, j])
    to_row, to_box = np.empty(n, np.int64), np.empty(n, np.int64)
    before_row, before_box = np.empty(n, np.int64), np.empty(n, np.int64)
    row_done, box_done = np.empty(n, np.bool_), np.empty(n, np.bool_)
    for start in range(n):
        for _unit in range(k - 1):
            to_row[:], to_box[:], row_done[:], box_done[:] = _FAR, _FAR, False, False
            row, reach, end = start, np.int64(0), -1
            to_row[start] = 0
            while end < 0:
                if row >= 0:
                    row_done[row] = True
                    for j in range(n):
                        if not box_done[j] and not edge_used[row, j] and j != row:
                            way = reach + cost[row, j] - of_row[row] - of_box[j]
                            if way < to_box[j]:
                                to_box[j], before_box[j] = way, row
                near_row, near_box, row_way, box_way = -1, -1, _FAR, _FAR
                for j in range(n):
                    if not box_done[j] and (
                        to_box[j] < box_way or (to_box[j] == box_way and degree[j] < k - 1 and to_box[j] < _FAR)
                    ):
                        near_box, box_way = j, to_box[j]
                    if not row_done[j] and to_row[j] < row_way:
                        near_row, row_way = j, to_row[j]
                if near_box >= 0 and box_way <= row_way:
                    reach, row = box_way, -1
                    box_done[near_box] = True
                    if degree[near_box] < k - 1:
                        end = near_box
                    else:
                        for o in range(k - 1):
                            i = owners[near_box, o]
                            way = reach + of_row[i] + of_box[near_box] - cost[i, near_box]
                            if not row_done[i] and way < to_row[i]:
                                to_row[i], before_row[i] = way, near_box
                else:
                    reach, row = row_way, near_row
            for i in range(n):
                if row_done[i]:
                    of_row[i] += reach - to_row[i]
                if box_done[i]:
                    of_box[i] -= reach - to_box[i]
            degree[end] += 1
            slot, j = degree[end] - 1, end
            while True:
                i = before_box[j]
                edge_used[i, j], owners[j, slot] = True, i
                if i == start:
                    break
                j = before_row[i]
                edge_used[i, j] = False
                slot = 0
                while owners[j, slot] != i:
                    slot += 1
    for i in range(n):
        edges[i, 0], count = i, 1
        for j in range(n):
            if edge_used[i, j]:
                edges[i, count] = j
                count += 1
