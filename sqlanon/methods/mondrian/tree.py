"""A Mondrian tree over a whole table, grown by threads.

Threads share large partitions, and each takes small ones down to the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.mondrian import divide, grow, grow_by_median, score
from sqlanon.progress import Progress

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.kernels.extent import Geometry
    from sqlanon.kernels.requirements import Demands
    from sqlanon.kernels.rows import TreeRows

_PIECES = 16
"""A piece larger than this part of the table is halved before a thread takes it down to the leaves."""

_WORTH = 50_000 * 8**2
"""Rows times columns squared, from which on a piece is worth a separate thread."""


@dataclass(frozen=True, slots=True)
class CutInput:
    """Rows to cut, and the facts by which a cut is chosen.

    Attributes:
        rows: n rows, permuted in place.
        spare: room for as many.
        geometry: the attributes.
        demands: the requirements.
        domains: int64[d], codes of each attribute (with NULL).
    """

    rows: TreeRows
    spare: TreeRows
    geometry: Geometry
    demands: Demands
    domains: Longs


def grow_tree(
    inputs: CutInput,
    threads: int,
    progress: Progress,
    *,
    bounds: Sequence[int] = (),
    relaxed: bool = False,
    median: bool = False,
) -> Flags:
    """Cut rows down to the leaves, left before right.

    Args:
        inputs: the rows and the facts of a cut.
        threads: workers.
        progress: gets the number of finished rows.
        bounds: where pieces begin that are cut already, and n; empty: all rows are one piece.
        relaxed: see `grow`.
        median: the paper's cut (`grow_by_median`) in place of the least loss.

    Returns:
        bool[n], True where a leaf begins.
    """
    rows, spare, geometry, demands, domains = inputs.rows, inputs.spare, inputs.geometry, inputs.demands, inputs.domains
    n = len(rows.number)
    first = np.zeros(n, dtype=np.bool_)

    def cut(start: int, stop: int, target: int) -> None:
        part, room, flags = rows.part(start, stop), spare.part(start, stop), first[start:stop]
        whole = np.array([0, stop - start])
        if median:
            grow_by_median(part, room, flags, whole, geometry, demands, relaxed, target)
        else:
            grow(part, room, flags, whole, geometry, demands, domains, relaxed, target)

    pieces = list(bounds) or [0, n]
    shared = max(n // _PIECES, min(_WORTH // len(domains) ** 2, 50_000))
    if n > shared and threads > 1 and not bounds and not relaxed and not median:
        pieces = [0, *_first_cut(inputs, threads), n]
    if len(pieces) == 2 and (threads == 1 or n <= shared):  # a thread takes longer to start than few rows to cut
        cut(0, n, 0)
        progress.update(n, n, "rows")
        return first
    # A large piece is halved first and its halves queued again, so that all threads have work from the second cut on.
    rows_done = 0
    with ThreadPoolExecutor(max_workers=threads) as pool:
        pending: dict[Future[None], tuple[int, int, int]] = {}

        def submit(start: int, stop: int) -> None:
            target = _source_rows(rows.part(start, stop)) // 2 if threads > 1 and stop - start > shared else 0
            pending[pool.submit(cut, start, stop, target)] = (start, stop, target)

        for start, stop in pairwise(pieces):
            submit(start, stop)
        while pending:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                start, stop, target = pending.pop(future)
                future.result()
                starts = [start + int(i) for i in np.flatnonzero(first[start:stop])] if target else [start]
                if len(starts) > 1:
                    for piece in pairwise([*starts, stop]):
                        submit(*piece)
                    continue
                rows_done += stop - start
                progress.update(rows_done, n, "rows")
    return first


def _source_rows(rows: TreeRows) -> int:
    return int(rows.count.sum()) if len(rows.count) else len(rows.number)


def _first_cut(inputs: CutInput, threads: int) -> list[int]:
    """The bound of the whole table's strict loss cut, the attributes dealt among the threads; none without a cut."""
    rows, spare, geometry, demands, domains = inputs.rows, inputs.spare, inputs.geometry, inputs.demands, inputs.domains
    d = len(domains)
    parts = [d * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        scored = [
            pool.submit(score, rows, geometry, demands, domains, first, past)
            for first, past in pairwise(parts)
            if past > first
        ]
    cuts = [future.result() for future in scored]
    possible = [cut for cut in cuts if cut[2] >= 0]
    if not possible:
        return []
    _, _, j, cut = min(possible)
    return [int(divide(rows, spare, j, cut))]
