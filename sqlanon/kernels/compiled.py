"""numba's decorators for the functions of this package: compiled code is kept by `sqlanon.kernels.cache`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.ccallback import CFunc
from numba.core.dispatcher import Dispatcher

from sqlanon.kernels import watch
from sqlanon.kernels.cache import make_cache, name_in_package
from sqlanon.kernels.callees import find_missing

F = TypeVar("F", bound=Callable[..., Any])


def njit(*, cache: bool = True, **options: Any) -> Callable[[F], F]:
    """`numba.njit`; ``cache``: compiled code is kept on disk."""

    def declare(function: F) -> F:
        kernel: Any = numba.njit(**options)(function)
        if cache and hasattr(kernel, "_cache"):  # it has none where numba is switched off
            kernel._cache = make_cache(function)  # noqa: SLF001 - as `enable_caching` does
        declared: F = kernel
        return declared

    return declare


def callback(signature: Any) -> Callable[[Callable[..., None]], Any]:  # noqa: ANN401
    """`numba.cfunc`, compiled at once and kept on disk; of a function outside this package by numba itself."""

    def declare(function: Callable[..., None]) -> Any:  # noqa: ANN401
        if not name_in_package(function):
            return numba.cfunc(signature, cache=True)(function)
        compiled: Any = CFunc(function, (signature.args, signature.return_type), {}, {})
        compiled._cache = make_cache(function)  # noqa: SLF001
        compiled.compile()
        return compiled

    return declare


def expect(*kernels: object) -> None:
    """Announce the next kernels, so that their number is known when the first is compiled."""
    for kernel in kernels:
        if isinstance(kernel, Dispatcher) and not kernel.signatures:
            watch.want(find_missing(kernel))
