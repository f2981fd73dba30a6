"""Axes: where the codes of every attribute lie, on one scale, so that no attribute's range decides an order.

In the dual problem extents may be the only bounds of a class. Then a column without an extent cannot make a class too
wide, and a column with a narrow extent does so first. So an axis is as long, relative to others, as the column's range
divided by the extent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.column_spec import MAX_WEIGHT
from sqlanon.kernels.extent import KIND, NULLS, ORDERED, SCALE, SIZE, START, WEIGHT, Geometry
from sqlanon.methods.base import Context
from sqlanon.methods.shared import loss_bound

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


def make_axis(geometry: Geometry, j: int) -> Longs:
    """Positions of the codes of attribute ``j`` on an axis from 0 to `SCALE`, ascending.

    Codes without positions lie evenly.

    NULL takes the lower end and the values the upper half, since a box of both is as wide as the domain.
    """
    kind, size, null, start = (int(geometry.facts[j, fact]) for fact in (KIND, SIZE, NULLS, START))
    if kind == ORDERED:
        past = int(geometry.facts[j + 1, START]) if j + 1 < len(geometry.facts) else len(geometry.table)
        places = geometry.table[start + null : past]
    else:
        places = np.arange(size, dtype=np.int64) * SCALE // max(size - 1, 1)
    return np.concatenate([np.zeros(1, np.int64), (SCALE + places) // 2]) if null else places


def make_axes(context: Context, geometry: Geometry) -> list[Longs]:
    """The axis of every attribute; all zeros for an attribute that cannot make a class too wide."""
    # A column of NULLs alone has one code, though the geometry counts a value for it.
    axes = [make_axis(geometry, j)[: domain.codes] for j, domain in enumerate(context.encoded.quasi)]
    rooms = _rooms(context, axes)
    if not rooms:
        return axes
    narrow = min(rooms.values())
    return [line * narrow // rooms[j] if j in rooms else np.zeros_like(line) for j, line in enumerate(axes)]


def weigh_geometry(context: Context, geometry: Geometry) -> Geometry:
    """The geometry by which trees choose cuts: weights as `make_axes` has lengths. Losses are not measured by it."""
    axes = [make_axis(geometry, j)[: domain.codes] for j, domain in enumerate(context.encoded.quasi)]
    rooms = _rooms(context, axes)
    if not rooms:
        return geometry
    facts, narrow = geometry.facts.copy(), min(rooms.values())
    facts[:, WEIGHT] = 0
    for j, room in rooms.items():
        facts[j, WEIGHT] = max(MAX_WEIGHT // len(rooms) * narrow // room, 1)
    return geometry._replace(facts=facts)


def _rooms(context: Context, lines: list[Longs]) -> dict[int, int]:
    """The largest extent of a class on each axis with such an extent.

    It is empty unless extents alone bound a class.
    """
    if context.accuracy is None or context.accuracy.per_class_ncp is not None:
        return {}
    bounds = loss_bound.bounds_of(context)
    rooms = {}
    for j, line in enumerate(lines):
        start = int(bounds.start[j])
        if start >= 0:
            last = bounds.until[start : start + len(line)]
            # One value alone has no width: then a step between neighbours, so that the others keep some of their
            # places.
            step = SCALE // max(len(line) - 1, 1)
            rooms[j] = max(int((line[last] - line).max(initial=0)), step, 1)
    return rooms
