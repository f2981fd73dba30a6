"""TopDown: clusters and repaired classes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.random import seed_state
from sqlanon.methods.onedim.row_orders import make_canonical
from sqlanon.papers.topdown.kernels import cluster_top_down, repair
from tests.contract.cases import Case
from tests.oracle.divisions import gcp, wide
from tests.oracle.domains import Quasi, Table
from tests.oracle.requirements import Privacy
from tests.oracle.topdown import topdown
from tests.properties.onedim import by_number, context_of, in_order, loaded, shown
from tests.properties.strategies import cases, examples


def solve(table: Table, k: int, seed: int) -> tuple[list[list[int]], list[list[int]]]:
    rows, shape = in_order(table)
    group = np.full(table.rows, -1, np.int32)
    made = cluster_top_down(rows.places, rows.sets, shape, k, seed_state(seed), group)
    before = by_number(group)
    assert len(before) == made
    left = repair(rows.places, rows.sets, shape, k, group, made)
    after = by_number(group)
    assert len(after) == left
    return before, after


@examples(150)
@given(case=cases(max_rows=40), k=st.integers(1, 6), seed=st.integers(0, 2**64 - 1))
def test_clusters_are_divided_and_repaired(case: Case, k: int, seed: int) -> None:
    table = case.table
    k = min(k, table.rows)
    before, after = solve(table, k, seed)
    assert sorted(row for rows in before for row in rows) == list(range(table.rows))
    assert all(len(rows) < max(2 * k, 2) for rows in before)
    assert sorted(row for rows in after for row in rows) == list(range(table.rows))
    assert all(len(rows) >= k for rows in after)
    assert solve(table, k, seed) == (before, after)


@examples(60)
@given(case=cases(max_rows=30), k=st.integers(1, 6), seed=st.integers(0, 2**64 - 1), data=st.data())
def test_classes_are_those_of_the_oracle(case: Case, k: int, seed: int, data: st.DataObject) -> None:
    """From one seed, however the rows are stored."""
    table = case.table
    k = min(k, table.rows)
    stored = data.draw(st.permutations(range(table.rows)))
    arrays = loaded(table, stored)
    rows = make_canonical(context_of(table, Privacy(k=k)), arrays).arrange(arrays.geometry, 1).rows
    group = np.zeros(table.rows, np.int32)
    made = cluster_top_down(rows.places, rows.sets, arrays.geometry, k, seed_state(seed), group)
    repair(rows.places, rows.sets, arrays.geometry, k, group, made)
    found = [[stored[rows.number[i]] for i in members] for members in by_number(group)]
    assert shown(table, found) == shown(table, topdown(table, k, seed))


@examples(150)
@given(case=cases(max_rows=14), k=st.integers(2, 5), data=st.data())
def test_one_repair_takes_the_cheaper_way(case: Case, k: int, data: st.DataObject) -> None:
    """One cluster too small: the best merge, or borrowing from the nearest cluster that can spare rows."""
    table = case.table
    small = data.draw(st.integers(1, k - 1))
    if table.rows < small + k:
        return
    rest = list(range(small, table.rows))
    cut = data.draw(st.integers(k, len(rest))) if len(rest) >= 2 * k else len(rest)
    if 0 < len(rest) - cut < k:
        cut = len(rest)
    classes = [each for each in (list(range(small)), rest[:cut], rest[cut:]) if each]
    group = np.empty(table.rows, np.int32)
    for number, rows in enumerate(classes):
        group[rows] = number
    arrays, shape = in_order(table)
    repair(arrays.places, arrays.sets, shape, k, group, len(classes))
    found = gcp(table, by_number(group))
    options = [
        gcp(table, [classes[0] + classes[h], *(classes[o] for o in range(1, len(classes)) if o != h)])
        for h in range(1, len(classes))
    ]
    able = [h for h in range(1, len(classes)) if len(classes[h]) >= 2 * k - small]
    if able:
        donor = min(able, key=lambda h: wide(table, classes[0] + classes[h]))
        own, given_ = list(classes[0]), list(classes[donor])
        while len(own) < k:
            row = min(given_, key=lambda row: wide(table, [*own, row]))
            own.append(row)
            given_.remove(row)
        options.append(gcp(table, [own, given_, *(classes[o] for o in range(1, len(classes)) if o != donor)]))
    assert found == min(options)


def test_two_far_clouds_are_separated() -> None:
    line = (0, 1, 2, 3, 90, 91, 92, 93)
    _, after = solve(Table((Quasi("x", line),)), 4, 1)
    assert sorted(after) == [[0, 1, 2, 3], [4, 5, 6, 7]]
