"""Programs that are solved again with other ends are those of these ends."""

from __future__ import annotations

import numpy as np
import pytest

from sqlanon.statistics.links import Links
from sqlanon.statistics.program import Box, Program

pytest.importorskip("highspy")


def test_other_ends_give_what_a_new_program_gives() -> None:
    """Twelve rows with 30 each at most: the second atom is their sum, which is solved in units of 30."""
    rows = np.array([[0, 1]])
    sums = Box(np.array([0, 0, 0]), np.array([50, 1_000, 1_000]))
    links = Links(
        np.array([0, 0]),
        np.array([0, 1]),
        np.array([30, -1]),
        np.array([0]),
        np.array([1_000]),
        np.array([1, 30]),
    )
    first, second = (Box(np.array([0, low]), np.array([12, high])) for low, high in ((0, 360), (60, 120)))
    cost = np.array([0, -1])
    program = Program(rows, sums, links)
    for box in (first, second, first):
        again, alone = program.solve(cost, box).table, Program(rows, sums, links).solve(cost, box).table
        assert again is not None
        assert alone is not None
        assert again[1] == pytest.approx(alone[1]) == pytest.approx(box.high[1])
