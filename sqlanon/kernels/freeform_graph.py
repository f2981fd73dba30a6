"""The graph of rows and boxes by itself: k matchings without the division into matchings, which nobody sees."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int32]


@njit(nogil=True, cache=True)
def list_rows_of_boxes(targets: Ints) -> tuple[bool, Ints]:
    """The rows of every box, ascending.

    Args:
        targets: int32[k, n], k boxes of every row, in any order.

    Returns:
        whether every box has k rows and no row a box twice, and then int32[n, k].

    Cost: O(n k).
    """
    k, n = targets.shape
    box_rows, filled = np.empty((n, k), np.int32), np.zeros(n, np.int32)
    for i in range(n):
        for t in range(k):
            box = targets[t, i]
            if box < 0 or box >= n or filled[box] == k or (filled[box] > 0 and box_rows[box, filled[box] - 1] == i):
                return False, box_rows
            box_rows[box, filled[box]] = i
            filled[box] += 1
    return True, box_rows


@njit(nogil=True, cache=True)
def order_boxes(members: Ints) -> Ints:
    """The boxes in the order of their rows, the first row first; boxes of the same rows as they come.

    Args:
        members: int32[n, k], the rows of every box, ascending.

    Cost: O(n k), a counting sort a column.
    """
    n, k = members.shape
    order, next_order = np.arange(n).astype(np.int32), np.empty(n, np.int32)
    for index in range(k - 1, -1, -1):
        place = np.zeros(n + 1, np.int32)
        for box in range(n):
            place[members[box, index] + 1] += 1
        for row in range(n):
            place[row + 1] += place[row]
        for box in order:
            row = members[box, index]
            next_order[place[row]] = box
            place[row] += 1
        order, next_order = next_order, order
    return order


@njit(nogil=True, cache=True)
def are_in_order(members: Ints) -> bool:
    """Whether boxes are numbered as `order_boxes` has them. Cost: O(n k)."""
    n, k = members.shape
    for box in range(1, n):
        for index in range(k):
            if members[box - 1, index] < members[box, index]:
                break
            if members[box - 1, index] > members[box, index]:
                return False
    return True


@njit(nogil=True, cache=True)
def list_boxes_of_rows(members: Ints) -> Ints:
    """The boxes of every row, int32[n, k], ascending, from the rows of every box. Cost: O(n k)."""
    n, k = members.shape
    edges, filled = np.empty((n, k), np.int32), np.zeros(n, np.int32)
    for box in range(n):
        for row in members[box]:
            edges[row, filled[row]] = box
            filled[row] += 1
    return edges


@njit(nogil=True, cache=True)
def order_breadth_first(members: Ints, edges: Ints) -> tuple[Ints, Ints, Ints]:
    """Order of rows and boxes by a search from row 0 on.

    Neighbours in the graph are then close in memory.

    Args:
        members: int32[n, k], the rows of every box.
        edges: int32[n, k], the boxes of every row.

    Returns:
        rows and boxes in that order, each int32[n]; and, int32[n, k], the boxes of every row, both numbered by it.

    Cost: O(n k).
    """
    n, k = members.shape
    rows, boxes, near = np.empty(n, np.int32), np.empty(n, np.int32), np.empty((n, k), np.int32)
    row_place, box_place = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    visited = reached = shown = 0
    for start in range(n):
        if row_place[start] >= 0:
            continue
        row_place[start], rows[reached] = reached, start
        reached += 1
        while visited < reached:
            for index in range(k):
                box = edges[rows[visited], index]
                if box_place[box] < 0:
                    box_place[box], boxes[shown] = shown, box
                    shown += 1
                    for row in members[box]:
                        if row_place[row] < 0:
                            row_place[row], rows[reached] = reached, row
                            reached += 1
                near[visited, index] = box_place[box]
            visited += 1
    return rows, boxes, near


@njit(nogil=True, cache=True)
def restore_numbers(targets: Ints, rows: Ints, boxes: Ints) -> Ints:
    """Matchings int32[k, n] with the original numbers of rows and boxes, from those numbered by these orders.

    Cost: O(n k).
    """
    k, n = targets.shape
    restored = np.empty((k, n), np.int32)
    for t in range(k):
        for index in range(n):
            restored[t, rows[index]] = boxes[targets[t, index]]
    return restored
