"""Lower bounds of sets of cut points.

One pass computes the least cost of each further cut, for all cuts of a column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.tally import Ints, Longs
from sqlanon.methods.fulldomain.kernels.lattice import sort_by_group

ROWS, SQUARES, CLASSES = 0, 1, 2
"""The summands: costs of rows; squares of the classes' rows; -1 for every class."""


class Totals(NamedTuple):
    """Sums over the records of each group, int64[g] each.

    Attributes:
        rows: the group's rows.
        least: a lower bound of their cost, by their records.
        large: records that have k rows, each of which can be a class.
        few: rows of the other records.
    """

    rows: Longs
    least: Longs
    large: Longs
    few: Longs


@njit(nogil=True, cache=True)
def sum_groups(group: Ints, groups: int, rows: Longs, least: Longs, k: int) -> Totals:
    """The sums of ``rows`` and ``least`` over each group. Cost: O(f)."""
    totals = Totals(
        np.zeros(groups, np.int64),
        np.zeros(groups, np.int64),
        np.zeros(groups, np.int64),
        np.zeros(groups, np.int64),
    )
    for i in range(len(group)):
        g = group[i]
        totals.rows[g] += rows[i]
        totals.least[g] += least[i]
        if rows[i] >= k:
            totals.large[g] += 1
        else:
            totals.few[g] += rows[i]
    return totals


@njit(nogil=True, cache=True)
def at_least(kind: int, rows: int, least: int, large: int, few: int, k: int, full: int) -> int:
    """A lower bound of a group's cost, for any division into classes that divide none of the records.

    Args:
        kind: `ROWS`, `SQUARES` or `CLASSES`.
        rows, least, large, few: of the group, as `Totals` has them.
        k: rows of a class, at least; those of a smaller class are suppressed.
        full: the cost of a suppressed row; with `SQUARES` not less than the rows of any class.
    """
    if rows < k:
        return full * rows
    if kind == ROWS:
        return least
    # A class has a record of k rows, or k rows of smaller ones.
    classes = large + few // k
    if kind == CLASSES:
        return -classes
    size, over = rows // classes, rows % classes
    even = (classes - over) * size * size + over * (size + 1) * (size + 1)
    if 2 * rows > full * classes:
        # Here suppressed rows could lower the squares by more than they cost: the least of full * s + (rows - s)^2 /
        # classes.
        even = min(even, full * rows - (full * full * classes + 3) // 4)
    return max(least, even)


@njit(nogil=True, cache=True)
def bound_of_groups(kind: int, sums: Totals, k: int, full: int) -> int:
    """A lower bound of the cost of all groups. Cost: O(g)."""
    total = np.int64(0)
    for g in range(len(sums.rows)):
        total += at_least(kind, sums.rows[g], sums.least[g], sums.large[g], sums.few[g], k, full)
    return total


@njit(nogil=True, cache=True)
def cut_bounds(
    codes: Ints,
    most: int,
    rows: Longs,
    least: Longs,
    group: Ints,
    sums: Totals,
    kind: int,
    k: int,
    full: int,
) -> npt.NDArray[np.int64]:
    """The changes by dividing the groups at each cut of a column.

    Args:
        codes: int32[f], of the records; a cut c lies between the codes c - 1 and c.
        most: codes of the column.
        rows, least: int64[f], the rows of each record, and a lower bound of their cost where their class has k rows.
        group: int32[f], the group of each record; groups are the classes without the cut.
        sums: of the groups.
        kind, k, full: as `at_least` takes them.

    Returns:
        int64[3, most + 1], by cut: the rise of the bound, the number of further suppressed rows, and the number of
        parts of divided groups with k rows.

    Cost: O(f + codes + groups), two counting sorts.
    """
    n, groups = len(codes), len(sums.rows)
    bounds = np.zeros((3, most + 1), np.int64)
    _, by_code = sort_by_group(codes, n, most)
    _, order = sort_by_group(group[by_code], n, groups)
    place = 0
    while place < n:
        g = group[by_code[order[place]]]
        whole, worth, large, few = sums.rows[g], sums.least[g], sums.large[g], sums.few[g]
        before = at_least(kind, whole, worth, large, few, k, full)
        gone = whole if whole < k else np.int64(0)
        left_rows = below = many = rest = np.int64(0)
        while place < n:
            i = by_code[order[place]]
            left_rows += rows[i]
            below += least[i]
            if rows[i] >= k:
                many += 1
            else:
                rest += rows[i]
            place += 1
            if place == n:
                break
            then = by_code[order[place]]
            if group[then] != g:
                break
            first, past = codes[i] + 1, codes[then] + 1
            if first == past:
                continue
            right = whole - left_rows
            cost = at_least(kind, left_rows, below, many, rest, k, full)
            cost += at_least(kind, right, worth - below, large - many, few - rest, k, full)
            lost = (left_rows if left_rows < k else 0) + (right if right < k else 0)
            parts = (1 if left_rows >= k else 0) + (1 if right >= k else 0)
            bounds[0, first] += cost - before
            bounds[0, past] -= cost - before
            bounds[1, first] += lost - gone
            bounds[1, past] -= lost - gone
            bounds[2, first] += parts
            bounds[2, past] -= parts
    for c in range(1, most + 1):
        for row in range(3):
            bounds[row, c] += bounds[row, c - 1]
    return bounds
