"""Plans a release of counts: counts cells, and the small cells of each margin; nothing is hidden yet."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.release.plans.change import describe_change
from sqlanon.release.prepare.row_security import warn_of_hidden_rows
from sqlanon.release.stages.work import Work
from sqlanon.results import PlanColumn, PlanReport
from sqlanon.statistics.cube import Cube, Margin, find_coarser, list_margins
from sqlanon.statistics.shape import Shape

MANY_SMALL = 0.15
"""Of a margin with a larger share of small cells plan advises coarser levels."""
SHOWN = 5
"""Margins that the notes name, at most."""


def plan_counts(
    work: Work, shape: Shape, cube: Cube, neighbours: Sequence[str], protection: tuple[str, Sequence[str]]
) -> PlanReport:
    """The report of a plan, but for the stages.

    Args:
        work: the release; the source was read.
        shape: columns and margins to publish.
        cube: the cells, counted.
        neighbours: warnings of other releases of the source.
        protection: what many small cells lead to, and its notes.
    """
    spec, statistics = work.spec, work.spec.statistics
    assert statistics is not None
    margins, (burden, notes) = list_margins(work.scratch, shape, cube), protection
    kinds = {reading.name: reading.column.shown_type for reading in work.staged.roles.quasi}
    return PlanReport(
        release=spec.name,
        source=str(work.staged.roles.relation.ref),
        publish=work.target.shown,
        state=work.decision.state,
        change=describe_change(work.decision, work.target),
        why=work.decision.why,
        weaker=(),
        rows=work.staged.rows,
        columns=tuple(
            PlanColumn(
                column.name,
                kinds[column.name],
                "dimension",
                "hierarchy" if column.paths else "nominal",
                column.nodes - 1,
                0,
                (column.name, column.level),
            )
            for column in shape.columns
        ),
        feasible=(),
        method=statistics.method,
        execution="kernel",
        format="statistics",
        warnings=(
            *neighbours,
            *(warn_of_hidden_rows(work.state.engine, spec, work.state.source.ref) if spec.row_security is None else ()),
        ),
        statements=(),
        notes=(
            *_notes(cube.counts[1], margins, statistics.threshold, burden, sums=bool(shape.sums)),
            *notes,
            *_notes_of_show(margins, shape),
        ),
    )


def _notes(cells: int, margins: Sequence[Margin], threshold: int, burden: str, *, sums: bool) -> list[str]:
    small = round(sum(margin.cells * margin.share for margin in margins))
    part = f"{small} of them ({small / max(cells, 1):.0%}) have fewer than {threshold} persons"
    part += ", or a contribution that dominates" if sums else ""
    notes = [f"{cells} cells of {len(margins)} margins; {part}"]
    many = [margin for margin in margins if margin.share > MANY_SMALL]
    for margin in many[:SHOWN]:
        better = find_coarser(margins, margin, MANY_SMALL)
        instead = f"; of the {better.cells} of {better.name} {better.share:.0%} are" if better is not None else ""
        notes.append(f"{margin.share:.0%} of the {margin.cells} cells of {margin.name} are small{instead}")
    if many:
        rest = f" and {len(many) - SHOWN} more margins" if len(many) > SHOWN else ""
        notes.append(
            f"above {MANY_SMALL:.0%} of small cells{rest}: {burden}; give its columns hierarchies and coarser values "
            "in a view, or count by fewer columns at once"
        )
    return notes


def _notes_of_show(margins: Sequence[Margin], shape: Shape) -> list[str]:
    """Margins that must be shown, and have cells that must be hidden."""
    return [
        f"{margin.share:.0%} of the {margin.cells} cells of {margin.name} are small: protect: show cannot be met, and "
        "a run publishes nothing"
        for margin in margins
        if margin.levels in shape.show and margin.share > 0
    ]
