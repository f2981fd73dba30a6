"""Optimal l-diversity on one line: equal to the best of all partitions, where the theory says so."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.runs import MOST, NEVER, SUM
from sqlanon.methods.onedim.kernels.optimal_diverse import (
    find_best_accurate,
    find_best_diverse,
    find_best_fractional,
    steps,
)
from tests.oracle.divisions import partitions
from tests.oracle.dual import find_least_privacy, privacy
from tests.properties.onedim import by_number
from tests.properties.strategies import examples

LINES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=8).map(sorted)


def solve(rows: list[tuple[int, int]], l: int, objective: int):  # noqa: E741
    line, values = np.array([r[0] for r in rows], np.int64), np.array([r[1] for r in rows], np.int32)
    group = np.full(len(rows), -1, np.int32)
    loss = find_best_diverse(line, values, 4, l, objective, group)
    return loss, by_number(group)


def extents(rows, classes) -> list[int]:
    return [max(rows[i][0] for i in each) - min(rows[i][0] for i in each) for each in classes]


@examples(80)
@given(rows=LINES, l=st.integers(1, 3))
def test_largest_extent_is_the_least_of_all_partitions(rows: list[tuple[int, int]], l: int) -> None:  # noqa: E741
    values = [r[1] for r in rows]
    every = list(partitions(range(len(rows)), lambda each: privacy(values, each) >= l))
    loss, found = solve(rows, l, MOST)
    if not every:
        assert loss >= NEVER
        return
    assert all(privacy(values, each) >= l for each in found)
    assert loss == max(extents(rows, found))
    assert loss == min(max(extents(rows, each)) for each in every)


@examples(80)
@given(rows=LINES, l=st.integers(1, 3))
def test_sum_of_extents_is_the_least_without_a_repeated_value(rows: list[tuple[int, int]], l: int) -> None:  # noqa: E741
    values = [r[1] for r in rows]

    def once(each) -> bool:
        return len(each) >= l and max(Counter(values[i] for i in each).values()) == 1

    every = list(partitions(range(len(rows)), once))
    loss, found = solve(rows, l, SUM)
    if not every:
        assert loss >= NEVER
        return
    assert all(once(each) for each in found)
    assert loss == sum(extents(rows, found))
    assert loss == min(sum(extents(rows, each)) for each in every)


def fractional(rows: list[tuple[int, int]], l: Fraction, objective: int):  # noqa: E741
    line, values = np.array([r[0] for r in rows], np.int64), np.array([r[1] for r in rows], np.int32)
    group = np.full(len(rows), -1, np.int32)
    loss = find_best_fractional(line, values, 4, l.numerator, l.denominator, objective, group)
    return loss, by_number(group)


def dealt_in_order(values: list[int], classes) -> bool:
    """Whether classes, by their first rows, take the rows of every value in order."""
    by_first = sorted(classes, key=min)
    taken = {v: [i for each in by_first for i in sorted(each) if values[i] == v] for v in values}
    return all(some == sorted(some) for some in taken.values())


@examples(120)
@given(rows=LINES, l=st.sampled_from([Fraction(3, 2), Fraction(4, 3), Fraction(5, 2), Fraction(7, 3)]))
def test_optimum_of_a_fraction(rows: list[tuple[int, int]], l: Fraction) -> None:  # noqa: E741
    """The least largest extent of all partitions; the least sum of those that take the rows of every value in order."""
    values = [r[1] for r in rows]
    every = list(partitions(range(len(rows)), lambda each: privacy(values, each) >= l))
    most, found = fractional(rows, l, MOST)
    total, other = fractional(rows, l, SUM)
    if not every:
        assert min(most, total) >= NEVER
        return
    assert all(privacy(values, each) >= l for each in found + other)
    assert most == max(extents(rows, found)) == min(max(extents(rows, each)) for each in every)
    ordered = [each for each in every if dealt_in_order(values, each)]
    assert total == sum(extents(rows, other)) == min(sum(extents(rows, each)) for each in ordered)


def test_a_repeated_value_can_be_better_for_the_average_extent() -> None:
    """A gap of the paper (Lemma 2, Corollary 1, IL1): a,a,b,b at 0,1,2,3 with l = 2 is best as one class."""
    rows = [(0, 0), (1, 0), (2, 1), (3, 1)]
    values = [r[1] for r in rows]
    loss, found = solve(rows, 2, SUM)
    assert (loss, len(found)) == (4, 2)
    every = partitions(range(4), lambda each: privacy(values, each) >= 2)
    best = min(every, key=lambda each: sum(extents(rows, each)))
    assert (sum(extents(rows, best)), len(best)) == (3, 1)


@examples(100)
@given(rows=LINES, bound=st.integers(0, 12))
def test_dual_privacy_is_the_most_of_all_partitions(rows: list[tuple[int, int]], bound: int) -> None:
    line, values = np.array([r[0] for r in rows], np.int64), np.array([r[1] for r in rows], np.int32)
    group = np.full(len(rows), -1, np.int32)
    size, most = find_best_accurate(line, values, 4, bound, group)
    found = by_number(group)
    assert sorted(i for each in found for i in each) == list(range(len(rows)))
    assert max(extents(rows, found)) <= bound
    assert find_least_privacy(values.tolist(), found) == Fraction(size, most)
    every = partitions(range(len(rows)), lambda each: extents(rows, [each])[0] <= bound)
    assert Fraction(size, most) == max(find_least_privacy(values.tolist(), each) for each in every)


def test_steps_bound_the_work() -> None:
    assert steps([2, 3, 0]) == 12 * 4
    assert steps([2, 3, 0], dual=True) == 144
