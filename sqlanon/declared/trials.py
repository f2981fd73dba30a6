"""The trials of ``refine: true``.

Their table is fixed, so that a policy gives the same classes on every machine.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from sqlanon.spec import RefineSpec, ReleaseSpec

ROWS = (1_000, 3_000, 10_000, 100_000)
"""Rows up to which a row of the table holds; its last row is for more."""
CLASS = (10, 20, 50, 100, 200)
"""The same of the least class, k or l, and its columns; above the last of them nothing is searched."""
WIDE = 8
"""Tables of more quasi columns than this take half as many trials."""
TRIALS = (
    (128, 64, 64, 32, 16),
    (64, 32, 32, 16, 8),
    (16, 8, 8, 4, 2),
    (8, 4, 4, 2, 1),
    (4, 2, 2, 1, 0),
)
"""Trials for every class that loses something."""


def count_trials(rows: int, least: int, columns: int) -> int:
    """How many trials roughly double the time of a run of method ``tree``, on two cores.

    Args:
        rows: of the table.
        least: rows of a class, at least.
        columns: quasi columns.

    Example:
        >>> count_trials(30_000, 10, 8), count_trials(30_000, 10, 12), count_trials(30_000, 500, 8)
        (8, 4, 0)
    """
    at = bisect_left(CLASS, least)
    if at == len(CLASS):
        return 0
    found = TRIALS[bisect_left(ROWS, rows)][at]
    return found if columns <= WIDE else found // 2


def read_refining(spec: ReleaseSpec, rows: int, columns: int) -> RefineSpec | None:
    """What a release asks of refine, with the number of trials."""
    if spec.refine is None or spec.refine.search is not None:
        return spec.refine
    asked = spec.privacy
    least = max(asked.k, -int(-(asked.l or 1) // 1), asked.distinct_l or 1)
    return replace(spec.refine, search=count_trials(rows, least, columns))
