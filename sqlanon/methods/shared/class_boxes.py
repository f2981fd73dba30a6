"""Boxes of classes from rows in memory: what recode/spans would aggregate in SQL, where a kernel has the rows at hand anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels.boxes import cover
from sqlanon.kernels.extent import BIT, WORD
from sqlanon.kernels.rows import Rows
from sqlanon.methods.base import Context

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]


def spans(context: Context, rows: Rows, facts: npt.NDArray[np.int64], group: Ints, names: Ints) -> TableRef:
    """A scratch table as recode/spans makes it. It is as little trusted as that: verify compares every row with its class.

    Args:
        context: the run.
        rows: all rows.
        facts: of the geometry.
        group: int32[n], the place in ``names`` of every row's class.
        names: int32[g], the classes.

    Cost: O(n d), one pass.
    """
    made, lanes, words = len(names), rows.codes.shape[1], rows.sets.shape[1]
    low, high = np.empty((made, lanes), np.int32), np.empty((made, lanes), np.int32)
    mask, size = np.empty((made, words), np.uint64), np.empty(made, np.int64)
    cover(rows.codes, rows.sets, group, low, high, mask, size)
    columns: dict[str, npt.NDArray[np.generic]] = {"class": names, "n": size}
    for j, domain in enumerate(context.encoded.quasi):
        columns[f"lo_{domain.code}"] = np.ascontiguousarray(low[:, j])
        columns[f"hi_{domain.code}"] = np.ascontiguousarray(high[:, j])
        if domain.fits_bits:
            own = mask[:, facts[j, WORD]] >> np.uint64(facts[j, BIT])
            columns[f"set_{domain.code}"] = (own & np.uint64((1 << domain.codes) - 1)).astype(np.int64)
    table = context.scratch.table("spans")
    context.scratch.engine.load_arrays(table, columns)
    return table
