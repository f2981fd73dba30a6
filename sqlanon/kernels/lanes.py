"""Eight codes at a time: the boxes of rows are merged by vector instructions, which numba does not find by itself.

A lane row is a row of a C-contiguous int32[n, lanes] array, lanes a multiple of `WIDTH`; unused lanes hold zeros.
Every function works on lanes ``at`` to ``at + WIDTH`` of one row, without a call and without counting references.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sqlanon.kernels.extent import SCALE

WIDTH = 8
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_ROW = ir.VectorType(_I32, WIDTH)


def _inline(function: Callable[..., Any]) -> Callable[..., Any]:
    return intrinsic(function)


def pad_width(d: int) -> int:
    """Lanes that hold ``d`` attributes."""
    return -(-d // WIDTH) * WIDTH


def _pointer(context: Any, builder: Any, kind: Any, array: Any, row: Any, lane: Any) -> Any:
    """The address of ``lane`` of ``row``; ``row`` none for a plain vector."""
    view = context.make_array(kind)(context, builder, array)
    offset = lane
    if row is not None:
        lanes = cgutils.unpack_tuple(builder, view.shape)[1]  # type: ignore[no-untyped-call]
        offset = builder.add(builder.mul(row, lanes), lane)
    start = builder.gep(view.data, [offset])
    return builder.bitcast(start, _ROW.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    return builder.load(pointer, align=4)


@_inline
def take(typing: Any, to: Any, row: Any, source: Any, other: Any, lane: Any) -> Any:
    """``to[row] = source[other]``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        t, r, s, o, a = args
        value = _load(builder, _pointer(context, builder, signature.args[2], s, o, a))
        builder.store(value, _pointer(context, builder, signature.args[0], t, r, a), align=4)
        return context.get_dummy_value()

    return types.void(to, types.int64, source, types.int64, types.int64), codegen


@_inline
def clear(typing: Any, low: Any, high: Any, row: Any, lane: Any) -> Any:
    """Make ``low[row]`` and ``high[row]`` the box of no rows."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lo, hi, r, a = args
        for to, kind, value in ((lo, signature.args[0], 2**31 - 1), (hi, signature.args[1], -(2**31))):
            constant = ir.Constant(_ROW, [value] * WIDTH)
            builder.store(constant, _pointer(context, builder, kind, to, r, a), align=4)
        return context.get_dummy_value()

    return types.void(low, high, types.int64, types.int64), codegen


@_inline
def widen(typing: Any, low: Any, high: Any, row: Any, lows: Any, highs: Any, other: Any, lane: Any) -> Any:
    """``low[row] = min(low[row], lows[other])`` and ``high[row] = max(high[row], highs[other])``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lo, hi, r, los, his, o, a = args
        kinds = signature.args
        for to, kind, source, source_kind, sign in (
            (lo, kinds[0], los, kinds[3], "<"),
            (hi, kinds[1], his, kinds[4], ">"),
        ):
            place = _pointer(context, builder, kind, to, r, a)
            old = _load(builder, place)
            new = _load(builder, _pointer(context, builder, source_kind, source, o, a))
            better = builder.icmp_signed(sign, new, old)
            builder.store(builder.select(better, new, old), place, align=4)
        return context.get_dummy_value()

    inner = (low, high, types.int64, lows, highs, types.int64, types.int64)
    return types.void(*inner), codegen


@_inline
def measure_width(typing: Any, low: Any, high: Any, row: Any, weight: Any, lane: Any) -> Any:
    """The sum over lanes of ``weight * min(high[row] - low[row], SCALE)``, int64.

    Weights sum to at most 1024 (`sqlanon.column_spec.MAX_WEIGHT`), so 32 bits hold it.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lo, hi, r, w, a = args
        kinds = signature.args
        left = _load(builder, _pointer(context, builder, kinds[0], lo, r, a))
        right = _load(builder, _pointer(context, builder, kinds[1], hi, r, a))
        extent = builder.sub(right, left)
        most = ir.Constant(_ROW, [SCALE] * WIDTH)
        extent = builder.select(builder.icmp_signed("<", extent, most), extent, most)
        product = builder.mul(extent, _load(builder, _pointer(context, builder, kinds[3], w, None, a)))
        name = f"llvm.vector.reduce.add.v{WIDTH}i32"
        add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I32, [_ROW]), name)  # type: ignore[no-untyped-call]
        return builder.sext(builder.call(add, [product]), _I64)

    return types.int64(low, high, types.int64, weight, types.int64), codegen
