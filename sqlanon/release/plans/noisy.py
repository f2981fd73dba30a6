"""Plans differentially private statistics: cost and noise of a version, and for the owner the cuts by bounding.

Cuts by bounding are counted exactly, for the owner alone: choosing contributions by them is a leak outside the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.errors import PolicyError
from sqlanon.noisy.accounting import total_epsilon
from sqlanon.noisy.answers import bound_rows, check_columns
from sqlanon.noisy.levels import decimal_text
from sqlanon.noisy.nights import spread_of
from sqlanon.noisy.published_values import INTERVAL, half_width, scale_noise
from sqlanon.noisy.rows import list_paid_tables
from sqlanon.noisy.shape import WEIGHT_STEPS, Part, Shape, shape_of
from sqlanon.noisy.split import CHOICE_SHARE, Noise, mean_distance, noise_of
from sqlanon.noisy_spec import Quantity
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.charged_versions import check_paid, count_versions, person_tables, spell_versions, warn_of
from sqlanon.release.budget.nights import mark_key, next_night
from sqlanon.release.catalog.collations import mark_collated
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.plans.change import describe_change
from sqlanon.release.prepare.row_security import source_snapshot, warn_of_hidden_rows
from sqlanon.release.stages.stage import WaitStage
from sqlanon.release.stages.work import Outline, Work
from sqlanon.results import PlanColumn, PlanReport
from sqlanon.table.scratch import Scratch


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
    columns = check_columns(shape, spec.person, mark_collated(scratch, state.source))
    noise = noise_of(shape)
    budget = Budget(engine, noisy.budget)
    budget.look()
    check_paid(budget, state)
    budget.check_policy(person_tables(engine, spec))
    cost = _describe_cost(state, shape, noise, budget)
    with work.watch.stage("snapshot"), source_snapshot(engine, [(spec, state.source.ref)], planned=True):
        cut, rows = _count_cut(scratch, shape, state, work.secret)
    due = not any(isinstance(stage, WaitStage) for stage in outline.stages)
    return PlanReport(
        release=spec.name,
        source=str(state.source.ref),
        publish=work.target.shown,
        state=work.decision.state,
        change=describe_change(work.decision, work.target)
        if due
        else f"nothing until the clock asks for version {work.target.version}",
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
            *(warn_of_hidden_rows(engine, spec, state.source.ref) if spec.row_security is None else ()),
        ),
        statements=(),
        notes=(cost, *_widths(shape, noise), *_of_rows(shape, noise, work.target), *cut),
    )


def _describe_cost(state: ReleaseState, shape: Shape, noise: Noise, budget: Budget) -> str:
    """The cost of a version, and the budget spent with it.

    Raises:
        InfeasibleError: the budget does not suffice.
    """
    spec, noisy = state.spec, shape.spec
    epsilon = f"{float(total_epsilon(noise.mechanisms, budget.limits[1])):.4g}"
    if noisy.nights is None:
        price = budget.check_price(noise.mechanisms, spec.name)
        many = spell_versions(count_versions(budget, noise.mechanisms))
        each, more = f"a version costs epsilon {epsilon}", f", and it suffices for {many} such versions"
    else:
        night = next_night(budget.account, spec, noise, mark_key(spec, state.source.columns, state.secret))
        price = budget.check_price(night.mechanisms(shape, noise), spec.name)
        each, more = f"all {noisy.nights} nights together cost epsilon {epsilon}, and this is night {night.number}", ""
        if night.ended:
            each += f" of new ones, as {night.ended}"
    return (
        f"{each}; of the budget {noisy.budget.name} {float(price):.4g} of {float(budget.limits[0]):g} would be spent "
        f"then{more}"
    )


def _widths(shape: Shape, noise: Noise) -> list[str]:
    """The noise of every measure, at the finest level of each table."""
    if shape.factor is not None:
        first, last = (spread_of(shape.factor.running, night) for night in (1, shape.spec.nights or 1))
        return [
            f"{width} in the first night, and {last / first:.2g} times that in the last"
            for width in _widths_of(shape, scale_noise(noise, first))
        ]
    return _widths_of(shape, noise)


def _widths_of(shape: Shape, noise: Noise) -> list[str]:
    notes = []
    parts: dict[Quantity, Part] = {"mean": "centered", "quantiles": "rows", "arrivals": "persons"}
    what_of = {"mean": "the sum of {} over a group", "quantiles": "the number of rows in a step of {}"}
    for number, (declared, table) in enumerate(zip(shape.spec.tables, shape.published, strict=True)):
        if declared.of_rows and shape.chooses:  # the pairs are not known before they are paid
            continue
        for place, measure in enumerate(shape.spec.measures):
            part: Part = parts.get(measure.quantity, measure.quantity)  # type: ignore[arg-type]
            size = shape.steps(number, place) if measure.quantity == "quantiles" else number
            series = shape.find_series(size, len(table.levels) - 1, place, part)
            unit = 1.0 if part == "rows" else float(measure.unit) / (2 if part == "centered" else 1)
            unit /= shape.series[series].steps
            deviation = noise.deviation(series) * unit
            width = half_width(noise, series, 1 - INTERVAL) * unit
            quantity = what_of.get(measure.quantity, "{}").format(measure.name)
            notes.append(
                f"{table.name}: {noise.law} noise in {quantity} has standard deviation {deviation:.4g}; in "
                f"{INTERVAL:.0%} of the {table.leaves} finest groups it is at most {width:.4g}"
            )
    return notes


def _of_rows(shape: Shape, noise: Noise, target: Publication) -> list[str]:
    """The noise of the tables of which synthetic rows are drawn, and what it means for the rows."""
    of_rows = shape.spec.of_rows
    if of_rows is None:
        return []
    tables = list_paid_tables(shape, noise)
    deviation = tables[0].deviation
    distance = mean_distance("gaussian", deviation)
    pairs = "declared pairs of columns"
    if shape.chooses:
        pairs = (
            f"{len(tables)} pairs of columns, chosen by noisy scores with standard deviation {noise.deviation(0):.4g} "
            f"(a share of {float(CHOICE_SHARE):g} of epsilon)"
        )
    return [
        (
            f"synthetic rows are drawn of tables of {pairs}, each with {of_rows.target}, in which {noise.law} noise "
            f"has standard deviation {deviation:.4g}, and published as {target.shown_synthetic}; they cost nothing more"
        ),
        (
            f"the rows of a group of such a table will differ from counted ones by about {distance:.3g}"
            " on average, or less where groups are empty; for other combinations of columns no error is known"
        ),
    ]


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
        parts, bounds = 1, f"{noisy.groups} groups of a person and {noisy.rows} rows of each"
        if noisy.weight is not None:
            parts, bounds = WEIGHT_STEPS, f"weight {noisy.weight}"
        if shape.factor is None and rows_kept < rows_before * parts:  # running counts are of persons
            notes.append(
                f"{table.name}: {rows_kept / parts / rows_before:.1%} of the rows in declared groups are counted, with "
                f"{bounds} (exact, for the owner alone)"
            )
    if noisy.budget.delta * persons > 1:
        raise PolicyError(
            f"{spec.name}: the budget's delta {decimal_text(noisy.budget.delta)} is above one in the number of "
            "persons: a mechanism that publishes somebody outright would satisfy it. Choose a smaller one"
        )
    return notes, scratch.count("table/count", source=coded.table)
