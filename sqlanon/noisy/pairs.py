"""Chooses the pairs of columns for drawing synthetic rows: a tree, by paid scores.

The score of two columns is how far their counts in the classes of the target are from independence. With counts N of a
class of n rows, and a and b those of the two columns alone, it is the sum over cells of abs(N - a b / n), as in Zhang,
Cormode, Procopiuc, Srivastava, Xiao (2017), "PrivBayes", Section 4.3, with a class in place of the whole table.

A row more changes one class. It adds 1 to one N, and changes a b / n by (a e' + e b' + e e' - a b / n) / (n + 1), with
e the unit vector of its value: by at most (3 n + 1) / (n + 1) < 3 in all. So the sum changes by less than 4, and the
score, which is rounded down in each class, by at most `GAP_CHANGE`. The scores are integers, computed without floats.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PrivacyViolation

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

GAP_CHANGE = 4
"""The most that a row changes the score of a pair."""
MOST_ROWS = 2**31 - 1
"""Rows of a class, at most: twice the square fits 64 bits."""

Pair = tuple[int, int]


def list_pairs(columns: int) -> list[Pair]:
    """All pairs of columns, in the order of the scores."""
    return list(combinations(range(columns), 2))


def measure_gap(counts: Longs) -> int:
    """The score of two columns.

    Args:
        counts: int64[values of one, values of the other, classes of the target], exact numbers of rows.

    >>> measure_gap(np.array([[[3], [0]], [[0], [3]]])), measure_gap(np.array([[[2], [4]], [[1], [2]]]))
    (6, 0)
    """
    total = 0
    for place in range(counts.shape[2]):
        cells = counts[:, :, place].astype(np.int64)
        rows = int(cells.sum())
        if rows > MOST_ROWS:
            raise PrivacyViolation("a class of the target has more rows than a score can have")
        if rows:
            apart = np.abs(cells * rows - np.outer(cells.sum(axis=1), cells.sum(axis=0)))
            total += int(apart.sum()) // rows
    return total


def choose_pairs(scores: Longs, columns: int) -> tuple[Pair, ...]:
    """The tree of pairs with the largest sum of noisy scores (Prim); each pair has one column of those before.

    Args:
        scores: int64[pairs], noisy, in the order of `list_pairs`.
        columns: number of columns, 2 or more.
    """
    by_pair = dict(zip(list_pairs(columns), scores.tolist(), strict=True))
    reached, pairs = {0}, []
    while len(reached) < columns:
        open_pairs = [pair for pair in by_pair if (pair[0] in reached) != (pair[1] in reached)]
        best = max(open_pairs, key=lambda pair: by_pair[pair])
        pairs.append(best)
        reached |= set(best)
    return tuple(pairs)
