"""The solver that keeps windows has the same losses and runs as the solver that grows boxes.

It is tried in one piece and as a stream.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.rows import Rows
from sqlanon.kernels.runs import GCP, find_best_runs
from sqlanon.methods.onedim import parallel_runs
from sqlanon.methods.onedim.kernels.fast_runs import find_best_row_runs
from sqlanon.methods.onedim.parallel_runs import NO_TUPLES
from tests.contract.cases import Case
from tests.oracle.domains import Quasi, Table
from tests.properties.onedim import in_order
from tests.properties.strategies import cases, examples


@examples(150)
@given(case=cases(max_rows=60), k=st.integers(1, 9), seed=st.integers(0, 99))
def test_windows_change_nothing(case: Case, k: int, seed: int) -> None:
    n = case.table.rows
    rows, shape = in_order(case.table)
    expected, pointers = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    find_best_runs(rows.places, rows.places, rows.sets, np.arange(n + 1), shape, k, GCP, 0, expected, pointers)
    opt, back = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    find_best_row_runs(rows.places, rows.sets, NO_TUPLES, shape, k, 0, opt, back)
    assert opt.tolist() == expected.tolist()
    assert back.tolist() == pointers.tolist()
    if k <= n:
        first, loss = parallel_runs.row_runs(rows, shape, k, 1)
        assert loss == expected[-1]
        assert first[0]
    rng = random.Random(seed)
    opt, back, done = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32), 0
    while done < n:
        stop = min(n, done + rng.randint(1, 15))
        keep = max(0, done - (2 * k - 1))
        part = rows.part(keep, stop)
        find_best_row_runs(
            part.places, part.sets, NO_TUPLES, shape, k, done - keep, opt[keep : stop + 1], back[keep : stop + 1]
        )
        done = stop
    assert opt.tolist() == expected.tolist()
    assert back.tolist() == pointers.tolist()


@examples(150)
@given(case=cases(max_rows=60), k=st.integers(1, 6), threads=st.integers(2, 5), before=st.integers(2, 8))
def test_pieces_change_nothing(case: Case, k: int, threads: int, before: int) -> None:
    """Also where a piece begins so near that what came before it still matters, and it is solved again."""
    rows, shape = in_order(case.table)
    if case.table.rows < k:
        return
    whole = parallel_runs.row_runs(rows, shape, k, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_runs, "_LEAST", 1)
        patch.setattr(parallel_runs, "_BEFORE", before)
        parted = parallel_runs.row_runs(rows, shape, k, threads)
    assert parted[1] == whole[1]
    assert parted[0].tolist() == whole[0].tolist()


@examples(150)
@given(case=cases(max_rows=20), k=st.integers(1, 6), threads=st.integers(1, 3), data=st.data())
def test_tuples_change_nothing(case: Case, k: int, threads: int, data: st.DataObject) -> None:
    """Equal rows as one tuple, which is repeated: the losses, the runs and their ties are those of single rows."""
    rows, shape = in_order(case.table)
    drawn = st.lists(st.integers(1, 30), min_size=case.table.rows, max_size=case.table.rows)
    of = np.repeat(np.arange(case.table.rows, dtype=np.int32), data.draw(drawn))
    n, single = len(of), Rows(rows.codes[:0], rows.places[of], rows.sets[of], of)
    expected, pointers = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    ends = np.arange(n + 1)
    find_best_runs(single.places, single.places, single.sets, ends, shape, k, GCP, 0, expected, pointers)
    opt, back = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    find_best_row_runs(rows.places, rows.sets, of, shape, k, 0, opt, back)
    assert opt.tolist() == expected.tolist()
    assert back.tolist() == pointers.tolist()
    if k <= n:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parallel_runs, "_LEAST", 1)
            patch.setattr(parallel_runs, "_BEFORE", 2)
            first, loss = parallel_runs.row_runs(rows, shape, k, threads, of)
        begins, _ = parallel_runs.row_runs(single, shape, k, 1)
        assert loss == expected[-1]
        assert first.tolist() == begins.tolist()


def test_some_pieces_are_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways are taken: counted on rows of a few far values, whose divisions are long in agreeing."""
    solved: list[int] = []
    real = parallel_runs._solve_prefixes
    monkeypatch.setattr(parallel_runs, "_LEAST", 1)
    monkeypatch.setattr(parallel_runs, "_BEFORE", 4)
    monkeypatch.setattr(parallel_runs, "_solve_prefixes", lambda *a: solved.append(len(a[4])) or real(*a))
    again = {True: 0, False: 0}
    for seed in range(40):
        rng = random.Random(seed)
        table = Table((Quasi("q", tuple(rng.choice((0, 1, 50)) for _ in range(60))),))
        rows, shape = in_order(table)
        solved.clear()
        parallel_runs.row_runs(rows, shape, 3, 2)
        again[any(known > 1 for known in solved)] += 1
    assert min(again.values()) > 0
