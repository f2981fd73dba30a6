"""Runs that meet any requirements: the best of all divisions where a longer run never loses one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.constrained_runs import lawful_runs
from sqlanon.kernels.runs import NEVER
from tests.contract.cases import Case
from tests.oracle.divisions import gcp, runs
from tests.oracle.domains import Table
from tests.oracle.requirements import Privacy, feasible, meets
from tests.properties.kernel import demands
from tests.properties.onedim import by_first, in_order
from tests.properties.strategies import cases, examples

pytestmark = pytest.mark.property


def solve(table: Table, privacy: Privacy, most: int):
    rows, shape = in_order(table)
    first = np.zeros(table.rows, np.bool_)
    loss = lawful_runs(rows.places, rows.sets, rows.number, shape, demands(table, privacy), most, first)
    return loss, by_first(first, range(table.rows)) if loss < NEVER else []


@examples(150)
@given(case=cases(max_rows=24), most=st.integers(1, 24))
def test_runs_meet_every_requirement(case: Case, most: int) -> None:
    table, privacy = case.table, case.privacy
    loss, found = solve(table, privacy, most)
    assert (loss < NEVER) == feasible(table, privacy)
    if found:
        assert [row for rows in found for row in rows] == list(range(table.rows))
        assert all(meets(table, rows, privacy) for rows in found)
        assert loss == gcp(table, found)


@examples(60)
@given(case=cases(max_rows=9), k=st.integers(1, 4), distinct=st.integers(1, 3))
def test_distinct_values_and_k_are_the_best_of_all_divisions(case: Case, k: int, distinct: int) -> None:
    table, privacy = case.table, Privacy(k=k, distinct_l=distinct)
    if not feasible(table, privacy):
        return
    loss, _ = solve(table, privacy, table.rows)
    every = runs(range(table.rows), lambda rows: meets(table, rows, privacy))
    assert loss == min(gcp(table, each) for each in every)
