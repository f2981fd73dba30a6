"""Bounds of sets of cuts.

No division of the records costs less, and every cut adds what the divided groups' bounds add.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.papers.koptimize.kernels.cut_bounds import (
    CLASSES,
    ROWS,
    SQUARES,
    at_least,
    bound_of_groups,
    cut_bounds,
    sum_groups,
)
from tests.properties.strategies import examples

Record = tuple[int, int, int]
"""Group, code, rows."""

KINDS = (ROWS, SQUARES, CLASSES)
RECORDS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(1, 6)), min_size=1, max_size=6)


def divisions(records: list[int]) -> Iterator[list[list[int]]]:
    """All partitions of some records."""
    if not records:
        yield []
        return
    for rest in divisions(records[1:]):
        yield [[records[0]], *rest]
        for at in range(len(rest)):
            yield [*rest[:at], [records[0], *rest[at]], *rest[at + 1 :]]


def own_least(kind: int, rows: int, k: int) -> int:
    """What a record's rows cost at least, as searches say."""
    return {ROWS: 3 * rows, SQUARES: rows * max(rows, k), CLASSES: 0}[kind]


def cost(kind: int, division: list[list[int]], rows: list[int], k: int, full: int) -> int:
    total = 0
    for part in division:
        size = sum(rows[at] for at in part)
        if size < k:
            total += full * size
        else:
            total += {ROWS: 3 * size, SQUARES: size * size, CLASSES: -1}[kind]
    return total


@examples(150)
@given(rows=st.lists(st.integers(1, 6), min_size=1, max_size=6), k=st.integers(1, 9))
def test_no_division_costs_less(rows: list[int], k: int) -> None:
    for kind in KINDS:
        # The table may be this group alone: a suppressed row then costs as much as the group's rows.
        full = {ROWS: 7, SQUARES: max(sum(rows), k), CLASSES: 0}[kind]
        least = sum(own_least(kind, own, k) for own in rows)
        large, few = sum(own >= k for own in rows), sum(own for own in rows if own < k)
        bound = at_least(kind, sum(rows), least, large, few, k, full)
        assert bound <= min(cost(kind, division, rows, k, full) for division in divisions(list(range(len(rows)))))
        if kind == ROWS and sum(rows) >= k:
            assert bound == least


def test_squares_are_of_classes_that_are_alike() -> None:
    # 139 rows are two classes of k = 50 at most: 69 and 70 rows.
    assert at_least(SQUARES, 139, 139 * 50, 0, 139, 50, 10_000) == 69**2 + 70**2
    # A record of 90 rows is a class, and 49 single rows are none.
    assert at_least(SQUARES, 139, 90**2 + 49 * 50, 1, 49, 50, 10_000) == 139**2
    assert at_least(CLASSES, 139, 0, 1, 49, 50, 0) == -1


@examples(150)
@given(records=RECORDS, k=st.integers(1, 9), kind=st.sampled_from(KINDS))
def test_every_cut_adds_what_the_divided_groups_say(records: list[Record], k: int, kind: int) -> None:
    names = sorted({group for group, _, _ in records})
    group = np.array([names.index(one[0]) for one in records], np.int32)
    codes = np.array([one[1] for one in records], np.int32)
    rows = np.array([one[2] for one in records], np.int64)
    full = {ROWS: 7, SQUARES: max(int(rows.sum()), k), CLASSES: 0}[kind]
    least = np.array([own_least(kind, int(own), k) for own in rows], np.int64)

    def bound(label: list[int]) -> tuple[int, int]:
        found = gone = 0
        for name in set(label):
            own = [at for at, one in enumerate(label) if one == name]
            size = int(rows[own].sum())
            gone += size if size < k else 0
            large = int((rows[own] >= k).sum())
            few = int(rows[own][rows[own] < k].sum())
            found += at_least(kind, size, int(least[own].sum()), large, few, k, full)
        return found, gone

    sums = sum_groups(group, len(names), rows, least, k)
    before, gone = bound(group.tolist())
    assert bound_of_groups(kind, sums, k, full) == before
    made = cut_bounds(codes, 5, rows, least, group, sums, kind, k, full)
    for cut in range(1, 5):
        label = [2 * int(one) + int(code >= cut) for one, code in zip(group, codes, strict=True)]
        after, lost = bound(label)
        divided = [name for name in range(len(names)) if {2 * name, 2 * name + 1} <= set(label)]
        parts = [
            sum(int(rows[at]) for at, one in enumerate(label) if one == 2 * name + side)
            for name in divided
            for side in (0, 1)
        ]
        assert made[0, cut] == after - before
        assert made[1, cut] == lost - gone
        assert made[2, cut] == sum(size >= k for size in parts)
