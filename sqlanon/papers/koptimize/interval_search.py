"""The search for the set of cuts of least LM, interval by interval (ours).

See `kernels.cut_intervals`: there every column has a separate bound, which the intervals of the others raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.papers.koptimize.kernels.cut_intervals import NEVER, search_intervals

if TYPE_CHECKING:
    from sqlanon.arrays import Flags
    from sqlanon.papers.koptimize.cut_sets import CutSets

STEPS = 100_000
"""Steps of the kernel that take no longer than a set of cuts."""
MOST_NUMBERS = 1 << 25
"""Numbers that the kernel keeps, at most."""


def fits_intervals(sets: CutSets, most: int) -> bool:
    """Whether the search is for these sets; ``most``: rows that may be suppressed."""
    sizes = sets.codes
    if sets.metric != "loss" or len(sizes) < 2 or sets.rows < sets.k:
        return False
    kept_labels = (sum(sizes) - max(sizes) + 2) * len(sets.records.rows)
    groups = min(sets.rows // sets.k + most, len(sets.records.rows))
    return kept_labels + max(sizes) * (groups + len(sizes) * max(sizes)) <= MOST_NUMBERS


def find_intervals(sets: CutSets, best: int | None, most: int, most_gone: int = 0) -> tuple[Flags | None, int, int]:
    """Look at sets until none can cost less, or for so long as ``most`` sets of cuts take.

    Args:
        sets: of a table for which `fits_intervals` holds.
        best: the cost of a set that is known.
        most: sets.
        most_gone: rows that may be suppressed.

    Returns:
        A better set, if there is one; a bound that no set costs less than, which is the cost of the best set where
        that is proven; and the sets that would have taken as long.
    """
    order = np.argsort(sets.codes, kind="stable")
    sizes = np.array(sets.codes, np.int64)[order]
    longest = int(sizes.max())
    widths, cuts = np.zeros((len(order), longest, longest), np.int64), np.zeros((len(order), longest), np.bool_)
    for index, j in enumerate(order):
        first, last = np.triu_indices(sets.codes[j])
        widths[index, first, last] = sets.widths(int(j), first, last)
    codes = np.ascontiguousarray(sets.records.codes[order])
    least_cost = int(NEVER) if best is None else best
    rows = sets.records.rows
    full = np.array([sets.full_width(int(j)) for j in order], np.int64)
    allowed = sets.k, most_gone, sets.k if sets.starred else 0
    cost, bound, steps = search_intervals(codes, rows, sizes, widths, full, allowed, most * STEPS, least_cost, cuts)
    better = None
    if cost < least_cost:
        better = sets.none()
        for index, j in enumerate(order):
            better[sets.numbers(int(j), [int(code) for code in np.flatnonzero(cuts[index]) if code])] = True
    return better, int(bound), 1 + int(steps) // STEPS
