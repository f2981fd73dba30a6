"""Method ``freeform``: a box of its own for every row.

The paper is Doka, Xue, Tsoumakos, Karras 2015, "k-Anonymization by Freeform Generalization".
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from sqlanon.errors import UnsupportedError
from sqlanon.methods.base import Assignment, Context, Matches, Problem
from sqlanon.methods.freeform.declaration import FREEFORM, size_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.methods.shared.kernel_input import Loaded

    Longs = npt.NDArray[np.int64]


class Freeform:
    """k matchings of rows and boxes, found by the quasi values alone; the run remixes them and draws one by its secret.

    Args:
        solver: how rows are matched.
        order: what rows are cut into blocks along.
        block: rows that are matched together; 0: by k.
        passes: how often every matching is made anew.
    """

    def __init__(self, solver: str, order: str, block: int, passes: int) -> None:
        self.solver, self.order, self.block, self.passes = solver, order, block, passes

    def refusal(self, problem: Problem) -> str | None:
        """See `Algorithm.refusal`."""
        (k,) = (int(one.asked) for one in problem.requirements if one.name == "k")
        if problem.rows < k:
            return f"method freeform needs at least k = {k} rows, and the table has {problem.rows}"
        if self.solver != "hungarian":
            from sqlanon.methods.freeform.blocks import largest
            from sqlanon.methods.freeform.solvers import refusal

            refused = refusal(self.solver, largest(problem.rows, self.block), k)
            if refused:
                return f"method freeform: {refused}, or name a block"
            if self.solver == "mip" and find_spec("scipy") is None:
                return "method freeform: solver mip needs SciPy: install sqlanon[mip], or use solver hungarian"
        needed = FREEFORM.cost.memory(problem.rows, len(problem.quasi), k, {"solver": self.solver, "block": self.block})
        lack = problem.lacks(needed)
        return f"method freeform {lack}, or use tree" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        Cost: the order, O(n b^2) a matching at worst with blocks of b rows, and O(n k (b + k) d).
        """
        import numpy as np

        from sqlanon.kernels.compiled import expect
        from sqlanon.methods.freeform.blocks import solved_in_blocks
        from sqlanon.methods.freeform.kernels.assign import improve
        from sqlanon.methods.freeform.secret import content_of, key_of
        from sqlanon.methods.freeform.solvers import UnsolvedError
        from sqlanon.methods.freeform.walk import walked
        from sqlanon.methods.shared import kernel_input
        from sqlanon.privacy.base import least_rows

        expect(improve)
        k = least_rows(context.requirements)
        geometry = kernel_input.geometry(context)
        rid, codes, _, _ = kernel_input.fetch_codes(context, tie_break=False, sensitive=False)
        loaded = kernel_input.Loaded(rid, codes, [], geometry)
        order = self._arranged(context, loaded)
        lined = np.ascontiguousarray(codes[:, order])
        options = {
            "solver": self.solver,
            "order": self.order,
            "block": self.block,
            "passes": self.passes,
            "k": k,
        }
        key = key_of(context.secret, context.release, content_of(context.secret, options, lined, geometry))

        def progress(done: int, of: int) -> None:
            context.progress.update(done, of, "matchings")

        if self.solver == "hungarian":
            block = size_of(self.block, k)
            made = walked(lined, geometry, k, block, self.passes, key, context.threads, progress)
        else:
            try:
                made = solved_in_blocks(self.solver, lined, geometry, k, self.block, progress)
            except UnsolvedError as unsolved:
                raise UnsupportedError(f"method freeform: {unsolved}") from unsolved
        nobody = context.scratch.table("assign")
        return Assignment(nobody, "kernel", divided=False, matches=Matches(rid[order], made))

    def _arranged(self, context: Context, loaded: Loaded) -> Longs:
        """Places of the rows in what was loaded, in the rows' order.

        Rows of equal codes are in the order of their ``rid``.
        """
        import numpy as np

        if self.order == "lexicographic":
            values = [len(np.unique(column)) for column in loaded.codes]
            columns = sorted(range(len(values)), key=lambda j: (values[j], j))
            return np.lexsort((loaded.rid, *(loaded.codes[j] for j in reversed(columns)))).astype(np.int64)
        from sqlanon.methods.onedim.curves import Hilbert
        from sqlanon.methods.onedim.orders import Tree

        order = Tree() if self.order == "tree" else Hilbert()
        found = order.arrange(context, loaded)
        order.within(context, found.bare, loaded.geometry)
        return found.bare.number.astype(np.int64)
