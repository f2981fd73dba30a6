"""The box that publishes each victim: the private tables know his class, and not the class's published cells.

A box is that of a class if it has as many rows and covers all of them. Where several do, it is the box that covers
least, as a class publishes the least that covers it; classes that have a single choice choose first, and no two
take the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.box_matches import BoxIndex, VictimBoxes

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.table.scratch import Scratch


def tie(scratch: Scratch, fits: BoxIndex) -> VictimBoxes | None:
    """The boxes of all published victims; None: they cannot be found, as the source or the view changed.

    Cost: a GROUP BY of the victims; every class is compared with the boxes of the same size.
    """
    material = fits.material
    names = [domain.code for domain in material.quasi]
    query = scratch.sql("attack/members", placed=material.placed, work=material.work, columns=names)
    place, *columns, n = scratch.fetch_arrays(query, [*["int32"] * (len(names) + 1), "int64"])
    codes: Ints = np.array(columns, np.int32).T.reshape(len(n), len(names))
    order = np.lexsort((*codes.T[::-1], place))
    codes, classes, times = codes[order], place[order].astype(np.int32), n[order].astype(np.int64)
    box_of = _boxes(fits, classes, codes, times)
    if box_of is None:
        return None
    index = {row.tobytes(): i for i, row in enumerate(material.tuples)}
    tuple_of = np.array([index[row.tobytes()] for row in np.ascontiguousarray(codes)], np.int64)
    boxes = np.array([box_of[int(number)] for number in classes], np.int32)
    order = np.lexsort((boxes, tuple_of))
    starts = np.searchsorted(tuple_of[order], np.arange(len(material.tuples) + 1)).astype(np.int64)
    return VictimBoxes(starts, boxes[order], times[order], box_of)


def _boxes(fits: BoxIndex, place: Ints, codes: Ints, n: Longs) -> dict[int, int] | None:
    numbers, begins = np.unique(place, return_index=True)
    some, starts = fits.owners(codes, np.append(begins, len(place)), np.add.reduceat(n, begins))
    box_of: dict[int, int] = {}
    used_boxes: set[int] = set()
    for g in np.argsort(np.diff(starts), kind="stable"):
        free = next((int(box) for box in some[starts[g] : starts[g + 1]] if int(box) not in used_boxes), None)
        if free is None:
            return None
        box_of[int(numbers[g])] = free
        used_boxes.add(free)
    return box_of
