"""The least cost of the intervals of a column.

In each interval the columns after it may be divided in the way best for the interval.

Rows are counted by the codes of the columns that are not divided yet, in each group of the columns that are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.tally import Longs
from sqlanon.papers.koptimize.kernels.cut_bounds import CLASSES, SQUARES

VALUES = 3
"""Summand: rows without the most frequent value of their class.

The others are `ROWS`, `SQUARES` and `CLASSES` of `cut_bounds`.
"""

NEVER = np.int64(1) << 62
"""The cost of suppressing too many rows."""


class Price(NamedTuple):
    """Costs of classes.

    Attributes:
        kind: `ROWS`, `SQUARES`, `CLASSES` or `VALUES`.
        k: rows of a class, at least; those of a smaller class are suppressed.
        full: the cost of a suppressed row.
        most: rows that may be suppressed.
    """

    kind: int
    k: int
    full: int
    most: int


@njit(nogil=True, cache=True)
def _last(counts: Longs, width: Longs, ends: Longs, wider: int, price: Price, upto: Longs, cost: Longs) -> None:
    """`bound_slabs` of the last column, into ``cost``: the costs of the intervals.

    ``wider`` is added to ``width``; ``upto`` is room for int64[r + 1, v].
    """
    groups, r, values = counts.shape
    kind, k, full, most = price
    cost[:] = 0
    gone = np.zeros((r, r), np.int64)
    for g in range(groups):
        for b in range(r):
            for s in range(values):
                upto[b + 1, s] = upto[b, s] + counts[g, b, s]
        for a in range(r):
            for b in range(a, r):
                if cost[a, b] == NEVER:
                    continue
                n = np.int64(0)
                top = np.int64(0)
                for s in range(values):
                    rows_between = upto[b + 1, s] - upto[a, s]
                    n += rows_between
                    top = max(top, rows_between)
                if n == 0:
                    continue
                if n < k:
                    gone[a, b] += n
                    cost[a, b] = NEVER if gone[a, b] > most else cost[a, b] + n * full
                elif kind == SQUARES:
                    cost[a, b] += n * n
                elif kind == CLASSES:
                    cost[a, b] -= 1
                elif kind == VALUES:
                    cost[a, b] += n - top
                else:
                    cost[a, b] += n * min(width[g] + wider + ends[a, b], full)


@njit(nogil=True, cache=True)
def _divide_column(cost: Longs, least: Longs) -> int:
    """The least sum of a column's intervals that have all of its codes. Cost: O(r^2)."""
    r = len(cost)
    least[0] = 0
    for b in range(r):
        least_cost = NEVER
        for a in range(b + 1):
            if least[a] != NEVER and cost[a, b] != NEVER:
                least_cost = min(least_cost, least[a] + cost[a, b])
        least[b + 1] = least_cost
    return least[r]


@njit(nogil=True, cache=True)
def bound_slabs(counts: Longs, sizes: Longs, width: Longs, ends: Longs, price: Price) -> Longs:
    """Lower bounds of the cost of the rows in each interval of the first column.

    The cost of an interval is the sum over the parts, and no part of it, an interval of each later column, costs less
    than where the columns after that are divided in this part as is best for it alone: a set of cuts divides them the
    same way in all parts. Of one column it is exact.

    Args:
        counts: int64[groups, cells, v], the rows of each group by the codes of the columns, the last fastest, and
            for `VALUES` by sensitive value, else v = 1.
        sizes: int64[c], the codes of the columns.
        width: int64[groups], of the classes in columns that are divided already, for `ROWS`.
        ends: int64[c, r, r], the width of the interval of two codes, for `ROWS`.
        price: the costs of classes.

    Returns:
        int64[r, r], by first and last code of the first column; `NEVER` where more rows than allowed would be
        suppressed, or no division of the column has the interval.

    Cost: O(groups x the product of the columns' numbers of intervals), at most.
    """
    columns, groups, values = len(sizes), len(counts), counts.shape[2]
    longest, last = sizes.max(), columns - 1
    costs = np.full((sizes[0], sizes[0]), NEVER, np.int64)
    upto, least = np.zeros((longest + 1, values), np.int64), np.full((columns, longest + 1), NEVER, np.int64)
    slab_rows = np.zeros((sizes[last], sizes[last]), np.int64)
    if last == 0:
        _last(counts, width, ends[0], 0, price, upto, costs)
        return costs
    # Of every column but the last the rows of its present interval, by group and by the codes of the later columns.
    rest, start = np.zeros(columns, np.int64), np.zeros(columns + 1, np.int64)
    for j in range(last):
        rest[j] = np.prod(sizes[j + 1 :]) * values
        start[j + 1] = start[j] + groups * rest[j]
    room, flat = np.zeros(start[last], np.int64), counts.reshape(-1)
    first, final, wide = (
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns + 1, np.int64),
    )
    j, final[0], least[0, 0] = 0, -1, 0
    while True:
        final[j] += 1
        if final[j] == sizes[j]:
            first[j] += 1
            final[j] = first[j]
        if first[j] == sizes[j]:
            if j == 0:
                return costs
            j -= 1
            cost = least[j + 1, sizes[j + 1]]
        else:
            a, b, step = first[j], final[j], rest[j]
            slab = room[start[j] : start[j + 1]]
            above = flat if j == 0 else room[start[j - 1] : start[j]]
            gone = np.int64(0)
            for g in range(groups):
                offset, to = (g * sizes[j] + b) * step, g * step
                n = np.int64(0)
                if a == b:
                    for i in range(step):
                        slab[to + i] = above[offset + i]
                        n += slab[to + i]
                else:
                    for i in range(step):
                        slab[to + i] += above[offset + i]
                        n += slab[to + i]
                gone += n if n < price.k else 0
            if least[j, a] == NEVER or gone > price.most:
                continue
            wide[j + 1] = wide[j] + ends[j, a, b]
            if j + 1 < last:
                j += 1
                first[j], final[j] = 0, -1
                least[j] = NEVER
                least[j, 0] = 0
                continue
            _last(slab.reshape(groups, sizes[last], values), width, ends[last], wide[last], price, upto, slab_rows)
            cost = _divide_column(slab_rows, least[last])
        a, b = first[j], final[j]
        if j == 0:
            costs[a, b] = cost
        if cost != NEVER and least[j, a] != NEVER:
            least[j, b + 1] = min(least[j, b + 1], least[j, a] + cost)
