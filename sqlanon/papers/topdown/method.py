"""TopDown: clusters divided around two far rows (Xu et al. 2006; Ghinita et al. 2009, section 2.2)."""

from __future__ import annotations

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.privacy.base import least_rows


class TopDown:
    """Greedy division of clusters, then repair of those below k."""

    def refusal(self, problem: Problem) -> str | None:
        return None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: O(n^2 d / k) at worst."""
        import numpy as np

        from sqlanon.kernels import random
        from sqlanon.kernels.compiled import expect
        from sqlanon.methods.onedim.row_orders import make_canonical
        from sqlanon.methods.shared import kernel_input
        from sqlanon.papers.topdown import kernels as topdown

        expect(topdown.cluster_top_down)
        loaded = kernel_input.load(context)
        rows = make_canonical(context, loaded).arrange(loaded.geometry, context.threads).rows
        k, group = least_rows(context.requirements), np.zeros(len(rows.number), np.int32)
        state = random.seed_state(context.seed)
        groups = topdown.cluster_top_down(rows.places, rows.sets, loaded.geometry, k, state, group)
        topdown.repair(rows.places, rows.sets, loaded.geometry, k, group, groups)
        classes = np.empty(len(group), np.int32)
        classes[rows.number] = group
        table = context.scratch.table("assign")
        context.scratch.engine.load_arrays(table, {"rid": loaded.rid, "class": classes})
        return Assignment(table, "kernel")
