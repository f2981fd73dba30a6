"""Method ``matchings``: boxes of their own for rows, by the solvers that Doka et al. 2015 compare with theirs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from sqlanon.errors import UnsupportedError
from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.extent import Geometry


class Matchings:
    """k matchings of rows and boxes, found by the quasi values alone.

    Args:
        solver: how rows are matched.
        order: rows are cut into blocks along this order.
        block: rows that are matched together; 0: all.
    """

    def __init__(self, solver: str, order: str, block: int) -> None:
        self.solver, self.order, self.block = solver, order, block

    def refusal(self, problem: Problem) -> str | None:
        from sqlanon.papers.matchings.blocks import find_largest
        from sqlanon.papers.matchings.declaration import MATCHINGS
        from sqlanon.papers.matchings.solvers import explain_refusal

        (k,) = (int(requirement.asked) for requirement in problem.requirements if requirement.name == "k")
        if problem.rows < k:
            return f"method matchings needs at least k = {k} rows, and the table has {problem.rows}"
        refused = explain_refusal(self.solver, find_largest(problem.rows, self.block), k)
        if refused:
            return f"method matchings: {refused}, or name a block"
        if self.solver == "mip" and find_spec("scipy") is None:
            return "method matchings: solver mip needs SciPy: install sqlanon[mip], or use method freeform"
        options = {"solver": self.solver, "block": self.block}
        lack = problem.lacks(MATCHINGS.cost.memory(problem.rows, len(problem.quasi), k, options))
        return f"method matchings {lack}, or use tree" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: the order, and that of the solver for every block."""
        from sqlanon.methods.freeform.method import match_rows, report_matchings
        from sqlanon.papers.matchings.blocks import solve_in_blocks
        from sqlanon.papers.matchings.solvers import UnsolvedError

        def match(codes: Ints, geometry: Geometry, k: int) -> Longs:
            try:
                return solve_in_blocks(self.solver, codes, geometry, k, self.block, report_matchings(context))
            except UnsolvedError as unsolved:
                raise UnsupportedError(f"method matchings: {unsolved}") from unsolved

        return match_rows(context, self.order, match)
