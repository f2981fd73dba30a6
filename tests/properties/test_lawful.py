"""Runs that meet any requirements: the best of all divisions where a longer run never loses one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.runs import NEVER
from sqlanon.methods.onedim import parallel_runs
from sqlanon.methods.onedim.parallel_runs import find_requiring_runs
from tests.contract.cases import Case
from tests.oracle.divisions import gcp, runs
from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.requirements import Privacy, feasible, meets
from tests.properties.kernel import demands
from tests.properties.onedim import by_first, in_order
from tests.properties.strategies import cases, examples


def solve(table: Table, privacy: Privacy, most: int, threads: int = 1):
    rows, shape = in_order(table)
    first, loss = find_requiring_runs(rows, shape, demands(table, privacy), most, threads)
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


@examples(200)
@given(case=cases(max_rows=60), most=st.integers(1, 12), threads=st.integers(2, 5), before=st.integers(0, 4))
def test_pieces_change_nothing(case: Case, most: int, threads: int, before: int) -> None:
    """A piece may begin near what came before it, and short runs may not divide it."""
    whole = solve(case.table, case.privacy, most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_runs, "_LEAST_LAWFUL", 1)
        patch.setattr(parallel_runs, "_BEFORE", before)
        assert solve(case.table, case.privacy, most, threads) == whole


def test_some_pieces_are_taken_and_some_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[int] = []
    real = parallel_runs._solve_requiring
    monkeypatch.setattr(parallel_runs, "_LEAST_LAWFUL", 1)
    monkeypatch.setattr(parallel_runs, "_BEFORE", 1)
    monkeypatch.setattr(parallel_runs, "_solve_requiring", lambda *a: solved.append(a[4].shape[1]) or real(*a))
    again = {True: 0, False: 0}
    for seed in range(40):
        rng = random.Random(seed)
        values = tuple(rng.choice((0, 1, 50)) for _ in range(60))
        table = Table((Quasi("q", values),), (Sensitive("s", tuple(rng.choice("abc") for _ in range(60))),))
        solved.clear()
        solve(table, Privacy(k=2, distinct_l=2), 8, 2)
        assert len(solved) > 1
        again[any(known > 1 for known in solved)] += 1
    assert min(again.values()) > 0


@pytest.mark.parametrize("threads", [2, 3])
def test_pieces_with_stretches_that_short_runs_do_not_divide(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Rows of one value, more than a run may have, leave prefixes without a division.

    They are inside of a piece whose beginning agrees.
    """
    monkeypatch.setattr(parallel_runs, "_LEAST_LAWFUL", 1)
    monkeypatch.setattr(parallel_runs, "_BEFORE", 3)
    undivided = 0
    for seed in range(60):
        rng = random.Random(seed)
        jump, n = rng.randrange(200), 200
        quasi = tuple(i + (1000 if i >= jump else 0) for i in range(n))
        sensitive = [rng.choice("ab") for _ in range(n)]
        for _ in range(rng.randrange(3)):
            start = rng.randrange(n)
            sensitive[start : start + 20] = ["a"] * len(sensitive[start : start + 20])
        table = Table((Quasi("q", quasi),), (Sensitive("s", tuple(sensitive)),))
        privacy = Privacy(k=2, distinct_l=2)
        whole = solve(table, privacy, 8)
        assert solve(table, privacy, 8, threads) == whole
        undivided += any(len(own) > 8 for own in whole[1])
    assert undivided > 10
