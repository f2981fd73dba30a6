"""The solver that keeps windows gives the same losses and runs as the one that grows boxes, in one piece and as a stream."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.kernels.runs import GCP, best_runs
from sqlanon.kernels.window import best_row_runs, row_runs
from tests.contract.cases import Case
from tests.properties.onedim import in_order
from tests.properties.strategies import cases

pytestmark = pytest.mark.property


@settings(max_examples=150)
@given(case=cases(max_rows=60), k=st.integers(1, 9), seed=st.integers(0, 99))
def test_windows_change_nothing(case: Case, k: int, seed: int) -> None:
    n = case.table.rows
    rows, shape = in_order(case.table)
    expected, pointers = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    best_runs(rows.places, rows.places, rows.sets, np.arange(n + 1), shape, k, GCP, 0, expected, pointers)
    opt, back = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    best_row_runs(rows.places, rows.sets, shape, k, 0, opt, back)
    assert opt.tolist() == expected.tolist()
    assert back.tolist() == pointers.tolist()
    if k <= n:
        first, loss = row_runs(rows.places, rows.sets, shape, k)
        assert loss == expected[-1]
        assert first[0]
    rng = random.Random(seed)
    opt, back, done = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32), 0
    while done < n:
        stop = min(n, done + rng.randint(1, 15))
        keep = max(0, done - (2 * k - 1))
        part = rows.part(keep, stop)
        best_row_runs(
            part.places, part.sets, shape, k, done - keep, opt[keep : stop + 1], back[keep : stop + 1]
        )
        done = stop
    assert opt.tolist() == expected.tolist()
    assert back.tolist() == pointers.tolist()
