"""Costs of boxes of their own (Doka et al. 2015, section 3).

It has rows, boxes, and the growth of a box by a row, as integers.

`targets` int64[k, n] has for each of k matchings the box of every row; the first box of a row is the row alone,
numbered as it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.unions import (
    Masks,
    Measure,
    Places,
    boxes_of,
    copy_box,
    join_box,
    measure_of,
)

Longs = npt.NDArray[np.int64]


class Coordinates(NamedTuple):
    """n rows as solvers take them.

    Attributes:
        box: int32[n, 2 * lanes], the box of each row alone, see `sqlanon.kernels.unions`.
        mask: uint64[n, words], the sets.
        measure: the attributes.
        codes: int32[n, d], the codes of the rows.
    """

    box: Places
    mask: Masks
    measure: Measure
    codes: Places


def prepare_rows(places: Places, sets: Masks, codes: Places, geometry: Geometry) -> Coordinates:
    """Prepare rows; ``places``, ``sets`` and ``codes`` as in `sqlanon.kernels.rows.Rows`. Cost: O(n d)."""
    own_codes = np.ascontiguousarray(codes[:, : len(geometry.facts)])
    return Coordinates(boxes_of(places), sets.copy(), measure_of(geometry, places.shape[1]), own_codes)


@njit(nogil=True, cache=True)
def grow(box: Places, mask: Masks, j: int, boxes: Places, masks: Masks, i: int) -> None:
    """Make box ``j`` cover box ``i`` of others."""
    join_box(box, mask, j, box, mask, j, boxes, masks, i)


@njit(nogil=True, cache=True)
def _covers(places: Places, sets: Masks, targets: Longs) -> tuple[Places, Masks]:
    k, n = targets.shape
    box, mask = np.empty_like(places), np.empty_like(sets)
    for i in range(n):
        copy_box(box, mask, targets[0, i], places, sets, i)
    for t in range(1, k):
        for i in range(n):
            join_box(box, mask, targets[t, i], box, mask, targets[t, i], places, sets, i)
    return box, mask


@njit(nogil=True, cache=True)
def covers(rows: Coordinates, targets: Longs) -> tuple[Places, Masks]:
    """The boxes of the rows that matchings send there. Cost: O(n k d)."""
    return _covers(rows.box, rows.mask, targets)


@njit(nogil=True, cache=True)
def sum_widths(rows: Coordinates, targets: Longs) -> int:
    """The loss: the sum of the boxes' widths."""
    box, mask = _covers(rows.box, rows.mask, targets)
    total = np.int64(0)
    for j in range(len(box)):
        total += measure_joint_width(box, mask, j, box, mask, j, rows.measure)
    return total
