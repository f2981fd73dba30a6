"""``search: local`` with rows left out.

The rest need not be a class, so that rare sensitive values do not bind frequent values (ours).

Without that the rest keeps l, and a class must take the rows of a frequent value that the rest could not keep. Spare
rows in the rest, which are not there, say how far the rest may fall short of l. The rows that nodes leave in the end
give a last class, as many of them as can be one, and the others are left out. A left-out row loses as much as a hidden
row, so that the best of several searches counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.requirements import satisfied
from sqlanon.kernels.suppress import measure_height
from sqlanon.methods.base import Context
from sqlanon.methods.fulldomain.cells import Cells
from sqlanon.methods.fulldomain.kernels.lattice_local import Pieces
from sqlanon.methods.fulldomain.kernels.lattice_part import CLASSES
from sqlanon.methods.fulldomain.levels import Lattice
from sqlanon.methods.fulldomain.local import Local, local_of, search, take_pieces

if TYPE_CHECKING:
    pass


SEARCHES = 6
"""Numbers of spare rows that are tried, at most."""


def leave_rows_out(
    context: Context, lattice: Lattice, cells: Cells, pieces: Pieces | None, *, divide: bool, most: int
) -> Pieces | None:
    """The classes that lose least with rows left out within the limit.

    Args:
        context: the run.
        lattice: of the metric loss.
        cells: the table.
        pieces: classes of all rows that meet the requirements; None: there are none.
        divide: a class may take part of the rows of a cell, by sensitive value.
        most: nodes that are looked at, at most.

    Returns:
        ``pieces``, where leaving rows out does not help; None without a result.

    Cost: up to `SEARCHES` searches.
    """
    rows, best = int(cells.rows.sum()), pieces
    # Classes that hide everything gain nothing, and are better than none.
    gained = measure_margin(lattice, cells, pieces) if pieces is not None else -1
    counted_bounds = local_of(context, cells, divide=divide).asked
    # With so many the rest is not asked for anything; where even that leaves out few rows, no less is tried.
    high = (-(-counted_bounds.p // counted_bounds.q) + 1) * rows if counted_bounds.p else counted_bounds.k
    low, spare = 0, high
    for _ in range(SEARCHES):
        local = local_of(context, cells, divide=divide, spare=spare)
        search(context, lattice, local, most, spare)
        ends = _end_classes(local)
        kept_rows = int(ends.rows.sum())
        fits = kept_rows > 0 and rows - kept_rows <= context.most_unassigned
        if fits and (now := measure_margin(lattice, cells, ends)) > gained:
            best, gained = ends, now
        if fits and spare == high:
            break
        low, high = (spare, high) if fits else (low, spare)
        # Few spare rows matter as much as many do: the middle of the orders of magnitude, until the ends meet.
        spare = round(((low + 1) * high) ** 0.5)
        if spare in (low, high):
            break
    return best


def _end_classes(local: Local) -> Pieces:
    """The classes of the nodes, and the largest possible class of the rows left; the others are in no piece."""
    pieces, bounds, rows_left = take_pieces(local), local.asked, local.rest.left
    rest = np.flatnonzero(rows_left).astype(np.int32)
    rest_rows = rows_left[rest]
    if bounds.p:
        value = local.value[rest]
        counts = np.bincount(value, weights=rest_rows, minlength=1).astype(np.int64)
        cut = measure_height(counts, bounds.p, bounds.q, np.zeros(-(-bounds.p // bounds.q), np.int64))
        if bounds.divide:
            # Of each value the rows that come first, up to the cut.
            order = np.argsort(value, kind="stable")
            before = np.cumsum(rest_rows[order]) - rest_rows[order]
            first = np.maximum.accumulate(
                np.where(np.append(True, np.diff(value[order]) != 0)[: len(order)], before, 0)
            )
            rest_rows[order] = np.clip(cut - (before - first), 0, rest_rows[order])
        elif len(counts) and counts.max() > cut:
            rest_rows[:] = 0
    elif len(rest):
        each = np.repeat(rest, rest_rows)
        if not satisfied(local.demands, each, np.arange(len(each)), local.counters):
            rest_rows[:] = 0
    if int(rest_rows.sum()) < max(bounds.k, 1):
        return pieces
    some = rest_rows > 0
    last = np.full(int(some.sum()), local.rest.facts[CLASSES], np.int32)
    return Pieces(
        np.append(pieces.record, rest[some]), np.append(pieces.label, last), np.append(pieces.rows, rest_rows[some])
    )


def measure_margin(lattice: Lattice, cells: Cells, pieces: Pieces) -> int:
    """The cost of suppressing all rows less that of these classes, each at the least common node."""
    if not len(pieces.label):
        return 0
    order = np.argsort(pieces.label, kind="stable")
    label, record, rows = pieces.label[order], pieces.record[order], pieces.rows[order]
    start = np.flatnonzero(np.append(True, label[1:] != label[:-1]))
    size, total = np.add.reduceat(rows, start), 0
    for column, codes in zip(lattice.columns, cells.codes, strict=True):
        code, open_ = codes[record], np.ones(len(start), np.bool_)
        for node, extra in zip(column.node, column.extra, strict=True):
            first = node[code]
            agrees = open_ & (np.minimum.reduceat(first, start) == np.maximum.reduceat(first, start))
            total += int((size * extra[code[start]])[agrees].sum())
            open_ &= ~agrees
    return total
