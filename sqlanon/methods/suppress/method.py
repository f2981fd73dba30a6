"""Suppression: classes that show a value where their rows agree, else ``*`` (Xiao, Yi and Tao 2010).

The table is grouped once by quasi values; kernels work on the counts, and one join gives rows their classes. As a
``pushdown`` phase one of TP, by far most of the work, is SQL as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.privacy.base import least_rows, shapes_beyond_rows
from sqlanon.spec import MethodSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.engines.base import TableRef
    from sqlanon.methods.suppress.cells import Cells
    from sqlanon.methods.suppress.solve import SolvedClasses
    from sqlanon.table.domain import Domain


def divide_residue(context: Context, table: TableRef, solved: SolvedClasses, name: str) -> TableRef:
    """The classes with the residue divided by the method ``name``.

    Args:
        context: the run.
        table: row -> class, all rows; it is dropped.
        solved: which class is the residue. It is eligible, so that the method finds classes.
        name: the method, with default options.
    """
    from sqlanon.methods.method import make_method

    scratch, encoded = context.scratch, context.encoded
    work, with_rest = scratch.table("residue"), scratch.table("with_rest")
    codes = [domain.code for domain in encoded.quasi + encoded.sensitive]
    scratch.execute(
        "suppress/residue", residue=work, work=encoded.work, assign=table, number=solved.residue, codes=codes
    )
    part = replace(encoded, coded=work, rows=solved.left, numbers=encoded.past)
    inner = replace(context, encoded=part, execution="auto", refine=None, listed=False, read_again=True)
    assignment = make_method(MethodSpec(name)).assign(inner)
    scratch.execute("suppress/rest", made=with_rest, assign=table, rest=assignment.table, number=solved.residue)
    for scratch_table in (table, work, assignment.table, *([assignment.spans] if assignment.spans else [])):
        scratch.drop(scratch_table)
    return with_rest


_CELL_BYTES = 240
"""A cell at the peak: as fetched and sorted, in sets, and the classes; there are at most as many cells as rows."""


class Suppress:
    """TP, TP+, the cascade, and the better of the cascade and another start."""

    def __init__(self, variant: str, rest: str, divide: str, solver: str) -> None:
        self.variant = variant
        self.rest = rest
        self.divide = divide
        self.solver = solver

    def refusal(self, problem: Problem) -> str | None:
        if self.solver == "optimal" and problem.sensitive[0].codes != 2:
            return (
                "method suppress: solver=optimal is for two sensitive values, and "
                f"{problem.sensitive[0].reading.spec.name} has {problem.sensitive[0].codes}; with more it is NP-hard; "
                "leave solver out"
            )
        lack = problem.lacks(problem.rows * (_CELL_BYTES + 8 * len(problem.quasi)))
        if lack:
            return f"method suppress {lack}; or, with less loss of order, use mondrian"
        if not self._compares(problem.rows):
            return None
        from sqlanon.methods.suppress.better import make_other_start

        # What is released must not depend on the machine.
        refused = make_other_start().refusal(problem)
        return f"method suppress compares with another one, and {refused}; or say variant=cascade" if refused else None

    def _compares(self, rows: int) -> bool:
        """Whether the classes of the other start may be taken; not where a policy caps the cascade's last class."""
        from sqlanon.methods.suppress.better import MOST_ROWS

        return self.variant == "better" and self.divide == "values" and self.solver == "auto" and rows <= MOST_ROWS

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Cost: a grouping and a join of the rows, and that of `solve` in cells."""
        from sqlanon.kernels.compiled import expect
        from sqlanon.methods.suppress.cells import attach, read
        from sqlanon.methods.suppress.kernels.cascade_step import keep
        from sqlanon.methods.suppress.solve import cut_of, rules_of, solve

        expect(keep)
        pushed = context.execution == "pushdown" and self.solver != "optimal"
        cut = cut_of(context.requirements, self.divide)
        # With k alone the sensitive values do not matter, and a cell is a group.
        sensitive = context.encoded.sensitive if shapes_beyond_rows(context.requirements) else ()
        cells = read(context, sensitive, cut, pushed=pushed)
        if self.solver == "optimal":
            return self._optimal(context, cells, sensitive)
        rules = rules_of(context.requirements, cells, cut)
        solved = solve(cells, rules, context.progress, cascade=self.variant != "tp")
        table = attach(context, cells, sensitive, solved.parts)
        if self.rest != "none" and solved.residue is not None:
            table = divide_residue(context, table, solved, self.rest)
        assignment = Assignment(
            table,
            "pushdown" if pushed else "kernel",
            starred=self._find_starred(context, cells, solved),
            search=self._search(context, solved),
        )
        if context.suppression is not None or not self._compares(context.encoded.rows):
            return assignment
        from sqlanon.methods.suppress.better import choose_better

        return choose_better(context, assignment)

    def _optimal(self, context: Context, cells: Cells, sensitive: Sequence[Domain]) -> Assignment:
        from sqlanon.methods.suppress.cells import attach
        from sqlanon.methods.suppress.optimal import match_pairs

        parts, stars = match_pairs(cells)
        return Assignment(attach(context, cells, sensitive, parts), "kernel", search={"least_stars": stars})

    def _find_starred(self, context: Context, cells: Cells, solved: SolvedClasses) -> int | None:
        """The class of the rows that lose every value, if the policy limits their number.

        They count as suppressed rows then.
        """
        if context.suppression is None or solved.residue is None:
            return None
        # A column of one value in the whole table has nothing to lose, and agrees in every class.
        varied = cells.codes[cells.codes.min(axis=1) < cells.codes.max(axis=1)]
        own_varied = varied[:, cells.group[solved.parts.cell[solved.parts.number == solved.residue]]]
        return solved.residue if len(own_varied) and (own_varied.min(axis=1) < own_varied.max(axis=1)).all() else None

    def _search(self, context: Context, solved: SolvedClasses) -> dict[str, int]:
        """The phase of TP, where groups are divided, and the bound on starred rows, where there is such a bound."""
        from sqlanon.methods.suppress.solve import cut_of

        if cut_of(context.requirements, self.divide) is None:
            return {}
        bound = {"least_starred_rows": solved.least} if least_rows(context.requirements) == 1 else {}
        return {"phase": solved.phase, **bound}
