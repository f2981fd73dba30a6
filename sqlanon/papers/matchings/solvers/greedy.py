"""Solvers ``greedy`` and ``sortgreedy`` (Doka et al. 2015, sections 5 and 6).

``greedy``: each row in lexicographic order, columns of few values first, takes the cheapest free box. ``sortgreedy``:
the cheapest edges of all come first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.papers.matchings.kernels.greedy import match_greedily, sort_greedy
from sqlanon.papers.matchings.solvers import UnsolvedError

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.papers.matchings.kernels.cost import Coordinates


def solve(rows: Coordinates, k: int) -> Longs:
    """See `sqlanon.papers.matchings.solvers`. Cost: O(k n^2 d)."""
    return _solve_in_order(rows, k, match_greedily, "greedy")


def solve_sorted(rows: Coordinates, k: int) -> Longs:
    """See `sqlanon.papers.matchings.solvers`. Cost: see `sort_greedy`."""
    return _solve_in_order(rows, k, sort_greedy, "sortgreedy")


def _solve_in_order(rows: Coordinates, k: int, match: Callable[[Coordinates, Longs], bool], name: str) -> Longs:
    order = sort_rows(rows.codes)
    targets = np.empty((k, len(order)), np.int64)
    if not match(arrange_rows(rows, order), targets):
        raise UnsolvedError(f"solver {name} found no matching; use method freeform")
    return restore_order(targets, order)


def sort_rows(codes: Ints) -> Longs:
    """The order of the rows of int32[n, d], int64[n].

    Columns with the same number of values keep their order, and so do equal rows.
    """
    columns = sorted(range(codes.shape[1]), key=lambda a: len(np.unique(codes[:, a])))
    if not columns:
        return np.arange(len(codes))
    return np.lexsort([codes[:, a] for a in reversed(columns)])


def arrange_rows(rows: Coordinates, order: Longs) -> Coordinates:
    """The same rows in another order."""
    return rows._replace(box=rows.box[order], mask=rows.mask[order], codes=rows.codes[order])


def restore_order(targets: Longs, order: Longs) -> Longs:
    """Matchings of rows that were arranged, by the rows' and boxes' numbers before."""
    result = np.empty_like(targets)
    result[:, order] = order[targets]
    return result
