"""Method ``freeform``: a box of its own for every row.

The paper is Doka, Xue, Tsoumakos, Karras 2015, "k-Anonymization by Freeform Generalization".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Matches, Problem
from sqlanon.methods.freeform.declaration import FREEFORM, size_of

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.extent import Geometry
    from sqlanon.methods.shared.kernel_input import LoadedTable


class Freeform:
    """k matchings of rows and boxes, by the quasi values alone; the run remixes them and draws one by the secret.

    Args:
        order: rows are cut into blocks along this order.
        block: rows that are matched together; 0: by k.
        passes: how often every matching is made anew.
    """

    def __init__(self, order: str, block: int, passes: int) -> None:
        self.order, self.block, self.passes = order, block, passes

    def refusal(self, problem: Problem) -> str | None:
        (k,) = (int(requirement.asked) for requirement in problem.requirements if requirement.name == "k")
        if problem.rows < k:
            return f"method freeform needs at least k = {k} rows, and the table has {problem.rows}"
        lack = problem.lacks(FREEFORM.cost.memory(problem.rows, len(problem.quasi), k, {"block": self.block}))
        return f"method freeform {lack}, or use tree" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`.

        Cost: the order, O(n b^2) a matching at worst with blocks of b rows, and O(n k (b + k) d).
        """
        from sqlanon.kernels.compiled import expect
        from sqlanon.methods.freeform.kernels.assign import improve
        from sqlanon.methods.freeform.secret import content_of, key_of
        from sqlanon.methods.freeform.walk import BlockWalk, walk_blocks

        expect(improve)

        def match(codes: Ints, geometry: Geometry, k: int) -> Longs:
            options = {"order": self.order, "block": self.block, "passes": self.passes, "k": k}
            key = key_of(context.secret, context.release, content_of(context.secret, options, codes, geometry))
            block = size_of(self.block, k)
            walk = BlockWalk(k, block, self.passes, key)
            return walk_blocks(codes, geometry, walk, context.threads, report_matchings(context))

        return match_rows(context, self.order, match)


def report_matchings(context: Context) -> Callable[[int, int], None]:
    """A function that reports the number of matchings, or blocks of them, made and the total."""
    return lambda matchings, of: context.progress.update(matchings, of, "matchings")


def match_rows(context: Context, order: str, match: Callable[[Ints, Geometry, int], Longs]) -> Assignment:
    """The rows matched in an order.

    Args:
        context: the run.
        order: `ORDER` of `sqlanon.methods.freeform.declaration`.
        match: gets int32[d, n] codes of the rows in order, their geometry and k; returns int64[k, n] matchings.

    Cost: reading the codes, the order, and ``match``.
    """
    import numpy as np

    from sqlanon.methods.shared import kernel_input
    from sqlanon.privacy.base import least_rows

    geometry = kernel_input.make_geometry(context)
    rid, codes, _, _ = kernel_input.fetch_codes(context, tie_break=False, sensitive=False)
    places = _arrange(context, kernel_input.LoadedTable(rid, codes, [], geometry), order)
    matching = match(np.ascontiguousarray(codes[:, places]), geometry, least_rows(context.requirements))
    nobody = context.scratch.table("assign")
    return Assignment(nobody, "kernel", divided=False, matches=Matches(rid[places], matching))


def _arrange(context: Context, loaded: LoadedTable, order: str) -> Longs:
    """Places of the rows in ``loaded``, in order; rows of equal codes are in the order of their ``rid``."""
    import numpy as np

    if order == "lexicographic":
        values = [len(np.unique(column)) for column in loaded.codes]
        columns = sorted(range(len(values)), key=lambda j: (values[j], j))
        return np.lexsort((loaded.rid, *(loaded.codes[j] for j in reversed(columns)))).astype(np.int64)
    from sqlanon.methods.onedim.curves import Hilbert
    from sqlanon.methods.onedim.orders import Tree

    curve = Tree() if order == "tree" else Hilbert()
    arranged = curve.arrange(context, loaded)
    curve.within(context, arranged.bare, loaded.geometry)
    return arranged.bare.number.astype(np.int64)
