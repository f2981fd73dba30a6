"""Plans a run: its stages, and whether it can succeed, without publishing anything."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from sqlanon.engines.base import Engine, Traffic
from sqlanon.errors import GuardError
from sqlanon.progress import Progress, SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.places import place_named
from sqlanon.release.catalog.state import read_state
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.release.stages.options import RunOptions
from sqlanon.release.stages.stage import announce
from sqlanon.release.stages.work import Outline, Work
from sqlanon.release.versions.begin import begin_works
from sqlanon.release.versions.choose_version import RULES
from sqlanon.results import PlanReport, RunCost
from sqlanon.spec import ReleaseSpec
from sqlanon.usage import Meter, Part


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
    progress = progress or SilentProgress()
    meter = Meter(engine.usage)
    watch, options = Stopwatch(spec.name, progress, meter), RunOptions(new_lineage=new_lineage)
    try:
        with ExitStack() as open_scratches:
            specs = _tables(spec, beside)
            for table in specs:
                RULES[table.kind].check(engine, table, options)
            with watch.stage("state"):
                Catalog(engine).guard()
                states = [
                    read_state(engine, table, every=division_of_run(table, engine.workers).compares_all)
                    for table in specs
                ]
            works = begin_works(states, machine or Machine.here(), {table.name: watch for table in specs}, options)
            for work in works.values():
                open_scratches.enter_context(work.scratch)
            stages, work = announce(works), works[spec.name]
            report = work.version.plan(work, Outline(stages, beside))
            return replace(
                report,
                warnings=(*report.warnings, *_approval(work)),
                stages=tuple(stage.text for stage in stages),
                cost=_estimate_cost(work, meter) if report.estimate is not None else None,
            )
    finally:
        progress.finish(spec.name)


def _tables(spec: ReleaseSpec, beside: Sequence[ReleaseSpec]) -> list[ReleaseSpec]:
    """The tables that are published together with a table, in their order, where all are given."""
    specs = {release.name: release for release in beside} | {spec.name: spec}
    names = spec.together.tables if spec.together else ()
    return [specs[name] for name in names] if names and specs.keys() >= set(names) else [spec]


_SENT = {"database": Traffic(50, 9, 2.2), "lake": Traffic(30, 3, 0.3)}
"""What a run moves in addition where the release goes to another place, measured with 200,000 rows."""


def _estimate_cost(work: Work, meter: Meter) -> RunCost:
    """A rough guess of the bytes of a run: a multiple of those that were staged for the plan."""
    here = work.scratch.engine.capabilities.traffic
    sent = _SENT.get(place_named(work.spec).name, Traffic(0, 0, 0))
    traffic = replace(
        here,
        statements=here.statements + sent.statements,
        read=here.read + sent.read,
        written=here.written + sent.written,
    )
    usage = meter.parts().get(Part(work.spec.name, "snapshot"))
    staged = usage.written if usage is not None else None
    if staged is None:
        return RunCost(traffic.statements, None, None, None)
    shuffled = None if traffic.shuffled is None else round(staged * traffic.shuffled)
    return RunCost(traffic.statements, round(staged * traffic.read), round(staged * traffic.written), shuffled)


def _approval(work: Work) -> tuple[str, ...]:
    """Message of a run about the policy's approval."""
    try:
        return work.hold_approval()
    except GuardError as refused:
        return (f"a run would stop: {refused}",)
