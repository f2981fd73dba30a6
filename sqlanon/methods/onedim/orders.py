"""Orders: total orders in which neighbouring rows are alike (design, section 5).

An order arranges rows in memory, or makes a table of keys by which the engine sorts tables beyond memory; both give the
same order.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import ClassVar

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.mondrian import grow
from sqlanon.kernels.requirements import demands_of
from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.base import Context
from sqlanon.methods.mondrian.tree import CutInput, grow_tree
from sqlanon.methods.onedim.arranged import SortedRows, SortKeys
from sqlanon.methods.onedim.axes import weigh_geometry
from sqlanon.methods.onedim.curves import Hilbert
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernel_input import LoadedTable

ONE_TREE, TREE_ROWS = 1 << 16, 1 << 11
"""A table of up to `ONE_TREE` rows has one tree; a larger table has a tree for every `TREE_ROWS` rows of the curve.

Measured on 500,000 rows of the SAL census, k = 10: range NCP 0.0094 with trees of 2^9 to 2^12 rows (0.0096 with the
smallest), 0.0095 with one tree.
"""

_TOGETHER = 32
"""Trees that are grown by a call."""


class Tree(Hilbert):
    """Leaves of loss-cut trees, one over all rows or over stretches of the Hilbert curve (ours; design, section 5).

    One tree over a large table would cost more and lose more: its first cuts, which are straight, pass through rows
    that belong together, while the curve's stretches are of any shape.
    """

    rearranges: ClassVar[bool] = True

    def kernels(self) -> tuple[object, ...]:
        return (grow,)

    def arrange(self, context: Context, loaded: LoadedTable) -> SortedRows:
        """See `Order`: the curve. The keys are no line, since `within` leaves them."""
        return SortedRows(super().arrange(context, loaded).bare)

    def key_rows(self, context: Context, block: int) -> SortKeys:
        return replace(super().key_rows(context, block), span=0)

    def within(self, context: Context, rows: TreeRows, geometry: Geometry) -> None:
        """See `Order`.

        A single tree is grown down to equal rows. Many trees take most of the time, so their leaves hold up to a class
        of rows, in the curve's order. Range NCP of SAL, k = 10: 0.0001 more than with single rows, in half the time.

        Cost: O(n d^2) a level of a tree.
        """
        d, n = len(geometry.facts), len(rows.number)
        free, domains = demands_of(1, []), kernel_input.list_sizes(context)
        one_tree, geometry = context.encoded.rows <= ONE_TREE, weigh_geometry(context, geometry)
        if one_tree:
            spare = kernel_input.make_room(n, d, geometry)
            grow_tree(CutInput(rows, spare, geometry, free, domains), context.threads, context.progress)
            return
        leaf, together = kernel_input.least_class(context), _TOGETHER * TREE_ROWS

        def some(start: int) -> None:
            stop = min(start + together, n)
            spare, begins = kernel_input.make_room(TREE_ROWS, d, geometry), np.zeros(stop - start, np.bool_)
            bounds = np.append(np.arange(0, stop - start, TREE_ROWS), stop - start)
            grow(rows.part(start, stop), spare, begins, bounds, geometry, free, domains, False, leaf)

        with ThreadPoolExecutor(context.threads) as pool:
            for spans_done, _ in enumerate(pool.map(some, range(0, n, together)), 1):
                context.progress.update(min(spans_done * together, n), n, "rows in order")
