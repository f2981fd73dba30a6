"""Versions of a lineage (`refresh: {mode: frozen}`): who leaves, who waits, and the published cohort.

See docs/frozen.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import TableRef
from sqlanon.errors import InfeasibleError
from sqlanon.privacy.population import of_rows
from sqlanon.release.catalog.lineage import Lineage, secret_mark
from sqlanon.release.catalog.other_counts import refuse_next_version
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.divide.classes import make_classes, measure_loss
from sqlanon.release.divide.division import DivisionKeys
from sqlanon.release.frozen import limits
from sqlanon.release.frozen.choose_lineage import due_again, own_histories
from sqlanon.release.frozen.content import content_of
from sqlanon.release.frozen.erased_keys import lineages_by_others, list_mark
from sqlanon.release.frozen.exit_groups import exit_groups
from sqlanon.release.frozen.next_version import NextVersion, last_report, look
from sqlanon.release.frozen.shape import Shape, shape_of
from sqlanon.release.frozen.verify import verify_counts
from sqlanon.release.frozen.version import Draft, NewCohort, Step, describe_cohort, refuse
from sqlanon.release.history import history
from sqlanon.release.plans.rows import PlannedRows, plan_rows
from sqlanon.release.prepare.prepare import profile
from sqlanon.release.prepare.release_warnings import list_warnings
from sqlanon.release.stages.stage import comparison_of, measurement_of, profile_of
from sqlanon.release.stages.work import Outline, Stage, Version, Work
from sqlanon.release.versions.full import compare_with_earlier, division_of_run
from sqlanon.results import LineageReport, PlanReport, RunReport
from sqlanon.spec import ReleaseSpec


class OfLineage(Version):
    """See `Version`. For one run only: it keeps the results of the stages.

    Args:
        lineage: the lineage of the version.
        begins: the lineage begins with this version.
        erasing: scratch table of hashes of all keys that are never published again; None if this version erases no key.
        erases: how many keys this version erases.

    Cost: the source is joined with the lineage by key once, and once more to verify; the method on the cohort, and a
    copy of the published rows.
    """

    anew = False

    def __init__(self, lineage: Lineage, begins: bool, erasing: TableRef | None = None, erases: int = 0) -> None:
        self._begins = begins
        self._lineage, self._erasing, self._erases = lineage, erasing, erases
        self._looked: NextVersion | None = None
        self._refusal: str | None = None

    @property
    def begins(self) -> bool:
        return self._begins

    @property
    def follows(self) -> bool:
        return not self._begins

    @property
    def _outlook(self) -> NextVersion:
        assert self._looked is not None
        return self._looked

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        return due_again(state, decision, self._lineage, self.begins)

    def look(self, work: Work) -> None:
        if not work.unchanged:
            refuse_next_version(work.state)
        with work.watch.stage("profile"):
            self._looked = look(
                work.scratch,
                work.state,
                self._lineage,
                work.staged,
                begins=self.begins,
                erasing=self._erasing,
                whole=work.division.joins_persons,
            )
            if self._erasing is None and not work.unchanged:
                # A requested erasure is carried out, however far the lineage has drifted. The rest is stopped before
                # the cohort is tried: a cohort that was found to be feasible and is tried again with later rows would
                # be mixed.
                self._outlook.hold(work.spec)

    def stages(self, work: Work) -> Sequence[Stage]:
        """See `Version.stages`.

        Without a cohort nothing is divided, and within a lineage published classes stay as they are.
        """
        name, tried, before = work.spec.name, self._outlook.tried, work.decision.previous
        stages: list[Stage] = []
        if tried is not None:
            stages += [profile_of(name, tried.rows), division_of_run(work)]
            if self.begins:
                stages.append(comparison_of(name, before))
        return [*stages, measurement_of(name)]

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        """See `Version.plan`: whether a cohort can be published is decided by counts."""
        spec = work.spec
        if self._outlook.tried is not None:
            self.profile(work)
        if self._refusal is not None:
            self._refuse(spec)
        if not work.unchanged:
            limits.require_rows(spec, self._outlook.report())
        tried = work.ready is not None
        if not tried:
            memory = work.machine.memory
            work.ready = profile(
                work.scratch, work.staged, work.division, work.watch, memory=memory, part=True, judged=False
            )
        notes = plan_notes(spec, self._outlook, self._refusal or "", begins=self.begins)
        return plan_rows(work, PlannedRows(work.prepared, tried, notes), outline)

    def profile(self, work: Work) -> None:
        """See `Version.profile`: that of the cohort; a cohort that cannot meet the policy waits."""
        tried = self._outlook.tried
        assert tried is not None
        try:
            memory = work.machine.memory
            work.ready = profile(work.scratch, tried, work.division, work.watch, memory=memory, part=not self.begins)
        except InfeasibleError as error:
            if self.begins:
                raise
            self._refusal = str(error)

    def divide(self, work: Work) -> None:
        """See `Version.divide`: a cohort that cannot meet the policy is recorded, and waits."""
        if work.ready is not None:
            try:
                work.made = make_classes(
                    work.scratch,
                    work.spec,
                    work.ready,
                    work.division,
                    work.machine,
                    work.watch,
                    DivisionKeys(work.secret),
                )
            except InfeasibleError as error:
                if self.begins:
                    raise
                work.ready, self._refusal = None, str(error)
        if self._refusal is not None:
            whole, staged = work.division.joins_persons, work.staged
            refuse(work.scratch, self._lineage, work.target.version, staged.source.read_at, staged.stage, whole=whole)
            self._refuse(work.spec)

    def _refuse(self, spec: ReleaseSpec) -> None:
        self._looked = self._outlook.refuse()
        self._looked.hold(spec)

    def compare(self, work: Work) -> None:
        compare_with_earlier(work)

    def measure(self, work: Work) -> None:
        spec, state, scratch, target, staged = work.spec, work.state, work.scratch, work.target, work.staged
        lineage, looked, classes, ready = self._lineage, self._outlook, work.made, work.ready
        limits.require_rows(spec, looked.report(), erasing=self._erasing is not None)
        with work.watch.stage("recode"):
            last = None if self.begins else last_report(state, lineage)
            loss = measure_loss(scratch, spec, classes) if classes else RunReport.from_dict(_require_report(last)).loss
            names = (
                {d.reading.alias: classes.recoded.layout.names[d.code] for d in classes.encoded.quasi}
                if classes
                else {}
            )
            shape = shape_of(spec, staged.roles, None if self.begins else lineage.list_published_parts(), names)
            shape.layout.check(scratch.engine.capabilities.max_identifier)
        with work.watch.stage("verify"):
            step = Step(
                lineage,
                spec.name,
                target.version,
                self.begins,
                staged.source.read_at,
                None,
                looked.compared.leaving if looked.compared else None,
                None if self.begins else staged.stage,
                self._erasing,
                work.division.joins_persons,
                list_mark(state, work.secret),
                own_histories(state) if self._erasing is not None else (),
                lineages_by_others(state) if self._erasing is not None else frozenset(),
            )
            step = replace(step, entered=self._enter(work, step, shape)) if classes else step
            refused = 0 if self._refusal is None else looked.seen.cohort
            totals = replace(
                looked.report(), cohort_refused=refused, erasing=self._erases, keyed=secret_mark(work.secret)
            )
            verify_counts(staged.rows, totals)
        with work.watch.stage("state"):
            warned = list_warnings(state, target)
        method, execution = (_require_report(last)[key] if last else "" for key in ("method", "execution"))
        if classes and ready:
            method, execution = ready.method.describe(), classes.execution
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
            notes=(*(classes.notes if classes else ()), *work.compared.notes, *_notes(totals)),
            why=work.decision.why,
            replaces=work.decision.replaced,
            data=work.compared.data,
            history=work.compared.reports,
            lineage=totals,
            snapshot=work.source.snapshot,
        )
        draft = Draft(staged, step, shape, classes, report, totals, work.secret)
        work.content = content_of(state, scratch, draft, work.watch)

    def _enter(self, work: Work, step: Step, shape: Shape) -> NewCohort:
        scratch, spec, ready, classes = work.scratch, work.spec, work.prepared, work.classes
        rows = work.compared.table or history.rows_of(
            scratch, classes.encoded.roles, classes.classed.table, classes.recoded.groups, work.secret
        )
        requirements, sensitive, groups = of_rows(ready.requirements), len(ready.sensitive), classes.recoded.groups
        # Over persons a union may fail requirements that its parts meet, and the rows of a person are to stay together.
        exits = None if ready.owned else exit_groups(scratch, rows, groups, spec.privacy.k, requirements, sensitive)
        return describe_cohort(scratch, step, classes, rows, exits, shape, owned=ready.owned)


def _require_report(report: Mapping[str, Any] | None) -> Mapping[str, Any]:
    assert report is not None
    return report


def _notes(report: LineageReport) -> list[str]:
    if not report.cohort_refused:
        return []
    return [
        (
            f"a cohort of {report.cohort_refused} rows does not reach what the policy asks: its rows wait for a new "
            "lineage (run --new-lineage)"
        )
    ]


def plan_notes(spec: ReleaseSpec, looked: NextVersion, why: str, *, begins: bool) -> tuple[str, ...]:
    """Notes of a plan on the rows of a lineage: rows that stay, rows that wait, and rows for a new lineage.

    Args:
        spec: the release.
        looked: the source compared with the lineage.
        why: reason why the cohort cannot be published; empty if it can, or without a cohort.
        begins: the lineage begins.
    """
    census, number = looked.seen, looked.lineage.number
    if begins:
        apart = f", but {census.erased} whose keys were erased" if census.erased else ""
        return (f"lineage {number} begins: all rows of the source are published{apart}",)
    report, size = looked.report(), spec.refresh.cohort_rows(spec.privacy.k)
    if looked.tried is not None:
        does = "are tried now, as a cohort of their own: columns, requirements and the estimate are about them alone"
    elif why:
        does = f"are due and cannot be published, so that a run makes them wait whole for a new lineage ({why})"
    else:
        does = f"wait: a cohort has {size}"
        if spec.refresh.cohort and spec.refresh.cohort.every is not None:
            does += f", or is due by the time since the first of them came, {report.waits_since}, when there are k"
    stays = (
        f"lineage {number}: {looked.stays.published} published rows stay as they are, {report.retained} of which the "
        f"source does not have any more, and {report.stale} with other values; "
        f"{looked.stays.before - looked.stays.published} leave"
    )
    waits = f"{census.cohort} rows of the source {does}" if census.cohort else "no row of the source waits for a cohort"
    return stays, waits, f"{report.for_new_lineage} rows of the source wait for a new lineage"
