"""Divisions into runs by several threads: the same as by one, bit for bit.

A piece of the rows is solved from some rows before the piece, as if the table began there. Which runs are best
depends only on the differences between the losses of the last prefixes, as many as the longest run has rows. If those
of the piece and those of the rows before it differ by one constant, the piece is solved as the whole table would be.
Otherwise it is solved again.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.requirements import Demands
from sqlanon.kernels.rows import Rows
from sqlanon.kernels.runs import NEVER, mark_runs
from sqlanon.methods.onedim.kernels.constrained_runs import find_lawful_runs
from sqlanon.methods.onedim.kernels.fast_runs import find_best_row_runs
from sqlanon.methods.shared.threads import spread

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Ints, Longs


NO_TUPLES = np.zeros(0, np.int32)
"""No tuples: rows are their own."""

_LEAST, _BEFORE = 1 << 16, 64
"""Rows of a piece, at least, and runs of k rows that a piece is solved from before the piece."""
_LEAST_LAWFUL = 1 << 13
"""Rows of a piece, at least, where each costs hundreds of times as much."""


def row_runs(rows: Rows, geometry: Geometry, k: int, threads: int, of: Ints | None = None) -> tuple[Flags, int]:
    """Begins of the runs of n >= k rows with the least loss, bool[n], and that loss.

    Args:
        rows: the rows, in order; or tuples in any order.
        geometry: the attributes.
        k: rows of a run, at least.
        threads: workers.
        of: int32[n], the tuple of each row in order; None: ``rows`` are these rows.

    Cost: O(k n d / threads); memory 12 bytes a row.
    """

    def solve(begin: int, stop: int, solved: Longs) -> tuple[Longs, Ints]:
        if of is None:
            opt, back = _solve_prefixes(rows.part(begin, stop), NO_TUPLES, geometry, k, solved[0])
        else:
            opt, back = _solve_prefixes(rows, of[begin:stop], geometry, k, solved[0])
        return opt[None], back

    first = np.zeros((1, 1), np.int64)
    n = len(rows.number if of is None else of)
    parts, back = _in_pieces(solve, n, first, 2 * k, _BEFORE * k, _LEAST, threads)
    return _marks(back), int(parts[-1][0, -1])


def find_requiring_runs(rows: Rows, geometry: Geometry, demands: Demands, most: int, threads: int) -> tuple[Flags, int]:
    """Begins of runs that meet requirements and have at most ``most`` rows but the last one, and their loss.

    See `find_lawful_runs`.

    Returns:
        bool[n], meaningless unless the loss is less than `NEVER`: then not even all rows together meet the
        requirements.
    """

    def solve(begin: int, stop: int, solved: Longs) -> tuple[Longs, Ints]:
        return _solve_requiring(rows.part(begin, stop), geometry, demands, most, solved)

    first, n = np.array([[0], [NEVER]], np.int64), len(rows.number)
    before = most + _BEFORE * demands.k
    parts, back = _in_pieces(solve, n, first, most, before, _LEAST_LAWFUL, threads)
    best = np.concatenate(parts, axis=1)
    if best[0, n] == NEVER:
        opt, need = best
        find_lawful_runs(rows.places, rows.sets, rows.number, geometry, demands, most, n, True, opt, need, back)
    return (_marks(back) if best[0, n] < NEVER else np.zeros(n, np.bool_)), int(best[0, n])


def _in_pieces(
    solve: Callable[[int, int, Longs], tuple[Longs, Ints]],
    n: int,
    first: Longs,
    window: int,
    before: int,
    least: int,
    threads: int,
) -> tuple[list[Longs], Ints]:
    """Solve all prefixes of n rows.

    Args:
        solve: for the rows between two places: the results for their first prefixes, int64[c, m] -> int64[c, rows + 1],
            losses and other figures that decide, and int32[rows + 1], rows of the last run.
        n: rows.
        first: int64[c, 1], the results for no rows.
        window: rows of a run, at most: so many prefixes decide the next.
        before: rows that a piece is solved from before it begins, ``window`` at least.
        least: rows of a piece, at least.
        threads: pieces, at most.

    Returns:
        int64[c, n + 1] in parts that follow one another, and int32[n + 1], as one call of ``solve`` for all rows.
    """
    pieces = max(min(threads, n // max(least, 2 * before, 2 * window)), 1)
    bounds = [n * piece // pieces for piece in range(pieces + 1)]
    back = np.zeros(n + 1, np.int32)
    borders: list[Longs] = [first] * pieces

    def solve_pieces(first_piece: int, past: int) -> None:
        for piece in range(first_piece, past):
            start, stop = bounds[piece], bounds[piece + 1]
            begin = max(start - before, 0)
            borders[piece], links = solve(begin, stop, first)
            back[start + 1 : stop + 1] = links[start - begin + 1 :]

    spread(solve_pieces, pieces, threads, 1)
    parts = borders[:1]
    for piece, (start, stop) in enumerate(pairwise(bounds[1:]), 1):
        known_costs = parts[-1][:, -window:]  # a piece has twice as many rows, at least
        guess = borders[piece][:, -(stop - start) - window :]
        if _agree(known_costs, guess[:, :window]):
            losses = guess[0, window:]
            np.add(losses, known_costs[0, 0] - guess[0, 0], out=losses, where=losses < NEVER)
            parts.append(guess[:, window:])
            continue
        solved, links = solve(start - window + 1, stop, known_costs)
        parts.append(solved[:, window:])
        back[start + 1 : stop + 1] = links[window:]
    return parts, back


def _agree(solved: Longs, guess: Longs) -> bool:
    """Whether losses differ by one constant, none of them `NEVER`, and all else is equal."""
    apart = solved[0] - guess[0]
    possible = max(solved[0].max(), guess[0].max()) < NEVER
    return bool(possible and (apart == apart[0]).all() and (solved[1:] == guess[1:]).all())


def _marks(back: Ints) -> Flags:
    marks = np.zeros(len(back) - 1, np.bool_)
    mark_runs(back, marks)
    return marks


def _solve_requiring(rows: Rows, geometry: Geometry, demands: Demands, most: int, solved: Longs) -> tuple[Longs, Ints]:
    """Losses, shortest runs and back-pointers of all prefixes, where ``solved`` are those of the first."""
    n, given_count = len(rows.number), solved.shape[1]
    costs, back = np.zeros((2, n + 1), np.int64), np.zeros(n + 1, np.int32)
    costs[:, :given_count] = solved
    opt, need = costs
    find_lawful_runs(
        rows.places, rows.sets, rows.number, geometry, demands, most, given_count - 1, False, opt, need, back
    )
    return costs, back


def _solve_prefixes(rows: Rows, of: Ints, geometry: Geometry, k: int, solved: Longs) -> tuple[Longs, Ints]:
    """Losses and back-pointers of all prefixes, where ``solved`` are those of the first."""
    n = len(of) or len(rows.number)
    opt, back = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    opt[: len(solved)] = solved
    find_best_row_runs(rows.places, rows.sets, of, geometry, k, len(solved) - 1, opt, back)
    return opt, back
