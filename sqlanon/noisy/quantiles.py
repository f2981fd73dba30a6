"""Quantiles of the bounded rows of each group, from noisy numbers of rows in the steps of a range.

Quantiles cost no more than those numbers. With counts c of the steps, the quantile q is in the first step j with
F(j) = (c1 + .. + cj) - q (c1 + .. + cn) of 0 or more. F is a sum of noisy numbers with the weights 1 - q and -q.

The interval inverts a test: a step is left out if F of the step is surely below 0, or the F before it surely 0 or more.
For the step that has the quantile these are two events, each of half the probability that may be missed, whatever the
other steps do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles


def find_quantile(counts: Doubles, ends: Doubles, share: float) -> Doubles:
    """A quantile of each group; steps are taken to be filled evenly.

    Args:
        counts: float64[steps, groups], noisy, of any sign.
        ends: float64[steps + 1], ascending.
        share: share of the rows that are at most the quantile.

    Returns:
        float64[groups]; the middle of the range where no number of rows is above 0.
    """
    steps, groups = counts.shape
    below = np.concatenate([np.zeros((1, groups)), np.cumsum(counts, axis=0)])
    # Noise makes them fall in places: the middle of the highest before and the lowest after them rises.
    highest = np.maximum.accumulate(below, axis=0)
    lowest = np.minimum.accumulate(below[::-1], axis=0)[::-1]
    rising = (highest + lowest) / 2
    target = rising[0] + share * (rising[-1] - rising[0])
    step_index = np.clip((rising[1:] < target).sum(axis=0), 0, steps - 1)
    each = np.arange(groups)
    step = rising[step_index + 1, each] - rising[step_index, each]
    part = np.divide(target - rising[step_index, each], step, out=np.full(groups, 0.5), where=step > 0)
    quantile = ends[step_index] + np.clip(part, 0.0, 1.0) * (ends[step_index + 1] - ends[step_index])
    return np.asarray(np.where(rising[-1] > rising[0], quantile, (ends[0] + ends[-1]) / 2))


def bound_quantile(
    counts: Doubles, deviations: Doubles, ends: Doubles, share: float, width: tuple[float, float]
) -> tuple[Doubles, Doubles]:
    """The interval of a quantile of each group.

    Args:
        counts: float64[steps, groups], noisy, of any sign.
        ends: float64[steps + 1], ascending.
        share: share of the rows that are at most the quantile.
        deviations: float64[steps, groups] of the counts, which are independent of each other.
        width: half the width of a two-sided interval around a sum of noisy numbers: number of deviations, and an added
            constant.

    Returns:
        float64[groups] twice: the ends of the first and of the last step that is not left out; the range where all are.
    """
    total = counts.sum(axis=0)
    before = np.cumsum(counts, axis=0) - share * total
    spread = (1 - share) ** 2 * np.cumsum(deviations**2, axis=0)
    spread += share**2 * ((deviations**2).sum(axis=0) - np.cumsum(deviations**2, axis=0))
    reach = width[0] * np.sqrt(np.maximum(spread, 0)) + width[1]
    # The last F is (1 - share) of all rows, which is never below 0.
    below = before < -reach
    below[-1] = False
    above = np.concatenate([np.zeros((1, counts.shape[1]), bool), (before > reach)[:-1]])
    possible = ~(below | above)
    steps = len(counts)
    first = np.where(possible.any(axis=0), possible.argmax(axis=0), 0)
    last = np.where(possible.any(axis=0), steps - 1 - possible[::-1].argmax(axis=0), steps - 1)
    return ends[first], ends[last + 1]
