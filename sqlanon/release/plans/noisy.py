"""Plan of differentially private statistics: cost and noise of a version, and for the owner the cuts by bounding.

Cuts by bounding are counted exactly, for the owner alone: choosing contributions by them is a leak that no ledger sees.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.budgeted import Quantity
from sqlanon.errors import PolicyError
from sqlanon.noisy.accounting import total_epsilon
from sqlanon.noisy.answers import bound_rows, check_columns
from sqlanon.noisy.levels import decimal_text
from sqlanon.noisy.published import INTERVAL, half_width
from sqlanon.noisy.shape import Part, Shape, shape_of
from sqlanon.noisy.split import Noise, noise_of
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.charged import person_tables, warn_of
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.prepare.row_security import hidden_rows, source_snapshot
from sqlanon.release.stages.stage import Wait
from sqlanon.release.stages.work import Outline, Work
from sqlanon.results import PlanColumn, PlanReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch

MOST_VERSIONS = 1000
"""The number of versions that a budget suffices for is counted so far."""


def plan_noisy(work: Work, outline: Outline) -> PlanReport:
    """The report of a plan, but for the stages; nothing is charged, drawn or written.

    Args:
        work: the release.
        outline: the stages of the run.

    Raises:
        PolicyError: the source cannot be measured, or delta is above 1 in the number of persons.
        InfeasibleError: the budget does not suffice for the next version that is paid.
    """
    spec, state, scratch, engine = work.spec, work.state, work.scratch, work.state.engine
    noisy = spec.noisy
    assert noisy is not None
    shape = shape_of(spec)
    columns = check_columns(shape, spec.person, state.source)
    noise = noise_of(shape)
    budget = Budget(engine, noisy.budget)
    budget.look()
    budget.check_policy(person_tables(engine, spec))
    with work.watch.stage("snapshot"), source_snapshot(engine, [(spec, state.source.ref)], planned=True):
        cut, rows = _count_cut(scratch, shape, state, work.secret)
    due = not any(isinstance(stage, Wait) for stage in outline.stages)
    return PlanReport(
        release=spec.name,
        source=str(state.source.ref),
        publish=work.target.shown,
        state=work.decision.state,
        change=_describe_change(work, due=due),
        why=work.decision.why if due else ("not due yet: run --spend would pay another version",),
        weaker=work.decision.weaker,
        rows=rows,
        columns=tuple(
            PlanColumn(
                group.name,
                columns[group.name].shown_type,
                "dimension",
                "hierarchy" if len(group.nodes) > 1 else "declared",
                len(group.leaves),
                0,
                (group.name,),
            )
            for group in shape.groups
        ),
        feasible=(),
        method=noise.law,
        execution="kernel",
        format="statistics",
        warnings=(
            *warn_of(state),
            *(hidden_rows(engine, spec, state.source.ref) if spec.row_security is None else ()),
        ),
        statements=(),
        notes=(_describe_cost(budget, noise, spec), *_widths(shape, noise), *cut),
    )


def _describe_cost(budget: Budget, noise: Noise, spec: ReleaseSpec) -> str:
    """The cost of the next version that is paid.

    Raises:
        InfeasibleError: the budget does not suffice.
    """
    assert spec.noisy is not None
    price = budget.check_price(noise.mechanisms, spec.name)
    return (
        f"a version costs epsilon {float(total_epsilon(noise.mechanisms, budget.limits[1])):.4g}; of the budget "
        f"{spec.noisy.budget.name} {float(price):.4g} of {float(budget.limits[0]):g} would be spent then, and it "
        f"suffices for {_versions(budget, noise)} such versions"
    )


def _describe_change(work: Work, *, due: bool) -> str:
    version = work.target.version
    return f"version {version}" if due else f"nothing until the clock asks for version {version}"


def _versions(budget: Budget, noise: Noise) -> str:
    """How many more versions of this kind the budget pays for."""
    epsilon, delta = budget.limits
    charged = budget.account.charged if budget.account else []
    low, high = 1, MOST_VERSIONS
    while low < high:
        middle = (low + high + 1) // 2
        fits = total_epsilon([*charged, *noise.mechanisms * middle], delta) <= epsilon
        low, high = (middle, high) if fits else (low, middle - 1)
    return f"{low} or more" if low == MOST_VERSIONS else str(low)


def _widths(shape: Shape, noise: Noise) -> list[str]:
    """The noise of every measure, at the finest level of each table."""
    notes = []
    parts: dict[Quantity, Part] = {"mean": "centered", "quantiles": "rows"}
    what_of = {"mean": "the sum of {} over a group", "quantiles": "the number of rows in a step of {}"}
    for number, table in enumerate(shape.published):
        for place, measure in enumerate(shape.spec.measures):
            part: Part = parts.get(measure.quantity, measure.quantity)  # type: ignore[arg-type]
            size = shape.steps(number, place) if measure.quantity == "quantiles" else number
            series = shape.measured(size, len(table.levels) - 1, place, part)
            unit = 1.0 if part == "rows" else float(measure.unit) / (2 if part == "centered" else 1)
            deviation = noise.deviation(series) * unit
            width = half_width(noise, series, 1 - INTERVAL) * unit
            quantity = what_of.get(measure.quantity, "{}").format(measure.name)
            notes.append(
                f"{table.name}: {noise.law} noise in {quantity} has standard deviation {deviation:.4g}; in "
                f"{INTERVAL:.0%} of the {table.leaves} finest groups it is at most {width:.4g}"
            )
    return notes


def _count_cut(scratch: Scratch, shape: Shape, state: ReleaseState, secret: str) -> tuple[list[str], int]:
    """Cuts by bounding, for the owner; and the number of rows.

    Raises:
        PolicyError: delta is above 1 in the number of persons.
    """
    spec = state.spec
    noisy = spec.noisy
    assert noisy is not None
    coded = bound_rows(scratch, shape, spec.person, state.source, secret)
    notes: list[str] = []
    persons = 0
    for table, bounded in zip(shape.tables, coded.bounded, strict=True):
        columns: Sequence[str] = [f"c{place + 1}" for place in table.columns]
        rows_before, rows_kept, persons = scratch.numbers(
            "noisy/cut", coded=coded.table, bounded=bounded, columns=columns
        )
        if rows_kept < rows_before:
            notes.append(
                f"{table.name}: {rows_kept / rows_before:.1%} of the rows in declared groups are counted, with "
                f"{noisy.groups} groups of a person and {noisy.rows} rows of each (exact, for the owner alone)"
            )
    if noisy.budget.delta * persons > 1:
        raise PolicyError(
            f"{spec.name}: the budget's delta {decimal_text(noisy.budget.delta)} is above one in the number of "
            "persons: a mechanism that publishes somebody outright would satisfy it. Choose a smaller one"
        )
    return notes, scratch.count("table/count", source=coded.table)
