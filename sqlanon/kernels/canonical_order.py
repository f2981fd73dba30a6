"""Rows with equal keys, brought into the order that every engine and every execution uses.

By QI codes in column order; equal codes by occurrence number within their sensitive codes, so that sensitive values
alternate; then by sensitive codes; then by row id.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.radix import order_stably, sort_range

FEW = 32
"""Rows that are put in order one by one."""


@njit(nogil=True, cache=True)
def _stable(order: npt.NDArray[np.int32], start: int, stop: int, column: npt.NDArray[np.int32]) -> None:
    """Sort ``order[start:stop]`` by the column's values, keeping the order of equal values."""
    n = stop - start
    if n <= FEW:
        for i in range(start + 1, stop):
            row = order[i]
            value, place = column[row], i
            while place > start and column[order[place - 1]] > value:
                order[place] = order[place - 1]
                place -= 1
            order[place] = row
        return
    values, rows = np.empty(n, np.int32), order[start:stop].copy()
    for i in range(n):
        values[i] = column[rows[i]]
    places = order_stably(values)
    for i in range(n):
        order[start + i] = rows[places[i]]


@njit(nogil=True, cache=True)
def _stable_by_word(order: npt.NDArray[np.int32], start: int, stop: int, words: npt.NDArray[np.int64], w: int) -> None:
    """As `_stable`, by a word of keys, which is not negative."""
    n = stop - start
    if n <= FEW:
        for i in range(start + 1, stop):
            row = order[i]
            value, place = words[w, row], i
            while place > start and words[w, order[place - 1]] > value:
                order[place] = order[place - 1]
                place -= 1
            order[place] = row
        return
    keys, rows = np.empty(n, np.int64), np.empty(n, np.int32)
    most = np.int64(0)
    for i in range(n):
        rows[i] = order[start + i]
        keys[i] = words[w, rows[i]]
        most = max(most, keys[i])
    line, places = np.empty(n, np.int64), np.empty(n, np.int32)
    sort_range(keys, np.int64(0), most, line, places)
    for i in range(n):
        order[start + i] = rows[places[i]]


@njit(nogil=True, cache=True)
def order_by_words(order: npt.NDArray[np.int32], begins: npt.NDArray[np.bool_], words: npt.NDArray[np.int64]) -> None:
    """Finish a sort by keys of several words.

    Args:
        order: int32[n], rows by the leading word; changed within runs.
        begins: bool[n], where in ``order`` the leading word changes; then, where any word does.
        words: int64[w, n], the other words by row.

    Cost: O(r log r w) for a run of r rows.
    """
    n = len(order)
    start = np.int64(0)  # a literal would be compiled apart
    while start < n:
        stop = start + 1
        while stop < n and not begins[stop]:
            stop += 1
        if stop - start > 1:
            for w in range(len(words) - 1, -1, -1):
                _stable_by_word(order, start, stop, words, w)
            for index in range(start + 1, stop):
                for w in range(len(words)):
                    if words[w, order[index]] != words[w, order[index - 1]]:
                        begins[index] = True
        start = stop


@njit(nogil=True, cache=True)
def settle(
    order: npt.NDArray[np.int32],
    begins: npt.NDArray[np.bool_],
    codes: npt.NDArray[np.int32],
    sensitive: npt.NDArray[np.int32],
    rid: npt.NDArray[np.int32],
) -> None:
    """Order the rows of every run of equal keys.

    Args:
        order: int32[n], rows by key; changed within runs.
        begins: bool[n], where in ``order`` a run of equal keys begins.
        codes: int32[d, n], by row; d may be 0 where equal keys mean equal codes.
        sensitive: int32[s, n], by row.
        rid: int32[n], by row; none where the rows of a run are in the order of their ids already.

    Cost: O(r log r (d + s)) for a run of r rows.
    """
    n = len(order)
    start = np.int64(0)
    while start < n:
        stop = start + 1
        while stop < n and not begins[stop]:
            stop += 1
        if stop - start > 1:
            if len(rid) > 0:
                _stable(order, start, stop, rid)
            for s in range(len(sensitive) - 1, -1, -1):
                _stable(order, start, stop, sensitive[s])
            for a in range(len(codes) - 1, -1, -1):
                _stable(order, start, stop, codes[a])
            if len(sensitive) > 0:
                same = start
                for index in range(start + 1, stop + 1):
                    alike = index < stop
                    if alike:
                        for a in range(len(codes)):
                            if codes[a, order[index]] != codes[a, order[same]]:
                                alike = False
                                break
                    if not alike:
                        if index - same > 1:
                            _alternate(order, same, index, sensitive)
                        same = index
        start = stop


@njit(nogil=True, cache=True)
def _alternate(order: npt.NDArray[np.int32], start: int, stop: int, sensitive: npt.NDArray[np.int32]) -> None:
    """Rows of equal codes, sorted by sensitive codes, by occurrence number first."""
    n = stop - start
    number, rows = np.zeros(n, np.int32), order[start:stop].copy()
    for i in range(1, n):
        alike = True
        for s in range(len(sensitive)):
            alike &= sensitive[s, rows[i]] == sensitive[s, rows[i - 1]]
        if alike:
            number[i] = number[i - 1] + 1
    places = order_stably(number)
    for i in range(n):
        order[start + i] = rows[places[i]]
