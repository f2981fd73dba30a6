"""Boxes of classes from rows in memory: what recode/spans would aggregate in SQL, where a kernel has the rows at hand anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels.boxes import cover_codes
from sqlanon.kernels.extent import BIT, WORD, WORD_END, Geometry
from sqlanon.kernels.rows import Bare
from sqlanon.methods.base import Context

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]


def spans(context: Context, rows: Bare, geometry: Geometry, group: Ints, names: Ints) -> TableRef:
    """A scratch table as recode/spans makes it. It is as little trusted as that: verify compares every row with its class.

    Args:
        context: the run.
        rows: all rows.
        geometry: the attributes.
        group: int32[n], the place in ``names`` of every row's class.
        names: int32[g], the classes.

    Cost: O(n d), one pass.
    """
    made, d, facts = len(names), len(geometry.facts), geometry.facts
    low, high = np.empty((d, made), np.int32), np.empty((d, made), np.int32)
    words = int(facts[:, WORD_END].max(initial=0))
    mask, size = np.empty((words, made), np.uint64), np.empty(made, np.int64)
    cover_codes(rows, group, geometry, low, high, mask, size)
    columns: dict[str, npt.NDArray[np.generic]] = {"class": names, "n": size}
    for j, domain in enumerate(context.encoded.quasi):
        columns[f"lo_{domain.code}"], columns[f"hi_{domain.code}"] = low[j], high[j]
        if domain.fits_bits:
            own = mask[facts[j, WORD]] >> np.uint64(facts[j, BIT])
            columns[f"set_{domain.code}"] = (own & np.uint64((1 << domain.codes) - 1)).astype(np.int64)
    table = context.scratch.table("spans")
    context.scratch.engine.load_arrays(table, columns)
    return table
