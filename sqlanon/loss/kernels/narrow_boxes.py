"""The narrowest box of k rows around a row, by branch and bound, or a width that it does not fall below.

A box around row x that has k rows is as wide as x and any of these rows together. So the k-th of the rows nearest to x
bounds it (`sqlanon.loss.kernels.near_rows`). Better bounds come from boxes that must hold some rows already: such a box
is at least as wide as it and the k-th nearest of the rows that it may still take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.unions import Masks, Measure, Places, copy_box, join_box
from sqlanon.loss.kernels.near_rows import Ints, Longs, Nodes, find_near


class BoxedRows(NamedTuple):
    """Rows, each as codes and as a box.

    Attributes:
        codes: int32[n, d].
        box, mask: the boxes of rows, see `sqlanon.kernels.unions`.
        geometry: the attributes.
        measure: the same, prepared for widths.
    """

    codes: Ints
    box: Places
    mask: Masks
    geometry: Geometry
    measure: Measure


class OpenBoxes(NamedTuple):
    """Boxes that are not finished.

    Attributes:
        box, mask: the contents of each, at least.
        next: int64[m], the first of the near rows that the box may still take.
        bound: int64[m], a lower bound of the width with k rows; `_DONE`: the box is finished.
    """

    box: Places
    mask: Masks
    next: Longs
    bound: Longs


_DONE = np.iinfo(np.int64).max


@njit(nogil=True, cache=True)
def _bound(
    boxes: OpenBoxes, index: int, rows: Longs, near: int, k: int, best: int, boxed: BoxedRows, wide: Longs
) -> int:
    """Write the bound of a box; `_DONE` where it is not below ``best``.

    Args:
        boxes: boxes that are not finished.
        index: the number of the box.
        rows: int64[*], near rows.
        near: how many of them.
        k: rows of a class.
        best: the width of a box of k rows.
        boxed: the rows.
        wide: int64[k], room.

    Returns:
        The width of the box where it holds k of the near rows, and is narrower; else ``best``.
    """
    width = measure_joint_width(boxes.box, boxes.mask, index, boxes.box, boxes.mask, index, boxed.measure)
    inside = near_count = 0
    for i in range(near):
        joined = measure_joint_width(boxes.box, boxes.mask, index, boxed.box, boxed.mask, rows[i], boxed.measure)
        if joined == width:
            inside += 1
        elif i < boxes.next[index] or joined >= best:
            continue
        if near_count == k and joined >= wide[k - 1]:
            continue
        near_count = min(near_count + 1, k)
        place = near_count - 1
        while place > 0 and wide[place - 1] > joined:
            wide[place] = wide[place - 1]
            place -= 1
        wide[place] = joined
    boxes.bound[index] = _DONE
    if inside >= k:
        return min(best, width)
    if near_count == k and wide[k - 1] < best:
        boxes.bound[index] = wide[k - 1]
    return best


@njit(nogil=True, cache=True)
def _grow(rows: Longs, near: int, k: int, boxed: BoxedRows, boxes: OpenBoxes) -> int:
    """The width of a box of k rows: the near row that widens it least comes in, time and again."""
    copy_box(boxes.box, boxes.mask, 0, boxed.box, boxed.mask, rows[0])
    is_taken = np.zeros(near, np.bool_)
    is_taken[0], wide = True, np.int64(0)
    for _ in range(k - 1):
        best, row = _DONE, -1
        for i in range(near):
            if not is_taken[i]:
                joined = measure_joint_width(boxes.box, boxes.mask, 0, boxed.box, boxed.mask, rows[i], boxed.measure)
                if joined < best:
                    best, row = joined, i
                    if joined == wide:
                        break
        is_taken[row], wide = True, best
        join_box(boxes.box, boxes.mask, 0, boxes.box, boxes.mask, 0, boxed.box, boxed.mask, rows[row])
    return wide


@njit(nogil=True, cache=True)
def _search(far: Longs, rows: Longs, k: int, boxed: BoxedRows, boxes: OpenBoxes, wide: Longs) -> int:
    """A width that no box of k rows around ``rows[0]`` falls below; see `bound_boxes`."""
    beyond = far[-1] if len(far) < len(boxed.codes) else _DONE
    best = min(_grow(rows, len(far), k, boxed, boxes), beyond)
    near = np.searchsorted(far, best)
    copy_box(boxes.box, boxes.mask, 0, boxed.box, boxed.mask, rows[0])
    boxes.next[0], count, seen = 0, 1, 0
    best = _bound(boxes, 0, rows, near, k, best, boxed, wide)
    while True:
        least_place = 0
        for i in range(1, count):
            if boxes.bound[i] < boxes.bound[least_place]:
                least_place = i
        least = boxes.bound[least_place]
        if least >= best:
            return best
        seen += 1
        if seen == len(boxes.bound):
            return least
        width = measure_joint_width(
            boxes.box, boxes.mask, least_place, boxes.box, boxes.mask, least_place, boxed.measure
        )
        row = boxes.next[least_place]
        wider = measure_joint_width(boxes.box, boxes.mask, least_place, boxed.box, boxed.mask, rows[row], boxed.measure)
        while wider == width or wider >= best:
            row += 1  # there is such a row, or the box would hold k rows, or be done with
            wider = measure_joint_width(
                boxes.box, boxes.mask, least_place, boxed.box, boxed.mask, rows[row], boxed.measure
            )
        place = count
        for i in range(count):
            if boxes.bound[i] == _DONE:
                place = i
        count = max(count, place + 1)
        join_box(boxes.box, boxes.mask, place, boxes.box, boxes.mask, least_place, boxed.box, boxed.mask, rows[row])
        boxes.next[least_place] = boxes.next[place] = row + 1
        best = _bound(boxes, place, rows, near, k, best, boxed, wide)
        best = _bound(boxes, least_place, rows, near, k, best, boxed, wide)
        for slot in (least_place, place):
            if boxes.bound[slot] != _DONE:
                boxes.bound[slot] = max(boxes.bound[slot], least)


@njit(nogil=True, cache=True)
def bound_boxes(
    nodes: Nodes, boxed: BoxedRows, targets: Longs, k: int, near: int, steps: int, widths: Longs, start: int, stop: int
) -> None:
    """Widths that no box of k rows around a row falls below.

    Args:
        nodes: a tree of the rows.
        boxed: the rows.
        targets: int64[*], rows.
        k: rows of a box, at most n.
        near: so many of the rows nearest to a row are looked at, from k to n: a box with another row is at least as
            wide as the two.
        steps: so many boxes are divided, at least 1. With enough of them and all rows near the width is that of the
            narrowest box.
        widths: int64[*], written from ``start`` to ``stop``, for ``targets`` there: 0 to `SCALE` x weights.

    Cost: O(near (d + steps d)) for a row.
    """
    room = steps + 1
    box, mask = np.zeros((room, boxed.box.shape[1]), np.int32), np.zeros((room, boxed.mask.shape[1]), np.uint64)
    opened = OpenBoxes(box, mask, np.zeros(room, np.int64), np.full(room, _DONE))
    far, rows, wide = np.empty(near, np.int64), np.empty(near, np.int64), np.empty(k, np.int64)
    for i in range(start, stop):
        find_near(nodes, boxed.codes, boxed.geometry, targets[i], far, rows)
        opened.bound[:] = _DONE
        widths[i] = _search(far, rows, k, boxed, opened, wide)
