"""The paper's order of rows (Doka et al. 2015, section 5): lexicographic, columns of few values first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.papers.matchings.kernels.cost import Coordinates


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
    found = np.empty_like(targets)
    found[:, order] = order[targets]
    return found
