"""The beginning of a run, of its plan or of a preview: the work on each table, from the state of its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.policy_diff import list_weakenings
from sqlanon.release.catalog.recorded_method import list_method_notes
from sqlanon.release.catalog.refresh import Decision, decide, decide_first, policy_changes, schema_changes
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.target import name_target, target_of
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.release.stages.options import RunOptions
from sqlanon.release.stages.work import Work, secret_of
from sqlanon.release.versions.choose_version import RULES
from sqlanon.table.scratch import Scratch


def begin_works(
    states: Sequence[ReleaseState], machine: Machine, watches: Mapping[str, Stopwatch], options: RunOptions
) -> dict[str, Work]:
    """The work on the tables of one release, by name and in their order; nothing is read of a source.

    Args:
        states: the release's tables as a run or a plan found them.
        machine: resources of the run.
        watches: measure the stages, by the names of the tables.
        options: of the run.

    Raises:
        PolicyError, GuardError, SchemaChangedError, UnsupportedError: errors that stop the run.
    """
    rules = RULES[states[0].spec.kind]
    rests = rules.waits(options) and not any(map(rules.is_due, states))
    works = {}
    for state in states:
        spec, watch = state.spec, watches[state.spec.name]
        with watch.stage("state"):
            division = division_of_run(spec, state.engine.workers)
            target = name_target(state) if rests else target_of(state)
            decision = _rest(state) if rests else _decide(state, options)
            version = rules.wait() if rests else rules.choose(state, division, options)
            decision = version.decide(state, decision)
            scratch = Scratch(state.engine, watch, alone=spec.together is None)
            work = Work(state, target, decision, version, division, machine, watch, secret_of(state), scratch)
            work.notes = list_method_notes(spec)
        works[spec.name] = work
    return works


def _rest(state: ReleaseState) -> Decision:
    assert state.published is not None
    return Decision("unchanged", ("not due yet",), (), state.published, state.published.fingerprint)


def _decide(state: ReleaseState, options: RunOptions) -> Decision:
    """Why a new version is made, as far as can be said before the source is read."""
    spec = state.spec
    if options.compare:
        return decide(state, full=options.full)
    if state.last_shown is None:
        return replace(decide_first(state), state="made anew", why=())
    # Refuses columns that rest: keep would newly publish.
    schema_changes(spec, state.last_shown, state.source)
    changed = policy_changes(state.last_shown, spec)
    return Decision("made anew", tuple(map(str, changed)), list_weakenings(changed), state.last_shown, None)
