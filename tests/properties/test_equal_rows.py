"""Which rows of equal codes are divided, counted by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.shared.equal_codes import EqualRows
from tests.properties.strategies import examples


@examples(200)
@given(
    groups=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), max_size=12),
    width=st.sampled_from([8, 16]),
    kind=st.sampled_from([np.int16, np.int32]),
    seed=st.integers(0, 99),
)
def test_divided_rows(groups: list[list[int]], width: int, kind: type[np.int16], seed: int) -> None:
    """Each list has the classes of a group of equal rows; groups differ in one column alone."""
    codes = [
        [0] * (g % width) + [g + 1] + [0] * (width - 1 - g % width) for g, classes in enumerate(groups) for _ in classes
    ]
    n = len(codes)
    number = np.random.default_rng(seed).permutation(n).astype(np.int32)
    rows = TreeRows(np.array(codes, kind).reshape(n, width), number, np.zeros(0, np.int32))
    classes = np.zeros(n, np.int32)
    classes[number] = [one for group in groups for one in group]
    at, expected = 0, []
    for group in groups:
        if len(set(group)) > 1:
            expected += list(number[at : at + len(group)])
        at += len(group)
    assert sorted(EqualRows.of(rows).list_divided(classes)) == sorted(expected)
