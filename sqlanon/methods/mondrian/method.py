"""Mondrian: greedy multidimensional partitioning (LeFevre, DeWitt, Ramakrishnan 2006, sections 3 and 4).

``variant`` strict keeps equal rows together (Figure 7); relaxed divides rows at the median's rank (section 4, Theorem
5). ``cut`` median is the paper's: the widest normalized attribute first, ``<= median``, then ``< median`` (Figure 7's
one side alone does not reach Theorem 4: 0,0,1,1,2 with k = 2), then the next attribute. ``cut`` loss, ours and the
default, takes the cut that minimizes rows x weighted extents of the two halves, over every value of every attribute.

Any monotone requirement is checked on both halves. The kernel and the pushdown make the same cuts: both compare the
same integers and break ties alike; a table larger than the memory budget is cut by SQL until the partitions fit, and
the kernel finishes them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.methods.mondrian.declaration import MONDRIAN
from sqlanon.privacy.base import beyond_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.engines.base import TableRef


MOST_PUSHED = 32
"""Largest number of quasi columns of the pushdown.

2,000 rows of 8 columns took 4 seconds, of 16 columns 14, of 32 more than 100.
"""


class Mondrian:
    """Greedy multidimensional partitioning."""

    def __init__(self, variant: str, cut: str) -> None:
        self.variant = variant
        self.cut = cut

    def refusal(self, problem: Problem) -> str | None:
        d = len(problem.quasi)
        fits = problem.rows * self.row_bytes(d, problem.counted) <= problem.memory
        if d > MOST_PUSHED and (problem.execution == "pushdown" or not fits):
            assert MONDRIAN.cost.pushed is not None
            minutes = math.ceil(MONDRIAN.cost.pushed.time(problem.rows, d, 1) / 60)
            return (
                f"method mondrian as SQL (pushdown, or rows beyond its memory) takes at most {MOST_PUSHED} quasi "
                f"columns, here are {d}: about {minutes} minutes, as a level of its tree costs the square of them; use "
                "execution: kernel and enough memory, or method hilbert"
            )
        if problem.accuracy is None:
            return None
        lack = problem.lacks(problem.rows * self.row_bytes(len(problem.quasi), problem.counted))
        return f"method mondrian {lack}" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        ``auto`` runs the kernel; a table that does not fit the memory budget, nor with equal rows as one, is cut by
        pushdown first.
        Cost: kernel O(n d^2 log(n / k)) time and about ``row_bytes`` a row; pushdown O(d) statements a level.
        """
        if self.variant == "relaxed":
            tied = context.scratch.table("tied")
            context.scratch.execute(
                "table/tie_break",
                tied=tied,
                work=context.encoded.work,
                quasi=[domain.code for domain in context.encoded.quasi],
                sensitive=[domain.code for domain in context.encoded.counted],
            )
            context = replace(context, encoded=replace(context.encoded, coded=tied))
        if context.accuracy is not None:
            from sqlanon.methods.mondrian.dual import assign

            return assign(context, median=self.cut == "median")
        encoded = context.encoded
        fits = max(context.memory // self.row_bytes(len(encoded.quasi), len(encoded.counted)), 1)
        if context.execution == "pushdown":
            return self._push_down(context, 0)
        most = None if encoded.rows <= fits else self._groups(context)
        if most is None or most > 0:
            table = context.scratch.table("assign")
            assignment = self._kernel(context, table, None, None, most)
            if assignment is not None:
                boxes, listed = assignment
                return Assignment(table, "kernel", spans=boxes, divided=self.variant == "relaxed", listed=listed)
        return self._push_down(context, fits)

    def row_bytes(self, d: int, s: int) -> int:
        """Peak bytes of kernel and transfer for a row of ``d`` quasi and ``s`` sensitive columns."""
        from sqlanon.kernels.lanes import pad_width

        fetched = 4 * (2 * (d + s) + 4)
        # Codes, the row's number and its count: once in the rows, once in the spare.
        row = 4 * pad_width(d) + 8
        lists = 0 if self.variant == "strict" or self.cut == "median" else 8 * pad_width(d) + 20 * d + 100
        return fetched + 2 * row + lists + 40

    def _groups(self, context: Context) -> int:
        """Number of groups of equal rows that fit into memory beside the rows.

        It is 0 if the rows cannot be grouped.
        """
        from sqlanon.methods.shared.bare_rows import BLOCK, GROUPED

        if self.variant == "relaxed" or self.cut == "median" or beyond_rows(context.requirements):
            return 0
        rows, row_size = context.encoded.rows, self.row_bytes(len(context.encoded.quasi), 0)
        return max((context.memory - rows * GROUPED - min(rows, BLOCK) * row_size) // row_size, 0)

    def levels(self, context: Context, fits: int) -> tuple[TableRef, TableRef, list[tuple[int, int]]]:
        """Cut by SQL, with ``fits`` only until every partition has at most that many rows.

        A partition is named by the number of rows before it.

        Returns:
            rows and classes of finished partitions, rows and partitions of open partitions (made where there are any),
            and these with how many they have.
        """
        from sqlanon.methods.mondrian.sql_levels import Pushdown

        pushdown = Pushdown(context, relaxed=self.variant == "relaxed", median=self.cut == "median")
        pushdown.run(fits)
        table, parts = context.scratch.table("assign"), context.scratch.table("open_rows")
        pushdown.rows(table, "class")
        parts_opened = pushdown.open_parts() if fits else []
        if parts_opened:
            pushdown.open_rows(parts, "part")
        return table, parts, parts_opened

    def _push_down(self, context: Context, fits: int) -> Assignment:
        table, parts, open_parts = self.levels(context, fits)
        if not open_parts:
            return Assignment(table, "pushdown", divided=self.variant == "relaxed")
        batch: list[tuple[int, int]] = []
        rows = 0
        for part, count in open_parts:
            if batch and rows + count > fits:
                self._kernel(context, table, parts, (batch[0][0], part))
                batch, rows = [], 0
            batch.append((part, count))
            rows += count
        self._kernel(context, table, parts, (batch[0][0], batch[-1][0] + 1))
        return Assignment(table, "pushdown+kernel", divided=self.variant == "relaxed")

    def _kernel(
        self,
        context: Context,
        table: TableRef,
        parts: TableRef | None,
        span: tuple[int, int] | None,
        most: int | None = None,
    ) -> tuple[TableRef, bool] | None:
        """Finish the whole table, or the open partitions of ``span``, and append the rows' classes to ``table``.

        Args:
            context: the run.
            table: of rows and classes.
            parts: the open partitions.
            span: which of them.
            most: groups of equal rows that there is room for, where there is none for all rows.

        Returns:
            the boxes of the classes, where they are all of the table's, and whether the rows are listed; None also
            where there are more groups, and then nothing is made.
        """
        import numpy as np

        from sqlanon.kernels.compiled import expect
        from sqlanon.kernels.mondrian import grow, grow_by_median
        from sqlanon.methods.mondrian.tree import CutInput, grow_tree
        from sqlanon.methods.shared import kernel_input
        from sqlanon.methods.shared.bare_rows import FetchedRows, fetch_bare
        from sqlanon.methods.shared.class_boxes import make_spans
        from sqlanon.methods.shared.load_assignment import load_classes
        from sqlanon.methods.shared.threads import put_at

        relaxed, median = self.variant == "relaxed", self.cut == "median"
        expect(grow_by_median if median else grow)
        geometry = kernel_input.make_geometry(context)
        base = np.zeros(1, dtype=np.int64)
        bounds: list[int] = []
        if relaxed or span is not None:
            rid, codes, sensitive, part = kernel_input.fetch_codes(context, relaxed, parts, span)
            rows = np.arange(len(rid), dtype=np.int32)
            if span is not None:
                # Partitions one after the other, each in its own order; a class is named by where it begins in the
                # whole.
                by_part = np.argsort(part, kind="stable")
                rows = by_part.astype(np.int32)
                base, starts = np.unique(part[by_part], return_index=True)
                bounds = [int(start) for start in starts] + [len(rid)]
            fetched_rows = FetchedRows(
                rid, kernel_input.bare_of(codes, rows, geometry, context.threads), sensitive, None
            )
        else:
            beyond = bool(beyond_rows(context.requirements))
            fetched = fetch_bare(context, geometry, sensitive=beyond, together=not beyond and not median, most=most)
            if fetched is None:
                return None
            fetched_rows = fetched
        rid, bare = fetched_rows.rid, fetched_rows.bare
        demands = kernel_input.demands(context, fetched_rows.sensitive, len(rid), kernel_input.whole_table(context))
        if not (context.read_again or relaxed) and span is None:
            context.encoded.drop_work()  # before the tree and the classes take their memory
        d = len(geometry.facts)
        first = grow_tree(
            CutInput(
                bare,
                kernel_input.make_room(len(bare.number), d, geometry, counted=len(bare.count) > 0),
                geometry,
                demands,
                kernel_input.list_sizes(context),
            ),
            context.threads,
            context.progress,
            bounds=bounds,
            relaxed=relaxed,
            median=median,
        )
        starts = np.flatnonzero(first)
        group = (np.cumsum(first, dtype=np.int32) - np.int32(1)).astype(np.int32, copy=False)
        names = np.arange(len(starts), dtype=np.int32) if span is None else _names(starts, np.array(bounds), base)
        classes = put_at(group if span is None else names[group], bare.number, context.threads)
        of_row = classes if fetched_rows.group is None else classes[fetched_rows.group]
        if span is not None:
            context.scratch.engine.load_arrays(table, {"rid": rid, "class": of_row})
            return None
        listed = load_classes(context, table, rid, of_row)
        return make_spans(context, bare, geometry, group, names), listed


def _names(starts: Longs, bounds: Longs, base: Longs) -> Ints:
    """The class of every leaf of open partitions.

    The number is the count of source rows to the left of the leaf in the whole tree.
    """
    import numpy as np

    segment = np.searchsorted(bounds, starts, side="right") - 1
    return (base[segment] + starts - bounds[segment]).astype(np.int32)
