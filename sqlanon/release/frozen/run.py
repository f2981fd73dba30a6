"""One run of a release whose versions are a lineage: who leaves, who waits, and the cohort that is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.errors import InfeasibleError
from sqlanon.privacy.population import of_rows
from sqlanon.progress import Stopwatch
from sqlanon.release.check import history
from sqlanon.release.frozen import limits
from sqlanon.release.frozen.census import Census, census, is_due, too_long
from sqlanon.release.frozen.content import content_of
from sqlanon.release.frozen.exits import exit_groups
from sqlanon.release.frozen.shape import Shape, shape_of
from sqlanon.release.frozen.stale import stale_rows
from sqlanon.release.frozen.verify import verify_counts
from sqlanon.release.frozen.version import Entered, Step, entered_of, refuse
from sqlanon.release.frozen.which import newest
from sqlanon.release.make.classes import Machine, Made, make_classes, measured
from sqlanon.release.make.prepare import Prepared, Staged, profiled
from sqlanon.release.make.versions import Compared, compare_versions
from sqlanon.release.make.warned import warnings
from sqlanon.release.store.lineage import Lineage
from sqlanon.release.store.publish import put_in
from sqlanon.release.store.refresh import Decision
from sqlanon.release.store.state import ReleaseState
from sqlanon.release.store.target import Publication
from sqlanon.results import LineageReport, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


def run_frozen(
    state: ReleaseState, machine: Machine, watch: Stopwatch, scratch: Scratch, staged: Staged, target: Publication,
    decision: Decision, secret: str, lineage: Lineage, *, begins: bool, erasing: TableRef | None = None, erases: int = 0,
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
        erases: how many keys this version erases.

    Cost: some joins of the source with the lineage by key, the method on the cohort, and a copy of the published rows.
    """
    spec, now = state.spec, staged.source.read_at
    with watch.stage("profile"):
        seen, part = _seen(scratch, spec, lineage, staged, now, begins=begins, erasing=erasing)
        leaving = None if begins else _leaving(scratch, lineage, staged.stage, erasing)
        stays = Stays() if begins else _stays(scratch, state, lineage, leaving, erasing, staged)
        after, entered = (seen.without_cohort(), seen.cohort) if part is not None else (seen, 0)
        if erasing is None:  # what somebody asked to be erased is erased, however far the lineage has drifted
            # Before the cohort is tried: one that was found to be feasible and is tried again with later rows would be a mixed cohort.
            limits.hold(
                spec, staged.rows, _report(lineage, stays, after, entered, now), too_long(spec, after, now)
            )
    made, ready, refused = None, None, 0
    if part is not None:
        try:
            ready = profiled(scratch, spec, part, watch, memory=machine.memory, part=not begins)
            made = make_classes(spec, machine, watch, scratch, ready, secret)
        except InfeasibleError:
            if begins:
                raise
            refuse(scratch, lineage, target.version, now, staged.stage, whole=spec.privacy.whole)
            refused, entered, after = seen.cohort, 0, seen.with_refused(now)
            limits.hold(
                spec, staged.rows, _report(lineage, stays, after, 0, now), too_long=too_long(spec, after, now)
            )
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
        cohort = _entered(
            scratch, spec, lineage, target.version, now, made, ready, shape, secret, compared.table, begins=begins
        )  # fmt: skip
        stage = None if begins else staged.stage
        step = Step(
            lineage,
            spec.name,
            target.version,
            begins,
            now,
            cohort,
            leaving,
            stage,
            erasing,
            spec.privacy.whole,
        )
        found = replace(_report(lineage, stays, after, entered, now), cohort_refused=refused, erasing=erases)
        verify_counts(staged.rows, found)
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
        else census(scratch, lineage, staged.stage, erasing or lineage.erased, whole=spec.privacy.whole)
    )
    if erasing is not None or (not begins and not is_due(spec, seen, now)):
        return seen, None
    cohort = scratch.table("cohort")
    columns = scratch.engine.look_up([staged.stage]).columns(staged.stage)
    scratch.execute(
        "frozen/cohort", cohort=cohort, stage=staged.stage, rows=None if begins else lineage.rows, erased=lineage.erased,
        columns=[column.name for column in columns if column.name != "rid"], whole=spec.privacy.whole and not begins,
    )  # fmt: skip
    return seen, replace(staged, stage=cohort, rows=seen.cohort)


