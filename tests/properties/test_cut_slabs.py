"""Bounds of intervals: no set of cuts costs less, each interval's other columns divided in its own best way.

Exact for the last column.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.papers.koptimize.kernels.cut_bounds import CLASSES, ROWS, SQUARES
from sqlanon.papers.koptimize.kernels.cut_slabs import NEVER, VALUES, Price, bound_slabs
from tests.properties.strategies import examples

FULL = {ROWS: 9, SQUARES: 40, CLASSES: 0, VALUES: 1}


def intervals(size: int) -> Iterator[list[tuple[int, int]]]:
    """All divisions of a column into intervals, by first and past code."""
    for cuts in chain.from_iterable(combinations(range(1, size), n) for n in range(size)):
        yield list(pairwise((0, *cuts, size)))


def wide(first: int, past: int, column: int) -> int:
    return (past - first - 1) * (column + 1)


def cost(counts: np.ndarray, divided: list[list[tuple[int, int]]], width: list[int], price: Price) -> int | None:
    """What the classes of a set cost, one by one; None: it suppresses too many rows."""
    total = gone = 0
    for group, base in zip(counts, width, strict=True):
        for box in product(*divided):
            own = group[tuple(slice(*interval) for interval in box)]
            rows = int(own.sum())
            if rows < price.k:
                total, gone = total + rows * price.full, gone + rows
            elif price.kind == SQUARES:
                total += rows * rows
            elif price.kind == CLASSES:
                total -= 1
            elif price.kind == VALUES:
                total += rows - int(own.reshape(-1, own.shape[-1]).sum(axis=0).max())
            else:
                own_width = sum(wide(*interval, column) for column, interval in enumerate(box))
                total += rows * min(base + own_width, price.full)
    return total if gone <= price.most else None


def nested(counts: np.ndarray, columns: int, at: int, width: list[int], price: Price) -> dict[tuple[int, int], int]:
    """The definition: an interval of the first column costs the least sum of the next column's intervals in it."""
    found = {}
    for a, b in combinations(range(counts.shape[1] + 1), 2):
        slab, wider = counts[:, a:b], [one + wide(a, b, at) for one in width]
        if columns == 1:
            own = cost(
                slab, [[(0, b - a)]], width if price.kind != ROWS else [one - wide(0, b - a, 0) for one in wider], price
            )
        else:
            rows = [int(group.sum()) for group in slab]
            if sum(n for n in rows if n < price.k) > price.most:
                continue
            inner = nested(slab.sum(axis=1), columns - 1, at + 1, wider, price)
            sums = [[inner.get(one) for one in way] for way in intervals(counts.shape[2])]
            own = min((sum(way) for way in sums if None not in way), default=None)  # type: ignore[arg-type]
        if own is not None:
            found[a, b] = own
    return found


@examples(80)
@given(
    data=st.data(),
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    groups=st.integers(1, 2),
    k=st.integers(1, 4),
    most=st.sampled_from([0, 1, 3, 99]),
    kind=st.sampled_from([ROWS, SQUARES, CLASSES, VALUES]),
)
def test_no_set_costs_less(data: st.DataObject, sizes: list[int], groups: int, k: int, most: int, kind: int) -> None:
    values = 2 if kind == VALUES else 1
    cells = int(np.prod(sizes)) * values * groups
    flat = data.draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells))
    counts = np.array(flat, np.int64).reshape(groups, *sizes, values)
    width = data.draw(st.lists(st.integers(0, 4), min_size=groups, max_size=groups))
    price = Price(kind, k, FULL[kind], most)
    ends = np.zeros((len(sizes), max(sizes), max(sizes)), np.int64)
    for column, size in enumerate(sizes):
        for a, b in combinations(range(size + 1), 2):
            ends[column, a, b - 1] = wide(a, b, column)
    made = bound_slabs(counts.reshape(groups, -1, values), np.array(sizes), np.array(width), ends, price)
    bounds = {(a, b): int(made[a, b - 1]) for a, b in combinations(range(sizes[0] + 1), 2) if made[a, b - 1] != NEVER}
    # Every set of cuts costs at least the sum over the intervals of its first column, and has only intervals that have
    # a bound.
    for divided in product(*(list(intervals(size)) for size in sizes)):
        exact = cost(counts, list(divided), width, price)
        if exact is not None:
            assert sum(bounds[one] for one in divided[0]) <= exact
            if len(sizes) == 1:
                assert sum(bounds[one] for one in divided[0]) == exact
    expected = nested(counts, len(sizes), 0, width, price)
    assert bounds.items() <= expected.items()
    reached = [way for way in intervals(sizes[0]) if all(one in expected for one in way)]
    assert {one for way in reached for one in way} <= bounds.keys()


def test_an_interval_is_divided_in_its_own_best_way() -> None:
    # 4 4 / 2 6: alone the halves cost 16 + 16 and 4 + 36, and the whole row of the first costs 64. With k = 3 the
    # second is 64.
    counts = np.array([4, 4, 2, 6], np.int64).reshape(1, 4, 1)
    ends = np.zeros((2, 2, 2), np.int64)
    for k, second in ((2, 40), (3, 64)):
        made = bound_slabs(counts, np.array([2, 2]), np.zeros(1, np.int64), ends, Price(SQUARES, k, 16, 0))
        assert made[0, 0] == 32
        assert made[1, 1] == second
        assert made[0, 1] == 36 + 100
