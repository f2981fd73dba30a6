"""One run of a release whose versions are a lineage: who leaves, who waits, and the cohort that is published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlanon.engines.base import Found, Statement, TableRef
from sqlanon.errors import GuardError, InfeasibleError
from sqlanon.progress import Stopwatch
from sqlanon.release.check import history
from sqlanon.release.check.verify import Verified
from sqlanon.release.frozen import limits
from sqlanon.release.frozen.census import Census, census, is_due, waits_too_long
from sqlanon.release.frozen.shape import Shape, kept_columns, quasi_columns, shape_of
from sqlanon.release.frozen.stale import stale_rows
from sqlanon.release.frozen.verify import Before, Cohort, verify_counts, verify_version
from sqlanon.release.frozen.version import Entered, Step, entered_of, published, record
from sqlanon.release.make.classes import Machine, Made, make_classes, measured
from sqlanon.release.make.prepare import Prepared, Staged, profiled
from sqlanon.release.make.versions import Compared, compare_versions
from sqlanon.release.make.warned import warnings
from sqlanon.release.store.lineage import Lineage, number_of
from sqlanon.release.store.metadata import metadata_rows
from sqlanon.release.store.private_tables import private_table
from sqlanon.release.store.publish import Content, as_verified, listed, put_in
from sqlanon.release.store.refresh import Decision
from sqlanon.release.store.state import SHOWN, ReleaseState
from sqlanon.release.store.target import Publication
from sqlanon.results import LineageReport, LossReport, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


def run_frozen(
    state: ReleaseState, machine: Machine, watch: Stopwatch, scratch: Scratch, staged: Staged, target: Publication,
    decision: Decision, secret: str, lineage: Lineage, *, begins: bool, erasing: TableRef | None = None,
) -> RunReport:  # fmt: skip
    """Make the next version of a lineage, verify it and publish it, or raise and leave everything as it was.

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
    made, ready, tried = None, None, part is not None
    if part is not None:
        try:
            ready = profiled(scratch, spec, part, watch, memory=machine.memory, part=not begins)
            made = make_classes(spec, machine, watch, scratch, ready, secret)
        except InfeasibleError:
            if begins:
                raise
    with watch.stage("recode"):
        loss = measured(scratch, spec, made) if made else _loss_before(state, lineage)
        names = (
            {d.reading.alias: made.recoded.layout.names[d.code] for d in made.encoded.quasi} if made else {}
        )
        shape = shape_of(spec, staged.roles, None if begins else lineage.published_parts(), names)
        shape.layout.check(scratch.engine.capabilities.max_identifier)
    compared = Compared(None, None, (), ())
    with watch.stage("verify"):
        entered = None
        if made and ready:
            if begins:
                compared = compare_versions(
                    scratch,
                    state,
                    ready,
                    made.classed,
                    made.recoded,
                    None,
                    decision.previous,
                    target.version,
                    secret,
                )
                history.hold(spec, compared.reports)
            entered = _entered(
                scratch,
                lineage,
                target.version,
                now,
                made,
                ready,
                shape,
                secret,
                compared.table,
                begins=begins,
            )
        leaving = None
        if not begins:
            leaving = scratch.table("leaving")
            scratch.execute(
                "frozen/leaving",
                leaving=leaving,
                rows=lineage.rows,
                stage=staged.stage,
                erased=erasing or lineage.erased,
            )
        stage = None if begins else staged.stage
        step = Step(
            lineage, spec.name, target.version, begins, now, entered, tried and entered is None, leaving, stage, erasing
        )  # fmt: skip
        found = _report(scratch, spec, step, seen, staged, shape)
        verify_counts(staged.rows, found)
        if erasing is None:  # what somebody asked to be erased is erased, however far the lineage has drifted
            late = waits_too_long(spec, seen, now) and found.waiting + found.refused > 0
            limits.hold(spec, staged.rows, found, too_long=late)
    with watch.stage("state"):
        warned = warnings(state, target)
    report = RunReport(
        release=spec.name, version=target.version, source=str(staged.roles.relation.ref), published=target.shown, rows=staged.rows,
        suppressed=0, left_out=0, classes=0, min_class=0, max_class=0, requirements=(), loss=loss, seconds={}, verified=False,
        method=(made and ready and ready.method.describe()) or _said(state, lineage, "method"),
        execution=made.execution if made else _said(state, lineage, "execution"), format=spec.format.kind,
        columns=tuple(column.name for column in shape.layout.columns), warnings=warned,
        notes=(*(made.notes if made else ()), *compared.notes, *_notes(found)), why=decision.why, replaces=decision.replaced,
        data=compared.data, history=compared.reports, lineage=found,
    )  # fmt: skip
    content = _content(state, scratch, staged, step, shape, made, report, watch, secret)
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
    scratch: Scratch, lineage: Lineage, version: int, at: str, made: Made, ready: Prepared, shape: Shape, secret: str,
    rows_of: TableRef | None, *, begins: bool,
) -> Entered:  # fmt: skip
    recoded = made.recoded
    if rows_of is None:
        rows_of = history.rows_of(scratch, ready.roles, made.classed, recoded.groups, secret)
    return entered_of(
        scratch, lineage, version, at, begins=begins, classed=made.classed, history=rows_of, released=recoded.released,
        boxes=recoded.boxes, starred=recoded.starred, shape=shape, own=recoded.layout.of_class, quasi=quasi_columns(ready.roles),
        kept=kept_columns(ready.roles), sensitive=len(ready.roles.sensitive),
        codes=[{"code": d.code, "weight": d.reading.spec.weight} for d in made.encoded.quasi],
    )  # fmt: skip


