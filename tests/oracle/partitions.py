"""The best of all partitions of few rows, of all sets of rows that may be a class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def least_cost(owned: Sequence[Sequence[tuple[int, int]]]) -> int:
    """The least cost of a partition, over all of them.

    Args:
        owned: of each row the classes of which it is the first one: the bits of their rows, and their cost.

    Cost: O(3^n) for n rows.
    """
    chosen_of = [np.array([chosen for chosen, _ in classes], np.int64) for classes in owned]
    cost_of = [np.array([cost for _, cost in classes], np.int64) for classes in owned]
    best = np.full(1 << len(owned), 2**62, np.int64)
    best[0] = 0
    for left in range(1, 1 << len(owned)):
        first = (left & -left).bit_length() - 1
        fits = (chosen_of[first] & ~left) == 0
        if fits.any():
            best[left] = (cost_of[first][fits] + best[left ^ chosen_of[first][fits]]).min()
    return int(best[-1])
