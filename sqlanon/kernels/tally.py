"""A requirement on arrays: a tally, two compiled functions over flat counters that kernels call by address.

Kernels know no requirement. So a new one compiles two functions, and no kernel anew. Functions take many rows a
call: a call costs about 20 ns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sqlanon.kernels.compiled import callback

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_ITEMS, _LONGS = types.Array(types.int32, 1, "C"), types.Array(types.int64, 1, "C")
_REALS, _FLAGS = types.Array(types.float64, 1, "C"), types.Array(types.boolean, 1, "C")
_ADD = types.void(_ITEMS, _LONGS, _LONGS, _REALS, _LONGS, _REALS, _FLAGS)
_CLEAR = types.void(_ITEMS, _LONGS, _REALS, _LONGS, _REALS)


class CompiledFunction(Protocol):
    """A function that kernels call by address."""

    @property
    def address(self) -> int:
        """Where the code is."""


def adding(function: Callable[[Ints, Longs, Longs, Reals, Longs, Reals, Flags], None]) -> CompiledFunction:
    """Compile ``add(items, ends, bounds, weights, counts, sums, holds)`` of a tally, and keep it on disk.

    It counts rows in order and sets ``holds[s]`` to False where the rows counted since the counters were cleared, up to
    and including row ``ends[s] - 1`` of this call, do not meet the requirement; it never sets True. A later call goes
    on from the counters. It must not raise, and must be a function of a module, not of another function.

    Args (of ``function``):
        items: int32[rows * width], the numbers of the rows.
        ends: int64[slots], ascending, the last is the number of rows.
        bounds, weights: the tally's parameters.
        counts, sums: the counters.
        holds: bool[slots].
    """
    compiled: CompiledFunction = callback(_ADD)(function)
    return compiled


def clearing(function: Callable[[Ints, Longs, Reals, Longs, Reals], None]) -> CompiledFunction:
    """Compile ``clear(items, bounds, weights, counts, sums)`` of a tally, and keep it on disk.

    It brings the counters back to zero after the rows of ``items`` (at least all that were counted) were counted. Cost:
    linear in those rows, not in the counters.
    """
    compiled: CompiledFunction = callback(_CLEAR)(function)
    return compiled


@dataclass(frozen=True, slots=True)
class Tally:
    """A requirement over the rows of a table, for kernels.

    Attributes:
        add: made by `adding`.
        clear: made by `clearing`.
        items: int32[n * width], the counted items of each row, by row number.
        width: numbers of a row.
        bounds, weights: parameters, int64[*] and float64[*].
        counts, sums: the number of counters, int64 and float64, all zero before the first row.
    """

    add: CompiledFunction
    clear: CompiledFunction
    items: Ints
    width: int
    bounds: Longs
    counts: int
    weights: Reals = field(default_factory=lambda: np.zeros(0))
    sums: int = 0


def _generate_call(signature: Any) -> Any:  # noqa: ANN401 - numba's types
    """The code of a call by address: after the address, each array with the bounds of the part that is passed.

    Parts are made here and not as slices, which count references: for small sets of rows that costs more than the work.
    """

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:  # noqa: ANN401
        parts = []
        for index, kind in enumerate(signature.args):
            array, begin, past = args[1 + 3 * index : 4 + 3 * index]
            whole, part = (
                context.make_array(kind)(context, builder, array),
                context.make_array(kind)(context, builder),
            )
            context.populate_array(
                part,
                data=builder.gep(whole.data, [begin]),
                shape=[builder.sub(past, begin)],
                strides=cgutils.unpack_tuple(builder, whole.strides),  # type: ignore[no-untyped-call]
                itemsize=whole.itemsize,
                meminfo=None,
            )
            parts.append(part._getvalue())  # noqa: SLF001 - as numba itself reads it
        function = ir.FunctionType(ir.VoidType(), [part.type for part in parts]).as_pointer()
        builder.call(builder.inttoptr(args[0], function), parts)
        return context.get_dummy_value()

    bounded = [kind for array in signature.args for kind in (array, types.int64, types.int64)]
    return types.void(types.int64, *bounded), codegen


_intrinsic = cast("Callable[[Callable[..., Any]], Callable[..., None]]", intrinsic)


@_intrinsic
def call_add(_, address, i, i0, i1, e, e0, e1, b, b0, b1, w, w0, w1, c, c0, c1, s, s0, s1, h, h0, h1):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, ARG001
    """Call the function at ``address`` with items, ends, bounds, weights, counts, sums, holds; each from and to."""
    return _generate_call(_ADD)


@_intrinsic
def call_clear(_, address, i, i0, i1, b, b0, b1, w, w0, w1, c, c0, c1, s, s0, s1):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201, ARG001
    """Call the function at ``address`` with items, bounds, weights, counts, sums; each from and to."""
    return _generate_call(_CLEAR)
