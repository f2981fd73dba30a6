"""Run a release: a list of stages is built from the policy, the state of the release and the source, and carried out.

Tables that are published together (`tables:`) are read in one snapshot and published in one transaction. Their classes
are made one after the other, in the policy's order: the persons of a table are divided by the kinds of their tokens
in earlier tables. The written tables are then checked together.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import require
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, Silent, Stopwatch
from sqlanon.release.catalog.approvals import hold_approval
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.other_counts import hold_counts
from sqlanon.release.catalog.policy_diff import list_weakenings
from sqlanon.release.catalog.recorded_method import list_method_notes
from sqlanon.release.catalog.refresh import Decision, decide, decide_first, policy_changes, schema_changes
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.target import target_of
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.release.divide.division import Division
from sqlanon.release.publish.keep_published import keep_readers, published_report, refuse_few
from sqlanon.release.publish.kept_scratch import KeptScratch
from sqlanon.release.stages.stage import carry_out
from sqlanon.release.stages.work import Work, find_state, secret_of
from sqlanon.release.verify import tokens
from sqlanon.release.verify.accepted_risk import hold_threshold
from sqlanon.release.versions.choose_version import version_of_run
from sqlanon.release.versions.clock import is_version_due, refuse_kept_scratch, waits_for_clock
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one run, beside the policy.

    Attributes:
        full: make a new version even where source, policy and sqlanon are those of the published version.
        allow_weaker: the policy may promise less than that of the published version.
        only_due: leave a release alone that a run looked at less than ``every`` ago.
        compare: leave a release that is up to date; without it a new version is made in any case.
        keep_scratch: keep every intermediate table in the private schema, with source values, until the next run or
            `clean`; the report lists them.
        new_lineage: with ``refresh: {mode: frozen}`` publish all rows anew, as those of a release of their own.
        spend: of differentially private statistics pay for a version now, whatever the clock says.
    """

    full: bool = False
    allow_weaker: bool = False
    only_due: bool = False
    compare: bool = True
    keep_scratch: bool = False
    new_lineage: bool = False
    spend: bool = False


def run(
    engine: Engine,
    spec: ReleaseSpec,
    machine: Machine,
    progress: Progress | None = None,
    options: RunOptions | None = None,
) -> RunReport:
    """Make a release, verify it and publish it, or raise and leave everything as it was.

    Args:
        engine: the source's database.
        spec: the release.
        machine: resources of the run.
        progress: gets stages, counts and notes.
        options: of this run; None: none.

    Raises:
        PolicyError: the policy publishes it together with other tables.
        GuardError: the policy is weaker than before without a confirmation, or lacks an approval that it wants.
        SchemaChangedError: the source has a new column that the policy does not name.
        LockedError: another session runs this release now.
        InfeasibleError: the requirements, or the least accepted values, cannot be reached.
        PrivacyViolation: verify refused the result.
    """
    if spec.together is not None:
        raise PolicyError(
            f"{spec.name} is published together with the other tables of {spec.together.name}: give all of them to "
            "run_tables"
        )
    (report,) = _run(engine, [spec], machine, progress or Silent(), options or RunOptions())
    return report


def run_tables(
    engine: Engine,
    specs: Sequence[ReleaseSpec],
    machine: Machine,
    progress: Progress | None = None,
    options: RunOptions | None = None,
) -> tuple[RunReport, ...]:
    """Make the tables of one release, verify them together and publish all of them.

    If one table fails, an error is raised and everything stays as it was.

    Where any table has anything new, all get a new version.

    Args:
        engine: the sources' database.
        specs: all tables of the release, in the policy's order.
        machine: resources of the run.
        progress: gets stages, counts and notes.
        options: of this run; with ``only_due`` the tables are left alone if a run looked at all of them less than
            ``every`` ago.

    Returns:
        the report of each table.

    Raises:
        UnsupportedError: the engine has no transactions.
        SqlanonError: as `run`.

    Cost: that of a run of each table; the scratch tables of all of them are there until the end.
    """
    together = specs[0].together if specs else None
    if together is None or tuple(spec.name for spec in specs) != together.tables:
        raise PolicyError("the tables of one release are published together: give all of them, in their order")
    require(engine, "tables", together.name)
    return _run(engine, specs, machine, progress or Silent(), options or RunOptions())


