"""Rows dealt among threads: kernels release the interpreter's lock, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.radix import count_range, sort_range

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Ints, Longs

LEAST_ROWS = 4096
"""To start a thread takes longer than kernels take for fewer rows."""

_SAMPLE = 256
"""Keys of a sample, for each thread."""


def spread(work: Callable[[int, int], None], n: int, threads: int, least: int | None = None) -> None:
    """Call ``work(start, stop)`` for up to ``threads`` spans of rows 0 to ``n``, of at least ``least`` rows each."""
    threads = max(min(threads, n // (least or LEAST_ROWS)), 1)
    if threads == 1:
        work(0, n)
        return
    bounds = [n * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, *span) for span in pairwise(bounds)]
    for future in futures:
        future.result()


def put_at(values: Ints, places: Ints, threads: int) -> Ints:
    """int32[n], which has every one of n values at its place; the places are 0 to n - 1, each once."""
    result = np.empty(len(places), np.int32)

    def put(start: int, stop: int) -> None:
        result[places[start:stop]] = values[start:stop]

    spread(put, len(places), threads)
    return result


def sort_by(keys: Longs, threads: int) -> tuple[Ints, Longs]:
    """Stable order of rows by ascending key, which is not negative, and their keys.

    Cost: O(n) for each 11 bits.

    Every thread sorts the keys between two of a sample, so that the sorted parts lie one after the other.
    """
    n = len(keys)
    parts = max(min(threads, n // LEAST_ROWS), 1)
    sample = np.sort(keys[:: max(n // (parts * _SAMPLE), 1)])
    pivots = np.unique(sample[[len(sample) * part // parts for part in range(1, parts)]])
    lows = [0, *map(int, pivots)]
    highs = [*(int(pivot) - 1 for pivot in pivots), np.iinfo(np.int64).max]
    sizes = [0] * len(lows)
    rows, line = np.empty(n, np.int32), np.empty(n, np.int64)

    def count(first: int, past: int) -> None:
        for part in range(first, past):
            sizes[part] = count_range(keys, lows[part], highs[part])

    spread(count, len(lows), threads, 1)
    ends = np.cumsum([0, *sizes])

    def sort(first: int, past: int) -> None:
        for part in range(first, past):
            span = slice(ends[part], ends[part + 1])
            sort_range(keys, lows[part], highs[part], line[span], rows[span])

    spread(sort, len(lows), threads, 1)
    return rows, line


def spread_runs(work: Callable[[int, int], None], begins: Flags, threads: int) -> None:
    """As `spread`, with spans that begin where ``begins`` (bool[n]) does."""
    n = len(begins)
    parts = max(min(threads, n // LEAST_ROWS), 1)
    bounds = [0]
    for part in range(1, parts):
        place = n * part // parts
        ahead = int(begins[place:].argmax())
        bounds.append(max(place + ahead if begins[place + ahead] else n, bounds[-1]))
    bounds.append(n)

    def some(first: int, past: int) -> None:
        for part in range(first, past):
            if bounds[part] < bounds[part + 1]:
                work(bounds[part], bounds[part + 1])

    spread(some, parts, threads, 1)
