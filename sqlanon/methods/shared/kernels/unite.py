"""Classes that fail a requirement are united with near classes until none fails."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.requirements import Demands, make_counters, satisfied
from sqlanon.kernels.unions import Masks, Measure, Places, empty_box, join_box


@njit(nogil=True, cache=True)
def unite_failing(
    box: Places,
    mask: Masks,
    measure: Measure,
    demands: Demands,
    group: npt.NDArray[np.int32],
    classes: int,
) -> bool:
    """Unite each class that fails with the class where rows x extents rise least, until it fails no more.

    Args:
        box, mask: the boxes of n rows, see `unions`.
        measure: of widths.
        demands: the requirements; the arrays are indexed by the same row numbers.
        group: int32[n], class of each row, 0 to ``classes`` - 1; changed. Afterwards some numbers have no row.
        classes: how many there are.

    Returns:
        Whether all classes meet the requirements: a class of all rows may be left that fails.

    Cost: O(classes d + rows of both) for each union.
    """
    n = len(group)
    counters, numbers, spare = make_counters(demands, n), np.arange(n).astype(np.int32), np.empty(n, np.int64)
    head, after, size = np.full(classes, -1, np.int64), np.empty(n, np.int64), np.zeros(classes, np.int64)
    class_box, class_mask = np.empty((classes, box.shape[1]), np.int32), np.zeros((classes, mask.shape[1]), np.uint64)
    cost = np.zeros(classes, np.int64)
    for g in range(classes):
        empty_box(class_box, class_mask, g)
    for i in range(n - 1, -1, -1):
        g = np.int64(group[i])
        join_box(class_box, class_mask, g, class_box, class_mask, g, box, mask, i)
        after[i], head[g] = head[g], i
        size[g] += 1
    for g in range(classes):
        if size[g] > 0:
            cost[g] = size[g] * measure_joint_width(class_box, class_mask, g, class_box, class_mask, g, measure)
    for g in range(classes):
        while size[g] > 0:
            rows, last = 0, np.int64(-1)
            i = head[g]
            while i >= 0:
                spare[rows] = i
                rows += 1
                last, i = i, after[i]
            if satisfied(demands, numbers, spare[:rows], counters):
                break
            nearest, least, united = -1, np.int64(0), np.int64(0)
            for h in range(classes):
                if h == g or size[h] == 0:
                    continue
                w = measure_joint_width(class_box, class_mask, g, class_box, class_mask, h, measure)
                more = (size[g] + size[h]) * w - cost[h]
                if nearest < 0 or more < least:
                    nearest, least, united = h, more, (size[g] + size[h]) * w
            if nearest < 0:
                return False
            join_box(class_box, class_mask, g, class_box, class_mask, g, class_box, class_mask, nearest)
            after[last], size[g], cost[g] = head[nearest], size[g] + size[nearest], united
            head[nearest], size[nearest] = -1, 0
    for g in range(classes):
        i = head[g]
        while i >= 0:
            group[i] = g
            i = after[i]
    return True
