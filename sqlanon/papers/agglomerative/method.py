"""Method ``agglomerative``: the two nearest clusters unite first (Gionis & Tassa 2007; Goldberger & Tassa 2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    pass


class Agglomerative:
    """Clusters that unite in pairs.

    Args:
        block: rows that are clustered together.
    """

    def __init__(self, block: int) -> None:
        self.block = block

    def refusal(self, problem: Problem) -> str | None:
        from sqlanon.methods.clustering.blocks import lacks_memory

        return lacks_memory("agglomerative", problem)

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: O(n b d) with blocks of b rows, and the order's."""
        from sqlanon.kernels.compiled import expect
        from sqlanon.kernels.mondrian import grow
        from sqlanon.methods.clustering.blocks import in_blocks
        from sqlanon.papers.agglomerative.kernels import cluster_by_unions

        expect(grow, cluster_by_unions)
        blocks = in_blocks(context, "agglomerative", self.block)
        geometry = blocks.loaded.geometry
        # A nearest cluster for every row, then every cluster unites or closes.
        return blocks.cluster_blocks(lambda block: block.cluster(cluster_by_unions, geometry), unit="steps", each=2)
