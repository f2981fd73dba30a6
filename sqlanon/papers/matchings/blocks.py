"""The solvers, block by block of the order, as the paper partitions a table (Doka et al. 2015, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.methods.freeform.walk import windows_of

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.extent import Geometry


def find_largest(n: int, block: int) -> int:
    """Rows of the largest block; ``block`` 0: the table is a block."""
    windows = windows_of(n, block or n)
    return int((windows[:, 1] - windows[:, 0]).max())


def solve_in_blocks(
    solver: str, codes: Ints, geometry: Geometry, k: int, block: int, progress: Callable[[int, int], None]
) -> Longs:
    """The matchings that a solver finds in every block, int64[k, n].

    Args:
        solver: the name of the solver.
        codes: int32[d, n], the rows in order.
        geometry: the attributes.
        k: how many matchings.
        block: rows of a block; 0: the table is a block.
        progress: gets blocks done, of how many.
    """
    import numpy as np

    from sqlanon.methods.shared.kernel_input import rows_of
    from sqlanon.papers.matchings.kernels.cost import prepare_rows
    from sqlanon.papers.matchings.solvers import solve_matchings

    n = codes.shape[1]
    targets, windows = np.empty((k, n), np.int64), windows_of(n, block or n)
    for windows_done, (begin, stop) in enumerate(windows.tolist(), 1):
        part = np.ascontiguousarray(codes[:, begin:stop])
        rows = rows_of(part, np.arange(stop - begin, dtype=np.int32), geometry)
        own_rows = prepare_rows(rows.places, rows.sets, rows.codes, geometry)
        targets[:, begin:stop] = solve_matchings(solver, own_rows, k) + begin
        progress(windows_done, len(windows))
    return targets
