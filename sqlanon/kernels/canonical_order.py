"""Rows with equal keys, brought into the one order that every engine and every execution uses (design, section 4).

By QI codes in column order; equal codes by occurrence number within their sensitive codes, so that sensitive values
alternate; then by sensitive codes; then by row id.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(nogil=True, cache=True)
def _stable(order: npt.NDArray[np.int64], start: int, stop: int, column: npt.NDArray[np.int32]) -> None:
    """Sort ``order[start:stop]`` by the column's values, keeping the order of equal ones."""
    n = stop - start
    if n <= 32:
        for i in range(start + 1, stop):
            row = order[i]
            value, at = column[row], i
            while at > start and column[order[at - 1]] > value:
                order[at] = order[at - 1]
                at -= 1
            order[at] = row
        return
    keyed = np.empty(n, np.int64)
    for i in range(n):
        keyed[i] = (np.int64(column[order[start + i]]) << 32) | i
    keyed.sort()
    rows = order[start:stop].copy()
    for i in range(n):
        order[start + i] = rows[keyed[i] & 0xFFFFFFFF]


@njit(nogil=True, cache=True)
def by_words(
    order: npt.NDArray[np.int64], begins: npt.NDArray[np.bool_], words: npt.NDArray[np.int64]
) -> None:
    """Finish a sort by keys of several words.

    Args:
        order: int64[n], rows by the leading word; changed within runs.
        begins: bool[n], where in ``order`` the leading word changes; then, where any word does.
        words: int64[w, n], the other words by row.

    Cost: O(r log r w) for a run of r rows.
    """
    n = len(order)
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and not begins[stop]:
            stop += 1
        if stop - start > 1:
            for w in range(len(words) - 1, -1, -1):
                rows = order[start:stop].copy()
                by = np.argsort(words[w][rows], kind="mergesort")
                order[start:stop] = rows[by]
            for at in range(start + 1, stop):
                for w in range(len(words)):
                    if words[w, order[at]] != words[w, order[at - 1]]:
                        begins[at] = True
        start = stop


@njit(nogil=True, cache=True)
def settle(
    order: npt.NDArray[np.int64], begins: npt.NDArray[np.bool_], codes: npt.NDArray[np.int32],
    sensitive: npt.NDArray[np.int32], rid: npt.NDArray[np.int32],
) -> None:  # fmt: skip
    """Order the rows of every run of equal keys.

    Args:
        order: int64[n], rows by key; changed within runs.
        begins: bool[n], where in ``order`` a run of equal keys begins.
        codes: int32[d, n], by row; d may be 0 where equal keys mean equal codes.
        sensitive: int32[s, n], by row.
        rid: int32[n], by row.

    Cost: O(r log r (d + s)) for a run of r rows.
    """
    n = len(order)
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and not begins[stop]:
            stop += 1
        if stop - start > 1:
            _stable(order, start, stop, rid)
            for s in range(len(sensitive) - 1, -1, -1):
                _stable(order, start, stop, sensitive[s])
            for a in range(len(codes) - 1, -1, -1):
                _stable(order, start, stop, codes[a])
            if len(sensitive) > 0:
                same = start
                for at in range(start + 1, stop + 1):
                    alike = at < stop
                    if alike:
                        for a in range(len(codes)):
                            if codes[a, order[at]] != codes[a, order[same]]:
                                alike = False
                                break
                    if not alike:
                        if at - same > 1:
                            _alternate(order, same, at, sensitive)
                        same = at
        start = stop


@njit(nogil=True, cache=True)
def _alternate(order: npt.NDArray[np.int64], start: int, stop: int, sensitive: npt.NDArray[np.int32]) -> None:
    """Rows of equal codes, sorted by sensitive codes, by occurrence number first."""
    n = stop - start
    keyed = np.empty(n, np.int64)
    occurrence = 0
    for i in range(n):
        if i > 0:
            occurrence += 1
            for s in range(len(sensitive)):
                if sensitive[s, order[start + i]] != sensitive[s, order[start + i - 1]]:
                    occurrence = 0
                    break
        keyed[i] = (np.int64(occurrence) << 32) | i
    keyed.sort()
    rows = order[start:stop].copy()
    for i in range(n):
        order[start + i] = rows[keyed[i] & 0xFFFFFFFF]
