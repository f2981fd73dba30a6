"""Orders: total orders in which neighbouring rows are alike.

An order arranges rows in memory, or makes a table of keys by which the engine sorts tables beyond memory; both give the
same order.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.mondrian import grow
from sqlanon.kernels.requirements import demands_of
from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.base import Context
from sqlanon.methods.mondrian.tree import CutInput, grow_tree
from sqlanon.methods.onedim.axes import weigh_geometry
from sqlanon.methods.onedim.curves import Hilbert
from sqlanon.methods.onedim.row_orders import RankedRows, SortedRows, SortKeys
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernel_input import LoadedTable

if TYPE_CHECKING:
    from sqlanon.arrays import Longs

ONE_TREE, TREE_ROWS = 1 << 16, 1 << 11
"""A table of up to `ONE_TREE` rows has one tree; a larger table has a tree for every `TREE_ROWS` rows of the curve.

Measured on 500,000 rows of the SAL census, k = 10: range NCP 0.0094 with trees of 2^9 to 2^12 rows (0.0096 with the
smallest), 0.0095 with one tree.
"""

_TOGETHER = 32
"""Trees that are grown by a call."""


class Tree(Hilbert):
    """Leaves of loss-cut trees, one over all rows or over stretches of the Hilbert curve (ours).

    One tree over a large table would cost more and lose more: its first cuts, which are straight, pass through rows
    that belong together, while the curve's stretches are of any shape.
    """

    rearranges: ClassVar[bool] = True

    def kernels(self) -> tuple[object, ...]:
        return (grow,)

    def arrange(self, context: Context, loaded: LoadedTable, ranked: RankedRows | None = None) -> SortedRows:
        """See `Order`: the curve. The keys are no line, since `within` leaves them."""
        return SortedRows(super().arrange(context, loaded, ranked).bare)

    def find_stretch(self, rows: int) -> int:
        return rows if rows <= ONE_TREE else TREE_ROWS

    def key_rows(self, context: Context, block: int) -> SortKeys:
        return replace(super().key_rows(context, block), span=0)

    def within(self, context: Context, rows: TreeRows, geometry: Geometry) -> None:
        """See `Order`. Rows may be tuples with counts, none of which is in two stretches.

        A single tree is grown down to equal rows. Many trees take most of the time, so their leaves hold up to a class
        of rows, in the curve's order. Range NCP of SAL, k = 10: 0.0001 more than with single rows, in half the time.

        Cost: O(n d^2) a level of a tree.
        """
        d, n = len(geometry.facts), len(rows.number)
        free, domains = demands_of(1, []), kernel_input.list_sizes(context)
        one_tree, geometry = context.encoded.rows <= ONE_TREE, weigh_geometry(context, geometry)
        if one_tree:
            spare = kernel_input.make_room(n, d, geometry, counted=len(rows.count) > 0)
            grow_tree(CutInput(rows, spare, geometry, free, domains), context.threads, context.progress)
            return
        leaf = kernel_input.least_class(context)
        bounds = _list_bounds(rows)

        def some(first: int) -> None:
            ends = bounds[first : first + _TOGETHER + 1]
            start, stop = int(ends[0]), int(ends[-1])
            spare = kernel_input.make_room(TREE_ROWS, d, geometry, counted=len(rows.count) > 0)
            begins = np.zeros(stop - start, np.bool_)
            grow(rows.part(start, stop), spare, begins, ends - start, geometry, free, domains, False, leaf)

        with ThreadPoolExecutor(context.threads) as pool:
            for spans_done, _ in enumerate(pool.map(some, range(0, len(bounds) - 1, _TOGETHER)), 1):
                rows_done = int(bounds[min(spans_done * _TOGETHER, len(bounds) - 1)])
                context.progress.update(rows_done, n, "rows in order")


def _list_bounds(rows: TreeRows) -> Longs:
    """Where in ``rows`` the stretches of `TREE_ROWS` source rows begin, and how many rows there are."""
    n = len(rows.number)
    if not len(rows.count):
        return np.append(np.arange(0, n, TREE_ROWS), n)
    ends = np.cumsum(rows.count, dtype=np.int64)
    return np.append(np.searchsorted(ends, np.arange(0, int(ends[-1]), TREE_ROWS), side="right"), n)
