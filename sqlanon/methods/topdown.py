"""TopDown: clusters divided around two far rows (Xu et al. 2006; Ghinita et al. 2009, section 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.methods.cost import Cost
from sqlanon.spec import Execution


class TopDown:
    """Greedy division of clusters, then repair of those below k."""

    name: ClassVar[str] = "topdown"
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    numbers: ClassVar[Mapping[str, range]] = {}
    executions: ClassVar[tuple[Execution, ...]] = ("kernel",)
    cost: ClassVar[Cost] = Cost(0.035, 2.3, rows=1.5, worst=9.0)

    def __init__(self) -> None:
        pass

    def describe(self) -> str:
        """See `Method.describe`."""
        return self.name

    def statements(self, context: Context) -> Sequence[str]:
        """See `Method.statements`."""
        return []

    def refusal(self, problem: Problem) -> str | None:
        """See `Method.refusal`."""
        from sqlanon.kernels.topdown import MOST_ROWS
        from sqlanon.methods.onedim.direct import asking

        if problem.accuracy is not None:
            return "method topdown does not maximize privacy; use hilbert, idistance or tree"
        if asking(problem.requirements):
            return "method topdown is for k alone; with l use tree, hilbert or mondrian"
        if problem.rows > MOST_ROWS:
            return f"method topdown takes at most {MOST_ROWS} rows, its cost is quadratic; the table has {problem.rows}: use tree"
        return None

    def assign(self, context: Context) -> Assignment:
        """See `Method.assign`. Cost: O(n^2 d / k) at worst."""
        import numpy as np

        from sqlanon.kernels import random, topdown
        from sqlanon.methods.onedim.orders import canonical
        from sqlanon.methods.shared import kernel_input
        from sqlanon.methods.shared.compiling import tell_compiling

        tell_compiling(context.progress, topdown.clusters)
        loaded = kernel_input.load(context)
        rows = canonical(context, loaded).rows
        k, group = kernel_input.least_rows(context), np.zeros(len(rows.number), np.int32)
        state = random.seeded(context.seed)
        made = topdown.clusters(rows.places, rows.sets, loaded.geometry, k, state, group)
        topdown.repair(rows.places, rows.sets, loaded.geometry, k, group, made)
        classes = np.empty(len(group), np.int32)
        classes[rows.number] = group
        table = context.scratch.table("assign")
        context.scratch.engine.load_arrays(table, {"rid": loaded.rid, "class": classes})
        return Assignment(table, "kernel")
