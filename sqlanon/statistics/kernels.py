"""Compiled loops: changes of sums along the edges of a graph, and changes of numbers in a tableau of hidden cells."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
UNIT = 12
"""Entries of a tableau are multiples of 1 / n, as those of small determinants are; others are not taken for steps."""
EXACT = 1e-5
"""An entry is such a multiple if it is so near to it, in parts of 1 / `UNIT`."""
LEAST_PIVOT = 0.4
"""Smaller entries are no pivots of a step."""


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


@njit(nogil=True, cache=True)
def exchange_columns(tableau: Doubles, columns: int, row: int, column: int) -> int:
    """Make the number of a row the coordinate of a column (Gauss and Jordan); returns the entries that were read.

    Args:
        tableau: of each row the coefficients of coordinates; row and column are those of the pivot, which is not 0.
        columns: how many columns there are.
    """
    pivot = tableau[row, column]
    entries = tableau[row, :columns].copy()
    used = np.flatnonzero(entries)
    read = len(tableau)
    for place in range(len(tableau)):
        factor = tableau[place, column]
        if factor == 0.0 or place == row:
            continue
        read += len(used)
        factor /= pivot
        for other in used:
            entry = tableau[place, other] - factor * entries[other]
            near = np.rint(entry * UNIT)
            tableau[place, other] = near / UNIT if abs(entry * UNIT - near) < EXACT else entry
        near = np.rint(factor * UNIT)
        tableau[place, column] = near / UNIT if abs(factor * UNIT - near) < EXACT else factor
    tableau[row, :columns] = 0.0
    tableau[row, column] = 1.0
    return read


@njit(nogil=True, cache=True)
def exclude_row(tableau: Doubles, basis: Ints, columns: int, row: int) -> tuple[int, int]:
    """Let the number of a row be 0: it becomes a coordinate, in the last column, which is no longer counted.

    Args:
        tableau: of each row the coefficients of coordinates.
        basis: the row whose number each coordinate is.
        columns: how many columns there are.
        row: the row.

    Returns:
        how many columns are left, as many as before where the number is 0 anyhow; and the entries that were read.
    """
    best, size, read = -1, 0.0, len(tableau)
    for column in range(columns):
        if basis[column] == row:
            best, size = column, -1.0
            break
        entry = abs(tableau[row, column])
        if entry > EXACT and (best < 0 or abs(entry - 1.0) < abs(size - 1.0)):
            best, size = column, entry
    if best < 0:
        return columns, read
    if size > 0.0:
        read += exchange_columns(tableau, columns, row, best)
        basis[best] = row
    last = columns - 1
    for place in range(len(tableau)):
        tableau[place, best], tableau[place, last] = tableau[place, last], tableau[place, best]
    basis[best], basis[last] = basis[last], basis[best]
    return last, read


@njit(nogil=True, cache=True)
def find_unit(tableau: Doubles, column: int) -> int:
    """The least step of a coordinate with which all numbers change by whole numbers; 0: none is found."""
    for unit in (1, 2, 3, 4, 6, 12):
        is_whole = True
        for place in range(len(tableau)):
            entry = tableau[place, column] * unit
            if entry != 0.0 and abs(entry - np.rint(entry)) > EXACT:
                is_whole = False
                break
        if is_whole:
            return unit
    return 0


@njit(nogil=True, cache=True)
def raise_row(
    tableau: Doubles, basis: Ints, low: Doubles, high: Doubles, value: Doubles, sizes: tuple[int, int], demand: Ints
) -> tuple[bool, int]:
    """Change whole numbers from 0 on, each between its ends, until that of a row is as large, or as small, as demanded.

    Each step changes one coordinate as far as no number leaves its ends (primal simplex method with whole steps). Where
    none can change, one of them is exchanged for a number that is in the way.

    Args:
        tableau: of each row the coefficients of coordinates.
        basis: the row whose number each coordinate is.
        low, high: the ends of each row, which hold 0.
        value: gets the number of each row.
        sizes: columns whose coordinates may change; and all that are to be kept.
        demand: the row; 1 or -1, where it is to be small; the amount, which is above 0; and steps, at most.

    Returns:
        whether it is; it may be possible without; and the entries that were read.
    """
    columns, width = sizes
    row, sign, amount, most = demand[0], demand[1], demand[2], demand[3]
    value[:] = 0.0
    able = np.empty(columns, np.int64)
    read = 0
    for step in range(most):
        many = 0
        read += columns
        for column in range(columns):
            rate, coordinate = sign * tableau[row, column], basis[column]
            if (rate > EXACT and value[coordinate] < high[coordinate]) or (
                rate < -EXACT and value[coordinate] > low[coordinate]
            ):
                able[many] = column
                many += 1
        if many == 0:
            return False, read
        first = (step * 7919 + row) % many
        pivot_row, pivot_column, least_loss, moved = -1, -1, np.inf, False
        for place in range(many):
            column = able[(first + place) % many]
            unit = find_unit(tableau, column)
            read += len(tableau)
            if unit == 0:
                continue
            rate = sign * tableau[row, column]
            toward = 1.0 if rate > 0 else -1.0
            length = np.ceil((amount - sign * value[row]) / (abs(rate) * unit) - EXACT) * unit
            blocker, blocker_loss = -1, np.inf
            for other in range(len(tableau)):
                entry = tableau[other, column] * toward
                if entry == 0.0:
                    continue
                room = high[other] - value[other] if entry > 0 else value[other] - low[other]
                size = abs(entry)
                if room >= max(length, unit) * size - EXACT:
                    continue
                length = min(length, np.floor(room / (size * unit) + EXACT) * unit)
                if length == 0 and other != basis[column] and size > LEAST_PIVOT:
                    loss = abs(size - 1.0) + room / 1000
                    if loss < blocker_loss:
                        blocker, blocker_loss = other, loss
                    if loss == 0.0 and least_loss < np.inf:
                        break
            read += len(tableau)
            if length > 0:
                for other in range(len(tableau)):
                    if tableau[other, column] != 0.0:
                        value[other] = np.rint(value[other] + length * toward * tableau[other, column])
                if sign * value[row] >= amount:
                    return True, read
                moved = True
                break
            if blocker_loss < least_loss:
                pivot_row, pivot_column, least_loss = blocker, column, blocker_loss
        if not moved:
            if pivot_row < 0:
                return False, read
            read += exchange_columns(tableau, width, pivot_row, pivot_column)
            basis[pivot_column] = pivot_row
    return False, read
