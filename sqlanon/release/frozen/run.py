"""One run of a release whose versions are a lineage: who leaves, who waits, and the cohort that is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.errors import InfeasibleError
from sqlanon.privacy.population import of_rows
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.lineage import Lineage, secret_mark
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.target import Publication
from sqlanon.release.divide.classes import Machine, Made, make_classes, measured
from sqlanon.release.frozen import limits
from sqlanon.release.frozen.choose_lineage import own_histories
from sqlanon.release.frozen.content import content_of
from sqlanon.release.frozen.erased_keys import lineages_by_others, list_mark
from sqlanon.release.frozen.exit_groups import exit_groups
from sqlanon.release.frozen.next_version import last_report, look
from sqlanon.release.frozen.shape import Shape, shape_of
from sqlanon.release.frozen.verify import verify_counts
from sqlanon.release.frozen.version import Entered, Step, entered_of, refuse
from sqlanon.release.history import history
from sqlanon.release.history.compare_versions import Compared, compare_versions
from sqlanon.release.prepare.prepare import profiled
from sqlanon.release.prepare.release_warnings import warnings
from sqlanon.release.prepare.staged import Prepared, Staged
from sqlanon.release.publish.publish import put_in
from sqlanon.results import LineageReport, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


def run_frozen(
    state: ReleaseState,
    machine: Machine,
    watch: Stopwatch,
    scratch: Scratch,
    staged: Staged,
    target: Publication,
    decision: Decision,
    secret: str,
    lineage: Lineage,
    *,
    begins: bool,
    erasing: TableRef | None = None,
    erases: int = 0,
) -> RunReport:
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

    Cost: the source is joined with the lineage by key once, and once more to verify; the method on the cohort, and a copy of the published rows.
    """
    spec, now = state.spec, staged.source.read_at
    with watch.stage("profile"):
        looked = look(scratch, state, lineage, staged, begins=begins, erasing=erasing)
        if erasing is None:  # what somebody asked to be erased is erased, however far the lineage has drifted
            # Before the cohort is tried: one that was found to be feasible and is tried again with later rows would be a mixed cohort.
            looked.hold(spec)
    made, ready, refused = None, None, 0
    if looked.tried is not None:
        try:
            ready = profiled(scratch, spec, looked.tried, watch, memory=machine.memory, part=not begins)
            made = make_classes(spec, machine, watch, scratch, ready, secret)
        except InfeasibleError:
            if begins:
                raise
            refuse(scratch, lineage, target.version, now, staged.stage, whole=spec.privacy.whole)
            looked, refused = looked.refused(), looked.seen.cohort
            looked.hold(spec)
    limits.some(spec, looked.report(), erasing=erasing is not None)
    with watch.stage("recode"):
        last = None if begins else last_report(state, lineage)
        loss = measured(scratch, spec, made) if made else RunReport.from_dict(_known(last)).loss
        names = {d.reading.alias: made.recoded.layout.names[d.code] for d in made.encoded.quasi} if made else {}
        shape = shape_of(spec, staged.roles, None if begins else lineage.published_parts(), names)
        shape.layout.check(scratch.engine.capabilities.max_identifier)
    with watch.stage("verify"):
        versions = Compared(None, None, (), ())
        if begins and made and ready:
            versions = compare_versions(
                scratch, state, ready, made.classed, made.recoded, None, decision.previous, target.version, secret
            )
            history.hold(spec, versions.reports)
        cohort = _entered(
            scratch, spec, lineage, target.version, now, made, ready, shape, secret, versions.table, begins=begins
        )
        stage = None if begins else staged.stage
        step = Step(
            lineage,
            spec.name,
            target.version,
            begins,
            now,
            cohort,
            looked.compared.leaving if looked.compared else None,
            stage,
            erasing,
            spec.privacy.whole,
            list_mark(state, secret),
            own_histories(state) if erasing is not None else (),
            lineages_by_others(state) if erasing is not None else frozenset(),
        )
        found = replace(looked.report(), cohort_refused=refused, erasing=erases, keyed=secret_mark(secret))
        verify_counts(staged.rows, found)
    with watch.stage("state"):
        warned = warnings(state, target)
    method, execution = _known(last)["method"] if last else "", _known(last)["execution"] if last else ""
    if made and ready:
        method, execution = ready.method.describe(), made.execution
    report = RunReport(
        release=spec.name,
        version=target.version,
        source=str(staged.roles.relation.ref),
        published=target.shown,
        rows=staged.rows,
        suppressed=0,
        left_out=0,
        classes=0,
        min_class=0,
        max_class=0,
        requirements=(),
        loss=loss,
        seconds={},
        verified=False,
        method=str(method),
        execution=str(execution),
        format=spec.format.kind,
        columns=tuple(column.name for column in shape.layout.columns),
        warnings=warned,
        notes=(*(made.notes if made else ()), *versions.notes, *_notes(found)),
        why=decision.why,
        replaces=decision.replaced,
        data=versions.data,
        history=versions.reports,
        lineage=found,
    )
    content = content_of(state, scratch, staged, step, shape, made, report, watch, secret)
    return put_in(state, target, content, watch)


def _entered(
    scratch: Scratch,
    spec: ReleaseSpec,
    lineage: Lineage,
    version: int,
    at: str,
    made: Made | None,
    ready: Prepared | None,
    shape: Shape,
    secret: str,
    rows_of: TableRef | None,
    *,
    begins: bool,
) -> Entered | None:
    if made is None or ready is None:
        return None
    if rows_of is None:
        rows_of = history.rows_of(scratch, made.encoded.roles, made.classed, made.recoded.groups, secret)
    asked, sensitive = of_rows(ready.requirements), len(ready.sensitive)
    # Over persons a union may fail what its parts meet, and the rows of a person are to stay together.
    exits = (
        None if ready.owned else exit_groups(scratch, rows_of, made.recoded.groups, spec.privacy.k, asked, sensitive)
    )
    return entered_of(scratch, lineage, version, at, made, rows_of, exits, shape, begins=begins, owned=ready.owned)


def _known(report: Mapping[str, Any] | None) -> Mapping[str, Any]:
    assert report is not None
    return report


def _notes(found: LineageReport) -> list[str]:
    if not found.cohort_refused:
        return []
    return [
        f"a cohort of {found.cohort_refused} rows does not reach what the policy asks: its rows wait for a new lineage (run --new-lineage)"
    ]
