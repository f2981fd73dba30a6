"""Processor seconds of methods, which a busy machine changes less than those of the clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def processor() -> Iterator[list[float]]:
    """Note the processor seconds of every method that runs meanwhile, all threads together."""
    from sqlanon.methods.method import Method

    used: list[float] = []
    plain = Method.assign

    def timed(self: Method, context: Any) -> Any:
        start = time.process_time()
        try:
            return plain(self, context)
        finally:
            used.append(time.process_time() - start)

    Method.assign = timed  # type: ignore[method-assign]
    try:
        yield used
    finally:
        Method.assign = plain  # type: ignore[method-assign]
