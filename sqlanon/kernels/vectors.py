"""Vectors of lanes as values: like `lanes`, but kept in a processor's registers from row to row.

A vector is `WIDTH` numbers of one row of a C-contiguous array, or twice as many: a box of codes, the smallest ones and
then the complements of the largest, so that one minimum widens both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from sqlanon.kernels.extent import SCALE
from sqlanon.kernels.lanes import WIDTH

_I32, _I64 = ir.IntType(32), ir.IntType(64)


class Lanes(types.Type):
    """The type of a vector: the dtype of the array, and how many numbers it has."""

    def __init__(self, dtype: Any, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(name=f"Lanes({dtype}, {width})")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        vector = ir.VectorType(ir.IntType(kind.dtype.bitwidth), kind.width)
        super().__init__(manager, kind, vector)  # type: ignore[no-untyped-call]


def _inline(function: Callable[..., Any]) -> Callable[..., Any]:
    return intrinsic(function)


def _pointer(context: Any, builder: Any, kind: Any, args: Any, width: int) -> Any:
    array, row, lane = args
    view = context.make_array(kind)(context, builder, array)
    lanes = cgutils.unpack_tuple(builder, view.shape)[1]  # type: ignore[no-untyped-call]
    start = builder.gep(view.data, [builder.add(builder.mul(row, lanes), lane)])
    return builder.bitcast(start, ir.VectorType(ir.IntType(kind.dtype.bitwidth), width).as_pointer())


def _load_vector(context: Any, builder: Any, kind: Any, args: Any, width: int) -> Any:
    place = _pointer(context, builder, kind, args, width)
    return builder.load(place, align=kind.dtype.bitwidth // 8)


@_inline
def load_lanes(typing: Any, array: Any, row: Any, lane: Any) -> Any:
    """Numbers ``lane`` to ``lane + WIDTH`` of a row."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _load_vector(context, builder, signature.args[0], args, WIDTH)

    return Lanes(array.dtype, WIDTH)(array, types.int64, types.int64), codegen


@_inline
def box_of(typing: Any, array: Any, row: Any, lane: Any) -> Any:
    """Numbers ``lane`` to ``lane + 2 * WIDTH`` of a row: a box of codes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _load_vector(context, builder, signature.args[0], args, 2 * WIDTH)

    return Lanes(array.dtype, 2 * WIDTH)(array, types.int64, types.int64), codegen


@_inline
def load_own_box(typing: Any, array: Any, row: Any, lane: Any) -> Any:
    """The box of a row's codes ``lane`` to ``lane + WIDTH``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        codes = _load_vector(context, builder, signature.args[0], args, WIDTH)
        order = ir.Constant(ir.VectorType(_I32, 2 * WIDTH), list(range(2 * WIDTH)))
        return builder.shuffle_vector(codes, builder.not_(codes), order)

    return Lanes(array.dtype, 2 * WIDTH)(array, types.int64, types.int64), codegen


@_inline
def read_item(typing: Any, array: Any, index: Any) -> Any:
    """``array[index]`` of a plain vector for ``index`` >= 0: without the case of an index from the end."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.load(builder.gep(view.data, [args[1]]))

    return array.dtype(array, types.int64), codegen


@_inline
def write(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index] = value``, as `read_item` reads it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, args[0])
        builder.store(args[2], builder.gep(view.data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), codegen


@_inline
def read_lane(typing: Any, array: Any, row: Any, lane: Any) -> Any:
    """``array[row, lane]`` for numbers >= 0, see `read_item`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, args[0])
        lanes = cgutils.unpack_tuple(builder, view.shape)[1]  # type: ignore[no-untyped-call]
        return builder.load(builder.gep(view.data, [builder.add(builder.mul(args[1], lanes), args[2])]))

    return array.dtype(array, types.int64, types.int64), codegen


