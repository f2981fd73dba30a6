"""Method anatomy (Xiao & Tao 2006, Figure 3).

It makes groups with different sensitive values only, without regard to the quasi-identifier.

Each sensitive value has a bucket of rows. While l buckets hold rows, a group takes a random row from each of the l
largest; a row that is left joins a random group that lacks the value. So every group has l rows or one more for each
left-over row it took, all different, and ties a row to a value with at most 1/l.

Kernel and pushdown draw the same: rows are in their canonical order, and the seed permutes them. The values of a group
depend on the counts of values alone, so that the pushdown counts in SQL and places rows by a window and two joins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.privacy.base import Shape

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef

_KERNEL_BYTES = 48
"""A row in the kernel: id, codes as fetched, order, places and group."""


class Anatomy:
    """Random groups of l different sensitive values."""

    def refusal(self, problem: Problem) -> str | None:
        return None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        Cost: a sort of the rows in the database, then O(n log m) for m sensitive values. The pushdown keeps two
        integers a row in memory, and no row.
        """
        scratch = context.scratch
        tied, table = scratch.table("tied"), scratch.table("assign")
        (sensitive,) = context.encoded.sensitive
        scratch.execute(
            "table/tie_break",
            tied=tied,
            work=context.encoded.work,
            quasi=[domain.code for domain in context.encoded.quasi],
            sensitive=[sensitive.code],
        )
        pushed = context.execution == "pushdown" or (
            context.execution == "auto" and context.encoded.rows * _KERNEL_BYTES > context.memory
        )
        (self._push_down if pushed else self._kernel)(context, tied, table)
        scratch.drop(tied)
        return Assignment(table, "pushdown" if pushed else "kernel")

    def _kernel(self, context: Context, tied: TableRef, table: TableRef) -> None:
        import numpy as np

        from sqlanon.kernels.random import seed_state
        from sqlanon.methods.anatomy.kernels import make_anatomy_groups

        (sensitive,) = context.encoded.sensitive
        statement = context.scratch.sql("anatomy/values", tied=tied, value=sensitive.code)
        rid, value = (
            array.astype(np.int32, copy=False) for array in context.scratch.fetch_arrays(statement, ["int32", "int32"])
        )
        group = np.empty(len(rid), np.int32)
        groups = make_anatomy_groups(value, sensitive.codes, _frequency(context).p, seed_state(context.seed), group)
        _feasible(groups)
        context.scratch.engine.load_arrays(table, {"rid": rid, "class": group})

    def _push_down(self, context: Context, tied: TableRef, table: TableRef) -> None:
        import numpy as np

        from sqlanon.kernels.random import seed_state, shuffle
        from sqlanon.methods.anatomy.kernels import find_slot_groups

        scratch, engine, n = context.scratch, context.scratch.engine, context.encoded.rows
        (sensitive,) = context.encoded.sensitive
        state, ranks, slots = seed_state(context.seed), scratch.table("ranks"), scratch.table("slots")
        order = np.arange(n)
        shuffle(state, order)
        each = np.arange(n, dtype=np.int32)
        engine.load_arrays(ranks, {"tie": order.astype(np.int32), "rank": each})
        del order
        value_counts = scratch.sql("anatomy/counts", work=tied, value=sensitive.code)
        code, rows = scratch.fetch_arrays(value_counts, ["int32", "int64"])
        count = np.zeros(sensitive.codes, np.int64)
        count[code] = rows
        group = np.empty(n, np.int32)
        slot_count = find_slot_groups(count, _frequency(context).p, state, group)
        _feasible(slot_count)
        engine.load_arrays(slots, {"slot": each, "class": group})
        scratch.execute("anatomy/assign", assign=table, tied=tied, ranks=ranks, slots=slots, value=sensitive.code)
        for scratch_table in (ranks, slots):
            scratch.drop(scratch_table)


def _frequency(context: Context) -> Shape:
    return next(check for check in (item.shape for item in context.requirements) if check.kind == "frequency")


def _feasible(groups: int) -> None:
    if groups == 0:
        raise AssertionError("feasibility is decided before a method runs")
