"""Method ``fulldomain``: every column is generalized by the levels of a hierarchy.

``search: global`` takes one level a column, the same for all rows: the node of the lattice that is best by ``metric``
within the policy's ``suppression``. ``all`` finds every minimal node as Incognito does (LeFevre, DeWitt, Ramakrishnan
2005), and publishes the best of them. ``local`` (ours, the default) lets every node keep as many classes as it can,
finest nodes first, and publishes the least common node of each class.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.methods.fulldomain.declaration import MOST_NODES

if TYPE_CHECKING:
    from sqlanon.methods.fulldomain.levels import Lattice


class FullDomain:
    """Generalization by levels."""

    def __init__(self, search: str, metric: str, nodes: int, divide: str) -> None:
        self.search = search
        self.metric = metric
        self.nodes = nodes
        self.divide = divide

    def refusal(self, problem: Problem) -> str | None:
        from sqlanon.methods.fulldomain.levels import nodes_of

        nodes = nodes_of(problem.quasi)
        if nodes > MOST_NODES:
            trees = any(domain.reading.treatment == "hierarchy" for domain in problem.quasi)
            fewer = "leave levels out of hierarchies" if trees else "name fewer quasi columns"
            many = str(nodes) if nodes < 10**15 else f"more than 10^{int(math.log10(nodes))}"
            return (
                f"method fulldomain takes at most {MOST_NODES} combinations of levels, and the {len(problem.quasi)} "
                f"quasi columns have {many}: {fewer}, or use method tree"
            )
        if self.search == "local":
            lack = problem.lacks(problem.rows * self.row_bytes(len(problem.quasi), problem.counted))
            return f"method fulldomain (search=local) {lack}, or use search=global, or use mondrian" if lack else None
        return None

    def row_bytes(self, d: int, s: int) -> int:
        """Bytes of a row of ``d`` quasi and ``s`` counted columns in memory, if every row is a separate cell."""
        return 12 * (d + s) + 8 * (d // 4 + 1) * 2 + 96

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        Cost: a GROUP BY of the table and a join with it; in between the search looks at cells alone, nodes x cells at
        worst.
        """
        lattice = self._lattice(context)
        if self.search == "local":
            from sqlanon.methods.fulldomain import local_assignment

            return local_assignment.assign(context, lattice, divide=self.divide == "values", most=self.nodes)
        from sqlanon.methods.fulldomain import search

        encoded = context.encoded
        rows = encoded.rows + (encoded.population.rows if encoded.population else 0)
        fits = rows * self.row_bytes(len(encoded.quasi), len(encoded.counted)) <= context.memory
        pushed = context.execution == "pushdown" or (context.execution == "auto" and not fits)
        return search.assign(context, lattice, every=self.search == "all", metric=self.metric, pushed=pushed)

    def _lattice(self, context: Context) -> Lattice:
        from sqlanon.methods.fulldomain.cells import count_values
        from sqlanon.methods.fulldomain.levels import lattice_of

        return lattice_of(context.encoded.quasi, count_values(context), self.metric)
