"""Method ``kmember``: greedy clusters around rows far from each other (Byun, Kamra, Bertino & Li 2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    pass


class KMember:
    """Clusters that grow row by row.

    Args:
        grow: ``cluster``: by the row that widens the cluster least; ``centre``: by the row nearest to the first row.
        block: rows that are clustered together.
    """

    def __init__(self, grow: str, block: int) -> None:
        self.grow = grow
        self.block = block

    def refusal(self, problem: Problem) -> str | None:
        from sqlanon.methods.clustering.blocks import lacks_memory

        return lacks_memory("kmember", problem)

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: O(n b d) with blocks of b rows, and the order's."""
        from sqlanon.kernels.compiled import expect
        from sqlanon.kernels.mondrian import grow
        from sqlanon.methods.clustering.blocks import in_blocks
        from sqlanon.methods.clustering.kernels.kmember import cluster_k_members

        expect(grow, cluster_k_members)
        blocks, centred = in_blocks(context, "kmember", self.block), self.grow == "centre"
        geometry = blocks.loaded.geometry
        return blocks.cluster_blocks(lambda block: block.cluster(cluster_k_members, geometry, centred))
