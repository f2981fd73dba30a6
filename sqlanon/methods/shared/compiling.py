"""The first use of a kernel on a machine compiles it, which is noted once; the compiled code is kept on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from sqlanon.progress import Progress


def note_compiling(progress: Progress, *kernels: object) -> None:
    """Note in ``progress`` that kernels will be compiled, if some were never used on this machine."""
    if not all(_kept(kernel) for kernel in kernels):
        progress.note("compiling kernels: only the first time on this machine, about half a minute")


def _kept(function: object) -> bool:
    """Whether numba keeps a compiled form of it."""
    kernel = cast("Any", function)
    if kernel.signatures:  # this process has used it
        return True
    cache = kernel.stats.cache_path
    return cache is not None and any(Path(cache).glob(f"{kernel.py_func.__name__}-*.nbi"))
