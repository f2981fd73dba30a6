"""Classes of rows that a kernel found, loaded into the table of an `Assignment`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.methods.base import Context

if TYPE_CHECKING:
    from sqlanon.arrays import Ints

MOST = 1 << 24
"""Rows with classes in a single value, at most."""


def load_classes(context: Context, table: TableRef, rid: Ints, classes: Ints) -> bool:
    """Load the class of every row; True: as one array, see `Assignment.listed`.

    Args:
        context: the run, which says whether that may be.
        table: the table to make.
        rid: the rows.
        classes: their classes, none below 0.
    """
    load, rows = context.scratch.engine.load_list, len(rid)
    if context.listed and load is not None and 0 < rows == context.encoded.rows <= MOST:
        ordered = np.full(rows, -1, np.int32)
        if rid.min() >= 0 and rid.max() < rows:
            ordered[rid] = classes
        if ordered.min() >= 0:
            load(table, "classes", ordered)
            return True
    if rows and (rid[1:] < rid[:-1]).any():  # in the order of the rows, with which they are joined
        least = int(rid.min())
        if int(rid.max()) - least == rows - 1:
            ordered = np.empty(rows, np.int32)
            ordered[rid - np.int32(least)] = classes
            rid, classes = np.arange(least, least + rows, dtype=np.int32), ordered
    context.scratch.engine.load_arrays(table, {"rid": rid, "class": classes})
    return False
