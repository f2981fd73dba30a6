"""Rows dealt among threads: kernels release the interpreter's lock, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]


LEAST_ROWS = 4096
"""To start a thread takes longer than kernels take for fewer rows."""

_SAMPLE = 256
"""Keys of a sample, for each thread."""


def spread(work: Callable[[int, int], None], n: int, threads: int, least: int | None = None) -> None:
    """Call ``work(start, stop)`` for up to ``threads`` spans of at least ``least`` rows that make up rows 0 to ``n``."""
    threads = max(min(threads, n // (least or LEAST_ROWS)), 1)
    if threads == 1:
        work(0, n)
        return
    bounds = [n * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, *span) for span in pairwise(bounds)]
    for future in futures:
        future.result()


def sorted_by(keys: Longs, threads: int) -> tuple[Longs, Longs]:
    """Rows by ascending key, in no particular order where keys are equal, and their keys. Cost: O(n log n / threads).

    Every thread has the keys between two of a sample's, so that what they sort lies one after the other.
    """
    n = len(keys)
    parts = max(min(threads, n // LEAST_ROWS), 1)
    sample = np.sort(keys[:: max(n // (parts * _SAMPLE), 1)])
    pivots = sample[[len(sample) * part // parts for part in range(1, parts)]]
    owner = (
        np.searchsorted(pivots, keys, side="right").astype(np.int16) if parts > 1 else np.zeros(n, np.int16)
    )
    ends = np.cumsum([0, *np.bincount(owner, minlength=parts)])
    rows, line = np.empty(n, np.int64), np.empty(n, np.int64)

    def sort(first: int, past: int) -> None:
        for part in range(first, past):
            own = np.flatnonzero(owner == part)
            of = keys[own]
            by = np.argsort(of)
            rows[ends[part] : ends[part + 1]], line[ends[part] : ends[part + 1]] = own[by], of[by]

    spread(sort, parts, threads, 1)
    return rows, line


def spread_runs(work: Callable[[int, int], None], begins: npt.NDArray[np.bool_], threads: int) -> None:
    """As `spread`, with spans that begin where ``begins`` (bool[n]) does."""
    n = len(begins)
    parts = max(min(threads, n // LEAST_ROWS), 1)
    bounds = [0]
    for part in range(1, parts):
        at = n * part // parts
        ahead = int(begins[at:].argmax())
        bounds.append(max(at + ahead if begins[at + ahead] else n, bounds[-1]))
    bounds.append(n)

    def some(first: int, past: int) -> None:
        for part in range(first, past):
            if bounds[part] < bounds[part + 1]:
                work(bounds[part], bounds[part + 1])

    spread(some, parts, threads, 1)
