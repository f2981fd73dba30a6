"""Predicates over columns, each a conjunction, and how many rows or released rows satisfy them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlanon.attack.kernels.nearest import Ints, Longs, Space, covers
from sqlanon.kernels.compiled import njit

AT_LEAST, AT_MOST, IN, NOT, EQUAL = 0, 1, 2, 3, 4
"""Comparisons: with a code; with the cell of a released row; any code but a given one; a given code."""


class Predicates(NamedTuple):
    """p conjunctions of m comparisons.

    Attributes:
        columns: int32[p, m], the column of each comparison.
        kinds: int32[p, m], a comparison of those above.
        values: int32[p, m], a code; with `IN` the place of the released row that has the cell.
    """

    columns: Ints
    kinds: Ints
    values: Ints


@njit(nogil=True, cache=True)
def _holds(space: Space, a: int, kind: int, value: int, code: int) -> bool:
    """Whether a code satisfies a comparison; NULL satisfies none but the cell with NULL and `NOT`."""
    if kind == IN:
        return covers(space, a, value, code)
    if kind == NOT:
        return bool(code != value)
    if kind == EQUAL:
        return bool(code == value)
    if code == 0 and space.nulls[a]:
        return False
    return bool(code >= value) if kind == AT_LEAST else bool(code <= value)


@njit(nogil=True, cache=True)
def _inside(space: Space, a: int, kind: int, value: int, j: int) -> bool:
    """Whether all codes of a released cell satisfy a comparison; those with a code are asked of rows alone."""
    low, high, null = space.low[a, j], space.high[a, j], space.null[a, j]
    if kind == IN:
        if space.kinds[a]:
            return bool(space.cells[a, j] == space.cells[a, value])
        same = bool(low >= space.low[a, value] and high <= space.high[a, value])
        return same and bool(space.null[a, value] or not null)
    if space.kinds[a] or high < low or null or (low == 0 and space.nulls[a]):
        return False
    return bool(low >= value) if kind == AT_LEAST else bool(high <= value)


@njit(nogil=True, cache=True)
def count_released(space: Space, predicates: Predicates, most: int) -> Longs:
    """Released rows that satisfy each predicate for certain, int64[p]; counting ends above ``most``.

    Cost: O(p b m) at most.
    """
    totals = np.zeros(len(predicates.columns), np.int64)
    for p in range(len(totals)):
        for j in range(len(space.members)):
            holds = True
            for c in range(predicates.columns.shape[1]):
                if not _inside(space, predicates.columns[p, c], predicates.kinds[p, c], predicates.values[p, c], j):
                    holds = False
                    break
            if holds:
                totals[p] += space.members[j]
                if totals[p] > most:
                    break
    return totals


@njit(nogil=True, cache=True)
def count_rows(space: Space, predicates: Predicates, rows: Ints, most: int) -> Longs:
    """Rows, int32[n, d], that satisfy each predicate, int64[p]; counting ends above ``most``.

    Cost: O(p n m) at most.
    """
    totals = np.zeros(len(predicates.columns), np.int64)
    for p in range(len(totals)):
        for i in range(len(rows)):
            holds = True
            for c in range(predicates.columns.shape[1]):
                a = predicates.columns[p, c]
                if not _holds(space, a, predicates.kinds[p, c], predicates.values[p, c], rows[i, a]):
                    holds = False
                    break
            if holds:
                totals[p] += 1
                if totals[p] > most:
                    break
    return totals
