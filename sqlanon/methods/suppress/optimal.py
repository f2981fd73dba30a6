"""The fewest stars for two sensitive values and l = 2: a minimum perfect matching (Xiao, Yi and Tao 2010, section 4).

A class of more rows divides into pairs of both values without a star more. Rows of equal quasi values are partners
first: stars are a metric, so that exchanging partners towards such a pair never costs. The matching is for the
rows left.
"""

from __future__ import annotations

import numpy as np

from sqlanon.methods.suppress.cells import Cells, Parts
from sqlanon.methods.suppress.kernels.matching import match_points


def match_pairs(cells: Cells) -> tuple[Parts, int]:
    """Classes of two rows, one of each value; as many rows of either. Returns them and the stars.

    Cost: cubic in the rows of a value that have no equal of the other.
    """
    groups = cells.codes.shape[1]
    sides = []
    for value in (0, 1):
        cell = np.full(groups, -1, np.int64)
        value_cells = np.flatnonzero(cells.value == value)
        cell[cells.group[value_cells]] = value_cells
        rows = np.zeros(groups, np.int64)
        rows[cells.group[value_cells]] = cells.count[value_cells]
        sides.append((cell, rows))
    (cell0, rows0), (cell1, rows1) = sides
    equal = np.minimum(rows0, rows1)
    unmatched = [np.repeat(np.arange(groups), rows - equal) for rows in (rows0, rows1)]
    partner = np.empty(len(unmatched[0]), np.int64)
    points = [np.ascontiguousarray(cells.codes[:, side].T) for side in unmatched]
    apart = match_points(points[0], points[1], partner) if len(partner) else 0
    # Pairs of equal rows of a group are one class; it shows every value.
    some = np.flatnonzero(equal)
    first = np.concatenate([cell0[some], cell0[unmatched[0]]])
    second = np.concatenate([cell1[some], cell1[unmatched[1][partner]]])
    rows = np.concatenate([equal[some], np.ones(len(partner), np.int64)])
    number = np.arange(len(first))
    return Parts(np.concatenate([first, second]), np.tile(rows, 2), np.tile(number, 2)), 2 * apart
