"""The optimal division into runs over rows that stream in order: keys and sort are the engine's, the solver a kernel.

What stays in memory is a block of rows, a few rows carried over, and a back-pointer and a row id for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels import runs
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.window import best_row_runs
from sqlanon.methods import arrays
from sqlanon.methods.base import Context
from sqlanon.methods.orders import ORDERS, Keyed

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
    block = int(min(max(context.memory // row_bytes(context), 1000), _BLOCK))
    keyed = ORDERS[order]().keyed(context, block)
    quasi = [domain.code for domain in encoded.quasi]
    statement = scratch.sql(
        "order/stream", work=encoded.work, keyed=keyed.table, keys=keyed.columns, quasi=quasi,
        sensitive=[domain.code for domain in encoded.sensitive],
    )  # fmt: skip
    dtypes = ["int64"] * len(keyed.columns) + ["int32"] * (1 + len(quasi))
    solver = _Solver(context, arrays.geometry(context), keyed, fast, objective)
    for fetched in scratch.engine.stream_arrays(statement, dtypes, block):
        solver.take([column.astype(dtype, copy=False) for column, dtype in zip(fetched, dtypes, strict=True)])
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
        keys, (rid, *codes) = fetched[: len(self._keyed.columns)], fetched[len(self._keyed.columns) :]
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
