"""Method ``mdav``: clusters around the rows farthest from the mean (Domingo-Ferrer & Mateo-Sanz 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    from sqlanon.methods.clustering.blocks import Block


class MDAV:
    """Microaggregation by distances of points, not by the boxes that are published.

    Args:
        block: rows that are clustered together.
    """

    def __init__(self, block: int) -> None:
        self.block = block

    def refusal(self, problem: Problem) -> str | None:
        from sqlanon.methods.clustering.blocks import lacks_memory

        return lacks_memory("mdav", problem)

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: O(n b (1 + d / k)) with blocks of b rows, and the order's."""
        import numpy as np

        from sqlanon.kernels.compiled import expect
        from sqlanon.kernels.mondrian import grow
        from sqlanon.methods.clustering.blocks import in_blocks
        from sqlanon.methods.onedim.axes import make_axes
        from sqlanon.papers.mdav.kernels import Points, cluster_by_mdav

        expect(grow, cluster_by_mdav)
        quasi = context.encoded.quasi
        blocks = in_blocks(context, "mdav", self.block)
        lines = make_axes(context, blocks.loaded.geometry)
        nominal = [domain.reading.treatment == "nominal" for domain in quasi]
        codes = np.array(
            [domain.codes * is_nominal for domain, is_nominal in zip(quasi, nominal, strict=True)], np.int64
        )
        weight = np.array([domain.reading.spec.weight for domain in quasi], np.int64)

        def work(block: Block) -> int:
            rows, geometry = block.rows, blocks.loaded.geometry
            positions = np.empty((len(block.group), len(quasi)), np.int32)
            for a, line in enumerate(lines):
                positions[:, a] = rows.codes[:, a] if nominal[a] else line[rows.codes[:, a]]
            points = Points(positions, codes, weight)
            return block.cluster(cluster_by_mdav, geometry, first=(points,))

        return blocks.cluster_blocks(work)
