"""Rows dealt among threads: kernels release the interpreter's lock, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.canonical_order import merge

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]


LEAST_ROWS = 4096
"""To start a thread takes longer than kernels take for fewer rows."""


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


def sorted_by(keys: Longs, threads: int) -> Longs:
    """Rows by ascending key, in no particular order where keys are equal. Cost: O(n log n / threads + n log threads)."""
    runs: list[tuple[int, Longs]] = []

    def sort(start: int, stop: int) -> None:
        runs.append((start, np.argsort(keys[start:stop]) + start))

    spread(sort, len(keys), threads)
    parts = [part for _, part in sorted(runs, key=lambda run: run[0])]
    while len(parts) > 1:
        merged = []
        for one, other in zip(parts[::2], parts[1::2], strict=False):
            out = np.empty(len(one) + len(other), np.int64)
            merge(keys, one, other, out)
            merged.append(out)
        parts = merged + parts[len(parts) // 2 * 2 :]
    return parts[0]
