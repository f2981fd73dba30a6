"""The optimal division of an order into runs of at least k rows (Ghinita et al. 2009, section 3, Figure 7).

Opt(i) = min over the last run of Opt(rows before it) + loss of the run. A run that could be divided into two of k rows
need not be looked at (Lemma 1), which for single rows leaves k to 2k - 1 of them. The sequence consists of *units*:
rows, or groups that must stay whole, such as the l-diverse groups of `frontier`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.boxes import list_other_kinds, measure_codes, measure_set, weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen

GCP, SUM, MOST = 0, 1, 2
"""The loss to minimize: the sum of rows x extents, the sum of extents (the paper's IL1 but for the division by the
number of runs), or the largest extent (IL-infinity)."""

NEVER = 1 << 62
"""The loss of rows that cannot be divided."""


@njit(nogil=True, cache=True)
def find_best_runs(
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint64],
    ends: npt.NDArray[np.int64],
    geometry: Geometry,
    k: int,
    objective: int,
    solved: int,
    opt: npt.NDArray[np.int64],
    back: npt.NDArray[np.int32],
) -> None:
    """Exact loss: boxes grow backwards from every unit.

    Args:
        low, high, mask: boxes of u units in order, see `boxes`; for rows, ``places`` twice and ``sets``.
        ends: int64[u + 1], rows before each unit, and in all.
        geometry: the attributes.
        k: rows of a run, at least.
        objective: `GCP`, `SUM` or `MOST`.
        solved: units from the left that are solved; a caller that streams keeps the last 2k - 1 rows' units (with
            groups as units: of the last 2k + largest group) and their ``opt`` in front of the new rows.
        opt: int64[u + 1], least loss of the first i units, `NEVER` if there is no division; read to ``solved``, then
            written. ``opt[0]`` is the caller's: 0 at the beginning.
        back: int32[u + 1], written after ``solved``: units of the last run. Ties: the shortest run.

    Cost: O(k u d); memory is the caller's. `SUM` costs O(u^2 d): Lemma 1 does not hold for it beyond one attribute on a
    line, since two boxes that share a side both pay for it.
    """
    facts, table = geometry.facts, geometry.table
    lanes, words = low.shape[1], mask.shape[1]
    weight, codes = weigh_lines(geometry, lanes), list_other_kinds(geometry)
    last_width = np.full((len(facts), 3), -1, np.int64)
    box_low, box_high = np.empty((1, lanes), np.int32), np.empty((1, lanes), np.int32)
    box_mask = np.zeros((1, words), np.uint64)
    for i in range(solved + 1, len(ends)):
        best, units = np.int64(NEVER), 0
        least = np.int64(0)  # rows of the shortest run that ends here
        stale, sets_wide = words > 0, np.int64(0)
        for b in range(0, lanes, WIDTH):
            take(box_low, 0, low, i - 1, b)
            take(box_high, 0, high, i - 1, b)
        for w in range(words):
            box_mask[0, w] = mask[i - 1, w]
        for j in range(i - 1, -1, -1):
            for b in range(0, lanes, WIDTH):
                widen(box_low, box_high, 0, low, high, j, b)
            for w in range(words):
                merged = box_mask[0, w] | mask[j, w]
                stale |= merged != box_mask[0, w]
                box_mask[0, w] = merged
            rows = ends[i] - ends[j]
            if rows < k:
                continue
            if least == 0:
                least = rows
            elif rows - least >= k and objective != SUM:
                break
            before = opt[j]
            if before >= NEVER:
                continue
            if stale:
                stale = False
                sets_wide = measure_set(facts, table, box_mask, 0)
            total = sets_wide
            for b in range(0, lanes, WIDTH):
                total += measure_width(box_low, box_high, 0, weight, b)
            if codes:
                total += measure_codes(facts, table, box_low, box_high, 0, last_width)
            if objective == GCP:
                loss = before + rows * total
            elif objective == SUM:
                loss = before + total
            else:
                loss = max(before, total)
            if loss < best:
                best, units = loss, i - j
        opt[i], back[i] = best, units


@njit(nogil=True, cache=True)
def find_best_line_runs(
    keys: npt.NDArray[np.int64],
    k: int,
    objective: int,
    solved: int,
    opt: npt.NDArray[np.int64],
    back: npt.NDArray[np.int32],
) -> None:
    """As `find_best_runs` for rows; the extent of a run is the distance of both ends on the line (6.1, HilbFast).

    Args:
        keys: int64[n], ascending; their range x (2k - 1) must stay below 2^62, see `shorten_keys`.
        k, objective, solved, opt, back: as in `find_best_runs`.

    Cost: O(k n).
    """
    for i in range(solved + 1, len(keys) + 1):
        best, rows = np.int64(NEVER), 0
        for size in range(k, min(2 * k, i + 1)):
            before = opt[i - size]
            if before >= NEVER:
                continue
            gap = keys[i - 1] - keys[i - size]
            if objective == GCP:
                loss = before + size * gap
            elif objective == SUM:
                loss = before + gap
            else:
                loss = max(before, gap)
            if loss < best:
                best, rows = loss, size
        opt[i], back[i] = best, rows


def shorten_keys(keys: npt.NDArray[np.int64], span: int, k: int) -> npt.NDArray[np.int64]:
    """Keys without the low digits that `find_best_line_runs` has no room for: sums of loss stay below 2^62.

    Args:
        keys: int64[n], in 0 to ``span``.
        span: the largest key there can be; of the curve, not of these rows, so that all parts of a stream agree.
        k: rows of a run, at least.
    """
    excess = (span * (2 * k - 1)).bit_length() - 62
    return keys >> max(excess, 0)


@njit(nogil=True, cache=True)
def mark_runs(back: npt.NDArray[np.int32], first: npt.NDArray[np.bool_]) -> None:
    """Follow the back-pointers from the end: ``first`` bool[u] becomes True where a run begins. Cost: O(u)."""
    first[:] = False
    i = len(first)
    while i > 0:
        i -= back[i]
        first[i] = True


def find_line_runs(keys: npt.NDArray[np.int64], k: int, objective: int = GCP) -> npt.NDArray[np.bool_]:
    """Where runs begin on a line of n >= k keys, bool[n]. See `find_best_line_runs`."""
    opt, back = np.zeros(len(keys) + 1, np.int64), np.zeros(len(keys) + 1, np.int32)
    find_best_line_runs(keys, k, objective, 0, opt, back)
    first = np.zeros(len(keys), np.bool_)
    mark_runs(back, first)
    return first


def find_exact_runs(
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.int64],
    geometry: Geometry,
    k: int,
    objective: int = GCP,
) -> tuple[npt.NDArray[np.bool_], int]:
    """Where runs of units begin, bool[u], and their loss; ``rows`` int64[u] of each unit. See `find_best_runs`."""
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows)])
    opt, back = np.zeros(len(ends), np.int64), np.zeros(len(ends), np.int32)
    find_best_runs(low, high, mask, ends, geometry, k, objective, 0, opt, back)
    first = np.zeros(len(rows), np.bool_)
    mark_runs(back, first)
    return first, int(opt[-1])
