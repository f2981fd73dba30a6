"""Boxes of classes from rows in memory.

They replace the aggregates of recode/spans if a kernel has the rows in memory anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels.boxes import cover_codes
from sqlanon.kernels.extent import BIT, WORD, WORD_END, Geometry
from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.base import Context
from sqlanon.methods.shared.threads import spread_runs

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Bits, Ints, Longs


def make_spans(
    context: Context, rows: TreeRows, geometry: Geometry, group: Ints, names: Ints, sizes: Longs | None = None
) -> TableRef:
    """A scratch table in the form of recode/spans.

    It is not trusted either: verify compares every row with the class.

    Args:
        context: the run.
        rows: all rows.
        geometry: the attributes.
        group: int32[n], the place in ``names`` of every row's class.
        names: int32[g], the classes.
        sizes: int64[g], source rows of the classes; None: ``rows`` are source rows.

    Cost: O(n d), one pass.
    """
    facts = geometry.facts
    low, high, mask, size = find_boxes(rows, group, geometry, len(names), context.threads)
    columns: dict[str, npt.NDArray[np.generic]] = {"class": names, "n": size if sizes is None else sizes}
    for j, domain in enumerate(context.encoded.quasi):
        columns[f"lo_{domain.code}"], columns[f"hi_{domain.code}"] = low[j], high[j]
        if domain.fits_bits:
            bits = mask[facts[j, WORD]] >> np.uint64(facts[j, BIT])
            columns[f"set_{domain.code}"] = (bits & np.uint64((1 << domain.codes) - 1)).astype(np.int64)
    table = context.scratch.table("spans")
    context.scratch.engine.load_arrays(table, columns)
    return table


def find_boxes(
    rows: TreeRows, group: Ints, geometry: Geometry, groups: int, threads: int
) -> tuple[Ints, Ints, Bits, Longs]:
    """Boxes and sizes of the groups; of groups that follow each other in the rows by several threads."""
    begins = np.ones(len(group), np.bool_)
    np.not_equal(group[1:], group[:-1], out=begins[1:])
    if not groups or np.count_nonzero(begins) != groups or (group[1:] < group[:-1]).any():
        threads = 1
    d, words = len(geometry.facts), int(geometry.facts[:, WORD_END].max(initial=0))
    parts: dict[int, tuple[Ints, Ints, Bits, Longs]] = {}

    def some(start: int, stop: int) -> None:
        classes, of = groups, group
        if threads > 1:
            of = group[start:stop] - group[start]
            classes = int(of[-1]) + 1
        low, high = np.empty((d, classes), np.int32), np.empty((d, classes), np.int32)
        mask, size = np.empty((words, classes), np.uint64), np.empty(classes, np.int64)
        cover_codes(rows.part(start, stop), of, geometry, low, high, mask, size)
        parts[start] = low, high, mask, size

    if threads > 1:
        spread_runs(some, begins, threads)
    else:
        some(0, len(group))
    low, high, mask, size = zip(*(parts[start] for start in sorted(parts)), strict=True)
    return np.hstack(low), np.hstack(high), np.hstack(mask), np.concatenate(size)
