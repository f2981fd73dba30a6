"""The optimal division into runs over rows that stream in order: keys and sort are the engine's, the solver a kernel.

What stays in memory is a block of rows, a few rows carried over, and a back-pointer and a row id for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import Statement, TableRef
from sqlanon.kernels import runs
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.window import best_row_runs
from sqlanon.methods import arrays
from sqlanon.methods.arrays import Loaded
from sqlanon.methods.base import Context
from sqlanon.methods.orders import ORDERS, Arranged, Keyed

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

_BLOCK = 1_000_000


def row_bytes(context: Context) -> int:
    """Bytes of a row in a block: as fetched, as kernels take it, and sorted copies of both."""
    from sqlanon.kernels.lanes import padded

    d = len(context.encoded.quasi)
    return 2 * (4 * (d + 1) + 8) + 8 * padded(d) + 8 * d + 40


def streamed_runs(context: Context, order: str, fast: bool, objective: int) -> TableRef:
    """The assignment of k-anonymity on an order; see `direct.solve`. Cost: O(k n d) beside the engine's sort."""
    scratch, encoded = context.scratch, context.encoded
    block = _block(context)
    keyed = ORDERS[order]().keyed(context, block)
    statement, dtypes = _query(context, keyed)
    solver = _Solver(context, arrays.geometry(context), keyed, fast, objective)
    for fetched in scratch.engine.stream_arrays(statement, dtypes, block):
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


def arranged_by_engine(context: Context, order: str) -> tuple[Loaded, Arranged]:
    """The whole table in memory, in the order in which the engine has sorted it."""
    keyed = ORDERS[order]().keyed(context, _block(context))
    statement, dtypes = _query(context, keyed)
    columns = context.scratch.engine.fetch_arrays(statement, dtypes)
    context.scratch.drop(keyed.table)
    keys, d = len(keyed.columns), len(context.encoded.quasi)
    rid, *codes = (column.astype(np.int32, copy=False) for column in columns[keys:])
    loaded = Loaded(rid, np.stack(codes[:d]), codes[d:], arrays.geometry(context))
    number = np.arange(len(rid), dtype=np.int32)
    rows = arrays.rows_of(loaded.codes, number, loaded.geometry, context.threads)
    return loaded, Arranged(rows, columns[0].astype(np.int64) if keyed.span else None, keyed.span)


def _block(context: Context) -> int:
    return int(min(max(context.memory // row_bytes(context), 1000), _BLOCK))


def _query(context: Context, keyed: Keyed) -> tuple[Statement, list[str]]:
    encoded = context.encoded
    quasi, sensitive = ([domain.code for domain in part] for part in (encoded.quasi, encoded.sensitive))
    statement = context.scratch.sql(
        "order/stream",
        work=encoded.work,
        keyed=keyed.table,
        keys=keyed.columns,
        quasi=quasi,
        sensitive=sensitive,
    )
    return statement, ["int64"] * len(keyed.columns) + ["int32"] * (1 + len(quasi) + len(sensitive))


class _Solver:
    """The dynamic programme between two blocks: the rows of the last 2k - 1, and what they cost."""

    def __init__(
        self, context: Context, geometry: Geometry, keyed: Keyed, fast: bool, objective: int
    ) -> None:
        n = context.encoded.rows
        self._context, self._geometry, self._keyed = context, geometry, keyed
        self._fast, self._objective, self._k = fast, objective, arrays.least_rows(context)
        self._keep = 2 * self._k - 1
        self._opt = np.zeros(1, np.int64)
        self._codes = np.zeros((len(context.encoded.quasi), 0), np.int32)
        self._line = np.zeros(0, np.int64)
        self.rid = np.empty(n, np.int32)
        self.back = np.zeros(n + 1, np.int32)
        self.rows = 0

    def take(self, fetched: list[npt.NDArray[np.generic]]) -> None:
        """Solve for one more block."""
        at = len(self._keyed.columns)
        keys, rid, codes = fetched[:at], fetched[at], fetched[at + 1 : at + 1 + len(self._codes)]
        known, more = self._codes.shape[1], len(rid)
        self._codes = np.concatenate([self._codes, np.stack(codes).astype(np.int32, copy=False)], axis=1)
        if self._fast:
            line = runs.shortened(keys[0].astype(np.int64), self._keyed.span, self._k)
            self._line = np.concatenate([self._line, line])
        opt, back = np.zeros(known + more + 1, np.int64), np.zeros(known + more + 1, np.int32)
        opt[: known + 1] = self._opt
        self._solve(known, opt, back)
        self.rid[self.rows : self.rows + more] = rid
        self.back[self.rows + 1 : self.rows + more + 1] = back[known + 1 :]
        self.rows += more
        keep = min(self._keep, known + more)
        self._opt = opt[len(opt) - keep - 1 :]
        self._codes = self._codes[:, self._codes.shape[1] - keep :].copy()
        self._line = self._line[max(len(self._line) - keep, 0) :].copy()

    def _solve(self, known: int, opt: Longs, back: npt.NDArray[np.int32]) -> None:
        if self._fast:
            runs.best_line_runs(self._line, self._k, self._objective, known, opt, back)
            return
        n = self._codes.shape[1]
        rows = arrays.rows_of(self._codes, np.zeros(n, np.int32), self._geometry, self._context.threads)
        if self._objective == runs.GCP:
            best_row_runs(rows.places, rows.sets, self._geometry, self._k, known, opt, back)
            return
        ends = np.arange(n + 1, dtype=np.int64)
        runs.best_runs(
            rows.places, rows.places, rows.sets, ends, self._geometry, self._k, self._objective, known, opt, back
        )  # fmt: skip
