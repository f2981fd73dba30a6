"""Rows dealt among threads: kernels release the interpreter's lock, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise


def spread(work: Callable[[int, int], None], n: int, threads: int) -> None:
    """Call ``work(start, stop)`` for ``threads`` spans that make up rows 0 to ``n``."""
    bounds = [n * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, *span) for span in pairwise(bounds)]
    for future in futures:
        future.result()
