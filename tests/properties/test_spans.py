"""Rows dealt among threads: sorted as by one, and never in the middle of a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.extent import BIT, KIND, SET, SIZE, WORD_END, Geometry
from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.shared import class_boxes, threads
from tests.properties.strategies import examples


@examples(150)
@given(keys=st.lists(st.integers(0, 5) | st.integers(0, (1 << 63) - 1), max_size=60), workers=st.integers(1, 5))
def test_sorted_by_several(keys: list[int], workers: int) -> None:
    given_keys = np.array(keys, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST_ROWS", 4)
        patch.setattr(threads, "_SAMPLE", 2)
        rows, line = threads.sort_by(given_keys, workers)
    assert line.tolist() == sorted(keys)
    assert rows.tolist() == sorted(range(len(keys)), key=lambda row: keys[row])  # Python's sort is stable


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
    rows, line = threads.sort_by(keys, 200)
    assert line.tolist() == list(range(2_000))
    assert keys[rows].tolist() == list(range(2_000))


@examples(60)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12), workers=st.integers(1, 4), data=st.data())
def test_boxes_of_classes_by_several(sizes: list[int], workers: int, data: st.DataObject) -> None:
    """Least and greatest codes and the bits of a set, of classes one after the other or in any other order."""
    group = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    if data.draw(st.booleans()):
        group = np.array(data.draw(st.permutations(group.tolist())), np.int32)
    cells = st.lists(st.integers(0, 5), min_size=len(group), max_size=len(group))
    columns = [data.draw(cells) for _ in range(2)]
    codes = np.zeros((len(group), 8), np.int16)
    codes[:, :2] = np.array(columns).T
    facts = np.zeros((2, 9), np.int64)
    facts[:, SIZE] = 6
    facts[1, [KIND, WORD_END, BIT]] = SET, 1, 3
    rows = TreeRows(codes, np.arange(len(group), dtype=np.int32), np.zeros(0, np.int32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST_ROWS", 4)
        geometry = Geometry(facts, np.zeros(1, np.int64))
        low, high, mask, size = class_boxes.find_boxes(rows, group, geometry, len(sizes), workers)
    for place, rows_of in enumerate(sizes):
        own = [[value for value, of in zip(column, group, strict=True) if of == place] for column in columns]
        assert size[place] == rows_of
        assert (low[:, place].tolist(), high[:, place].tolist()) == ([*map(min, own)], [*map(max, own)])
        assert int(mask[0, place]) == sum(1 << (3 + code) for code in set(own[1]))
