"""Boxes of rows and of sets of rows, kept alike, and the width of two of them together.

A box is a row of two arrays. ``box`` int32[*, 2 * lanes] has, for every `WIDTH` attributes, the least places, then
the complements of the greatest: one minimum joins two boxes. ``mask`` uint64[*, words] has the sets. A row of a table
is also a box. Functions written into their callers here count no references to arrays: that costs more than the
work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sqlanon.kernels.boxes import weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import (
    KIND,
    LEVELS,
    NULLS,
    SCALE,
    SIZE,
    SPAN,
    START,
    TREE,
    WEIGHT,
    Geometry,
    measure_extent,
)
from sqlanon.kernels.lanes import WIDTH
from sqlanon.kernels.set_masks import BITS, FIRST, NULL, PAST, PRICE, SHIFT, TABLE, describe_sets
from sqlanon.kernels.vectors import load_own_box, read_lane, store_vector

Places = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_BOX = 2 * WIDTH
"""Numbers of a box for `WIDTH` attributes."""


class Measure(NamedTuple):
    """Facts for widths, prepared once for many boxes.

    Attributes:
        facts, table: the geometry.
        weight: int32[1, lanes], of attributes that are a line, else 0.
        codes: int64[*], attributes with extents that are looked up by codes (`TREE`, `SPAN`).
        sets: int64[*, 8], see `describe_sets`.
    """

    facts: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    weight: Places
    codes: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def measure_of(geometry: Geometry, lanes: int) -> Measure:
    """Prepare the widths of unions."""
    facts = geometry.facts
    codes = np.empty(len(facts), np.int64)
    coded = 0
    for a in range(len(facts)):
        if facts[a, KIND] == TREE or facts[a, KIND] == SPAN:
            codes[coded] = a
            coded += 1
    weight = weigh_lines(geometry, lanes).reshape(1, lanes)
    return Measure(facts, geometry.table, weight, codes[:coded].copy(), describe_sets(geometry).copy())


@njit(nogil=True, cache=True)
def boxes_of(places: Places) -> Places:
    """The boxes of rows int32[n, lanes]."""
    box = np.empty((len(places), 2 * places.shape[1]), np.int32)
    for i in range(len(places)):
        for b in range(0, places.shape[1], WIDTH):
            store_vector(box, i, 2 * b, load_own_box(places, i, b))
    return box


def _inline(function: Callable[..., Any]) -> Callable[..., Any]:
    return intrinsic(function)


def _row(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> tuple[Any, Any]:
    """Where a row of a C-contiguous array begins, and how many numbers it has."""
    view = context.make_array(kind)(context, builder, array)
    length = cgutils.unpack_tuple(builder, view.shape)[1]  # type: ignore[no-untyped-call]
    return builder.gep(view.data, [builder.mul(row, length)]), length


def _vector(builder: Any, row: Any, lane: Any, width: int) -> Any:
    """Where ``width`` numbers of a row lie."""
    return builder.bitcast(builder.gep(row, [lane]), ir.VectorType(_I32, width).as_pointer())


def _blocks(builder: Any, length: Any, step: int) -> Any:
    """A loop over the parts of a row."""
    return cgutils.for_range(builder, builder.udiv(length, ir.Constant(_I64, step)))


@_inline
def empty_box(typing: Any, box: Any, mask: Any, index: Any) -> Any:
    """Write the box of no rows."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for kind, array, value in zip(signature.args[:2], args[:2], (2**31 - 1, 0), strict=True):
            row, length = _row(context, builder, kind, array, args[2])
            with _blocks(builder, length, 1) as loop:
                builder.store(ir.Constant(ir.IntType(kind.dtype.bitwidth), value), builder.gep(row, [loop.index]))
        return context.get_dummy_value()

    return types.void(box, mask, types.int64), codegen


@_inline
def copy_box(typing: Any, box: Any, mask: Any, index: Any, boxes: Any, masks: Any, origin: Any) -> Any:
    """Write a box as it is elsewhere."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        to, length = _row(context, builder, kinds[0], args[0], args[2])
        source, _ = _row(context, builder, kinds[3], args[3], args[5])
        with _blocks(builder, length, _BOX) as loop:
            b = builder.mul(loop.index, ir.Constant(_I64, _BOX))
            vector = builder.load(_vector(builder, source, b, _BOX), align=4)
            builder.store(vector, _vector(builder, to, b, _BOX), align=4)
        to, length = _row(context, builder, kinds[1], args[1], args[2])
        source, _ = _row(context, builder, kinds[4], args[4], args[5])
        with _blocks(builder, length, 1) as loop:
            builder.store(builder.load(builder.gep(source, [loop.index])), builder.gep(to, [loop.index]))
        return context.get_dummy_value()

    return types.void(box, mask, types.int64, boxes, masks, types.int64), codegen


@_inline
def join_box(
    typing: Any, box: Any, mask: Any, index: Any, boxes: Any, masks: Any, first: Any, others: Any, sets: Any, other: Any
) -> Any:
    """Write the box that covers two."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        to, length = _row(context, builder, kinds[0], args[0], args[2])
        left, _ = _row(context, builder, kinds[3], args[3], args[5])
        right, _ = _row(context, builder, kinds[6], args[6], args[8])
        with _blocks(builder, length, _BOX) as loop:
            b = builder.mul(loop.index, ir.Constant(_I64, _BOX))
            builder.store(_lesser(builder, left, right, b), _vector(builder, to, b, _BOX), align=4)
        to, length = _row(context, builder, kinds[1], args[1], args[2])
        left, _ = _row(context, builder, kinds[4], args[4], args[5])
        right, _ = _row(context, builder, kinds[7], args[7], args[8])
        with _blocks(builder, length, 1) as loop:
            words = [builder.load(builder.gep(row, [loop.index])) for row in (left, right)]
            builder.store(builder.or_(*words), builder.gep(to, [loop.index]))
        return context.get_dummy_value()

    inner = (box, mask, types.int64, boxes, masks, types.int64, others, sets, types.int64)
    return types.void(*inner), codegen


