"""Method ``freeform``: a box of its own for every row (Doka, Xue, Tsoumakos, Karras 2015, "k-Anonymization by Freeform Generalization")."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from sqlanon.errors import UnsupportedError
from sqlanon.methods.base import Assignment, Context, Matches, Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.methods.shared.kernel_input import Loaded

    Ints = npt.NDArray[np.int32]
    Longs = npt.NDArray[np.int64]


class Freeform:
    """k matchings of rows and boxes, remixed by a secret, and one of them drawn.

    Args:
        solver: how rows are matched.
        order: what rows are cut into blocks along.
        block: rows that are matched together; 0: by k.
        passes: how often every matching is made anew.
    """

    def __init__(self, solver: str, order: str, block: int, passes: int) -> None:
        self.solver, self.order, self.block, self.passes = solver, order, block, passes

    def refusal(self, problem: Problem) -> str | None:
        """See `Algorithm.refusal`."""
        (k,) = (int(one.asked) for one in problem.requirements if one.name == "k")
        if problem.rows < k:
            return f"method freeform needs at least k = {k} rows, and the table has {problem.rows}"
        if self.solver != "hungarian":
            from sqlanon.methods.freeform.blocks import largest
            from sqlanon.methods.freeform.solvers import refusal

            refused = refusal(self.solver, largest(problem.rows, self.block), k)
            if refused:
                return f"method freeform: {refused}, or name a block"
            if self.solver == "mip" and find_spec("scipy") is None:
                return (
                    "method freeform: solver mip needs SciPy: install sqlanon[mip], or use solver hungarian"
                )
        d, block = len(problem.quasi), max(self.block, 512, 2 * k)
        lack = problem.lacks(problem.rows * (12 * d + 48 * k + 120) + 16 * block * block)
        return f"method freeform {lack}, or use tree" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: that of the order, O(n b^2) a matching at worst with blocks of b rows, and O(n k (b + k) d)."""
        import numpy as np

        from sqlanon.kernels.freeform_assign import improve
        from sqlanon.methods.freeform.blocks import solved_in_blocks
        from sqlanon.methods.freeform.secret import content_of, key_of
        from sqlanon.methods.freeform.solvers import UnsolvedError
        from sqlanon.methods.freeform.walk import drawn, remixed, size_of, walked
        from sqlanon.methods.shared import kernel_input
        from sqlanon.methods.shared.compiling import note_compiling
        from sqlanon.privacy import least_rows

        note_compiling(context.progress, improve)
        k = least_rows(context.requirements)
        geometry = kernel_input.geometry(context)
        rid, codes, _, _ = kernel_input.fetch_codes(context, tie_break=False, sensitive=False)
        loaded = kernel_input.Loaded(_turns(context)[rid], codes, [], geometry)
        order = self._arranged(context, loaded)
        lined = np.ascontiguousarray(codes[:, order])
        options = {
            "solver": self.solver,
            "order": self.order,
            "block": self.block,
            "passes": self.passes,
            "k": k,
        }
        content = content_of(context.secret, options, lined, geometry)
        key = key_of(context.secret, context.release, content)

        def progress(done: int, of: int) -> None:
            context.progress.update(done, of, "matchings")

        if self.solver == "hungarian":
            block = size_of(self.block, k)
            made = walked(lined, geometry, k, block, self.passes, key, context.threads, progress)
        else:
            try:
                made = solved_in_blocks(self.solver, lined, geometry, k, self.block, progress)
            except UnsolvedError as unsolved:
                raise UnsupportedError(f"method freeform: {unsolved}") from unsolved
        matchings = remixed(made, key)
        return _assignment(context, rid[order], made, matchings, drawn(k, key), content)

    def _arranged(self, context: Context, loaded: Loaded) -> Longs:
        """The rows in order, by their place in what was loaded; rows of equal codes are in the order of their ``rid``."""
        import numpy as np

        if self.order == "lexicographic":
            values = [len(np.unique(column)) for column in loaded.codes]
            columns = sorted(range(len(values)), key=lambda j: (values[j], j))
            return np.lexsort((loaded.rid, *(loaded.codes[j] for j in reversed(columns)))).astype(np.int64)
        from sqlanon.methods.onedim.curves import Hilbert
        from sqlanon.methods.onedim.orders import Tree

        order = Tree() if self.order == "tree" else Hilbert()
        found = order.arrange(context, loaded)
        order.within(context, found.bare, loaded.geometry)
        return found.bare.number.astype(np.int64)


def _turns(context: Context) -> Ints:
    """The place of every row, by its row id, in an order that says nothing about rows."""
    import numpy as np

    kept = [{"alias": reading.alias, "kind": reading.column.kind} for reading in context.encoded.roles.kept]
    scratch = context.scratch
    keyed = scratch.table("keyed")
    # What is fetched as arrays is written into the statement's text: the secret must not be.
    scratch.execute(
        "freeform/keyed",
        {"secret": context.secret},
        keyed=keyed,
        stage=context.encoded.stage,
        kept=kept,
        link=context.encoded.roles.link,
    )
    rid, turn = scratch.fetch_arrays(scratch.sql("freeform/turns", keyed=keyed), ["int32", "int32"])
    scratch.drop(keyed)
    found = np.empty(len(rid), np.int32)
    found[rid] = turn
    return found


def _assignment(
    context: Context, rid: Ints, made: Longs, matchings: Ints, draw: int, content: str
) -> Assignment:
    """What the tables of a run are made of; ``rid``: the rows in order."""
    import numpy as np

    k, n = matchings.shape
    base = np.empty((k, n), np.int16)
    np.put_along_axis(base, np.argsort(matchings, axis=0), np.argsort(made, axis=0).astype(np.int16), axis=0)
    slots = np.arange(n, dtype=np.int32)
    scratch, engine = context.scratch, context.scratch.engine
    table, edges, places = scratch.table("assign"), scratch.table("edges"), scratch.table("slots")
    engine.load_arrays(table, {"rid": rid, "class": matchings[draw]})
    engine.load_arrays(places, {"rid": rid, "slot": slots})
    for t in range(k):
        number = np.full(n, t, np.int16)
        columns = {
            "rid": rid,
            "slot": slots,
            "box": matchings[t],
            "matching": number,
            "base": base[t],
        }
        engine.load_arrays(edges, columns)
    return Assignment(table, "kernel", divided=False, matches=Matches(k, edges, places, content))
