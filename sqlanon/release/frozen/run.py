"""One run of a release whose versions are a lineage: who leaves, who waits, and the cohort that is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.errors import GuardError, InfeasibleError
from sqlanon.progress import Stopwatch
from sqlanon.release.check import history
from sqlanon.release.frozen import limits
from sqlanon.release.frozen.census import Census, census, is_due, waits_too_long
from sqlanon.release.frozen.content import content_of
from sqlanon.release.frozen.shape import Shape, shape_of
from sqlanon.release.frozen.stale import stale_rows
from sqlanon.release.frozen.verify import verify_counts
from sqlanon.release.frozen.version import Entered, Step, entered_of, refuse
from sqlanon.release.make.classes import Machine, Made, make_classes, measured
from sqlanon.release.make.prepare import Staged, profiled
from sqlanon.release.make.versions import Compared, compare_versions
from sqlanon.release.make.warned import warnings
from sqlanon.release.store.lineage import Lineage, number_of
from sqlanon.release.store.publish import put_in
from sqlanon.release.store.refresh import Decision
from sqlanon.release.store.state import SHOWN, ReleaseState
from sqlanon.release.store.target import Publication
from sqlanon.results import LineageReport, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


def run_frozen(
    state: ReleaseState, machine: Machine, watch: Stopwatch, scratch: Scratch, staged: Staged, target: Publication,
    decision: Decision, secret: str, lineage: Lineage, *, begins: bool, erasing: TableRef | None = None,
) -> RunReport:  # fmt: skip
    """Make the next version of a lineage, verify it and publish it, or raise and leave what readers have as it was.

    Args:
        state: the release as the run found it.
        machine: what the run may use.
        watch: measures the stages.
        scratch: the run.
        staged: the source as it was read.
        target: where the version goes.
        decision: why there is one.
        secret: what the release's hashes are keyed with.
        lineage: the lineage of the version.
        begins: it begins with this version.
        erasing: scratch table of hashes of all keys that are never published again; None: no key is erased by this version.

    Cost: some joins of the source with the lineage by key, the method on the cohort, and a copy of the published rows.
    """
    spec, now = state.spec, staged.source.read_at
    with watch.stage("profile"):
        seen, part = _seen(scratch, spec, lineage, staged, now, begins=begins, erasing=erasing)
    made, ready, refused = None, None, 0
    if part is not None:
        try:
            ready = profiled(scratch, spec, part, watch, memory=machine.memory, part=not begins)
            made = make_classes(spec, machine, watch, scratch, ready, secret)
        except InfeasibleError:
            if begins:
                raise
            refuse(scratch, lineage, target.version, now, staged.stage)
            refused = seen.cohort
            seen = replace(seen, new=0, waiting=0, refused=seen.refused + refused)
    with watch.stage("recode"):
        last = None if begins else _last(state, lineage)
        loss = measured(scratch, spec, made) if made else RunReport.from_dict(_known(last)).loss
        names = (
            {d.reading.alias: made.recoded.layout.names[d.code] for d in made.encoded.quasi} if made else {}
        )
        shape = shape_of(spec, staged.roles, None if begins else lineage.published_parts(), names)
        shape.layout.check(scratch.engine.capabilities.max_identifier)
    with watch.stage("verify"):
        compared = Compared(None, None, (), ())
        if begins and made and ready:
            compared = compare_versions(
                scratch, state, ready, made.classed, made.recoded, None, decision.previous, target.version, secret
            )  # fmt: skip
            history.hold(spec, compared.reports)
        entered = _entered(
            scratch, lineage, target.version, now, made, shape, secret, compared.table, begins=begins
        )
        leaving = None if begins else _leaving(scratch, lineage, staged.stage, erasing)
        stage = None if begins else staged.stage
        step = Step(lineage, spec.name, target.version, begins, now, entered, leaving, stage, erasing)
        found = replace(_report(scratch, spec, step, seen, staged, shape), cohort_refused=refused)
        verify_counts(staged.rows, found)
        if erasing is None:  # what somebody asked to be erased is erased, however far the lineage has drifted
            late = waits_too_long(spec, seen, now) and found.waiting + found.refused > 0
            limits.hold(spec, staged.rows, found, too_long=late)
    with watch.stage("state"):
        warned = warnings(state, target)
    method, execution = _known(last)["method"] if last else "", _known(last)["execution"] if last else ""
    if made and ready:
        method, execution = ready.method.describe(), made.execution
    report = RunReport(
        release=spec.name, version=target.version, source=str(staged.roles.relation.ref), published=target.shown, rows=staged.rows,
        suppressed=0, left_out=0, classes=0, min_class=0, max_class=0, requirements=(), loss=loss, seconds={}, verified=False,
        method=str(method), execution=str(execution), format=spec.format.kind,
        columns=tuple(column.name for column in shape.layout.columns), warnings=warned,
        notes=(*(made.notes if made else ()), *compared.notes, *_notes(found)), why=decision.why, replaces=decision.replaced,
        data=compared.data, history=compared.reports, lineage=found,
    )  # fmt: skip
    content = content_of(state, scratch, staged, step, shape, made, report, watch, secret)
    return put_in(state, target, content, watch)


def _seen(
    scratch: Scratch, spec: ReleaseSpec, lineage: Lineage, staged: Staged, now: str, *, begins: bool, erasing: TableRef | None
) -> tuple[Census, Staged | None]:  # fmt: skip
    """The source's rows by what the lineage has of them, and those of the cohort that is tried now, as a table of their own."""
    if begins and not scratch.engine.exists(lineage.erased):
        return Census(staged.rows), staged
    seen = (
        _of_new(scratch, lineage, staged)
        if begins
        else census(scratch, lineage, staged.stage, erasing or lineage.erased)
    )
    if erasing is not None or (not begins and not is_due(spec, seen, now)):
        return seen, None
    cohort = scratch.table("cohort")
    columns = scratch.engine.look_up([staged.stage]).columns(staged.stage)
    scratch.execute(
        "frozen/cohort", cohort=cohort, stage=staged.stage, rows=None if begins else lineage.rows, erased=lineage.erased,
        columns=[column.name for column in columns if column.name != "rid"],
    )  # fmt: skip
    return seen, replace(staged, stage=cohort, rows=seen.cohort)


