"""Classes that a row may go to in annealing: those near the present class where rows x extents rise least. Ours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.joint_width import measure_joint_width
from sqlanon.kernels.unions import Masks, Measure, Places
from sqlanon.methods.shared.kernels.insert_near import insert_near

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def find_near_classes(box: Places, mask: Masks, wide: Longs, measure: Measure, near: Longs, price: Longs) -> int:
    """The classes that a union with each class widens least, into ``near`` int64[classes, *]; how many of each.

    Cost: O(classes^2 d).
    """
    classes, most = near.shape
    near_count = 0
    for g in range(classes):
        near_count = 0
        for h in range(classes):
            if h == g:
                continue
            more = measure_joint_width(box, mask, g, box, mask, h, measure) - wide[h]
            near_count = insert_near(near, g, price, near_count, most, h, more)
    return near_count


@njit(nogil=True, cache=True)
def choose_targets(
    box: Places,
    mask: Masks,
    class_box: Places,
    class_mask: Masks,
    size: Longs,
    wide: Longs,
    group: Ints,
    near: Longs,
    known_near: int,
    measure: Measure,
    choice: Ints,
    price: Longs,
) -> int:
    """Of the near classes of each row's class those where rows x extents rise least by it, into ``choice``; how many.

    Cost: O(n x near classes x d).
    """
    most = min(known_near, choice.shape[1])
    for i in range(len(group)):
        g, near_count = group[i], 0
        for t in range(known_near):
            h = near[g, t]
            more = size[h] * (measure_joint_width(class_box, class_mask, h, box, mask, i, measure) - wide[h])
            near_count = insert_near(choice, i, price, near_count, most, h, more)
    return most
