"""The optimal division into runs over rows that stream in order: keys and sort are the engine's, the solver a kernel.

In memory stay a block of rows, a few rows carried over, and a back-pointer and a row id for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import Statement, TableRef
from sqlanon.kernels import runs
from sqlanon.kernels.rows import Rows
from sqlanon.methods.base import Context
from sqlanon.methods.onedim.kernels.fast_runs import find_best_row_runs
from sqlanon.methods.onedim.orders import ONE_TREE
from sqlanon.methods.onedim.parallel_runs import NO_TUPLES
from sqlanon.methods.onedim.row_orders import Order, SortedRows, SortKeys
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernel_input import LoadedTable
from sqlanon.privacy.base import least_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs


_BLOCK = 1 << 20


def row_bytes(context: Context) -> int:
    """Bytes of a row in a block: as fetched, as kernels take it, and sorted copies of both."""
    from sqlanon.kernels.lanes import pad_width

    d = len(context.encoded.quasi)
    return 2 * (4 * (d + 1) + 8) + 8 * pad_width(d) + 8 * d + 40


def assign_streamed(context: Context, order: Order, fast: bool, objective: int) -> TableRef:
    """The assignment of k-anonymity on an order; see `direct.solve`. Cost: O(k n d) and the engine's sort."""
    scratch, encoded = context.scratch, context.encoded
    block = _block(context)
    keyed = order.key_rows(context, block)
    statement, dtypes = _query(context, keyed)
    solver = _Solver(context, order, keyed, fast, objective)
    for fetched in scratch.stream_arrays(statement, dtypes, block):
        solver.take(fetched)
        context.progress.update(solver.rows, encoded.rows, "rows")
    scratch.drop(keyed.table)
    first = np.zeros(encoded.rows, np.bool_)
    runs.mark_runs(solver.back, first)
    classes = (np.cumsum(first, dtype=np.int32) - 1).astype(np.int32, copy=False)
    table = scratch.table("assign_runs")
    for start in range(0, encoded.rows, _BLOCK):
        part = slice(start, start + _BLOCK)
        scratch.engine.load_arrays(table, {"rid": solver.rid[part], "class": classes[part]})
    return table


def arrange_by_engine(context: Context, order: Order) -> tuple[LoadedTable, SortedRows]:
    """The whole table in memory, by the keys, as the engine has sorted it."""
    keyed = order.key_rows(context, _block(context))
    statement, dtypes = _query(context, keyed)
    columns = context.scratch.fetch_arrays(statement, dtypes)
    context.scratch.drop(keyed.table)
    keys, d = len(keyed.columns), len(context.encoded.quasi)
    rid, *codes = (column.astype(np.int32, copy=False) for column in columns[keys:])
    loaded = LoadedTable(rid, np.stack(codes[:d]), codes[d:], kernel_input.make_geometry(context))
    number = np.arange(len(rid), dtype=np.int32)
    bare = kernel_input.bare_of(loaded.codes, number, loaded.geometry, context.threads)
    return loaded, SortedRows(bare, columns[0].astype(np.int64) if keyed.span else None, keyed.span)


def _block(context: Context) -> int:
    return int(min(max(context.memory // row_bytes(context) // ONE_TREE, 1), _BLOCK // ONE_TREE)) * ONE_TREE


def _query(context: Context, keyed: SortKeys) -> tuple[Statement, list[str]]:
    encoded = context.encoded
    quasi, sensitive = ([domain.code for domain in part] for part in (encoded.quasi, encoded.counted))
    statement = context.scratch.sql(
        "onedim/stream", work=encoded.work, keyed=keyed.table, keys=keyed.columns, quasi=quasi, sensitive=sensitive
    )
    return statement, ["int64"] * len(keyed.columns) + ["int32"] * (1 + len(quasi) + len(sensitive))


class _Solver:
    """The dynamic programme between two blocks: the rows of the last 2k - 1, and their costs."""

    def __init__(self, context: Context, order: Order, keyed: SortKeys, fast: bool, objective: int) -> None:
        n, self._geometry = context.encoded.rows, kernel_input.make_geometry(context)
        self._context, self._order, self._keyed = context, order, keyed
        self._fast, self._objective, self._k = fast, objective, least_rows(context.requirements)
        self._opt = np.zeros(1, np.int64)
        self._kept = kernel_input.fill_rows(
            kernel_input.make_room(0, len(context.encoded.quasi), self._geometry), self._geometry, codes=False
        )
        self._line = np.zeros(0, np.int64)
        self.rid = np.empty(n, np.int32)
        self.back = np.zeros(n + 1, np.int32)
        self.rows = 0

    def take(self, fetched: list[npt.NDArray[np.generic]]) -> None:
        """Solve for a further block."""
        key_columns, d = len(self._keyed.columns), len(self._context.encoded.quasi)
        codes = np.stack(fetched[key_columns + 1 : key_columns + 1 + d]).astype(np.int32, copy=False)
        rid = fetched[key_columns].astype(np.int32, copy=False)
        more, known_rows = len(rid), len(self._kept.number)
        number = np.arange(more, dtype=np.int32)
        bare = kernel_input.bare_of(codes, number, self._geometry, self._context.threads)
        self._order.within(self._context, bare, self._geometry)
        block = kernel_input.fill_rows(bare, self._geometry, self._context.threads, codes=False)
        self.rid[self.rows : self.rows + more] = rid[block.number]
        rows = self._kept.then(block)
        if self._fast:
            line = runs.shorten_keys(fetched[0].astype(np.int64), self._keyed.span, self._k)
            self._line = np.concatenate([self._line, line])
        opt, back = np.zeros(known_rows + more + 1, np.int64), np.zeros(known_rows + more + 1, np.int32)
        opt[: known_rows + 1] = self._opt
        self._solve(rows, known_rows, opt, back)
        self.back[self.rows + 1 : self.rows + more + 1] = back[known_rows + 1 :]
        self.rows += more
        keep = min(2 * self._k - 1, known_rows + more)
        self._opt = opt[len(opt) - keep - 1 :].copy()
        self._kept = rows.part(known_rows + more - keep, known_rows + more)
        self._line = self._line[max(len(self._line) - keep, 0) :].copy()

    def _solve(self, rows: Rows, solved: int, opt: Longs, back: Ints) -> None:
        if self._fast:
            runs.find_best_line_runs(self._line, self._k, self._objective, solved, opt, back)
        elif self._objective == runs.GCP:
            find_best_row_runs(rows.places, rows.sets, NO_TUPLES, self._geometry, self._k, solved, opt, back)
        else:
            ends = np.arange(len(rows.number) + 1, dtype=np.int64)
            runs.find_best_runs(
                rows.places, rows.places, rows.sets, ends, self._geometry, self._k, self._objective, solved, opt, back
            )
