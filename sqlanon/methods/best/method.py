"""Method ``best`` (ours): runs the methods that accept the release, and keeps the classes with the least loss."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlanon.declared import METHODS, REQUIREMENTS, Request, able_of
from sqlanon.declared.candidates import format_candidate, refuse_all
from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.privacy.base import least_rows

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.methods.best.loss import Losses
    from sqlanon.methods.method import Method
    from sqlanon.spec import MethodSpec

    Able = Sequence[tuple[MethodSpec, Method]]
    Reasons = list[tuple[MethodSpec, str]]


FAR = 2
"""A note names a method that loses so many times as much as the best method."""


def run_each(
    context: Context, methods: Able, losses: Losses, reasons: Reasons
) -> Iterator[tuple[MethodSpec, Assignment, Fraction]]:
    """Run methods one by one, and yield the result and the loss of each.

    The tables of a result exist until the next result is asked for.

    Those that find no classes are added to ``reasons``. Cost: that of every method, and a GROUP BY of the rows for
    each.
    """
    for spec, method in methods:
        # Methods call their tables alike, so that each has a place of its own.
        with context.scratch.beside() as scratch:
            try:
                assignment = method.assign(replace(context, scratch=scratch, listed=False, read_again=True))
            except (InfeasibleError, PolicyError) as error:
                reasons.append((spec, str(error)))
                continue
            yield spec, assignment, losses.of(assignment)


class Best:
    """Several methods, and the loss that decides between them."""

    def __init__(self, of: str, metric: str, run: str) -> None:
        self.of = of
        self.metric = metric
        self.sparing = run == "sparing"

    def refusal(self, problem: Problem) -> str | None:
        """See `Algorithm.refusal`: where none of the methods can solve it."""
        try:
            able, reasons = self._choose_able(problem)
        except PolicyError as lacking:
            return str(lacking)
        return None if able else f"method {refuse_all('best', reasons)}"

    def assign(self, context: Context) -> Assignment:
        """See `Algorithm.assign`. Classes are compared as they would be published: refined, where that is asked.

        Cost: that of every method, and a GROUP BY of the rows for each.
        """
        from sqlanon.methods.best.loss import Losses

        able, reasons = self.choose_able(context)
        losses, refine = Losses(context, self.metric), context.refine
        if self.sparing and refine is not None:
            context = replace(context, refine=replace(refine, search=0))
        best_result: tuple[Fraction, Assignment, MethodSpec] | None = None
        losses_found: list[tuple[MethodSpec, Fraction]] = []
        for number, (spec, assignment, lost) in enumerate(run_each(context, able, losses, reasons)):
            losses_found.append((spec, lost))
            if best_result is None or lost < best_result[0]:
                if best_result is not None:
                    self._drop(context, best_result[1])
                best_result = lost, self._move_tables(context, assignment, spec, number), spec
            context.progress.update(number + 1, len(able), "methods run")
        if best_result is None:
            raise InfeasibleError(f"method {refuse_all('best', reasons)}")
        best = format_candidate(best_result[2])
        notes = [
            f"best: {best} loses least by {self.metric}: "
            + ", ".join(f"{format_candidate(spec)} {losses.describe(lost)}" for spec, lost in losses_found)
        ]
        notes += [f"best: {format_candidate(spec)} was left out: {reason}" for spec, reason in reasons]
        notes += [
            f"best: {format_candidate(spec)} loses {float(lost / best_result[0]):.1f} times as much as {best}"
            for spec, lost in losses_found
            if best_result[0] and lost >= FAR * best_result[0]
        ]
        assignment = replace(best_result[1], notes=(*notes, *best_result[1].notes), refined=context.refine is not None)
        if self.sparing and refine is not None and refine.search:
            from sqlanon.methods.shared.refine import refine_assignment

            return refine_assignment(context, assignment, replace(refine, passes=0))
        return assignment

    def choose_able(self, context: Context) -> tuple[Able, Reasons]:
        """The methods that can solve the problem on a table; see `_choose_able` for the others and errors."""
        encoded = context.encoded
        problem = Problem(
            context.requirements,
            context.accuracy,
            encoded.quasi,
            encoded.sensitive,
            encoded.rows,
            context.execution,
            memory=context.memory,
            persons=encoded.persons,
        )
        return self._choose_able(problem, refine=context.refine is not None, form=context.format)

    def _choose_able(self, problem: Problem, *, refine: bool = False, form: str = "ranges") -> tuple[Able, Reasons]:
        """The methods that can solve a problem, as they are run, and the others with the reason.

        Raises:
            PolicyError: a method lacks memory. The release must not depend on the machine.
        """
        from sqlanon.methods.method import make_method

        able, reasons = able_of(self.of, _describe_problem(problem, refine=refine, form=form))
        solvable = []
        for spec in able:
            method = make_method(spec)
            refused = method.refusal(problem)
            if refused and method.refusal(replace(problem, memory=sys.maxsize)) is None:
                raise PolicyError(f"method best runs {format_candidate(spec)}, and {refused}, or leave it out of of")
            if refused:
                reasons.append((spec, refused))
            else:
                solvable.append((spec, method))
        return solvable, reasons

    def _move_tables(self, context: Context, assignment: Assignment, spec: MethodSpec, number: int) -> Assignment:
        """The assignment with the tables in the run's own place."""
        scratch = context.scratch
        codes = [domain.code for domain in context.encoded.quasi]

        def copy_table(step: str, table: TableRef, columns: Sequence[str]) -> TableRef:
            copy = scratch.table(f"best_{step}_{number}")
            scratch.execute("best/kept", kept=copy, origin=table, columns=columns)
            return copy

        levels = copy_table("levels", assignment.levels, ["class", *codes]) if assignment.levels is not None else None
        boxes = ["class", "n", *(f"{end}_{code}" for end in ("lo", "hi") for code in codes)]
        boxes += [f"set_{domain.code}" for domain in context.encoded.quasi if domain.fits_bits]
        spans = copy_table("spans", assignment.spans, boxes) if assignment.spans is not None else None
        shared = copy_table("shared", assignment.shared, ["rid"]) if assignment.shared is not None else None
        # Only methods of this package are trusted in claims about their own rows.
        trusted = METHODS.believes(spec.name)
        return replace(
            assignment,
            table=copy_table("assign", assignment.table, ["rid", "class"]),
            spans=spans,
            levels=levels,
            divided=assignment.divided or not trusted,
            shared=shared if trusted else None,
        )

    def _drop(self, context: Context, assignment: Assignment) -> None:
        for table in (assignment.table, assignment.spans, assignment.levels, assignment.shared):
            if table is not None:
                context.scratch.drop(table)


def _describe_problem(problem: Problem, *, refine: bool, form: str) -> Request:
    """The requests of a problem, as declarations read them."""
    bounds = {requirement.name: requirement.asked for requirement in problem.requirements}
    distinct, accuracy = bounds.get("distinct_l"), problem.accuracy
    return Request(
        "best",
        {},
        k=least_rows(problem.requirements),
        l=bounds.get("l"),
        distinct_l=int(distinct) if distinct is not None else None,
        more=tuple(name for name in REQUIREMENTS if name in bounds and name not in ("k", "l", "distinct_l")),
        maximize=accuracy.maximize if accuracy else None,
        quasi=len(problem.quasi),
        sensitive=len(problem.sensitive),
        execution=problem.execution,
        format=form,
        refine=refine,
    )
