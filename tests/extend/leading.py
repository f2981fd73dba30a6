"""A method of an extension.

Rows in the order of their codes, the first quasi column leading, cut as soon as a class is enough.

A class ends where its rows meet every requirement; what is left at the end joins the classes before it until they do.
"""

from __future__ import annotations

from sqlanon.declared import MethodDeclaration
from sqlanon.declared.cost import Cost
from sqlanon.lack import notimpl
from sqlanon.methods.base import Assignment, Context, Problem


class Leading:
    """The code; sqlanon makes it with the options of the declaration by name, of which it has none."""

    def refusal(self, problem: Problem) -> str | None:
        """What the declaration cannot say: a bound on the loss is not kept here."""
        return "method leading keeps no bound on the loss: use mondrian" if problem.accuracy else None

    def assign(self, context: Context) -> Assignment:
        """Row -> class, from codes alone: no value of the table reaches a method."""
        import numpy as np

        from sqlanon.kernels.requirements import make_counters, satisfied
        from sqlanon.methods.shared import kernel_input

        rid, codes, sensitive, _ = kernel_input.fetch_codes(context, tie_break=False)
        n = len(rid)
        demands = kernel_input.demands(context, sensitive, n, kernel_input.whole_table(context))
        counters, rows = make_counters(demands, n), np.arange(n, dtype=np.int32)
        order = np.lexsort([*reversed(sensitive), *reversed(codes)]).astype(np.int64)
        starts = [0]
        for past in range(1, n + 1):
            if satisfied(demands, rows, order[starts[-1] : past], counters):
                starts.append(past)
        if starts[-1] == n:
            starts.pop()
        while len(starts) > 1 and not satisfied(demands, rows, order[starts[-1] :], counters):
            starts.pop()
        classes = np.empty(n, np.int32)
        classes[order] = np.searchsorted(starts, np.arange(n), side="right") - 1
        table = context.scratch.table("assign")
        context.scratch.engine.load_arrays(table, {"rid": rid, "class": classes})
        return Assignment(table, "kernel")


DECLARED = MethodDeclaration(
    name="leading",
    about="Rows along the first quasi column, cut as soon as a class is enough.",
    code="tests.extend.leading:Leading",
    cost=Cost(0.04, 0.5),
    pushdown=notimpl("it sorts in memory"),
)
