"""Method ``mdav``: clusters around the rows farthest from the mean (Domingo-Ferrer & Mateo-Sanz 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.kernels.extent import Geometry
    from sqlanon.kernels.requirements import Demands
    from sqlanon.kernels.rows import Rows


class MDAV:
    """Microaggregation by distances of points, not by the boxes that are published.

    Args:
        block: rows that are clustered together.
    """

    def __init__(self, block: int) -> None:
        self.block = block

    def refusal(self, problem: Problem) -> str | None:
        """See `Algorithm.refusal`."""
        from sqlanon.methods.clustering.blocks import lacks_memory

        return lacks_memory("mdav", problem)

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: O(n b (1 + d / k)) with blocks of b rows, and the order's."""
        import numpy as np

        from sqlanon.kernels.mdav import Points, mdav
        from sqlanon.kernels.mondrian import grow
        from sqlanon.methods.clustering.blocks import clustered
        from sqlanon.methods.onedim.axes import axes
        from sqlanon.methods.shared import kernel_input
        from sqlanon.methods.shared.compiling import note_compiling

        note_compiling(context.progress, grow, mdav)
        quasi = context.encoded.quasi
        lines = axes(context, kernel_input.geometry(context))
        nominal = [domain.reading.treatment == "nominal" for domain in quasi]
        codes = np.array([domain.codes * own for domain, own in zip(quasi, nominal, strict=True)], np.int64)
        weight = np.array([domain.reading.spec.weight for domain in quasi], np.int64)

        def work(
            rows: Rows, geometry: Geometry, demands: Demands, group: npt.NDArray[np.int32]
        ) -> int:  # fmt: skip
            at = np.empty((len(group), len(quasi)), np.int32)
            for a, line in enumerate(lines):
                at[:, a] = rows.codes[:, a] if nominal[a] else line[rows.codes[:, a]]
            points = Points(at, codes, weight)
            return int(mdav(points, rows.places, rows.sets, geometry, demands, rows.number, group))

        return clustered(context, "mdav", self.block, work)
