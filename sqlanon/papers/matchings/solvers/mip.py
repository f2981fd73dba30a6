"""Solver ``mip``: the least loss of all k-regular graphs (Doka et al. 2015, section 4), by HiGHS through SciPy.

The paper's program has a variable x(i, j) an edge, x(j, j) = 1, and bounds on the ends of boxes, for other columns on a
0/1 variable a value. The relaxation is far from the optimum: HiGHS needs 6 s for 8 rows of 8 columns, 20 s for 10. Here
a variable says that box j has its own row and a certain set of k - 1 others, and the cost is the width of that box;
every box has one set, every row is in k - 1 boxes of others. The optimum is the same and found in a second for 14 rows;
ranges, sets, hierarchies and NULLs are all exact, as costs are those of all solvers.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.methods.freeform.kernels.remix import decompose_graph
from sqlanon.methods.freeform.kernels.stream import stream
from sqlanon.papers.matchings.kernels.sets import price_sets
from sqlanon.papers.matchings.solvers import UnsolvedError

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.papers.matchings.kernels.cost import Coordinates


_UNIT = 1 << 10
"""Costs are divided by it: the solver's tolerances are for numbers of ordinary size."""


def solve(rows: Coordinates, k: int, seconds: float = 600.0) -> Longs:
    """See `sqlanon.papers.matchings.solvers`.

    Args:
        rows: as there.
        k: as there.
        seconds: how long the solver may take.

    Raises:
        UnsolvedError: no optimum was found in time, or there is no SciPy.

    Cost: n (n-1 over k-1) variables; exponential.
    """
    n = len(rows.codes)
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csc_array
    except ImportError as missing:
        raise UnsolvedError("solver mip needs SciPy: install sqlanon[mip], or use method freeform") from missing
    identity = np.arange(n, dtype=np.int64)
    sets = np.array(list(combinations(range(n - 1), k - 1)), np.int64).reshape(comb(n - 1, k - 1), k - 1)
    other_boxes = sets[None] + (sets[None] >= identity[:, None, None])
    # A column of ones for each variable: that box j has a set, and that each of its rows is in one more box.
    box = np.broadcast_to(identity[:, None, None], (n, len(sets), 1))
    places = np.concatenate([box, n + other_boxes], axis=2).ravel()
    ones, begins = np.ones(len(places)), np.arange(n * len(sets) + 1) * k
    sums = np.repeat([1, k - 1], n)
    solution = milp(
        price_sets(rows, sets).ravel() / _UNIT,
        integrality=np.ones(n * len(sets)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(csc_array((ones, places, begins), shape=(2 * n, n * len(sets))), sums, sums),
        options={"mip_rel_gap": 0.0, "time_limit": seconds},
    )
    if solution.x is None or solution.status != 0:
        raise UnsolvedError(f"solver mip has no optimum after {seconds:g} s; use method freeform")
    choice = solution.x.reshape(n, len(sets)).argmax(axis=1)
    matchings = decompose_graph(
        np.concatenate([identity[:, None], other_boxes[identity, choice]], axis=1), stream(bytes(32))
    )
    return np.argsort(matchings, axis=1)  # from the row of each box to the box of each row
