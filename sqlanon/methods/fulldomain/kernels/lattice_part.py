"""Division of a group of rows into a class and a rest that both keep l.

It is ours; compare phase one of Xiao, Yi and Tao 2010.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.tally import Ints, Longs


class ClassRequirements(NamedTuple):
    """Requirements of a class.

    Attributes:
        k: rows, at least.
        p, q: l of the one sensitive column; p = 0: no l.
        divide: a class may take part of the rows of a group, by their sensitive values.
    """

    k: int
    p: int
    q: int
    divide: bool


class RemainingRows(NamedTuple):
    """The rows that are in no class yet.

    Attributes:
        records: int32[*], the first `IN_USE` of them are looked at; they include all that have rows.
        left: int64[m], rows of each record.
        counts: int64[values], rows of each sensitive value.
        facts: int64[4], see the constants.
    """

    records: Ints
    left: Longs
    counts: Longs
    facts: Longs


IN_USE, ROWS, CLASSES, PIECES = 0, 1, 2, 3
"""Of `RemainingRows.facts`: records in use, rows of the rest, classes made, and pieces of them."""


class ValueTally(NamedTuple):
    """The rows of a group by sensitive value.

    It has the rows of each value, the values that occur, and the part of a class in each.
    """

    rows: Longs
    values: Longs
    taken: Longs
    inside: npt.NDArray[np.bool_]


@njit(nogil=True, cache=True)
def count_taken(values: int, requirements: ClassRequirements, rest: RemainingRows, tallied: ValueTally) -> int:
    """Number of rows of a group that a class takes, by value in ``tallied.taken``; 0: none can be taken.

    Phase one of TP (Xiao, Yi, Tao 2010): h is the largest count that a class of these rows can have of a value. A class
    of ceil(h l) rows is tried, with at most h of each value, then h - 1 and so on. Of a value it must take the rows
    that the rest could not keep; beyond that it takes of the values most frequent in the rest. The least rows for an h
    leave the rest the most freedom.
    """
    k, p, q, total = requirements.k, requirements.p, requirements.q, rest.facts[ROWS]
    most, sum_ = np.int64(0), np.int64(0)
    for y in range(values):
        v = tallied.values[y]
        tallied.inside[v] = True
        most = max(most, tallied.rows[v])
        sum_ += tallied.rows[v]
    outside = np.int64(0)
    for v in range(len(rest.counts)):
        if not tallied.inside[v]:
            outside = max(outside, rest.counts[v])
    for y in range(values):
        tallied.inside[tallied.values[y]] = False
    for h in range(min(most, sum_ * q // p), 0, -1):
        size = max(k, -(-h * p // q))
        after = total - size
        if 0 < after < k or after < 0 or outside * p > after * q:
            continue
        bound = after * q // p
        least, high, lawful = np.int64(0), np.int64(0), True
        for y in range(values):
            v = tallied.values[y]
            must, may = max(rest.counts[v] - bound, 0), min(tallied.rows[v], h)
            lawful = lawful and must <= may
            least += must
            high += may
        if lawful and least <= size <= high:
            fill(values, h, bound, size, rest, tallied)
            return size
    return 0


@njit(nogil=True, cache=True)
def fill(values: int, h: int, bound: int, size: int, rest: RemainingRows, tallied: ValueTally) -> None:
    """Rows of each value in a class of ``size`` rows.

    It takes the necessary rows first, then single rows of the value that is most frequent in the rest.
    """
    takes, missing = tallied.taken, size
    for y in range(values):
        takes[y] = max(rest.counts[tallied.values[y]] - bound, 0)
        missing -= takes[y]
    for _ in range(missing):
        best, rows = -1, np.int64(0)
        for y in range(values):
            v = tallied.values[y]
            if takes[y] < min(tallied.rows[v], h) and (best < 0 or rest.counts[v] - takes[y] > rows):
                best, rows = y, rest.counts[v] - takes[y]
        takes[best] += 1
