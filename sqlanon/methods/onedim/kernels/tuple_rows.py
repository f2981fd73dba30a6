"""Rows in order as tuples, rows of equal codes, with counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit


@njit(nogil=True, cache=True)
def expand_tuples(
    first: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    place: npt.NDArray[np.int32],
    of: npt.NDArray[np.int32],
) -> None:
    """Write the rows of tuples, one tuple after the other.

    Args:
        first, count: int32[m], rows ``first`` to ``first + count - 1`` of each tuple.
        place: int32[n], written: the rows.
        of: int32[n], written: the tuple of each.
    """
    i = 0
    for t in range(len(first)):
        for row in range(first[t], first[t] + count[t]):
            place[i], of[i] = row, t
            i += 1


@njit(nogil=True, cache=True)
def join_equal_runs(of: npt.NDArray[np.int32], begins: npt.NDArray[np.bool_]) -> None:
    """Join runs of rows of the same tuple that follow one another: they have the same box.

    Args:
        of: int32[n], the tuple of each row.
        begins: bool[n], where a run begins; changed.
    """
    n = len(of)
    start, was_equal = 0, False  # of the last run: whether its rows are all of one tuple
    while start < n:
        stop = start + 1
        while stop < n and not begins[stop]:
            stop += 1
        is_equal = of[start] == of[stop - 1]
        if is_equal and was_equal and of[start - 1] == of[start]:
            begins[start] = False
        was_equal = is_equal
        start = stop


@njit(nogil=True, cache=True)
def find_divided(
    first: npt.NDArray[np.int32],
    count: npt.NDArray[np.int32],
    group: npt.NDArray[np.int32],
    classes: npt.NDArray[np.int32],
    divided: npt.NDArray[np.bool_],
) -> None:
    """Mark the groups of equal rows that are in several classes.

    Args:
        first, count: as `expand_tuples` takes them.
        group: int32[n], the group of equal rows of each row; several tuples may be parts of a group.
        classes: int32[n], the class of each row, in the order of the tuples.
        divided: bool[g], written.
    """
    last_class = np.full(len(divided), -1, np.int32)
    divided[:] = False
    i = 0
    for t in range(len(first)):
        g, begin, end = group[first[t]], classes[i], classes[i + count[t] - 1]
        divided[g] |= begin != end or (last_class[g] >= 0 and last_class[g] != begin)
        last_class[g] = begin
        i += count[t]