@_inline
def store_vector(typing: Any, array: Any, row: Any, lane: Any, vector: Any) -> Any:
    """Write a vector to a row."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        place = _pointer(context, builder, kind, args[:3], signature.args[3].width)
        builder.store(args[3], place, align=kind.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, vector), codegen


@_inline
def slot_box(typing: Any, slots: Any, slot: Any, codes: Any) -> Any:
    """The box of a slot, of the type of ``codes``; see `meet`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[2].dtype
        place = _slot(context, builder, signature.args[0], args[0], args[1])
        box = ir.VectorType(ir.IntType(kind.bitwidth), 2 * WIDTH)
        return builder.load(builder.bitcast(place, box.as_pointer()), align=8)

    return Lanes(codes.dtype, 2 * WIDTH)(slots, types.int64, codes), codegen


@_inline
def clear_slot(typing: Any, slots: Any, slot: Any, codes: Any) -> Any:
    """Make a slot that of no rows."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[2].dtype
        place = _slot(context, builder, signature.args[0], args[0], args[1])
        empty = ir.Constant(
            ir.VectorType(ir.IntType(kind.bitwidth), 2 * WIDTH), [(1 << (kind.bitwidth - 1)) - 1] * 2 * WIDTH
        )
        builder.store(empty, builder.bitcast(place, empty.type.as_pointer()), align=8)
        for index in range(2):
            behind = builder.gep(place, [ir.Constant(_I64, kind.bitwidth // 4 + index)])
            builder.store(ir.Constant(_I64, 0), behind)
        return context.get_dummy_value()

    return types.void(slots, types.int64, codes), codegen


@_inline
def meet(typing: Any, slots: Any, slot: Any, box: Any, count: Any, mask: Any) -> Any:
    """Add a row to a slot.

    A slot is a row of int64[slots, record]: a box, the number of rows, and a set mask.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[2]
        place = _slot(context, builder, signature.args[0], args[0], args[1])
        vector = builder.bitcast(place, ir.VectorType(ir.IntType(kind.dtype.bitwidth), kind.width).as_pointer())
        old = builder.load(vector, align=8)
        builder.store(builder.select(builder.icmp_signed("<", args[2], old), args[2], old), vector, align=8)
        for offset, join, value in ((0, builder.add, args[3]), (1, builder.or_, args[4])):
            behind = builder.gep(place, [ir.Constant(_I64, kind.dtype.bitwidth // 4 + offset)])
            builder.store(join(builder.load(behind), value), behind)
        return context.get_dummy_value()

    return types.void(slots, types.int64, box, types.int64, types.uint64), codegen


def _slot(context: Any, builder: Any, kind: Any, array: Any, slot: Any) -> Any:
    view = context.make_array(kind)(context, builder, array)
    record = cgutils.unpack_tuple(builder, view.shape)[1]  # type: ignore[no-untyped-call]
    return builder.gep(view.data, [builder.mul(slot, record)])


def _choose_lanes(sign: str) -> Callable[..., Any]:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.icmp_signed(sign, *args), *args)

    return codegen


@_inline
def take_lesser(typing: Any, left: Any, other: Any) -> Any:
    """The lesser numbers of two vectors."""
    return left(left, left), _choose_lanes("<")


@_inline
def take_greater(typing: Any, left: Any, other: Any) -> Any:
    """The greater numbers of two vectors."""
    return left(left, left), _choose_lanes(">")


@_inline
def differs(typing: Any, left: Any, other: Any, bits: Any) -> Any:
    """Whether two vectors differ in any of the ``bits`` that a third vector sets."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        differing = builder.and_(builder.xor(args[0], args[1]), args[2])
        whole = ir.IntType(kind.dtype.bitwidth * kind.width)
        return builder.icmp_unsigned("!=", builder.bitcast(differing, whole), ir.Constant(whole, 0))

    return types.boolean(left, left, left), codegen


@_inline
def sum_spans(typing: Any, low: Any, high: Any, weight: Any) -> Any:
    """The sum over lanes of ``weight * min(high - low, SCALE)``, int64; see `lanes.measure_width`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = ir.VectorType(_I32, WIDTH)
        extent = builder.sub(args[1], args[0])
        most = ir.Constant(row, [SCALE] * WIDTH)
        extent = builder.select(builder.icmp_signed("<", extent, most), extent, most)
        name = f"llvm.vector.reduce.add.v{WIDTH}i32"
        add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I32, [row]), name)  # type: ignore[no-untyped-call]
        return builder.sext(builder.call(add, [builder.mul(extent, args[2])]), _I64)

    return types.int64(low, low, low), codegen
