"""Plan: the actions of a run and whether it can succeed, computed without publishing anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from sqlanon.declared import read_refining
from sqlanon.declared.combinations import list_remarks
from sqlanon.declared.cost import WALK, WALK_OF_WORKERS, Cost
from sqlanon.declared.trials import CORES, estimate_search
from sqlanon.engines.base import Engine
from sqlanon.errors import GuardError
from sqlanon.formats import format_of
from sqlanon.methods.method import Method
from sqlanon.privacy.base import beyond_rows
from sqlanon.progress import Progress, Silent, Stopwatch
from sqlanon.release.catalog.approvals import hold_approval
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.recorded_method import list_method_notes
from sqlanon.release.catalog.refresh import Decision, decide
from sqlanon.release.catalog.state import read_state
from sqlanon.release.catalog.target import target_of
from sqlanon.release.divide import suppressed_rows
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.release.divide.loss_limit import describe_bound
from sqlanon.release.history import history
from sqlanon.release.history.compare_versions import NOTHING_COMPARED, WITHOUT_KEY, Compared, changed_rows
from sqlanon.release.plan.noisy import plan_noisy
from sqlanon.release.plan.shown import columns_of, statements
from sqlanon.release.prepare.range_warnings import warn_of_outliers
from sqlanon.release.prepare.release_warnings import how_to_measure, list_warnings
from sqlanon.release.prepare.row_security import hidden_rows
from sqlanon.release.prepare.staged import Prepared
from sqlanon.release.prepare.unlisted_values import count_others
from sqlanon.release.stages.stage import Compare, Divide, execute, read_of, stages_after_reading
from sqlanon.release.stages.work import Stage, Work, secret_of
from sqlanon.release.trials.column_losses import ColumnLosses, column_losses
from sqlanon.release.trials.persons_cost import persons_cost
from sqlanon.release.trials.suggest_best import suggest_best
from sqlanon.release.verify.accepted_risk import describe_threshold
from sqlanon.release.verify.persons import plan_warnings
from sqlanon.release.versions.choose_version import version_of_run
from sqlanon.results import Estimate, PlanReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.kinds import count_kinds
from sqlanon.table.scratch import Scratch
from sqlanon.table.tree import flat_share


def plan(
    engine: Engine,
    spec: ReleaseSpec,
    progress: Progress | None = None,
    beside: Sequence[ReleaseSpec] = (),
    machine: Machine | None = None,
    *,
    new_lineage: bool = False,
) -> PlanReport:
    """Actions and expected result of a run.

    Args:
        engine: the source's database.
        spec: the release.
        progress: gets stages, counts and notes.
        beside: other releases of the same policy, for warnings about readers of several; the tables that are
            published together with this release are read too, as a change of one makes new versions of all.
        machine: resources of a run; None: this machine, as by default. With a key and an earlier version, the method
            runs here too: joint disclosures of both versions depend on the classes.
        new_lineage: of a run that begins a new lineage (``refresh: {mode: frozen}``).

    Raises:
        PolicyError, GuardError, InfeasibleError: errors that would stop the run.
    """
    progress = progress or Silent()
    machine = machine or Machine.here()
    watch = Stopwatch(spec.name, progress)
    try:
        with ExitStack() as open_scratches:
            if spec.noisy is not None:
                return plan_noisy(engine, spec, watch)
            with watch.stage("state"):
                Catalog(engine).guard()
                works = {
                    release.name: _work(engine, release, machine, watch, new_lineage)
                    for release in _tables(spec, beside)
                }
            for release_work in works.values():
                open_scratches.enter_context(release_work.scratch)
            work, reading = works[spec.name], read_of(works)
            spec = work.spec
            reading.run(works, planned=True)
            stages = [reading, *stages_after_reading(works)]
            scratch, target, version = work.scratch, work.target, work.version
            decision, runs = work.decision, not work.unchanged
            planned = version.plan(work)
            if isinstance(planned, PlanReport):
                texts = tuple(stage.text for stage in stages)
                return replace(planned, change=_change(decision, target), stages=texts)
            ready, tried = planned.ready, planned.tried
            narrow = warn_of_outliers(scratch, ready.quasi)
            better = cost = lost = None
            if runs and tried:
                with watch.stage("method") as stage:
                    trial = work.trial(stage)
                    better, lost = suggest_best(scratch, trial), column_losses(scratch, trial)
                    if work.division.by_choice:
                        cost = persons_cost(scratch, trial)
            compared = _compare_versions(work, stages) if version.begins else NOTHING_COMPARED
            return PlanReport(
                release=spec.name,
                source=str(ready.roles.relation.ref),
                publish=target.shown,
                state=decision.state,
                change=_change(decision, target),
                why=decision.why,
                weaker=decision.weaker,
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
                    *(hidden_rows(engine, spec, work.state.source.ref) if spec.row_security is None else ()),
                    *narrow,
                    *_together(engine, spec, beside),
                    *_approval(work),
                ),
                statements=tuple(statements(engine, spec, target, ready)),
                publish_sensitive=target.shown_sensitive,
                bound=describe_bound(spec.privacy.accuracy),
                data=compared.data,
                history=compared.reports,
                notes=(
                    *list_method_notes(work.spec),
                    *planned.notes,
                    *suppressed_rows.plan_notes(spec, ready.rows),
                    *count_others(scratch, ready.quasi, ready.rows),
                    *work.division.remarks,
                    *list_remarks(spec),
                    *_measured_on(spec, lost, ready),
                    *(note for note in (better, cost, describe_threshold(spec)) if note),
                    *_trial_notes(spec, ready),
                    *compared.notes,
                ),
                estimate=estimate(
                    ready.method,
                    ready.rows,
                    len(ready.quasi),
                    spec.privacy.k,
                    flat=flat_share(ready.quasi),
                    beyond=bool(beyond_rows(ready.requirements)),
                    pushed=spec.execution == "pushdown",
                    walk=WALK if engine.workers is None else WALK_OF_WORKERS,
                )
                if tried
                else None,
                stages=tuple(stage.text for stage in stages),
            )
    finally:
        progress.finish(spec.name)


def estimate(  # noqa: PLR0913 - older than the limit
    method: Method,
    rows: int,
    columns: int,
    k: int,
    *,
    flat: float = 0.0,
    beyond: bool = False,
    pushed: bool = False,
    walk: Cost = WALK,
) -> Estimate:
    """Rough cost of a run of so many rows and quasi columns, including the methods that a method runs.

    Refinement is not included.

    ``walk``: cost of the surrounding SQL.
    """
    cost = (method.cost.pushed or method.cost) if pushed else method.cost
    seconds, around = cost.time(rows, columns, k, method.options, flat, beyond), walk.time(rows, columns, k)
    most, memory = cost.worst_time(seconds, method.options), cost.memory(rows, columns, k, method.options)
    for part in method.parts:
        part_estimate = estimate(part, rows, columns, k, flat=flat, beyond=beyond)
        seconds, most, memory = (
            seconds + part_estimate.seconds,
            most + part_estimate.most_seconds,
            max(memory, part_estimate.memory),
        )
    return Estimate(seconds, most, memory, around, around * walk.worst)


def _trial_notes(spec: ReleaseSpec, ready: Prepared) -> tuple[str, ...]:
    """The note about the trials of refine."""
    refining = read_refining(spec, ready.rows, count_kinds(ready.quasi))
    if refining is None or not refining.search:
        return ()
    s = "" if refining.search == 1 else "s"
    trials = f"{refining.search} trial{s} for every class that loses something"
    if spec.effort is None:
        return (f"refine: search={refining.search}, {trials}",)
    seconds = math.ceil(estimate_search(spec, ready.rows, count_kinds(ready.quasi)))
    note = (
        f"effort {spec.effort.word}: up to {trials}, at most about {seconds} s on {CORES} cores; they end "
        f"earlier where two rounds lower the loss by less than {float(100 * refining.least_gain):g} %"
    )
    return (note,)


def _measured_on(spec: ReleaseSpec, lost: ColumnLosses | None, ready: Prepared) -> tuple[str, ...]:
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


def _tables(spec: ReleaseSpec, beside: Sequence[ReleaseSpec]) -> list[ReleaseSpec]:
    """The tables that are published together with a table, in their order, where all are given."""
    specs = {release.name: release for release in beside} | {spec.name: spec}
    names = spec.together.tables if spec.together else ()
    return [specs[name] for name in names] if names and specs.keys() >= set(names) else [spec]


def _work(engine: Engine, spec: ReleaseSpec, machine: Machine, watch: Stopwatch, new_lineage: bool) -> Work:
    # In the order of run, so that both end in the same error where there are several.
    division = division_of_run(spec, engine.workers)
    state = read_state(engine, spec, every=division.compares_all)
    target, decision = target_of(state), decide(state)
    version = version_of_run(state, division, new_lineage=new_lineage)
    decision = version.decide(state, decision)
    scratch = Scratch(engine, watch, alone=spec.together is None)
    return Work(state, target, decision, version, division, machine, watch, secret_of(state), scratch)


def _compare_versions(work: Work, stages: Sequence[Stage]) -> Compared:
    """Changes in the rows, and joint disclosures of both versions; the stage is used up by it."""
    spec, state, ready, previous = work.spec, work.state, work.prepared, work.decision.previous
    if previous is None or work.unchanged:
        return NOTHING_COMPARED
    work.data = changed_rows(work.scratch, state, ready, previous)
    earlier = work.earlier
    comparable = ready.keyed and earlier.comparable()
    if not comparable and earlier.has_lost(()):
        reports = (history.report_lost(state, previous, work.target.version, ready.rows),)
        history.hold(spec, reports)
        return Compared(None, work.data, reports, ())
    if not comparable and not earlier.with_candidates():
        return Compared(None, work.data, (), () if ready.keyed else (WITHOUT_KEY,))
    version_stages = [stage for stage in stages if isinstance(stage, Divide | Compare) and stage.release == spec.name]
    execute(version_stages, {spec.name: work})
    return work.compared


def _approval(work: Work) -> tuple[str, ...]:
    """Message of a run about the policy's approval."""
    try:
        return hold_approval(work.state.engine, work.spec, before=work.state.last_shown or work.decision.instead)
    except GuardError as refused:
        return (f"a run would stop: {refused}",)


def _change(decision: Decision, target: Publication) -> str:
    """The decision in a line or two."""
    if decision.previous is None:
        return f"first release: version {target.version}"
    if decision.state == "unchanged":
        settings = len(decision.why) > 1  # who reads, how many versions stay
        return (
            f"unchanged since version {decision.previous.version}: {'no new version' if settings else 'nothing to do'}"
        )
    if decision.replaced is None:
        return f"version {target.version}: {decision.state}, nothing is published now"
    return f"version {target.version} replaces {decision.previous.version}: {decision.state}"


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
