"""Method ``kmember``: greedy clusters around rows far from each other (Byun, Kamra, Bertino & Li 2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.kernels.extent import Geometry
    from sqlanon.kernels.requirements import Demands
    from sqlanon.kernels.rows import Rows


class KMember:
    """Clusters that grow row by row.

    Args:
        grow: ``cluster``: by the row that widens the cluster least; ``centre``: by the row nearest to its first one.
        block: rows that are clustered together.
    """

    def __init__(self, grow: str, block: int) -> None:
        self.grow = grow
        self.block = block

    def refusal(self, problem: Problem) -> str | None:
        """See `Algorithm.refusal`."""
        from sqlanon.methods.clustering.blocks import lacks_memory

        return lacks_memory("kmember", problem)

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: O(n b d) with blocks of b rows, and the order's."""
        from sqlanon.kernels.kmember import kmember
        from sqlanon.kernels.mondrian import grow
        from sqlanon.methods.clustering.blocks import clustered
        from sqlanon.methods.shared.compiling import note_compiling

        note_compiling(context.progress, grow, kmember)

        def work(rows: Rows, geometry: Geometry, demands: Demands, group: npt.NDArray[np.int32]) -> int:
            centred = self.grow == "centre"
            return int(kmember(rows.places, rows.sets, geometry, demands, rows.number, centred, group))

        return clustered(context, "kmember", self.block, work)