def _report(
    scratch: Scratch, spec: ReleaseSpec, step: Step, seen: Census, staged: Staged, shape: Shape
) -> LineageReport:
    """The version in rows, counted before it is written."""
    if step.begins:
        return LineageReport(step.lineage.number, seen.new, seen.new, 0, seen.new, 0, 0, 0, 0, 0, seen.erased)
    stayed, retained = _counted(scratch, step.lineage.rows, step.leaving, staged.stage)
    before, _ = _counted(scratch, step.lineage.rows, None, None)
    entered = seen.cohort if step.entered else 0
    refused = seen.cohort if step.refused else 0
    waiting = seen.cohort - entered - refused
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
    since = seen.waits_since if waiting or refused else None
    return LineageReport(
        step.lineage.number, stayed + entered, entered, before - stayed, stayed - retained - stale + entered, stale, retained, waiting,
        seen.refused + refused, seen.gone + with_erased, seen.erased, refused, 0.0, since or (staged.source.read_at if waiting else None),
    )  # fmt: skip


def _counted(
    scratch: Scratch, rows: TableRef, leaving: TableRef | None, stage: TableRef | None
) -> tuple[int, int]:
    found = scratch.fetch("frozen/published", rows=rows, leaving=leaving, stage=stage)[0]
    return int(str(found[0])), int(str(found[1]))


def _content(
    state: ReleaseState, scratch: Scratch, staged: Staged, step: Step, shape: Shape, made: Made | None, report: RunReport,
    watch: Stopwatch, secret: str,
) -> Content:  # fmt: skip
    """What writes and verifies the version. The lineage is recorded first, in the same transaction; the tables are written from it."""
    spec, roles = state.spec, staged.roles
    kept = kept_columns(roles)
    recorded: list[bool] = []
    facts: dict[str, object] = {}

    def keep() -> None:
        if not recorded:
            record(scratch, step, shape)
            recorded.append(True)

    def write(place: TableRef, beside: Sequence[Statement] = ()) -> None:
        keep()
        rows = published(scratch, step.lineage, step.version, kept, shape.parts, "version")
        table = scratch.sql(
            "publish/table", physical=place, classed=rows.rows, released=rows.classes, published=listed(shape.layout.columns), dense=False,
            repeated=[],
        )  # fmt: skip
        scratch.execute_all([table, *beside])
        for part in (rows.rows, rows.classes):
            scratch.drop(part)

    def verify(place: TableRef, found: Found) -> RunReport:
        cohort = Cohort(made.classed, made.recoded.released) if made and step.entered else None
        sensitive = {reading.alias: reading.name for reading in roles.sensitive}
        verified: Verified = verify_version(
            scratch, step, shape, found.relations[place], None if step.erased else _before(state, step), cohort, staged.requirements, kept, sensitive
        )  # fmt: skip
        starred, lost = scratch.fetch(
            "frozen/facts", rows=step.lineage.rows, classes=step.lineage.classes, at=step.version
        )[0]
        assert report.lineage is not None
        done = replace(
            as_verified(report, verified, watch),
            suppressed=int(str(starred)),
            lineage=replace(report.lineage, loss=float(str(lost))),
        )
        facts.update(facts_of_lineage(done))
        return done

    def metadata(done: RunReport) -> Iterable[tuple[object, ...]]:
        return metadata_rows(spec, roles, shape.names, step.version, facts, done.requirements)

    return Content(write, verify, (), keep, metadata, report, staged.source, made.seed if made else 0, secret)


def facts_of_lineage(done: RunReport) -> dict[str, object]:
    """What readers are told beside the rows: numbers of rows that are not as in the source."""
    found = done.lineage
    assert found is not None
    facts: dict[str, object] = {
        "refresh": "frozen",
        "retained": found.retained,
        "stale": found.stale,
        "not_published": found.unpublished,
    }
    return facts | ({"starred": done.suppressed} if done.suppressed else {})


def _before(state: ReleaseState, step: Step) -> Before | None:
    """The newest version of the lineage whose table is there."""
    for entry in reversed(state.versions):
        of = (
            number_of(entry) == step.lineage.number and entry.status in SHOWN and entry.version < step.version
        )
        if of and state.engine.exists(private_table(state.engine, entry.physical)):
            return Before(entry.version, private_table(state.engine, entry.physical))
    return None


def _loss_before(state: ReleaseState, lineage: Lineage) -> LossReport:
    """The loss of the cohort that was published last."""
    return RunReport.from_dict(_last(state, lineage)).loss


def _said(state: ReleaseState, lineage: Lineage, what: str) -> str:
    return str(_last(state, lineage)[what])


def _last(state: ReleaseState, lineage: Lineage) -> dict[str, object]:
    of = [entry for entry in state.versions if number_of(entry) == lineage.number and entry.status in SHOWN]
    if not of:
        raise GuardError(f"{state.spec.name}: the lineage has no version")
    return dict(of[-1].report)


def _notes(found: LineageReport) -> list[str]:
    if not found.cohort_refused:
        return []
    return [
        f"a cohort of {found.cohort_refused} rows does not reach what the policy asks: its rows wait for a new lineage (run --new-lineage)"
    ]


__all__ = ["facts_of_lineage", "run_frozen"]
