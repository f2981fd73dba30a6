"""Repairs of divisions within a bound.

Never worse, never beyond the best of all partitions, and no step left undone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.bounds import Bounds
from sqlanon.methods.onedim.kernels.bounded_repair import repair
from tests.contract.cases import Case
from tests.oracle import dual as oracle
from tests.oracle.divisions import wide
from tests.oracle.domains import Quasi, Table
from tests.properties.onedim import by_number, in_order
from tests.properties.strategies import cases, examples
from tests.properties.test_accurate import bounds_of, solve


def repaired(table: Table, values: list[int], bounds: Bounds, classes: list[list[int]]) -> list[list[int]]:
    rows, shape = in_order(table)
    group = np.empty(table.rows, np.int32)
    for number, members in enumerate(classes):
        group[members] = number
    made = repair(rows.codes, np.array(values, np.int32), max(values) + 1, shape, bounds, group, len(classes))
    found = by_number(group)
    assert len(found) == made
    assert sorted(row for members in found for row in members) == list(range(table.rows))
    return found


def helped(table: Table, values: list[int], limit: int, classes: list[list[int]]) -> bool:
    """Whether a move of one row to or from a least private class makes it more private.

    The other classes must be more private than it was.
    """
    least = oracle.find_least_privacy(values, classes)

    def fine(members: list[int]) -> bool:
        return not members or (wide(table, members) <= limit and oracle.privacy(values, members) > least)

    for worst in classes:
        if oracle.privacy(values, worst) > least:
            continue
        for other in classes:
            if other is worst:
                continue
            for source, target in ((worst, other), (other, worst)):
                for row in source:
                    if fine([each for each in source if each != row]) and fine([*target, row]):
                        return True
    return False


def proved(table: Table, values: list[int], limit: int, least: Fraction) -> bool:
    """Whether some row has so few values within its reach that no class of it is more private."""
    rows = range(table.rows)
    return any(len({values[other] for other in rows if wide(table, (row, other)) <= limit}) <= least for row in rows)


@examples(150)
@given(case=cases(max_rows=8), share=st.floats(0, 1), data=st.data())
def test_never_worse_and_no_step_left(case: Case, share: float, data: st.DataObject) -> None:
    table, rows = case.table, range(case.table.rows)
    values = data.draw(st.lists(st.integers(0, 3), min_size=table.rows, max_size=table.rows))
    limit = int(share * wide(table, rows))
    bounds = bounds_of(table, limit)
    best = oracle.most_private(values, table.rows, lambda members: wide(table, members) <= limit)
    for before in (solve(table, values, bounds), [[row] for row in rows]):
        after = repaired(table, values, bounds, before)
        least = oracle.find_least_privacy(values, after)
        assert all(wide(table, members) <= limit for members in after)
        assert oracle.find_least_privacy(values, before) <= least <= best
        if proved(table, values, limit, least):
            assert least == best
        else:
            assert not helped(table, values, limit, after)


@examples(80)
@given(case=cases(max_rows=40), share=st.floats(0, 1), data=st.data())
def test_larger_tables(case: Case, share: float, data: st.DataObject) -> None:
    table, rows = case.table, range(case.table.rows)
    values = data.draw(st.lists(st.integers(0, 5), min_size=table.rows, max_size=table.rows))
    limit = int(share * wide(table, rows))
    before = solve(table, values, bounds_of(table, limit))
    after = repaired(table, values, bounds_of(table, limit), before)
    assert all(wide(table, members) <= limit for members in after)
    assert oracle.find_least_privacy(values, after) >= oracle.find_least_privacy(values, before)


def line(order: list[tuple[int, int]]) -> tuple[Table, list[int]]:
    return Table((Quasi("x", tuple(x for x, _ in order)),)), [value for _, value in order]


def test_a_row_apart_is_joined_to_rows_that_the_order_keeps_far() -> None:
    """The order leaves a corner after one row and comes back later, so that no neighbour can help that row."""
    table, values = line([(0, 0), (0, 1), (9, 0), (0, 0), (0, 1), (9, 1), (9, 2)])
    bounds = bounds_of(table, 0)
    before = solve(table, values, bounds)
    assert before == [[0, 1], [2], [3, 4], [5, 6]]
    assert repaired(table, values, bounds, before) == [[0, 1], [3, 4], [2, 5, 6]]


def test_a_row_alone_takes_a_row_that_another_group_can_spare() -> None:
    table, values = line([(0, 0), (0, 0), (0, 1), (3, 1), (3, 2), (0, 2)])
    bounds = bounds_of(table, 0)
    before = solve(table, values, bounds)
    assert before == [[0, 1, 2], [3, 4], [5]]
    assert sorted(repaired(table, values, bounds, before)) == [[0, 5], [1, 2], [3, 4]]


def test_a_row_alone_joins_a_group_that_can_spare_none() -> None:
    table, values = line([(0, 1), (0, 2), (9, 1), (9, 2), (0, 0)])
    bounds = bounds_of(table, 0)
    before = solve(table, values, bounds)
    assert before == [[0, 1], [2, 3], [4]]
    assert sorted(repaired(table, values, bounds, before)) == [[0, 1, 4], [2, 3]]


def test_what_cannot_be_helped_stays() -> None:
    table, values = line([(0, 0), (9, 0), (9, 1)])
    assert repaired(table, values, bounds_of(table, 0), [[0], [1, 2]]) == [[0], [1, 2]]
