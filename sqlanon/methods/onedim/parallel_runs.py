"""The optimal division into runs by several threads: the same as by one, bit for bit.

A piece of the rows is solved from some rows before its beginning, as if the table began there. Which runs are best depends
only on the differences between the losses of the last 2k prefixes. If those of the piece and those of the rows before it
differ by one constant, the piece is solved as the whole table would be. Otherwise it is solved again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.fast_runs import best_row_runs
from sqlanon.kernels.rows import Rows
from sqlanon.kernels.runs import NEVER, mark_runs
from sqlanon.methods.shared.threads import spread

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Ints = npt.NDArray[np.int32]

_LEAST, _BEFORE = 1 << 16, 64
"""Rows of a piece, at least, and runs of k rows that a piece is solved from before its beginning."""


def row_runs(rows: Rows, geometry: Geometry, k: int, threads: int) -> tuple[npt.NDArray[np.bool_], int]:
    """Where the runs of n >= k rows with the least loss begin, bool[n], and that loss. Cost: O(k n d / threads); memory 12 bytes a row."""
    n = len(rows.number)
    before = _BEFORE * k
    pieces = max(min(threads, n // max(_LEAST, 2 * before, 4 * k)), 1)
    bounds = [n * piece // pieces for piece in range(pieces + 1)]
    opt, back = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    own: list[Longs] = [opt[:0]] * pieces

    def solve(first: int, past: int) -> None:
        for piece in range(first, past):
            start, stop = bounds[piece], bounds[piece + 1]
            begin = max(start - before, 0)
            own[piece], found = _solved(rows.part(begin, stop), geometry, k, opt[:1])
            back[start + 1 : stop + 1] = found[start - begin + 1 :]

    spread(solve, pieces, threads, 1)
    opt[: bounds[1] + 1] = own[0]
    for piece, (start, stop) in enumerate(pairwise(bounds)):
        if piece == 0:
            continue
        known = opt[start - 2 * k + 1 : start + 1]
        guess = own[piece][len(own[piece]) - (stop - start) - 2 * k :]
        apart = known - guess[: 2 * k]
        if max(known.max(), guess[: 2 * k].max()) < NEVER and (apart == apart[0]).all():
            opt[start + 1 : stop + 1] = guess[2 * k :] + apart[0]
            continue
        solved, found = _solved(rows.part(start - 2 * k + 1, stop), geometry, k, known)
        opt[start + 1 : stop + 1], back[start + 1 : stop + 1] = solved[2 * k :], found[2 * k :]
    marks = np.zeros(n, np.bool_)
    mark_runs(back, marks)
    return marks, int(opt[-1])


def _solved(rows: Rows, geometry: Geometry, k: int, known: Longs) -> tuple[Longs, Ints]:
    """Losses and back-pointers of all prefixes, where ``known`` are those of the first."""
    n = len(rows.number)
    opt, back = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    opt[: len(known)] = known
    best_row_runs(rows.places, rows.sets, geometry, k, len(known) - 1, opt, back)
    return opt, back