def _of_new(scratch: Scratch, lineage: Lineage, staged: Staged) -> Census:
    erased = scratch.fetch("frozen/erased_rows", stage=staged.stage, erased=lineage.erased)
    number = int(str(erased[0][0]))
    return Census(staged.rows - number, erased=number)


def _entered(
    scratch: Scratch, lineage: Lineage, version: int, at: str, made: Made | None, shape: Shape, secret: str, rows_of: TableRef | None,
    *, begins: bool,
) -> Entered | None:  # fmt: skip
    if made is None:
        return None
    if rows_of is None:
        rows_of = history.rows_of(scratch, made.encoded.roles, made.classed, made.recoded.groups, secret)
    return entered_of(scratch, lineage, version, at, made, rows_of, shape, begins=begins)


def _leaving(scratch: Scratch, lineage: Lineage, stage: TableRef, erasing: TableRef | None) -> TableRef:
    """A table of the classes that leave."""
    leaving = scratch.table("leaving")
    scratch.execute(
        "frozen/leaving", leaving=leaving, rows=lineage.rows, stage=stage, erased=erasing or lineage.erased
    )
    return leaving


def _report(
    scratch: Scratch, spec: ReleaseSpec, step: Step, seen: Census, staged: Staged, shape: Shape
) -> LineageReport:
    """The version in rows, counted before it is written."""
    if step.begins:
        return LineageReport(step.lineage.number, seen.new, seen.new, 0, seen.new, 0, 0, 0, 0, 0, seen.erased)
    stayed, retained = _counted(scratch, step.lineage.rows, step.leaving, staged.stage)
    before, _ = _counted(scratch, step.lineage.rows, None, None)
    entered = seen.cohort if step.entered else 0
    waiting = seen.cohort - entered
    with_erased = 0
    if step.erased:
        row = scratch.fetch(
            "frozen/gone_with",
            rows=step.lineage.rows,
            stage=staged.stage,
            leaving=step.leaving,
            erased=step.erased,
        )[0]
        with_erased = int(str(row[0]))
    stale = stale_rows(scratch, spec, step, staged.roles, staged.stage, shape)
    since = seen.waits_since if waiting else None
    return LineageReport(
        step.lineage.number, stayed + entered, entered, before - stayed, stayed - retained - stale + entered, stale, retained, waiting,
        seen.refused, seen.gone + with_erased, seen.erased, 0, 0.0, since or (staged.source.read_at if waiting else None),
    )  # fmt: skip


def _counted(
    scratch: Scratch, rows: TableRef, leaving: TableRef | None, stage: TableRef | None
) -> tuple[int, int]:
    found = scratch.fetch("frozen/published", rows=rows, leaving=leaving, stage=stage)[0]
    return int(str(found[0])), int(str(found[1]))


def _last(state: ReleaseState, lineage: Lineage) -> Mapping[str, Any]:
    """The report of the lineage's newest version."""
    of = [entry for entry in state.versions if number_of(entry) == lineage.number and entry.status in SHOWN]
    if not of:
        raise GuardError(f"{state.spec.name}: the lineage has no version")
    return of[-1].report


def _known(report: Mapping[str, Any] | None) -> Mapping[str, Any]:
    assert report is not None
    return report


def _notes(found: LineageReport) -> list[str]:
    if not found.cohort_refused:
        return []
    return [
        f"a cohort of {found.cohort_refused} rows does not reach what the policy asks: its rows wait for a new lineage (run --new-lineage)"
    ]


__all__ = ["run_frozen"]
