"""Hilbert keys: against the curve drawn by recursion, and their laws at every size."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.extent import SCALE
from sqlanon.methods.onedim.kernels.hilbert import (
    WORD_BITS,
    count_grid_bits,
    make_byte_keys,
    make_cells,
    make_hilbert_keys,
    make_word_keys,
    order_axes,
)
from tests.oracle.hilbert import curve, place, unit_steps

SIZES = [(1, 1), (1, 9), (2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 1), (4, 2), (5, 2), (7, 1), (6, 2)]


def whole(points: np.ndarray, bits: int) -> list[int]:
    """Keys through the byte form, as Python integers."""
    n, d = points.shape
    out = np.empty((n, -(-d * bits // 8)), np.uint8)
    make_byte_keys(points, bits, out)
    return [int.from_bytes(bytes(row), "big") for row in out.tolist()]


@pytest.mark.parametrize(("d", "bits"), SIZES)
def test_keys_are_the_places_on_the_drawn_curve(d: int, bits: int) -> None:
    drawn = curve(d, bits)
    assert sorted(drawn) == list(product(range(2**bits), repeat=d))
    assert unit_steps(drawn)
    points = np.array(drawn, np.uint32)
    out = np.empty(len(drawn), np.int64)
    make_word_keys(points, bits, out)
    assert out.tolist() == list(range(len(drawn)))
    assert whole(points, bits) == list(range(len(drawn)))
    assert [place(cell, bits) for cell in drawn] == list(range(len(drawn)))


def test_one_attribute_is_its_own_key() -> None:
    points = np.arange(2000, dtype=np.uint32).reshape(-1, 1)
    assert make_hilbert_keys(points, 11).tolist() == list(range(2000))


def test_records_of_goldberger_and_tassa_keep_their_pairs_once_scaled() -> None:
    """Their Table 1.

    Scaled to one grid, R1 and R3 lie nearer to each other than either to R2 and R4, and vice versa.
    """
    points = np.array([(0, 0, 0, 0), (2, 2, 2, 0), (0, 0, 0, 2), (2, 2, 2, 2)], np.uint32)
    order = np.argsort(make_hilbert_keys(points, 2)).tolist()
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


@given(st.data())
def test_long_keys_are_exact(data: st.DataObject) -> None:
    """Both forms agree; a key's leading digits are the key on the coarser grid, up to 30 attributes."""
    d = data.draw(st.integers(1, 30))
    bits = data.draw(st.integers(1, 21))
    points = np.array(
        data.draw(st.lists(st.tuples(*[st.integers(0, 2**bits - 1)] * d), min_size=1, max_size=5)), np.uint32
    )
    keys = whole(points, bits)
    assert all(0 <= key < 2 ** (d * bits) for key in keys)
    assert len(set(keys)) == len({tuple(point) for point in points.tolist()})
    if d * bits <= WORD_BITS:
        assert make_hilbert_keys(points, bits).tolist() == keys
    else:
        assert make_hilbert_keys(points, bits).shape == (len(points), -(-d * bits // 8))
    assert keys == [place(tuple(point), bits) for point in points.tolist()]
    if bits > 1:
        corner = whole(points >> np.uint32(bits - 1), 1)
        assert [key >> (d * (bits - 1)) for key in keys] == corner


@given(st.lists(st.lists(st.integers(0, SCALE), min_size=1, max_size=8), min_size=1, max_size=4))
def test_a_grid_keeps_positions_apart_with_the_fewest_bits(axes: list[list[int]]) -> None:
    positions = [np.array(axis, np.int64) for axis in axes]
    bits = count_grid_bits(positions)

    def apart(bits: int) -> bool:
        return all(len(np.unique(make_cells(axis, bits))) == len(np.unique(axis)) for axis in positions)

    assert apart(bits)
    assert bits == 1 or not apart(bits - 1)
    ends = make_cells(np.array([0, SCALE], np.int64), bits)
    assert ends.tolist() == [0, 2**bits - 1]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=6, unique_by=lambda p: p[0]),
        min_size=1,
        max_size=4,
    )
)
def test_axes_are_sorted_by_their_rows_distance_from_the_median(axes: list[list[tuple[int, int]]]) -> None:
    axes = [sorted(axis) for axis in axes]
    spread = []
    for axis in axes:
        rows = [position for position, count in axis for _ in range(count)]
        median = rows[(len(rows) - 1) // 2]
        spread.append(sum(abs(position - median) for position in rows))
    positions = [np.array([p for p, _ in axis], np.int64) for axis in axes]
    counts = [np.array([c for _, c in axis], np.int64) for axis in axes]
    assert order_axes(positions, counts) == sorted(range(len(axes)), key=lambda j: (-spread[j], j))
