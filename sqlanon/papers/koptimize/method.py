"""Method ``koptimize``: the best cut points of ordered columns (after Bayardo and Agrawal 2005)."""

from __future__ import annotations

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.papers.koptimize.declaration import MOST_CUTS


class KOptimize:
    """Enumeration of sets of cuts, with lower bounds (docs/koptimize.md).

    Args:
        metric: to minimize.
        sets: sets of cuts that are looked at, at most.
    """

    def __init__(self, metric: str, sets: int) -> None:
        self.metric = metric
        self.sets = sets

    def refusal(self, problem: Problem) -> str | None:
        unordered = [domain.reading.name for domain in problem.quasi if domain.reading.treatment != "ordered"]
        if unordered:
            return (
                f"method koptimize divides ordered columns, and {', '.join(unordered)} "
                f"{'is none' if len(unordered) == 1 else 'are none'}: give an order (ordered) in place of a hierarchy "
                "or of none, or use method fulldomain"
            )
        cuts = sum(max(domain.codes - 1, 0) for domain in problem.quasi)
        if cuts > MOST_CUTS:
            return (
                f"method koptimize takes at most {MOST_CUTS} cut points, and the quasi columns have {cuts}: round "
                "their values in the source, or use mondrian"
            )
        lack = problem.lacks(problem.rows * self._row_bytes(len(problem.quasi), problem.counted))
        return f"method koptimize {lack}, or use mondrian" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        Cost: a GROUP BY of the table and a join with it; in between sets of cuts x different rows, at worst.
        """
        from sqlanon.papers.koptimize.assignment import assign

        return assign(context, self.metric, self.sets)

    @staticmethod
    def _row_bytes(d: int, s: int) -> int:
        """Bytes of a row of ``d`` quasi and ``s`` counted columns in memory, if every row differs."""
        return 12 * (d + s) + 8 * (d // 4 + 1) * 2 + 96
