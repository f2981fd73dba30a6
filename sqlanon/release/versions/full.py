"""Versions made of the whole source."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.rows import number, read_integer
from sqlanon.release.catalog.other_counts import refuse_next_version
from sqlanon.release.divide import loss_limit
from sqlanon.release.divide.classes import make_classes, measure_loss
from sqlanon.release.divide.division import DivisionKeys
from sqlanon.release.frozen.erased_keys import check_left_out
from sqlanon.release.history import history
from sqlanon.release.history.compare_versions import compare_versions, count_changes
from sqlanon.release.plans.rows import PlannedRows, plan_rows
from sqlanon.release.prepare.prepare import profile
from sqlanon.release.prepare.release_warnings import list_warnings
from sqlanon.release.publish.content import Draft, content_of, list_columns
from sqlanon.release.stages.stage import ComparePersons, VersionStage, comparison_of, measurement_of, profile_of
from sqlanon.release.stages.work import Outline, Stage, Version, Work
from sqlanon.release.verify import persons, tokens
from sqlanon.results import PlanReport, RunReport
from sqlanon.spec import ReleaseSpec


class FullVersion(Version):
    """See `Version`."""

    brings = True

    def look(self, work: Work) -> None:
        """See `Version.look`: no erased key is in the source, and no counts are certified with the version before."""
        if not work.unchanged:
            refuse_next_version(work.state)
        with work.watch.stage("state"):
            check_left_out(work.scratch, work.state, work.staged)

    def stages(self, work: Work) -> Sequence[Stage]:
        name, before = work.spec.name, work.decision.previous
        stages: list[Stage] = [profile_of(name, work.staged.rows)]
        if work.division.by_choice:
            stages.append(ComparePersons(name))
        stages.append(division_of_run(work))
        if before is not None or work.staged.keyed:
            stages.append(comparison_of(name, before))
        return [*stages, measurement_of(name)]

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        self.profile(work)
        return plan_rows(work, PlannedRows(work.prepared, tried=True), outline)

    def profile(self, work: Work) -> None:
        work.ready = profile(work.scratch, work.staged, work.division, work.watch, memory=work.machine.memory)

    def divide(self, work: Work) -> None:
        """See `Version.divide`; the stage is used up."""
        scratch, state, ready = work.scratch, work.state, work.prepared
        with work.watch.stage("profile"):
            work.data = work.data or count_changes(scratch, state, ready, work.decision.previous)
        keyed = DivisionKeys(work.secret, tokens.find_signatures(scratch, state, work.siblings))
        work.made = make_classes(scratch, work.spec, ready, work.division, work.machine, work.watch, keyed)

    def compare(self, work: Work) -> None:
        compare_with_earlier(work)

    def measure(self, work: Work) -> None:
        spec, state, scratch, target = work.spec, work.state, work.scratch, work.target
        ready, classes, compared, siblings = work.prepared, work.classes, work.compared, work.siblings
        encoded, classed, recoded = classes.encoded, classes.classed.table, classes.recoded
        with work.watch.stage("verify"):
            fewest = _fewest_rows(work)
            if not spec.privacy.of_persons:  # where a requirement counts them, it was verified
                persons.hold(spec, fewest)
        with work.watch.stage("recode"):
            loss = measure_loss(scratch, spec, classes)
        with work.watch.stage("verify"):
            loss_limit.check_bound(spec, scratch, encoded, recoded, loss)
        with work.watch.stage("state"):
            warned = (*persons.warn_of_persons(spec), *list_warnings(state, target))
        report = RunReport(
            release=spec.name,
            version=target.version,
            source=str(ready.roles.relation.ref),
            published=target.shown,
            rows=encoded.rows,
            suppressed=recoded.suppressed,
            left_out=recoded.left_out,
            classes=recoded.classes,
            min_class=recoded.min_class,
            max_class=recoded.max_class,
            requirements=(),
            loss=loss,
            seconds={},
            verified=False,
            method=ready.method.describe(),
            execution=classes.execution,
            format=spec.format.kind,
            columns=tuple(column.name for column in recoded.columns),
            min_identifiers=fewest,
            warnings=warned,
            published_sensitive=target.shown_sensitive,
            notes=(*classes.notes, *work.notes, *compared.notes),
            search=classes.search,
            why=work.decision.why,
            replaces=work.decision.replaced,
            data=compared.data,
            history=compared.reports,
            surest=classes.proof.surest(scratch, classes),
            snapshot=work.source.snapshot,
            max_person_share=_largest_share(work, spec),
        )
        if siblings is not None:
            published = list_columns(recoded.columns)
            rows = scratch.table("shown")
            scratch.execute(
                "persons/shown", shown=rows, classed=classed, released=recoded.released, published=published
            )
            names = [column["name"] for column in published]
            siblings.made.append(tokens.describe_table(spec, rows, recoded.layout.of_class, names))
        draft = Draft(ready, classes, report, work.secret, compared.table, siblings)
        work.content = content_of(state, target, scratch, draft, work.watch)


def division_of_run(work: Work) -> VersionStage:
    """Divide the rows into classes, recode them, and compare the rows to publish with the source rows."""
    spec = work.spec
    how = f"divide {work.division.title} by {spec.method.name}, recode as {spec.format.kind}"
    return VersionStage(spec.name, "divide", f"{spec.name}: {how}")


def compare_with_earlier(work: Work) -> None:
    """Compare classes that were made now with the versions before.

    Raises:
        PrivacyViolation: they reveal more together than the policy allows.
    """
    with work.watch.stage("verify"):
        work.compared = compare_versions(
            work.scratch, work.prepared, work.classes, work.earlier, work.data, work.target.version, work.secret
        )
        history.hold(work.spec, work.compared.reports)


def _largest_share(work: Work, spec: ReleaseSpec) -> float | None:
    if not spec.person:
        return None
    (person,) = (person.alias for person in work.prepared.persons)
    classed, groups = work.classes.classed.table, work.classes.recoded.groups
    row = work.scratch.fetch("verify/person_share", classed=classed, groups=groups, person=person)[0]
    return number(row[0])


def _fewest_rows(work: Work) -> dict[str, int]:
    persons = work.prepared.persons
    if not persons:
        return {}
    classed, groups, aliases = (
        work.classes.classed.table,
        work.classes.recoded.groups,
        [person.alias for person in persons],
    )
    row = work.scratch.fetch("verify/identifiers", classed=classed, groups=groups, identifiers=aliases, also=[])[0]
    return {person.name: read_integer(cell) for person, cell in zip(persons, row, strict=True)}
