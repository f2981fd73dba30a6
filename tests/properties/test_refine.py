"""Refining: never worse, every requirement kept, the gain as reported."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.runs import find_exact_runs
from sqlanon.methods.shared.kernels.refine import refine
from tests.contract.cases import Case
from tests.oracle.divisions import gcp, wide
from tests.oracle.domains import Quasi, Table
from tests.oracle.requirements import Privacy, meets
from tests.properties.kernel import demands
from tests.properties.onedim import by_number, in_order
from tests.properties.strategies import cases, examples
from tests.properties.test_refine_search import drawn_table, lawful, least_loss


def refined(table: Table, privacy: Privacy, group: np.ndarray, window: int = 40, passes: int = 4):
    rows, shape = in_order(table)
    out = group.astype(np.int32)
    gain = refine(rows.places, rows.sets, shape, demands(table, privacy), out, int(group.max()) + 1, window, passes)
    return by_number(out), gain


@examples(150)
@given(case=cases(max_rows=40), data=st.data(), window=st.integers(1, 4), passes=st.integers(1, 4))
def test_refined_classes_are_no_worse_and_keep_every_requirement(
    case: Case, data: st.DataObject, window: int, passes: int
) -> None:
    table = case.table
    privacy = replace(case.privacy, k=max(1, case.privacy.k))
    drawn = np.array(data.draw(st.lists(st.integers(0, 6), min_size=table.rows, max_size=table.rows)))
    before = by_number(np.unique(drawn, return_inverse=True)[1])
    if not all(meets(table, rows, privacy) for rows in before):
        before = [list(range(table.rows))] if not meets(table, range(table.rows), privacy) else before
        # Merge what fails: the whole table is one class at worst.
        merged: list[list[int]] = []
        for rows in before:
            if merged and not meets(table, merged[-1], privacy):
                merged[-1] += rows
            else:
                merged.append(list(rows))
        before = merged if all(meets(table, rows, privacy) for rows in merged) else [list(range(table.rows))]
        if not meets(table, before[0], privacy):
            return
    group = np.empty(table.rows, np.int64)
    for number, rows in enumerate(before):
        group[rows] = number
    after, gain = refined(table, privacy, group, window, passes)
    assert sorted(row for rows in after for row in rows) == list(range(table.rows))
    assert len(after) == len(before)
    assert all(meets(table, rows, privacy) for rows in after)
    assert gain == gcp(table, before) - gcp(table, after)
    assert gain >= 0


@examples(60)
@given(case=cases(max_rows=40), k=st.integers(1, 5))
def test_refined_runs(case: Case, k: int) -> None:
    table = case.table
    k = min(k, table.rows)
    rows, shape = in_order(table)
    first, loss = find_exact_runs(rows.places, rows.places, rows.sets, np.ones(table.rows, np.int64), shape, k)
    after, gain = refined(table, Privacy(k=k), np.cumsum(first) - 1)
    assert gcp(table, after) == loss - gain
    assert all(len(each) >= k for each in after)


def test_a_row_swaps_with_the_row_that_fits_its_class_better() -> None:
    table = Table((Quasi("x", (0, 1, 100, 2, 101, 102)),))
    after, gain = refined(table, Privacy(k=3), np.array([0, 0, 0, 1, 1, 1]))
    assert after == [[0, 1, 3], [2, 4, 5]]
    assert gain == 3 * (wide(table, [0, 1, 2]) + wide(table, [3, 4, 5])) - gcp(table, after)


def test_a_row_moves_where_its_class_can_spare_it() -> None:
    table = Table((Quasi("x", (0, 1, 2, 90, 98, 99, 100)),))
    after, _ = refined(table, Privacy(k=3), np.array([0, 0, 0, 0, 1, 1, 1]))
    assert after == [[0, 1, 2], [3, 4, 5, 6]]


def test_large_classes_stay() -> None:
    n = 700
    table = Table((Quasi("x", tuple(range(n))),))
    group = np.array([0] * 300 + [1] * 400)
    after, gain = refined(table, Privacy(k=10), group)
    assert gain == 0
    assert [len(rows) for rows in after] == [300, 400]


def between_the_best_and_what_was(kind: str, tables: int, most: int) -> None:
    """Passes from drawn classes, against the best of all partitions; both ends of what they may do are seen."""
    rng, better, best = random.Random(13), 0, 0
    for _ in range(tables):
        table, privacy = drawn_table(rng, kind, most)
        before = lawful(table, privacy, [rng.randint(0, 2) for _ in range(table.rows)])
        group = np.empty(table.rows, np.int64)
        for number, rows in enumerate(before):
            group[rows] = number
        after, gain = refined(table, privacy, group)
        least, reached = least_loss(table, privacy), gcp(table, after)
        assert all(meets(table, rows, privacy) for rows in after)
        assert least <= reached <= gcp(table, before)
        assert gain == gcp(table, before) - reached
        better += gain > 0
        best += reached == least
    assert better > 0
    assert best > 0


@pytest.mark.parametrize("kind", ["ranges", "sets", "trees", "l"])
def test_never_below_the_best_of_all_partitions(kind: str) -> None:
    between_the_best_and_what_was(kind, 15, 9)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["ranges", "sets", "trees", "l"])
def test_never_below_the_best_of_all_partitions_of_13_rows(kind: str) -> None:
    between_the_best_and_what_was(kind, 45, 13)
