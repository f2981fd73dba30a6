"""Functions that are compiled together with a kernel.

They are the direct and indirect callees that are neither in memory nor on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.dispatcher import Dispatcher


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function of this package, with the file's."""
    return f"{function.__module__}.{function.__qualname__}"


def find_missing(kernel: Any) -> set[str]:  # noqa: ANN401 - numba's own
    """The names of functions that a call of a kernel would compile, as far as the names in the code show.

    Cost: one look at the disk for each function that it reaches.
    """
    missing: set[str] = set()
    seen, waiting = {kernel}, [kernel]
    while waiting:
        dispatcher = waiting.pop()
        # A function that is written into callers is not compiled by itself.
        if (
            dispatcher.targetoptions.get("inline") != "always"
            and not dispatcher.signatures
            and not _cache_of(dispatcher).is_kept()
        ):
            missing.add(name_of(dispatcher.py_func))
        global_values = (dispatcher.py_func.__globals__.get(name) for name in dispatcher.py_func.__code__.co_names)
        new = {value for value in global_values if hasattr(_cache_of(value), "is_kept")} - seen
        seen |= new
        waiting += new
    return missing


def _cache_of(value: object) -> Any:  # noqa: ANN401
    """The cache of a kernel; None of any other value."""
    return getattr(value, "_cache", None) if isinstance(value, Dispatcher) else None
