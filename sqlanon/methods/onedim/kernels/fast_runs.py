"""`runs.find_best_runs` for single rows and the loss GCP, in half the steps.

It keeps the box of the last k rows in place of growing it, and takes rows of equal codes as one box.

Rows are in blocks of k. A window of k rows is the end of one block and the beginning of the next; the boxes of all ends
are made once a block, the beginning grows with the window (van Herk 1992).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.boxes import list_other_kinds, measure_codes, measure_set, weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen
from sqlanon.kernels.runs import NEVER


@njit(nogil=True, cache=True)
def find_best_row_runs(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    of: npt.NDArray[np.int32],
    geometry: Geometry,
    k: int,
    solved: int,
    opt: npt.NDArray[np.int64],
    back: npt.NDArray[np.int32],
) -> None:
    """As `find_best_runs` with `GCP` on n rows.

    Args:
        places, sets: the rows in order, see `Rows`; or, with ``of``, tuples in any order.
        of: int32[n], the tuple of each row in order, equal numbers next to each other; empty: ``places`` are rows.
        geometry: the attributes.
        k: rows of a run, at least.
        solved: rows from the left that are solved; a caller that streams keeps the last 2k - 1 of them, with their
            ``opt``.
        opt: int64[n + 1], least loss of the first i rows, `NEVER` without a division; read to ``solved``, then written.
        back: int32[n + 1], written after ``solved``: rows of the last run. Ties: the shortest run.

    Cost: O(k n d); memory O(k d) beside the caller's.
    """
    facts, table = geometry.facts, geometry.table
    grouped = len(of) > 0
    n, lanes, words = len(opt) - 1, places.shape[1], sets.shape[1]
    weight, codes = weigh_lines(geometry, lanes), list_other_kinds(geometry)
    seen = np.full((len(facts), 3), -1, np.int64)
    # Boxes: 0 to k - 1 of the last block's ends, then of this block's beginning, then of the run that grows.
    low, high = np.empty((k + 2, lanes), np.int32), np.empty((k + 2, lanes), np.int32)
    mask = np.zeros((k + 2, words), np.uint64)
    begun, run = k, k + 1
    alike, changed = np.int64(0), np.int64(solved)  # rows of the last tuple; the last change of the loss, or later
    for i in range(max(solved // k * k, 0) + 1, n + 1):
        block = (i - 1) // k * k
        row = np.int64(of[i - 1]) if grouped else i - 1
        if grouped:
            alike = alike + 1 if i > 1 and of[i - 2] == of[i - 1] else np.int64(1)
        if i - 1 == block:
            for b in range(0, lanes, WIDTH):
                take(low, begun, places, row, b)
                take(high, begun, places, row, b)
            for w in range(words):
                mask[begun, w] = sets[row, w]
            if block > 0:
                for index in range(k - 1, -1, -1):
                    before = np.int64(of[block - k + index]) if grouped else block - k + index
                    for b in range(0, lanes, WIDTH):
                        take(low, index, places, before, b)
                        take(high, index, places, before, b)
                        if index < k - 1:
                            widen(low, high, index, low, high, index + 1, b)
                    for w in range(words):
                        mask[index, w] = sets[before, w] | (mask[index + 1, w] if index < k - 1 else np.uint64(0))
        else:
            for b in range(0, lanes, WIDTH):
                widen(low, high, begun, places, places, row, b)
            for w in range(words):
                mask[begun, w] |= sets[row, w]
        if i <= solved:
            continue
        best, rows = np.int64(NEVER), 0
        if alike >= 2 * k - 1:  # every run has the width 0
            if changed <= i - 2 * k + 1:
                best, rows = opt[i - 1], k
            else:
                for j in range(i - k, i - 2 * k, -1):
                    if opt[j] < best:
                        best, rows = opt[j], i - j
        elif i >= k:
            for b in range(0, lanes, WIDTH):
                take(low, run, low, begun, b)
                take(high, run, high, begun, b)
            for w in range(words):
                mask[run, w] = mask[begun, w]
            if i - k < block:
                for b in range(0, lanes, WIDTH):
                    widen(low, high, run, low, high, i - block, b)
                for w in range(words):
                    mask[run, w] |= mask[i - block, w]
            stale, sets_wide, total = words > 0, np.int64(0), np.int64(0)
            for j in range(i - k, max(i - 2 * k, -1), -1):
                if j < i - k:
                    first = np.int64(of[j]) if grouped else j
                    for b in range(0, lanes, WIDTH):
                        widen(low, high, run, places, places, first, b)
                    for w in range(words):
                        merged = mask[run, w] | sets[first, w]
                        stale |= merged != mask[run, w]
                        mask[run, w] = merged
                if opt[j] + (i - j) * total >= best:  # the run is at least as wide as the last one looked at
                    continue
                if stale:
                    stale = False
                    sets_wide = measure_set(facts, table, mask, run)
                total = sets_wide
                for b in range(0, lanes, WIDTH):
                    total += measure_width(low, high, run, weight, b)
                if codes:
                    total += measure_codes(facts, table, low, high, run, seen)
                loss = opt[j] + (i - j) * total
                if loss < best:
                    best, rows = loss, i - j
        opt[i], back[i] = best, rows
        if best != opt[i - 1]:
            changed = np.int64(i)
