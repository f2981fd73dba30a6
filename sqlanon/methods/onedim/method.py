"""The one-dimensional framework: an order of the rows, and a solver that divides it (Ghinita et al. 2009).

`hilbert` is a mapping of the paper with exact loss, `hilbert_fast` measures a class by the extent on the line (section
6.1, HilbFast); `tree`, ours and the default, takes the leaf order of a loss-cut Mondrian. Extensions add orders of
their own: see `OneDimensional`.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, ClassVar

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.privacy.base import shapes_beyond_rows

if TYPE_CHECKING:
    from sqlanon.methods.onedim.row_orders import Order


MOST_BOUNDARIES = 1 << 24
"""Boundaries that the optimal solvers keep, 24 bytes each."""


def explain_refusal(name: str, problem: Problem) -> str | None:
    """Reason why the optimal solver does not take the data, and an alternative; None if it does."""
    from sqlanon.methods.onedim.kernels.optimal_diverse import MOST_STEPS, steps

    key, dual = f"method {name}: solver=optimal", problem.accuracy is not None or _fractional(problem)
    heuristic = "solver=auto, the heuristic, takes any"
    if len(problem.quasi) != 1 or problem.quasi[0].reading.treatment != "ordered":
        return f"{key} takes one quasi column that is a line (numbers, dates or an order); {heuristic}"
    if problem.quasi[0].has_null:
        return f"{key} takes a quasi column without NULLs; {heuristic}"
    counts = problem.occurrences(problem.sensitive[0])
    states, work = prod(rows + 1 for rows in counts), steps(counts, dual)
    if states > MOST_BOUNDARIES or work > MOST_STEPS or len(counts) > 62:
        return (
            f"{key} is for small tables: {problem.rows} rows with {len(counts)} sensitive values make {_size(states)} "
            f"boundaries and up to {_size(work)} steps; at most {MOST_BOUNDARIES} and {MOST_STEPS} are allowed; "
            f"{heuristic}"
        )
    if not problem.finite(problem.quasi[0]):
        return f"{key} takes finite values, and the quasi column holds infinities or NaN; {heuristic}"
    return None


def _fractional(problem: Problem) -> bool:
    """Whether a group may hold a value more than once: the solver looks at more groups then."""
    from sqlanon.methods.onedim.direct import whole_l

    return not whole_l(shapes_beyond_rows(problem.requirements))


def _size(number: int) -> str:
    """A count, however large."""
    return str(number) if number < 1_000_000 else f"10^{len(str(number)) - 1}"


class OneDimensional:
    """Rows in one order, divided by one solver. Subclasses give the order, and have the declaration's name."""

    name: ClassVar[str]
    fast: ClassVar[bool] = False

    def __init__(self, minimize: str, solver: str) -> None:
        self.minimize = minimize
        self.solver = solver

    def make_order(self) -> Order:
        """The order, with options from the policy."""
        raise NotImplementedError

    def refusal(self, problem: Problem) -> str | None:
        is_own = problem.accuracy is not None or self.solver != "auto"
        refused = explain_refusal(self.name, problem) if self.solver == "optimal" else None
        if refused or not (is_own or shapes_beyond_rows(problem.requirements)):
            return refused
        needed = problem.rows * self.row_bytes(
            len(problem.quasi), problem.counted, bounded=problem.accuracy is not None
        )
        lack = problem.lacks(needed)
        advice = "" if is_own else ", or, many times slower, use mondrian"
        return f"method {self.name} {lack}{advice}" if lack else None

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: the order's, then O(k n d) for k alone and about linear for l."""
        import numpy as np

        from sqlanon.kernels.compiled import expect
        from sqlanon.methods.onedim import direct, dual
        from sqlanon.methods.onedim.curves import Curve
        from sqlanon.methods.onedim.stream_solver import arrange_by_engine, assign_streamed
        from sqlanon.methods.onedim.tuples import Tuples, assign_tuples
        from sqlanon.methods.shared import kernel_input
        from sqlanon.methods.shared.class_boxes import make_spans
        from sqlanon.methods.shared.equal_codes import EqualRows
        from sqlanon.methods.shared.load_assignment import load_classes
        from sqlanon.methods.shared.refine import refine_loaded
        from sqlanon.methods.shared.threads import put_at

        is_own = context.accuracy is not None or self.solver != "auto"
        order = self.make_order()
        expect(
            dual.kernel_for(context, self.solver) if is_own else direct.kernel_for(context.requirements),
            *order.kernels(),
        )
        encoded = context.encoded
        needed = encoded.rows * self.row_bytes(len(encoded.quasi), len(encoded.counted))
        alone = not is_own and not shapes_beyond_rows(context.requirements)
        if alone and (context.execution == "pushdown" or needed > context.memory):
            table = assign_streamed(context, order, self.fast, direct.OBJECTIVES[self.minimize])
            return Assignment(table, "pushdown" if context.execution == "pushdown" else "pushdown+kernel")
        if context.execution == "pushdown":
            loaded, arrangement = arrange_by_engine(context, order)
        else:
            loaded = kernel_input.load(context)
            if alone and isinstance(order, Curve) and self.minimize == "gcp" and not self.fast and not context.refine:
                ranked = order.rank(context, loaded)
                tuples = Tuples.find(context, loaded, ranked, order.find_stretch(encoded.rows))
                if tuples is not None:
                    return assign_tuples(context, loaded, tuples, order)
                arrangement = order.arrange(context, loaded, ranked)
            else:
                arrangement = order.arrange(context, loaded)
        bare = arrangement.bare
        equal = EqualRows.of(bare, context.threads)
        notes: tuple[str, ...] = ()
        if is_own:
            order.within(context, bare, loaded.geometry)
            arranged = arrangement.arrange(loaded.geometry, context.threads)
            group, notes = dual.solve(context, loaded, arranged, self.solver, self.minimize)
        else:
            group = direct.solve(context, loaded, arrangement, order, fast=self.fast, minimize=self.minimize)
        classes = put_at(group, bare.number, context.threads)
        execution = "pushdown" if context.execution == "pushdown" else "kernel"
        if context.refine is not None:
            del arrangement, bare, equal
            return refine_loaded(context, loaded, classes, execution, notes)
        table = context.scratch.table("assign")
        listed = load_classes(context, table, loaded.rid, classes)
        names = np.arange(int(group.max()) + 1, dtype=np.int32)
        boxes = make_spans(context, bare, loaded.geometry, group, names)
        shared = loaded.rid[equal.list_divided(classes)]
        if not len(shared):
            return Assignment(table, execution, notes, boxes, divided=False, listed=listed)
        shared_rows = context.scratch.table("shared_rows")
        context.scratch.engine.load_arrays(shared_rows, {"rid": shared})
        return Assignment(table, execution, notes, boxes, shared=shared_rows, listed=listed)

    def row_bytes(self, d: int, s: int, *, bounded: bool = False) -> int:
        """Bytes that a table in memory needs for a row of ``d`` quasi and ``s`` sensitive columns, at the peak."""
        from sqlanon.kernels.lanes import pad_width

        row = 8 * pad_width(d) + 8 * d + 4
        dual = 8 * d + 70 if bounded else 0
        return 4 * (d + s + 1) + 4 * pad_width(d) + row * 2 + 60 + dual


class Hilbert(OneDimensional):
    """Along the Hilbert curve, exact loss."""

    name = "hilbert"

    def make_order(self) -> Order:
        from sqlanon.methods.onedim.curves import Hilbert as Curve

        return Curve()


class HilbertFast(Hilbert):
    """Along the Hilbert curve, extents on the curve."""

    name = "hilbert_fast"
    fast = True


class Tree(OneDimensional):
    """Along the leaves of the loss-cut tree."""

    name = "tree"

    def make_order(self) -> Order:
        from sqlanon.methods.onedim.orders import Tree as Leaves

        return Leaves()
