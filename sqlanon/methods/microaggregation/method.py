"""Method ``microaggregation``: groups of k rows or more by squared error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Doubles, Ints, Longs
    from sqlanon.methods.clustering.blocks import Block

UNIT = 1 << 12
"""A standard deviation of a column."""
WARM = 3.0
"""First temperature of the search, in mean squared errors of a row."""


class Microaggregation:
    """Rows are points: a column's places, divided by their standard deviation, times the root of the weight.

    Args:
        start: ``mdav`` or ``vmdav``.
        gamma: of ``vmdav``, in percent.
        search: steps for each row.
        block: rows that are grouped together.
    """

    def __init__(self, start: str, gamma: int, search: int, block: int) -> None:
        self.start, self.gamma, self.search, self.block = start, gamma, search, block

    def refusal(self, problem: Problem) -> str | None:
        from sqlanon.methods.clustering.blocks import lacks_memory

        return lacks_memory("microaggregation", problem)

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        Cost: O(n b (1 + d)) with blocks of b rows, and O(d) for each step of the search, some 0.1 us.
        """
        import numpy as np

        from sqlanon.kernels.compiled import expect
        from sqlanon.kernels.mondrian import grow
        from sqlanon.methods.clustering.blocks import in_blocks
        from sqlanon.methods.microaggregation.kernels.anneal_groups import anneal_groups
        from sqlanon.methods.onedim.axes import make_axes

        expect(grow, anneal_groups)
        blocks = in_blocks(context, "microaggregation", self.block)
        lines = make_axes(context, blocks.loaded.geometry)
        weights = [domain.reading.spec.weight for domain in context.encoded.quasi]
        scaled = [
            scale_places(np.asarray(line, np.int64), codes, weight)
            for line, codes, weight in zip(lines, blocks.loaded.codes, weights, strict=True)
        ]

        def work(block: Block) -> int:
            points = np.empty((len(block.group), len(scaled)))
            for a, line in enumerate(scaled):
                points[:, a] = line[block.rows.codes[:, a]]
            return self.group_points(
                points, block.demands.k, context.search_seed + block.number, block.group, block.stop
            )

        return blocks.cluster_blocks(work)

    def group_points(self, points: Doubles, k: int, seed: int, group: Ints, stop: npt.NDArray[np.int8]) -> int:
        """Group points, float64[n, d] of whole numbers: write the group of each, return how many there are."""
        import numpy as np

        from sqlanon.kernels.random import seed_state
        from sqlanon.methods.microaggregation.kernels.anneal_groups import anneal_groups, find_neighbours
        from sqlanon.methods.microaggregation.kernels.starts import group_by_mdav, group_by_vmdav

        n, k = len(points), max(k, 1)
        if self.start == "mdav":
            groups = group_by_mdav(points, k, group, stop)
        else:
            groups = group_by_vmdav(points, k, self.gamma / 100, group, stop)
        if groups > 1 and k > 1 and self.search:
            near = np.zeros((n, min(n - 1, max(4 * k, 30))), np.int32)
            find_neighbours(points, near, stop)
            groups = anneal_groups(points, k, near, self.search * n, WARM, seed_state(seed), group, stop)
        return int(groups)


def scale_places(line: Longs, codes: npt.NDArray[np.integer], weight: int) -> Doubles:
    """The places of codes in units of `UNIT` for a standard deviation, whole numbers.

    Args:
        line: int64[codes], places from 0 to `SCALE`.
        codes: int[n], of the rows.
        weight: of the column; squared errors are multiplied by it.
    """
    import numpy as np

    counts = np.bincount(codes, minlength=len(line))
    places = [(int(place), int(count)) for place, count in zip(line, counts, strict=True) if count]
    rows = len(codes)
    total = sum(place * count for place, count in places)
    spread = math.isqrt(rows * sum(place * place * count for place, count in places) - total * total)
    if spread == 0:
        return np.zeros(len(line))
    unit = math.isqrt(weight * UNIT * UNIT)
    return np.array([(int(place) * rows - total) * unit // spread for place in line], np.float64)
