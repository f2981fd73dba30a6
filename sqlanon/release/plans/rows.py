"""Plans a release of rows: the expected classes of a method, and the cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.declared import read_refining
from sqlanon.declared.combinations import list_remarks
from sqlanon.declared.cost import WALK, WALK_OF_WORKERS, Cost, TableSize
from sqlanon.declared.trials import CORES, estimate_search
from sqlanon.engines.base import Engine
from sqlanon.engines.rows import number, read_integer
from sqlanon.formats import format_of
from sqlanon.methods.method import Method
from sqlanon.privacy.base import beyond_rows
from sqlanon.release.divide import suppressed_rows
from sqlanon.release.divide.loss_limit import describe_bound
from sqlanon.release.history import history
from sqlanon.release.history.compare_versions import NOTHING_COMPARED, WITHOUT_KEY, VersionComparison, count_changes
from sqlanon.release.plans.change import describe_change
from sqlanon.release.plans.plan_facts import columns_of, statements
from sqlanon.release.prepare.release_warnings import how_to_measure, list_warnings
from sqlanon.release.prepare.row_security import warn_of_hidden_rows
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.release.prepare.unlisted_values import count_others
from sqlanon.release.stages.stage import execute, list_steps
from sqlanon.release.stages.work import Outline, Stage, Work
from sqlanon.release.trials.column_losses import ColumnLosses, column_losses
from sqlanon.release.trials.persons_cost import persons_cost
from sqlanon.release.trials.suggest_best import suggest_best
from sqlanon.release.verify.accepted_risk import describe_threshold
from sqlanon.release.verify.persons import plan_warnings
from sqlanon.results import Estimate, PlanReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domain import Domain
from sqlanon.table.encode import MANY
from sqlanon.table.kinds import count_kinds
from sqlanon.table.scratch import Scratch
from sqlanon.table.tree import flat_share


@dataclass(frozen=True, slots=True)
class PlannedRows:
    """The rows of a version that is planned.

    Attributes:
        ready: the rows for a method to divide; where there are none, those of the source, of which only the columns
            were read.
        tried: a method would run.
        notes: notes about treatments of rows.
    """

    ready: PreparedSource
    tried: bool
    notes: tuple[str, ...] = ()


def plan_rows(work: Work, planned: PlannedRows, outline: Outline) -> PlanReport:
    """The report of a plan, but for the stages; the method runs on a sample.

    Args:
        work: the release; the source was read.
        planned: its rows, profiled.
        outline: the stages of the run.

    Raises:
        PrivacyViolation: the version and the one before reveal more together than the policy allows.
    """
    spec, scratch, target, engine = work.spec, work.scratch, work.target, work.state.engine
    ready, tried = planned.ready, planned.tried
    narrow = warn_of_outliers(scratch, ready.quasi)
    better = cost = lost = None
    if tried and not work.unchanged:
        with work.watch.stage("method") as stage:
            trial = work.trial(stage)
            better, lost = suggest_best(scratch, trial), column_losses(scratch, trial)
            if work.division.by_choice:
                cost = persons_cost(scratch, trial)
    compared = _compare_versions(work, outline.stages) if work.version.begins else NOTHING_COMPARED
    return PlanReport(
        release=spec.name,
        source=str(ready.roles.relation.ref),
        publish=target.shown,
        state=work.decision.state,
        change=describe_change(work.decision, target),
        why=work.decision.why,
        weaker=work.decision.weaker,
        rows=work.staged.rows,
        columns=tuple(columns_of(spec, ready, lost)),
        feasible=ready.feasible,
        method=ready.method.describe(),
        execution=spec.execution,
        format=spec.format.kind,
        snapshot=work.source.snapshot,
        warnings=(
            *plan_warnings(spec),
            *list_warnings(work.state, target),
            *(warn_of_hidden_rows(engine, spec, work.state.source.ref) if spec.row_security is None else ()),
            *narrow,
            *_together(engine, spec, outline.beside),
        ),
        statements=tuple(statements(engine, spec, target, ready)),
        publish_sensitive=target.shown_sensitive,
        bound=describe_bound(spec.privacy.accuracy),
        data=compared.data,
        history=compared.reports,
        notes=(
            *work.notes,
            *planned.notes,
            *suppressed_rows.plan_notes(spec, ready.rows),
            *count_others(scratch, ready.quasi, ready.rows),
            *work.division.remarks,
            *list_remarks(spec),
            *_note_losses(spec, lost, ready),
            *(note for note in (better, cost, describe_threshold(spec)) if note),
            *_trial_notes(spec, ready),
            *compared.notes,
        ),
        estimate=estimate(
            ready.method,
            TableSize(
                ready.rows,
                len(ready.quasi),
                spec.privacy.k,
                flat_share(ready.quasi),
                beyond=bool(beyond_rows(ready.requirements)),
            ),
            pushed=spec.execution == "pushdown",
            walk=WALK if engine.workers is None else WALK_OF_WORKERS,
        )
        if tried
        else None,
    )


def estimate(method: Method, size: TableSize, *, pushed: bool = False, walk: Cost = WALK) -> Estimate:
    """Rough cost of a run on a table, including the methods that a method runs.

    Refinement is not included.

    ``walk``: cost of the surrounding SQL.
    """
    rows, columns, k = size.rows, size.columns, size.k
    cost = (method.cost.pushed or method.cost) if pushed else method.cost
    seconds, around = cost.time(rows, columns, k, method.options, size.flat, size.beyond), walk.time(rows, columns, k)
    most, memory = cost.worst_time(seconds, method.options), cost.memory(rows, columns, k, method.options)
    for part in method.parts:
        part_estimate = estimate(part, size)
        seconds, most, memory = (
            seconds + part_estimate.seconds,
            most + part_estimate.most_seconds,
            max(memory, part_estimate.memory),
        )
    return Estimate(seconds, most, memory, around, around * walk.worst)


def _trial_notes(spec: ReleaseSpec, ready: PreparedSource) -> tuple[str, ...]:
    """The note about the trials of refine."""
    refining = read_refining(spec, ready.rows, count_kinds(ready.quasi))
    if refining is None or not refining.search:
        return ()
    s = "" if refining.search == 1 else "s"
    trials = f"{refining.search} trial{s} for every class that loses something"
    if spec.effort is None:
        return (f"refine: search={refining.search}, {trials}",)
    seconds = math.ceil(estimate_search(spec, ready.rows, count_kinds(ready.quasi)))
    note = f"effort {spec.effort.word}: up to {trials}, at most about {seconds} s on {CORES} cores"
    if refining.least_gain:
        least = f"{float(100 * refining.least_gain):g} %"
        note += f"; they end earlier where two rounds lower the loss by less than {least}"
    return (note,)


def _note_losses(spec: ReleaseSpec, lost: ColumnLosses | None, ready: PreparedSource) -> tuple[str, ...]:
    """The notes about the losses of columns."""
    if lost is None:
        return ()
    notes = []
    if lost.rows < ready.rows:
        notes.append(
            f"loses: an estimate, measured on {lost.rows} of {ready.rows} rows, which lose more than all of them"
        )
    if spec.refine and spec.refine.search != 0:
        notes.append("loses: measured without the trials of refine, which make it less")
    return tuple(notes)


def _compare_versions(work: Work, stages: Sequence[Stage]) -> VersionComparison:
    """Changes in the rows, and joint disclosures of both versions; the stage is used up by it."""
    spec, state, ready, previous = work.spec, work.state, work.prepared, work.decision.previous
    if previous is None or work.unchanged:
        return NOTHING_COMPARED
    work.data = count_changes(work.scratch, state, ready, previous)
    earlier = work.earlier
    comparable = ready.keyed and earlier.comparable()
    if not comparable and earlier.has_lost(()):
        reports = (history.report_lost(state, previous, work.target.version, ready.rows),)
        history.hold(spec, reports)
        return VersionComparison(None, work.data, reports, ())
    if not comparable and not earlier.with_candidates():
        return VersionComparison(None, work.data, (), () if ready.keyed else (WITHOUT_KEY,))
    steps = list_steps(stages, "divide", "compare")
    execute((step for step in steps if step.release == spec.name), {spec.name: work})
    return work.compared


def _together(engine: Engine, spec: ReleaseSpec, beside: Sequence[ReleaseSpec]) -> tuple[str, ...]:
    shared_readers: dict[tuple[str, bool], list[str]] = {}
    for neighbour in beside:
        if neighbour.name == spec.name or engine.target(neighbour.source) != engine.target(spec.source):
            continue
        pair = any(format_of(release.format.kind).facts.paired for release in (spec, neighbour))
        shared = sorted(set(neighbour.readers) & set(spec.readers))
        if shared:
            shared_readers.setdefault((", ".join(shared), pair), []).append(neighbour.name)
    return tuple(
        f"releases {', '.join([spec.name, *names[:-1]])} and {names[-1]} of one source "
        f"{'both' if len(names) == 1 else 'all'} go to {readers}; together they may reveal more than "
        f"each{how_to_measure(names, spec.name, pair)}"
        for (readers, pair), names in shared_readers.items()
    )


NARROW = 100
"""Where all but the outer rows lie in less than this part of the range, every extent looks like nothing."""


def warn_of_outliers(scratch: Scratch, quasi: Sequence[Domain]) -> list[str]:
    """A warning for each ordered column with 99 % of the rows in less than 1/`NARROW` of the range.

    Cost: a sort of each column's values.
    """
    able = [
        domain
        for domain in quasi
        if domain.reading.treatment == "ordered"
        and domain.reading.column.kind in ("integer", "float", "decimal", "date", "timestamp")
    ]
    warnings = []
    for start in range(0, len(able), MANY):
        some = able[start : start + MANY]
        for place, rows, inside, spread in scratch.fetch("table/outlying", domains=[domain.table for domain in some]):
            low, high = number(inside), number(spread)
            if 0 < low < high / NARROW:
                name = some[read_integer(place) - 1].reading.name
                warnings.append(
                    f"column {name}: all but the {rows} rows at its ends lie in {100 * low / high:.2g} % of its range, "
                    "so that any range of it looks narrow and the loss small; code the ends (top, bottom), or give it "
                    "a hierarchy"
                )
    return warnings
