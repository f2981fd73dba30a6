"""Boxes of a few groups ("sides") that rows enter and leave, and of each side with one more row.

A side counts rows by code, so that it knows which codes of a set it holds and whether a row that leaves was the last
row at an end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.bounds import OVER, Bounds, measure_attribute
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry

LOW, HIGH, MEMBERS = range(3)


@njit(nogil=True, cache=True)
def with_row(
    codes: npt.NDArray[np.int32],
    row: int,
    side: int,
    count: npt.NDArray[np.int32],
    box: npt.NDArray[np.int64],
    geometry: Geometry,
    bounds: Bounds,
) -> int:
    """Width of a side's box with a further row, `OVER` if it breaks the bounds."""
    total = np.int64(0)
    for a in range(len(geometry.facts)):
        code = np.int64(codes[row, a])
        members = box[side, a, MEMBERS] + (count[side, bounds.base[a] + code] == 0)
        total += measure_attribute(
            geometry.facts,
            geometry.table,
            bounds,
            a,
            min(box[side, a, LOW], code),
            max(box[side, a, HIGH], code),
            members,
        )
    return total if total <= bounds.total else OVER


@njit(nogil=True, cache=True)
def enter(
    codes: npt.NDArray[np.int32],
    row: int,
    side: int,
    count: npt.NDArray[np.int32],
    box: npt.NDArray[np.int64],
    base: npt.NDArray[np.int64],
) -> bool:
    """Add a row to a side; whether the box has changed."""
    changed = False
    for a in range(box.shape[1]):
        code = np.int64(codes[row, a])
        index = base[a] + code
        if count[side, index] == 0:
            box[side, a, MEMBERS] += 1
            box[side, a, LOW] = min(box[side, a, LOW], code)
            box[side, a, HIGH] = max(box[side, a, HIGH], code)
            changed = True
        count[side, index] += 1
    return changed


@njit(nogil=True, cache=True)
def remove_row(
    codes: npt.NDArray[np.int32],
    row: int,
    side: int,
    count: npt.NDArray[np.int32],
    box: npt.NDArray[np.int64],
    base: npt.NDArray[np.int64],
    members: npt.NDArray[np.int64],
) -> bool:
    """Remove a row from a side with other rows among ``members``.

    ``count`` gives the frequency of each code. Returns whether the side's box changed.
    """
    changed = False
    for a in range(box.shape[1]):
        code = np.int64(codes[row, a])
        index = base[a] + code
        count[side, index] -= 1
        if count[side, index] == 0:
            changed = True
            box[side, a, MEMBERS] -= 1
            if code == box[side, a, LOW] or code == box[side, a, HIGH]:
                low, high = np.int64(OVER), np.int64(-1)
                for i in members:
                    other_code = np.int64(codes[i, a])
                    if count[side, base[a] + other_code] > 0:
                        low, high = min(low, other_code), max(high, other_code)
                box[side, a, LOW], box[side, a, HIGH] = low, high
    return changed


@njit(nogil=True, cache=True)
def reset(
    codes: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
    side: int,
    count: npt.NDArray[np.int32],
    box: npt.NDArray[np.int64],
    base: npt.NDArray[np.int64],
) -> None:
    """Empty a side, then let rows enter it."""
    for a in range(box.shape[1]):
        for index in range(base[a], base[a + 1]):
            count[side, index] = 0
        box[side, a, LOW], box[side, a, HIGH], box[side, a, MEMBERS] = OVER, -1, 0
    for row in rows:
        enter(codes, row, side, count, box, base)
