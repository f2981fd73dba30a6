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
    found: set[str] = set()
    seen, left = {kernel}, [kernel]
    while left:
        one = left.pop()
        # A function that is written into callers is not compiled by itself.
        if one.targetoptions.get("inline") != "always" and not one.signatures and not _cache_of(one).kept():
            found.add(name_of(one.py_func))
        named = (one.py_func.__globals__.get(name) for name in one.py_func.__code__.co_names)
        new = {other for other in named if hasattr(_cache_of(other), "kept")} - seen
        seen |= new
        left += new
    return found


def _cache_of(value: object) -> Any:  # noqa: ANN401
    """The cache of a kernel; None of any other value."""
    return getattr(value, "_cache", None) if isinstance(value, Dispatcher) else None
