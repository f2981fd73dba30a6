"""Kernels of the lattice search against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from sqlanon.methods.fulldomain.kernels.lattice import room_of, thin_out


@pytest.mark.parametrize("seed", range(30))
def test_no_large_group_loses_a_record_to_the_sums(seed: int) -> None:
    """Records of groups of enough rows all stay, in their order and with their keys; what goes is of smaller groups."""
    drawn = np.random.default_rng(seed)
    n, words, least = int(drawn.integers(1, 400)), int(drawn.integers(1, 3)), int(drawn.integers(1, 12))
    counts = drawn.integers(1, 6, 500) * drawn.choice([1, 1, 300], 500)
    room = room_of(500, words)
    room.rows[:n] = np.sort(drawn.choice(500, n, replace=False))
    room.keys[:, :n] = drawn.integers(0, drawn.choice([3, 40, 1 << 40]), (words, n))
    before = [(int(row), tuple(map(int, key))) for row, key in zip(room.rows[:n], room.keys[:, :n].T, strict=True)]
    size: dict[tuple[int, ...], int] = {}
    for row, key in before:
        size[key] = size.get(key, 0) + int(counts[row])
    kept = thin_out(n, words, room, counts, least, np.empty(64 << int(drawn.integers(0, 5)), np.uint8))
    after = [(int(row), tuple(map(int, key))) for row, key in zip(room.rows[:kept], room.keys[:, :kept].T, strict=True)]
    stay = set(after)
    assert after == [one for one in before if one in stay]
    assert all(one in stay for one in before if size[one[1]] >= least)
    if least == 1:
        assert kept == n