def _run(
    engine: Engine, specs: Sequence[ReleaseSpec], machine: Machine, progress: Progress, options: RunOptions
) -> tuple[RunReport, ...]:
    watches = {spec.name: Stopwatch(spec.name, progress) for spec in specs}
    works: dict[str, Work] = {}
    try:
        with ExitStack() as held:
            for name in sorted(watches):
                held.enter_context(engine.lock(f"release {name}"))
            held.enter_context(tokens.hold_scope(engine, specs[0].scope))
            held.enter_context(hold_counts(engine, specs[0]))
            divisions = {spec.name: division_of_run(spec, engine.workers) for spec in specs}
            states = _states(engine, specs, watches, divisions)
            for spec in specs if options.keep_scratch else ():
                refuse_kept_scratch(spec)
            ends = {state.spec.name: hold_approval(engine, state.spec, before=state.last_shown) for state in states}
            kept = {state.spec.name: KeptScratch(state, keep=options.keep_scratch) for state in states}
            waits = options.only_due or any(waits_for_clock(spec, spend=options.spend) for spec in specs)
            if waits and not any(map(is_version_due, states)):
                return _add_warnings(_not_due(states, watches), ends)
            for state in states:
                name = state.spec.name
                keep = kept[name].keep if options.keep_scratch else None
                scratch = Scratch(engine, watches[name], keep, alone=len(specs) == 1)
                works[name] = _work(state, divisions[name], machine, watches[name], scratch, options)
            if len(works) > 1:
                siblings = tokens.Siblings(tuple(watches), tuple(one.published for one in states if one.published))
                works = {name: replace(work, siblings=siblings) for name, work in works.items()}
            for work in works.values():
                held.enter_context(work.scratch)
            carry_out(works)
        done = [
            replace(work.finished, seconds=work.watch.total(), scratch=tuple(kept[name].tables))
            for name, work in works.items()
        ]
        return _add_warnings(done, ends)
    finally:
        for spec in specs:
            progress.finish(spec.name)


def _add_warnings(reports: Sequence[RunReport], found: Mapping[str, tuple[str, ...]]) -> tuple[RunReport, ...]:
    """The reports with warnings of this moment, which the catalog does not keep."""
    return tuple(replace(one, warnings=(*one.warnings, *found[one.release])) for one in reports)


def _states(
    engine: Engine,
    specs: Sequence[ReleaseSpec],
    watches: Mapping[str, Stopwatch],
    divisions: Mapping[str, Division],
) -> list[ReleaseState]:
    """The states of locked releases; their tokens are keyed alike."""
    states = [find_state(engine, spec, watches[spec.name], every=divisions[spec.name].compares_all) for spec in specs]
    key = secrets.token_hex(32) if specs[0].rotates else states[0].tokens
    return [replace(state, tokens=key) for state in states]


def _not_due(states: Sequence[ReleaseState], watches: Mapping[str, Stopwatch]) -> tuple[RunReport, ...]:
    """Leave releases that are not due; readers that the policy names now get their rights."""
    entries = [entry for state in states if (entry := state.published) is not None]
    for state, entry in zip(states, entries, strict=True):
        refuse_few(state.spec, entry)
    for state, entry in zip(states, entries, strict=True):
        keep_readers(state.engine, state.spec, entry)
    return tuple(
        published_report(state.spec, entry, "fresh", ("not due yet",), watches[state.spec.name])
        for state, entry in zip(states, entries, strict=True)
    )


def _work(
    state: ReleaseState,
    division: Division,
    machine: Machine,
    watch: Stopwatch,
    scratch: Scratch,
    options: RunOptions,
) -> Work:
    with watch.stage("state"):
        target = target_of(state)
        decision = _decide(state, options)
        before = decision.instead
        if before is not None:  # readers look where another release was
            hold_approval(state.engine, state.spec, before=before)
        version = version_of_run(
            state, division, new_lineage=options.new_lineage, confirmed=options.allow_weaker, spend=options.spend
        )
        decision = version.decide(state, decision)
    notes = list_method_notes(state.spec)
    secret, judge = secret_of(state), partial(_judge, state, state.last_shown or before)
    return Work(state, target, decision, version, division, machine, watch, secret, scratch, notes=notes, judge=judge)


def _judge(state: ReleaseState, before: Entry | None, done: RunReport) -> RunReport:
    """Hold a verified version to people's decisions, in the transaction that publishes: approvals end meanwhile.

    Raises:
        PrivacyViolation: the risk is above the threshold.
        GuardError: the policy's approval no longer holds.
    """
    notes = hold_threshold(state.spec, done)
    hold_approval(state.engine, state.spec, before=before)
    return replace(done, notes=(*done.notes, *notes))


def _decide(state: ReleaseState, options: RunOptions) -> Decision:
    """Why a new version is made, as far as can be said before the source is read.

    Raises:
        GuardError: the policy is weaker than before, and that was not confirmed.
    """
    spec = state.spec
    if options.compare:
        decision = decide(state, full=options.full)
    elif state.last_shown is None:
        decision = replace(decide_first(state), state="made anew", why=())
    else:
        # Refuses columns that rest: keep would newly publish.
        schema_changes(spec, state.last_shown, state.source)
        changed = policy_changes(state.last_shown, spec)
        decision = Decision("made anew", tuple(map(str, changed)), list_weakenings(changed), state.last_shown, None)
    decision.require_confirmation(spec.name, allow_weaker=options.allow_weaker)
    return decision