def _lesser(builder: Any, left: Any, right: Any, lane: Any) -> Any:
    """The lesser numbers of a part of two boxes."""
    first, second = (builder.load(_vector(builder, row, lane, _BOX), align=4) for row in (left, right))
    return builder.select(builder.icmp_signed("<", first, second), first, second)


@_inline
def measure_lines(typing: Any, box: Any, first: Any, boxes: Any, other: Any, weight: Any) -> Any:
    """The sum over lines of ``weight * min(extent, SCALE)`` of two boxes joined, int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds, row = signature.args, ir.VectorType(_I32, WIDTH)
        left, _ = _row(context, builder, kinds[0], args[0], args[1])
        right, _ = _row(context, builder, kinds[2], args[2], args[3])
        weights, lanes = _row(context, builder, kinds[4], args[4], ir.Constant(_I64, 0))
        most = ir.Constant(row, [SCALE] * WIDTH)
        total = cgutils.alloca_once_value(builder, ir.Constant(_I32, 0))  # type: ignore[no-untyped-call]
        name = f"llvm.vector.reduce.add.v{WIDTH}i32"
        add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I32, [row]), name)  # type: ignore[no-untyped-call]
        with _blocks(builder, lanes, WIDTH) as loop:
            joined = _lesser(builder, left, right, builder.mul(loop.index, ir.Constant(_I64, _BOX)))
            low, high = (
                builder.shuffle_vector(joined, joined, ir.Constant(row, list(range(start, start + WIDTH))))
                for start in (0, WIDTH)
            )
            extent = builder.sub(builder.not_(high), low)
            extent = builder.select(builder.icmp_signed("<", extent, most), extent, most)
            b = builder.mul(loop.index, ir.Constant(_I64, WIDTH))
            priced = builder.mul(extent, builder.load(_vector(builder, weights, b, WIDTH), align=4))
            builder.store(builder.add(builder.load(total), builder.call(add, [priced])), total)
        return builder.sext(builder.load(total), _I64)

    return types.int64(box, types.int64, boxes, types.int64, weight), codegen


@_inline
def measure_sets(typing: Any, mask: Any, first: Any, masks: Any, other: Any, sets: Any, table: Any) -> Any:
    """The sum over sets of ``weight * extent`` of two boxes joined, int64; ``sets`` and ``table`` as in `Measure`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        left, _ = _row(context, builder, kinds[0], args[0], args[1])
        right, _ = _row(context, builder, kinds[2], args[2], args[3])
        view = context.make_array(kinds[4])(context, builder, args[4])
        extents = context.make_array(kinds[5])(context, builder, args[5]).data
        total = cgutils.alloca_once_value(builder, ir.Constant(_I64, 0))  # type: ignore[no-untyped-call]
        members = cgutils.alloca_once_value(builder, ir.Constant(_I64, 0))  # type: ignore[no-untyped-call]
        constant = ir.Constant(_I64, 1)

        def join_words(word: Any) -> Any:
            return builder.or_(*(builder.load(builder.gep(row, [word])) for row in (left, right)))

        count = cgutils.unpack_tuple(builder, view.shape)[0]  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, count) as loop:
            row, _ = _row(context, builder, kinds[4], args[4], loop.index)
            fact = [builder.load(builder.gep(row, [ir.Constant(_I64, index)])) for index in range(7)]
            bits = builder.and_(builder.lshr(join_words(fact[FIRST]), fact[SHIFT]), fact[BITS])
            builder.store(builder.ctpop(bits), members)
            with cgutils.for_range_slice(
                builder, builder.add(fact[FIRST], constant), fact[PAST], constant, intp=_I64
            ) as (
                word,
                _,
            ):
                builder.store(builder.add(builder.load(members), builder.ctpop(join_words(word))), members)
            bit_count = builder.load(members)
            null = builder.and_(builder.and_(bits, constant), fact[NULL])
            extent = builder.load(builder.gep(extents, [builder.add(fact[TABLE], bit_count)]))
            extent = builder.select(
                builder.icmp_signed("!=", null, ir.Constant(_I64, 0)), ir.Constant(_I64, SCALE), extent
            )
            priced = builder.mul(fact[PRICE], extent)
            priced = builder.select(builder.icmp_signed(">", bit_count, constant), priced, ir.Constant(_I64, 0))
            builder.store(builder.add(builder.load(total), priced), total)
        return builder.load(total)

    return types.int64(mask, types.int64, masks, types.int64, sets, table), codegen


@njit(nogil=True, cache=True)
def measure_coded(
    box: Places,
    first: int,
    boxes: Places,
    other: int,
    facts: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
) -> int:
    """The same over attributes with extents that are looked up by codes."""
    total = np.int64(0)
    for c in range(len(codes)):
        a = codes[c]
        lane = a // WIDTH * WIDTH + a
        low = min(read_lane(box, first, lane), read_lane(boxes, other, lane))
        high = ~min(read_lane(box, first, lane + WIDTH), read_lane(boxes, other, lane + WIDTH))
        total += facts[a, WEIGHT] * measure_extent(
            facts[a, KIND],
            facts[a, SIZE],
            facts[a, NULLS],
            facts[a, LEVELS],
            facts[a, START],
            table,
            np.int64(low),
            np.int64(high),
            0,
        )
    return total
