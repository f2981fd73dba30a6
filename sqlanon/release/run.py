"""Runs a release: builds a list of stages from the policy, the state of the release and the source, and executes it.

Tables that are published together (`tables:`) are read in one snapshot and published in one transaction. Their classes
are made one after the other, in the order of the policy: the persons of a table are divided by the kinds of their
tokens in earlier tables. The written tables are then checked together.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import require
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, SilentProgress, Stopwatch
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.release.publish.kept_scratch import KeptScratch
from sqlanon.release.publish.killed_counts import reconcile_beside
from sqlanon.release.stages.options import RunOptions
from sqlanon.release.stages.stage import carry_out
from sqlanon.release.stages.work import Work, find_state
from sqlanon.release.verify import tokens
from sqlanon.release.versions.begin import begin_works
from sqlanon.release.versions.choose_version import RULES
from sqlanon.release.versions.glance import glance
from sqlanon.results import RunReport
from sqlanon.results.cost import cost_of
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch
from sqlanon.usage import Meter


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
    (report,) = _run(engine, [spec], machine, progress or SilentProgress(), options or RunOptions())
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
    return _run(engine, specs, machine, progress or SilentProgress(), options or RunOptions())


def _run(
    engine: Engine, specs: Sequence[ReleaseSpec], machine: Machine, progress: Progress, options: RunOptions
) -> tuple[RunReport, ...]:
    meter = Meter(engine.usage)
    watches = {spec.name: Stopwatch(spec.name, progress, meter) for spec in specs}
    rules = RULES[specs[0].kind]  # tables that are published together are of one kind
    try:
        with ExitStack() as resources:
            for spec in specs:
                rules.check(engine, spec, options)
            watch = watches[specs[0].name]
            unchanged = glance(engine, specs[0], options, watch)
            if unchanged is not None:
                cost = cost_of(meter.parts(), specs[0].name, watch.seconds)
                return (replace(unchanged, seconds=watch.total(), cost=cost),)
            for name in sorted(watches):
                resources.enter_context(engine.lock(f"release {name}"))
            resources.enter_context(tokens.hold_scope(engine, specs[0].scope))
            resources.enter_context(rules.hold(engine, specs[0]))
            works = begin_works(_states(engine, specs, watches), machine, watches, options)
            for work in works.values():
                work.decision.require_confirmation(work.spec.name, allow_weaker=options.allow_weaker)
            ends = {name: work.hold_approval() for name, work in works.items()}
            kept_scratch = {name: _keep_scratch(work, options) for name, work in works.items()}
            if len(works) > 1:
                published = tuple(entry for work in works.values() if (entry := work.state.published))
                siblings = tokens.Siblings(tuple(works), published)
                for work in works.values():
                    work.siblings = siblings
            for work in works.values():
                work.judge = work.hold_decisions
                resources.enter_context(work.scratch)
            carry_out(works)
        parts = meter.parts()
        return tuple(
            # Warnings of this moment and costs are not kept by the catalog.
            replace(
                work.finished,
                seconds=work.watch.total(),
                # Of noisy statistics bytes show how many rows there are.
                cost=cost_of(parts, name, work.watch.seconds, shown=not work.spec.kind.charged),
                scratch=tuple(kept_scratch[name].tables),
                warnings=(*work.finished.warnings, *ends[name]),
            )
            for name, work in works.items()
        )
    finally:
        for spec in specs:
            progress.finish(spec.name)


def _states(engine: Engine, specs: Sequence[ReleaseSpec], watches: Mapping[str, Stopwatch]) -> list[ReleaseState]:
    """The states of locked releases, after remains of killed runs beside them are settled; tokens are keyed alike."""
    states = []
    for spec in specs:
        every, watch = division_of_run(spec, engine.workers).compares_all, watches[spec.name]
        state = find_state(engine, spec, watch, every=every)
        if reconcile_beside(engine, spec.name, None, unsettled=state.unsettled):
            state = find_state(engine, spec, watch, every=every)
        states.append(state)
    key = secrets.token_hex(32) if specs[0].rotates else states[0].tokens
    return [replace(state, tokens=key) for state in states]


def _keep_scratch(work: Work, options: RunOptions) -> KeptScratch:
    """Drop the tables that an earlier run kept, and keep those of this run if that is asked for."""
    scratch = KeptScratch(work.state, keep=options.keep_scratch)
    if options.keep_scratch:
        work.scratch = Scratch(work.state.engine, work.watch, scratch.keep, alone=work.spec.together is None)
    return scratch
