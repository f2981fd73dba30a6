"""Totals that agree with their parts: least squares over the levels of a table (Hay, Rastogi, Miklau, Suciu 2010).

It is computed of noisy numbers alone, and costs nothing. The stated error is the standard deviation of the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Doubles
    from sqlanon.noisy.levels import Level


def make_consistent(
    levels: Sequence[Level], noisy: Sequence[Doubles], deviations: Sequence[float]
) -> tuple[list[Doubles], list[Doubles]]:
    """The best linear unbiased estimates of all groups, and their standard deviations.

    Args:
        levels: from the coarsest to the finest; each divides the previous level.
        noisy: float64[groups] of each level.
        deviations: standard deviation of the noise of each level.

    Cost: linear in the number of groups.
    """
    parents = [_parents(coarse, fine) for coarse, fine in itertools.pairwise(levels)]
    measured_variances = [deviation**2 for deviation in deviations]
    # From the finest level up: the number of each group, and the sum of the group's parts, weighted by their variances.
    below = [noisy[-1]]
    variances = [np.full(len(noisy[-1]), measured_variances[-1])]
    for level in reversed(range(len(levels) - 1)):
        size = levels[level].size
        parts = np.bincount(parents[level], below[0], minlength=size)
        spread = np.bincount(parents[level], variances[0], minlength=size)
        share = spread / (spread + measured_variances[level])
        below.insert(0, share * noisy[level] + (1 - share) * parts)
        variances.insert(0, share * measured_variances[level])
    # From the coarsest level down: the gap between a group's estimate and the parts is divided by their variances.
    values, spreads = [below[0]], [variances[0]]
    for level, parent in enumerate(parents):
        size = levels[level].size
        total = np.bincount(parent, variances[level + 1], minlength=size)
        missing = values[-1] - np.bincount(parent, below[level + 1], minlength=size)
        share = variances[level + 1] / total[parent]
        values.append(below[level + 1] + share * missing[parent])
        spreads.append(variances[level + 1] * (1 - share) + share**2 * spreads[-1][parent])
    return values, [np.sqrt(spread) for spread in spreads]


def _parents(coarse: Level, fine: Level) -> npt.NDArray[np.int64]:
    """The group of the coarser level for each finer group."""
    parent = np.zeros(fine.size, np.int64)
    parent[fine.node] = coarse.node
    return parent
