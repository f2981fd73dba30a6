"""Sums above a base: ends that nothing bounds stay open, of the atoms that are asked alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sqlanon.statistics.reach import End
from sqlanon.statistics.shifted_sums import MOST_TOP, ShiftedSums


@pytest.mark.parametrize(
    ("weight", "low", "high"),
    [([0, 1, 0], 5, 9), ([0, 2, 1], 14, 18), ([1, 0, 0], None, 7 - MOST_TOP), ([1, 1, 1], None, 16 - MOST_TOP)],
)
def test_an_atom_without_a_least_sum_opens_the_end_where_it_is_asked(
    weight: list[int], low: int | None, high: int
) -> None:
    reach: Any = SimpleNamespace(bound=lambda _: (End(3), End(7)))
    unused: Any = None
    sums = ShiftedSums(unused, np.array([-MOST_TOP, 2, 7]), unused, unused)
    least, greatest = sums.bound(reach, np.array(weight))
    assert (least.value, greatest.value) == (low, high)
