"""GCP that no release of a table has less than, from the narrowest box of k rows around each row."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlanon.table.work import check_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.extent import Geometry
    from sqlanon.table.encode import EncodedTable
    from sqlanon.table.scratch import Scratch

EACH = 100_000
"""Rows up to which the box around each is sought; of more, around `DRAWN` of them."""
DRAWN = 10_000
MOST = 2_000_000
"""Rows of more are not read."""
_NEAR, _STEPS = 4, 32
"""Near rows for each row of a class, and boxes that are divided for each row; see `bound_boxes`."""


def find_least(scratch: Scratch, encoded: EncodedTable, k: int, threads: int) -> float:
    """GCP at least, in classes of at least k rows.

    Args:
        scratch: the run.
        encoded: the rows.
        k: of a class.
        threads: may work.

    Returns:
        0 to 1. It holds for suppressed rows as well, which lose 1. Of more than `EACH` rows it is the mean of `DRAWN`
        of them minus three standard errors, and 0 of more than `MOST`.

    Cost: some 200 bytes a row; around each different row some 0.5 ms at k=10, and 2 ms at 50.
    """
    if k <= 1 or encoded.rows < k or encoded.rows > MOST or not encoded.quasi:
        return 0.0
    import numpy as np

    from sqlanon.kernels.extent import KIND, ORDERED, SCALE, WEIGHT
    from sqlanon.table.geometry import geometry_of

    rows = _fetch(scratch, encoded)
    counts = rows.counts
    geometry = _bound_spans(geometry_of(scratch, encoded.quasi))
    places = np.arange(len(counts))
    if encoded.rows > EACH:
        sample = np.random.default_rng(0).choice(encoded.rows, DRAWN, replace=False)
        places = np.searchsorted(np.cumsum(counts), sample, side="right")
        counts = np.ones(DRAWN, np.int64)
    widths = bound_widths(rows, places, geometry, k, threads)
    weights = int(geometry.facts[:, WEIGHT].sum())
    rounded = int(geometry.facts[geometry.facts[:, KIND] == ORDERED, WEIGHT].sum())
    each = np.maximum(widths - rounded, 0) / (SCALE * weights)
    least = float((each * counts).sum() / counts.sum())
    if encoded.rows > EACH:
        least -= 3 * float(each.std()) / math.sqrt(DRAWN)
    return min(max(least, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class DifferentRows:
    """The different rows of a table.

    Attributes:
        codes: int32[n, d], different rows.
        counts: int64[n], how often each is in the table.
    """

    codes: Ints
    counts: Longs


def bound_widths(
    rows: DifferentRows,
    targets: Longs,
    geometry: Geometry,
    k: int,
    threads: int = 1,
    near: int | None = None,
    steps: int = _STEPS,
) -> Longs:
    """Widths that no box of k rows around a row falls below, 0 to `SCALE` x weights.

    Args:
        rows: the rows; k at least in all.
        targets: int64[*], which of the different rows.
        geometry: the attributes.
        k: rows of a box.
        threads: may work.
        near: rows that are looked at, see `bound_boxes`; None: `_NEAR` for each of k.
        steps: boxes that are divided; 2^n of them, and all rows near, give the narrowest boxes.
    """
    import numpy as np

    from sqlanon.kernels.lanes import pad_width
    from sqlanon.kernels.rows import fill
    from sqlanon.kernels.set_masks import words_of
    from sqlanon.kernels.unions import boxes_of, measure_of
    from sqlanon.loss.kernels.narrow_boxes import BoxedRows, bound_boxes
    from sqlanon.loss.kernels.near_rows import make_nodes

    repeats = np.minimum(rows.counts, k)
    first = np.cumsum(repeats) - repeats
    codes = np.ascontiguousarray(np.repeat(rows.codes, repeats, axis=0).astype(np.int32))
    n, d = codes.shape
    lanes = pad_width(d)
    padded, places = np.zeros((n, lanes), np.int32), np.zeros((n, lanes), np.int32)
    padded[:, :d] = codes
    sets = np.zeros((n, int(words_of(geometry.facts))), np.uint64)
    fill(padded, geometry, np.zeros((0, lanes), np.int32), places, sets, 0, n)
    boxed = BoxedRows(codes, boxes_of(places), sets, geometry, measure_of(geometry, lanes))
    nodes = make_nodes(codes, geometry)
    widths, sought = np.zeros(len(targets), np.int64), first[targets]
    looked = min(max(_NEAR * k, 64) if near is None else near, n)
    threads = max(min(threads, len(targets) // 256), 1)
    bounds = [len(targets) * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        futures = [
            pool.submit(bound_boxes, nodes, boxed, sought, k, looked, steps, widths, start, stop)
            for start, stop in pairwise(bounds)
        ]
    for future in futures:
        future.result()
    return widths


def _fetch(scratch: Scratch, encoded: EncodedTable) -> DifferentRows:
    """The different rows, in an order that is theirs alone."""
    import numpy as np

    arrays_read = encoded.read(encoded.quasi, None)
    if arrays_read is None:
        names = [domain.code for domain in encoded.quasi]
        query = scratch.sql(
            "table/codes", work=encoded.work, columns=names, tie_break=False, part=None, label="part", span=False
        )
        arrays = scratch.fetch_arrays(query, ["int32"] + [domain.code_array for domain in encoded.quasi])
        arrays_read = [array.astype(np.int32, copy=False) for array in arrays]
    _, *columns = arrays_read
    check_rows(encoded.rows, len(columns[0]))
    order = np.lexsort(columns[::-1])
    begins = np.zeros(len(order), np.bool_)
    begins[:1] = True
    columns = [column[order] for column in columns]
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(begins)
    return DifferentRows(np.stack([column[starts] for column in columns], axis=1), np.diff(starts, append=len(order)))


def _bound_spans(geometry: Geometry) -> Geometry:
    """The same attributes, where a set of a large nominal domain counts two values: it has no fewer."""
    from sqlanon.kernels.extent import KIND, NULLS, SIZE, SPAN, START

    table = geometry.table.copy()
    for fact in geometry.facts[geometry.facts[:, KIND] == SPAN]:
        lengths: Longs = table[fact[START] : fact[START] + fact[SIZE] + fact[NULLS] + 2]
        lengths[2:] = lengths[2]
    return geometry._replace(table=table)
