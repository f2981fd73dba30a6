"""Maximum flow (Dinic 1970) that decides whether rows and boxes form a regular graph.

In such a graph every row has k boxes that it fits, and every box has k rows.

Rows of equal values, and boxes that publish the same, are one node with a number of members. Between a rows and b boxes
at most a b units flow, one an edge: where a flow of the groups exists, spread evenly it is a fractional flow of the
members, and so there is a flow in whole numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

MOST_EDGES = 30_000_000
"""More pairs of rows and boxes than these are not listed."""


@njit(nogil=True, cache=True)
def find_fitting(
    codes: Ints,
    cells: Ints,
    low: Ints,
    high: Ints,
    null: npt.NDArray[np.bool_],
    start: Longs,
    size: Longs,
    bits: npt.NDArray[np.bool_],
    most: int,
) -> tuple[Longs, Ints]:
    """The boxes that each row fits.

    Args:
        codes: int32[d, r], the value of every row in every column.
        cells: int32[d, b], the cell of every box in every column.
        low: int32, of all columns' cells in turn: the least code of an ordered cell.
        high: int32, the greatest.
        null: bool, as long as these: code 0 is covered beside them.
        start: int64[d], where a column's cells begin in ``low``, or the bits in ``bits``.
        size: int64[d], the number of codes of a column with sets of codes as cells; 0: it is ordered.
        bits: whether a cell has a code, of each column of sets cell by cell.
        most: pairs that are listed at most.

    Returns:
        int64[r + 1], where a row's boxes begin, and the boxes; a first array of one number where there are more than
        ``most``.

    Cost: O(r b d) at worst, as columns are compared until one does not fit.
    """
    d, r = codes.shape
    b = cells.shape[1]
    begins, fitting = np.zeros(r + 1, np.int64), np.empty(1024, np.int32)
    n = 0
    for i in range(r):
        for j in range(b):
            fits = True
            for a in range(d):
                code, cell = codes[a, i], np.int64(cells[a, j])
                if size[a]:
                    fits = bits[start[a] + cell * size[a] + code]
                else:
                    at_cell = start[a] + cell
                    fits = low[at_cell] <= code <= high[at_cell] or (code == 0 and null[at_cell])
                if not fits:
                    break
            if fits:
                if n == most:
                    return begins[:1], fitting[:0]
                if n == len(fitting):
                    longer = np.empty(2 * n, np.int32)
                    longer[:n] = fitting
                    fitting = longer
                fitting[n] = j
                n += 1
        begins[i + 1] = n
    return begins, fitting[:n].copy()


@njit(nogil=True, cache=True)
def find_greatest_flow(begins: Longs, box: Ints, rows: Longs, boxes: Longs, k: int) -> int:
    """The units that rows send to boxes, k from every row and k to every box at most, and one along an edge.

    Args:
        begins: int64[r + 1], where the edges of a group of rows begin in ``box``.
        box: the group of boxes of each edge.
        rows: int64[r], the members of a group of rows.
        boxes: int64[b], the members of a group of boxes.
        k: units a member.

    Returns:
        The flow: k times all rows, where a k-regular graph exists and rows are as many as boxes.

    Cost: O(E sqrt(V)) where all groups have one member and k is 1, O(E V^2) at worst; memory 16 bytes an edge.
    """
    r, b, edges = len(rows), len(boxes), len(box)
    remaining, open_ = k * rows, k * boxes
    flow, owner = np.zeros(edges, np.int64), np.empty(edges, np.int32)
    into, of_box = np.zeros(b + 1, np.int64), np.empty(edges, np.int32)
    for i in range(r):
        owner[begins[i] : begins[i + 1]] = i
    for e in range(edges):
        into[box[e] + 1] += 1
    into = np.cumsum(into)
    place = into[:-1].copy()
    for e in range(edges):
        of_box[place[box[e]]] = e
        place[box[e]] += 1
    far = np.empty(r + b, np.int32)
    queue, path = np.empty(r + b, np.int64), np.empty(r + b + 1, np.int64)
    arc = np.empty(r + b, np.int64)
    sent = 0
    while True:
        far[:] = -1
        head, tail, end = 0, 0, -1
        for i in range(r):
            if remaining[i] > 0:
                far[i], queue[tail] = 0, i
                tail += 1
        while head < tail:
            node = queue[head]
            head += 1
            if end >= 0 and far[node] >= end:
                break
            if node < r:
                for e in range(begins[node], begins[node + 1]):
                    j = box[e]
                    if far[r + j] < 0 and flow[e] < rows[node] * boxes[j]:
                        far[r + j], queue[tail] = far[node] + 1, r + j
                        tail += 1
                        if open_[j] > 0 and end < 0:
                            end = far[r + j]
            else:
                for p in range(into[node - r], into[node - r + 1]):
                    i = owner[of_box[p]]
                    if far[i] < 0 and flow[of_box[p]] > 0:
                        far[i], queue[tail] = far[node] + 1, i
                        tail += 1
        if end < 0:
            return sent
        arc[:r], arc[r:] = begins[:-1], into[:-1]
        for first in range(r):
            node, length = first, 0
            while remaining[first] > 0 and far[first] == 0:
                if node >= r and open_[node - r] > 0:
                    units = min(remaining[first], open_[node - r])
                    for s in range(length):
                        e = path[s]
                        room = rows[owner[e]] * boxes[box[e]] - flow[e] if s % 2 == 0 else flow[e]
                        units = min(units, room)
                    for s in range(length):
                        flow[path[s]] += units if s % 2 == 0 else -units
                    remaining[first] -= units
                    open_[node - r] -= units
                    sent += units
                    node, length = first, 0
                    continue
                ahead = -1
                if far[node] < end:
                    if node < r:
                        while arc[node] < begins[node + 1]:
                            e = arc[node]
                            if far[r + box[e]] == far[node] + 1 and flow[e] < rows[node] * boxes[box[e]]:
                                ahead, path[length] = r + box[e], e
                                break
                            arc[node] += 1
                    else:
                        while arc[node] < into[node - r + 1]:
                            e = of_box[arc[node]]
                            if far[owner[e]] == far[node] + 1 and flow[e] > 0:
                                ahead, path[length] = owner[e], e
                                break
                            arc[node] += 1
                if ahead >= 0:
                    node, length = ahead, length + 1
                elif length == 0:
                    break
                else:
                    length -= 1
                    e = path[length]
                    node = owner[e] if length % 2 == 0 else r + box[e]
                    arc[node] += 1
