"""Divisions of an order into runs of k rows: equal to the best of all divisions."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.boxes import cover, measure_widths
from sqlanon.kernels.runs import (
    GCP,
    MOST,
    SUM,
    find_best_line_runs,
    find_best_runs,
    find_exact_runs,
    find_line_runs,
    shorten_keys,
)
from tests.contract.cases import Case
from tests.oracle.divisions import OBJECTIVES, gcp, most_extent, partitions, runs, sum_of_extents, wide
from tests.oracle.domains import Quasi, Table
from tests.properties.onedim import by_first, in_order
from tests.properties.strategies import cases, examples


def exact(table: Table, k: int, objective: int) -> tuple[list[tuple[int, ...]], int]:
    rows, shape = in_order(table)
    ones = np.ones(table.rows, np.int64)
    first, loss = find_exact_runs(rows.places, rows.places, rows.sets, ones, shape, k, objective)
    return by_first(first, range(table.rows)), loss


@pytest.mark.parametrize("objective", [GCP, SUM, MOST])
@examples(40)
@given(case=cases(max_rows=9), k=st.integers(1, 4))
def test_runs_are_the_best_of_all_divisions(objective: int, case: Case, k: int) -> None:
    table = case.table
    k = min(k, table.rows)
    found, loss = exact(table, k, objective)
    score = OBJECTIVES[objective]
    assert [row for rows in found for row in rows] == list(range(table.rows))
    assert all(k <= len(rows) for rows in found)
    assert objective == SUM or all(len(rows) < 2 * k for rows in found)
    assert score(table, found) == loss
    assert loss == min(score(table, each) for each in runs(range(table.rows), lambda rows: len(rows) >= k))


@pytest.mark.parametrize(("objective", "score"), [(SUM, sum_of_extents), (MOST, most_extent)])
@examples(40)
@given(values=st.lists(st.integers(0, 12), min_size=2, max_size=7), k=st.integers(1, 3))
def test_one_attribute_s_runs_are_the_best_of_all_partitions(objective, score, values, k) -> None:
    table = Table((Quasi("x", tuple(sorted(values))),))
    k = min(k, table.rows)
    _, loss = exact(table, k, objective)
    assert loss == min(score(table, each) for each in partitions(range(table.rows), lambda rows: len(rows) >= k))


def test_consecutive_classes_are_not_the_best_for_gcp() -> None:
    """A gap of the paper: its swap keeps extents, not rows times extents. 0,3,3,3,3,5,7 with k = 3: 21 against 24."""
    table = Table((Quasi("x", (0, 3, 3, 3, 3, 5, 7)),))
    unit = 2**20 / 7
    _, loss = exact(table, 3, GCP)
    best = min(gcp(table, each) for each in partitions(range(7), lambda rows: len(rows) >= 3))
    assert round(loss / unit) == 24
    assert round(best / unit) == 21


@examples(60)
@given(
    keys=st.lists(st.integers(0, 40), min_size=1, max_size=12),
    k=st.integers(1, 4),
    objective=st.sampled_from([GCP, SUM, MOST]),
)
def test_line_runs_are_the_best_of_all_divisions(keys: list[int], k: int, objective: int) -> None:
    keys.sort()
    k = min(k, len(keys))

    def score(classes) -> int:
        gaps = [keys[rows[-1]] - keys[rows[0]] for rows in classes]
        if objective == GCP:
            return sum(len(rows) * gap for rows, gap in zip(classes, gaps, strict=True))
        return sum(gaps) if objective == SUM else max(gaps)

    found = by_first(find_line_runs(np.array(keys, np.int64), k, objective), range(len(keys)))
    assert all(k <= len(rows) < 2 * k for rows in found)
    assert score(found) == min(map(score, runs(range(len(keys)), lambda rows: len(rows) >= k)))


def test_long_keys_lose_digits_before_sums_overflow() -> None:
    keys = np.array([0, 1, 2**62, 2**63 - 1], np.int64)
    short = shorten_keys(keys, 2**63 - 1, 1000)
    assert int(short[-1]) * 1999 < 2**62
    assert shorten_keys(np.array([5], np.int64), 2**40, 10).tolist() == [5]


@examples(40)
@given(case=cases(max_rows=40), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_a_stream_gives_the_same_runs(case: Case, k: int, seed: int) -> None:
    """Chunks that carry the last 2k - 1 rows and their losses."""
    table = case.table
    k = min(k, table.rows)
    rows, shape = in_order(table)
    n = table.rows
    whole, pointers = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    ends = np.arange(n + 1)
    find_best_runs(rows.places, rows.places, rows.sets, ends, shape, k, GCP, 0, whole, pointers)
    rng = random.Random(seed)
    opt, back = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    done = 0
    while done < n:
        stop = min(n, done + rng.randint(1, 7))
        keep = max(0, done - (2 * k - 1))
        part = rows.part(keep, stop)
        own, own_back = opt[keep : stop + 1], back[keep : stop + 1]
        find_best_runs(
            part.places, part.places, part.sets, ends[: stop - keep + 1], shape, k, GCP, done - keep, own, own_back
        )
        done = stop
    assert opt.tolist() == whole.tolist()
    assert back.tolist() == pointers.tolist()


@examples(40)
@given(case=cases(max_rows=14), k=st.integers(1, 6), data=st.data())
def test_groups_are_merged_into_the_best_runs(case: Case, k: int, data: st.DataObject) -> None:
    """Units of several rows, not consecutive ones: the best of all divisions of the sequence of units."""
    table = case.table
    group = data.draw(st.lists(st.integers(0, 5), min_size=table.rows, max_size=table.rows))
    names = sorted(set(group))
    members = [tuple(row for row in range(table.rows) if group[row] == name) for name in names]
    k = min(k, table.rows)
    rows, shape = in_order(table)
    units = len(members)
    low = np.empty((units, rows.places.shape[1]), np.int32)
    high, mask = np.empty_like(low), np.zeros((units, rows.sets.shape[1]), np.uint64)
    sizes, wides = np.empty(units, np.int64), np.empty(units, np.int64)
    cover(rows.places, rows.sets, np.array([names.index(g) for g in group], np.int32), low, high, mask, sizes)
    measure_widths(low, high, mask, shape, wides)
    assert sizes.tolist() == [len(each) for each in members]
    assert wides.tolist() == [wide(table, each) for each in members]
    for objective, score in enumerate(OBJECTIVES):
        first, loss = find_exact_runs(low, high, mask, sizes, shape, k, objective)

        def rows_of_units(classes) -> list[list[int]]:
            return [[row for unit in each for row in members[unit]] for each in classes]

        found = rows_of_units(by_first(first, range(units)))
        assert all(len(each) >= k for each in found)
        assert score(table, found) == loss
        every = runs(range(units), lambda each: sum(len(members[unit]) for unit in each) >= k)
        assert loss == min(score(table, rows_of_units(each)) for each in every)


def test_too_few_rows_have_no_division() -> None:
    opt, back = np.zeros(3, np.int64), np.zeros(3, np.int32)
    find_best_line_runs(np.array([1, 2], np.int64), 3, GCP, 0, opt, back)
    assert opt[2] >= 1 << 62
