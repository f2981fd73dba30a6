"""One requirement on arrays: a tally, two compiled functions over flat counters that kernels call by address.

Kernels know no requirement. So a new one compiles its own two functions, and no kernel anew. Functions take many rows a call:
one call costs about 20 ns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_ITEMS, _LONGS = types.Array(types.int32, 1, "C"), types.Array(types.int64, 1, "C")
_REALS, _FLAGS = types.Array(types.float64, 1, "C"), types.Array(types.boolean, 1, "C")
_ADD = types.void(_ITEMS, _LONGS, _LONGS, _REALS, _LONGS, _REALS, _FLAGS)
_CLEAR = types.void(_ITEMS, _LONGS, _REALS, _LONGS, _REALS)


class Compiled(Protocol):
    """A function that kernels call by address."""

    @property
    def address(self) -> int:
        """Where its code is."""


def adding(function: Callable[[Ints, Longs, Longs, Reals, Longs, Reals, Flags], None]) -> Compiled:
    """Compile ``add(items, ends, bounds, weights, counts, sums, holds)`` of a tally, and keep it on disk.

    It counts rows in order and sets ``holds[s]`` to False where the rows counted since the counters were cleared, up to
    and including row ``ends[s] - 1`` of this call, do not meet the requirement; it never sets True. A later call goes on
    from the counters. It must not raise, and must be a function of a module, not of another function.

    Args (of ``function``):
        items: int32[rows * width], the numbers of the rows.
        ends: int64[slots], ascending, the last is the number of rows.
        bounds, weights: the tally's parameters.
        counts, sums: its counters.
        holds: bool[slots].
    """
    made: Compiled = cfunc(_ADD, cache=True)(function)
    return made


def clearing(function: Callable[[Ints, Longs, Reals, Longs, Reals], None]) -> Compiled:
    """Compile ``clear(items, bounds, weights, counts, sums)`` of a tally, and keep it on disk.

    It brings the counters back to zero after the rows of ``items`` (at least all that were counted) were counted. Cost: linear
    in those rows, not in the counters.
    """
    made: Compiled = cfunc(_CLEAR, cache=True)(function)
    return made


@dataclass(frozen=True, slots=True)
class Tally:
    """One requirement over the rows of a table, for kernels.

    Attributes:
        add: made by `adding`.
        clear: made by `clearing`.
        items: int32[n * width], what is counted of each row, by row number.
        width: numbers of a row.
        bounds, weights: parameters, int64[*] and float64[*].
        counts, sums: how many counters there are, int64 and float64, all zero before the first row.
    """

    add: Compiled
    clear: Compiled
    items: Ints
    width: int
    bounds: Longs
    counts: int
    weights: Reals = field(default_factory=lambda: np.zeros(0))
    sums: int = 0


def _called(signature: Any) -> Any:  # noqa: ANN401 - numba's types
    """The code of a call by address."""

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:  # noqa: ANN401
        kinds = [context.get_value_type(kind) for kind in signature.args]
        target = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), kinds).as_pointer())
        builder.call(target, args[1:])
        return context.get_dummy_value()

    return types.void(types.int64, *signature.args), codegen


_intrinsic = cast("Callable[[Callable[..., Any]], Callable[..., None]]", intrinsic)


@_intrinsic
def call_add(_, address, items, ends, bounds, weights, counts, sums, holds):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, ARG001
    """Call the function at ``address`` as `adding` describes it."""
    return _called(_ADD)


@_intrinsic
def call_clear(_, address, items, bounds, weights, counts, sums):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, ARG001
    """Call the function at ``address`` as `clearing` describes it."""
    return _called(_CLEAR)