def _of_new(scratch: Scratch, lineage: Lineage, staged: Staged) -> Census:
    erased = scratch.fetch("frozen/erased_rows", stage=staged.stage, erased=lineage.erased)
    number = int(str(erased[0][0]))
    return Census(staged.rows - number, erased=number)


def _entered(
    scratch: Scratch, spec: ReleaseSpec, lineage: Lineage, version: int, at: str, made: Made | None, ready: Prepared | None, shape: Shape, secret: str,
    rows_of: TableRef | None, *, begins: bool,
) -> Entered | None:  # fmt: skip
    if made is None or ready is None:
        return None
    if rows_of is None:
        rows_of = history.rows_of(scratch, made.encoded.roles, made.classed, made.recoded.groups, secret)
    asked, sensitive = of_rows(ready.requirements), len(ready.sensitive)
    # Over persons a union may fail what its parts meet, and the rows of a person are to stay together.
    exits = (
        None
        if ready.owned
        else exit_groups(scratch, rows_of, made.recoded.groups, spec.privacy.k, asked, sensitive)
    )
    return entered_of(
        scratch, lineage, version, at, made, rows_of, exits, shape, begins=begins, owned=ready.owned
    )


def _leaving(scratch: Scratch, lineage: Lineage, stage: TableRef, erasing: TableRef | None) -> TableRef:
    """A table of the classes that leave."""
    leaving = scratch.table("leaving")
    scratch.execute(
        "frozen/leaving", leaving=leaving, rows=lineage.rows, stage=stage, erased=erasing or lineage.erased
    )
    return leaving


@dataclass(frozen=True, slots=True)
class Stays:
    """Published rows, counted before the version is written.

    Attributes:
        before: in the version before; ``published`` of them stay, of which the source no longer has ``retained`` and has ``stale`` with
            other values.
        gone: rows of the source whose class leaves with an erased key.
    """

    before: int = 0
    published: int = 0
    retained: int = 0
    stale: int = 0
    gone: int = 0


def _stays(
    scratch: Scratch, state: ReleaseState, lineage: Lineage, leaving: TableRef | None, erasing: TableRef | None, staged: Staged
) -> Stays:  # fmt: skip
    counts = scratch.fetch("frozen/published", rows=lineage.rows, leaving=leaving, stage=staged.stage)[0]
    published, retained = (int(str(cell)) for cell in counts)
    before = int(_last(state, lineage)["lineage"]["published"])  # as readers had it
    gone = scratch.fetch(
        "frozen/gone_with",
        rows=lineage.rows,
        stage=staged.stage,
        leaving=leaving,
        erased=erasing or lineage.erased,
    )[0][0]
    spec = state.spec
    shape = shape_of(spec, staged.roles, lineage.published_parts(), {})
    stale = stale_rows(scratch, spec, lineage, leaving, staged.roles, staged.stage, shape)
    return Stays(before, published, retained, stale, int(str(gone)))


def _report(lineage: Lineage, stays: Stays, seen: Census, entered: int, now: str) -> LineageReport:
    """A version in rows: those that stay published, what the source has beside them, and how many are new in the version."""
    return LineageReport(
        lineage.number, stays.published + entered, entered, stays.before - stays.published,
        stays.published - stays.retained - stays.stale + entered, stays.stale, stays.retained, seen.cohort, seen.refused,
        seen.gone + stays.gone, seen.erased, waits_since=(seen.waits_since or now) if seen.cohort else None, refused_since=seen.refused_since,
        later=seen.later,
    )  # fmt: skip


def _last(state: ReleaseState, lineage: Lineage) -> Mapping[str, Any]:
    """The report of the lineage's newest version."""
    return newest(state, lineage.number).report


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
