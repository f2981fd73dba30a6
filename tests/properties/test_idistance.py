"""iDistance keys against their definition, in exact integers."""

from __future__ import annotations

from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.papers.idistance.kernels import FRACTION, MOST_AXES, find_centres, find_offset, make_distance_keys
from tests.properties.strategies import examples

POINTS = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.tuples(*[st.one_of(st.integers(0, 2**20), st.integers(0, 3))] * d), min_size=1, max_size=30)
)


@examples(100)
@given(points=POINTS, count=st.integers(1, 6), seed=st.integers(0, 9))
def test_keys_are_the_nearest_centre_s_offset_and_the_distance(
    points: list[tuple[int, ...]], count: int, seed: int
) -> None:
    array = np.array(points, np.int32)
    d = array.shape[1]
    centres = find_centres(array, count)
    assert 1 <= len(centres) <= count
    assert len(np.unique(centres, axis=0)) == len(centres)
    shuffled = np.random.default_rng(seed).permutation(array)
    assert np.array_equal(find_centres(shuffled, count), centres)
    out = np.empty(len(array), np.int64)
    make_distance_keys(array, centres, out)
    for point, key in zip(points, out.tolist(), strict=True):
        squares = [sum((a - b) ** 2 for a, b in zip(point, c, strict=True)) for c in centres.tolist()]
        best = min(squares)
        assert key == squares.index(best) * find_offset(d) + isqrt(best << (2 * FRACTION))


@pytest.mark.parametrize("d", [1, 7, 30, 60, MOST_AXES])
def test_an_offset_exceeds_the_largest_distance(d: int) -> None:
    corners = np.array([[0] * d, [2**20] * d], np.int32)
    out = np.empty(2, np.int64)
    make_distance_keys(corners, corners[:1], out)
    assert out.tolist() == [0, isqrt(d << (40 + 2 * FRACTION))]
    assert out[1] < find_offset(d)
    assert find_offset(d) * 2**20 < 2**63


def test_one_axis_more_would_not_fit() -> None:
    """A squared distance of `find_offset` and keys, with its binary digits, is a signed integer of 64 bits."""
    assert MOST_AXES << (40 + 2 * FRACTION) < 2**63 <= (MOST_AXES + 1) << (40 + 2 * FRACTION)


def test_points_of_one_cluster_are_adjacent() -> None:
    rng = np.random.default_rng(5)
    middle = rng.integers(100_000, 900_000, (6, 3))
    which = rng.integers(0, 6, 400)
    points = (middle[which] + rng.integers(-500, 500, (400, 3))).astype(np.int32)
    out = np.empty(400, np.int64)
    make_distance_keys(points, find_centres(points, 6, rounds=30), out)
    line = which[np.argsort(out)]
    assert (np.diff(line) != 0).sum() <= 12


def test_one_point() -> None:
    points = np.full((5, 2), 7, np.int32)
    assert find_centres(points).tolist() == [[7, 7]]
