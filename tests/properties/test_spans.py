"""Rows dealt among threads: sorted as by one, and never in the middle of a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.methods.shared import threads
from tests.properties.strategies import examples

pytestmark = pytest.mark.property


@examples(150)
@given(
    keys=st.lists(st.integers(0, 5) | st.integers(0, (1 << 63) - 1), max_size=60), workers=st.integers(1, 5)
)
def test_sorted_by_several(keys: list[int], workers: int) -> None:
    given_keys = np.array(keys, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST_ROWS", 4)
        patch.setattr(threads, "_SAMPLE", 2)
        rows, line = threads.sorted_by(given_keys, workers)
    assert line.tolist() == sorted(keys)
    assert sorted(rows.tolist()) == list(range(len(keys)))
    assert given_keys[rows].tolist() == sorted(keys)


@examples(150)
@given(begins=st.lists(st.booleans(), max_size=60), workers=st.integers(1, 5))
def test_spans_begin_where_runs_do(begins: list[bool], workers: int) -> None:
    spans: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST_ROWS", 4)
        threads.spread_runs(lambda at, to: spans.append((at, to)), np.array(begins, np.bool_), workers)
    assert [row for span in sorted(spans) for row in range(*span)] == list(range(len(begins)))
    assert all(at == 0 or begins[at] for at, _ in spans)


def test_sorted_by_more_threads_than_a_byte_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LEAST_ROWS", 4)
    keys = np.random.default_rng(1).permutation(2_000).astype(np.int64)
    rows, line = threads.sorted_by(keys, 200)
    assert line.tolist() == list(range(2_000))
    assert keys[rows].tolist() == list(range(2_000))
