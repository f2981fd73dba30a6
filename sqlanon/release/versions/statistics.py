"""Versions of counts: cells are counted, protected, and verified by a certificate.

See docs/statistics.md. A release has one version, or versions that follow one another: see `sqlanon.statistics.nights`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import LookupResult, Statement, TableRef
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.refresh import Decision, policy_changes
from sqlanon.release.catalog.rights import drop_statistics, reader_warnings
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.views import views_of
from sqlanon.release.plans.counts import plan_counts
from sqlanon.release.publish.content import Content
from sqlanon.release.stages.stage import VersionStage
from sqlanon.release.stages.work import Outline, Stage, Version, Work
from sqlanon.release.versions.counts_refusals import (
    check_persons,
    list_neighbours,
    make_published_error,
    make_withdrawn_error,
    refuse_others,
)
from sqlanon.release.versions.neighbour import (
    check_same_rows,
    find_neighbour,
    link_of_neighbour,
    read_neighbour,
)
from sqlanon.release.versions.said_sums import check_counted, check_rows
from sqlanon.release.versions.statistics_lineage import Nights
from sqlanon.release.versions.statistics_metadata import metadata_rows
from sqlanon.results import LossReport, PlanReport, RunReport
from sqlanon.results.statistics import NeighbourReport, StatisticsReport
from sqlanon.statistics.certificate import verify_source
from sqlanon.statistics.cube import Cube, count_cells
from sqlanon.statistics.nights import batch_of, keep_batches, verify_growth, verify_versions, write_versions
from sqlanon.statistics.past_versions import PastTables, begin_lineage, keep_past, make_past, verify_before
from sqlanon.statistics.private_tables import keep_statements, kept_beside, kept_of
from sqlanon.statistics.protections import find_protection
from sqlanon.statistics.protections.base import ProtectedCells, Run
from sqlanon.statistics.protections.suppress import facts_of
from sqlanon.statistics.shape import Shape, shape_of, with_paths
from sqlanon.statistics_spec import PAST_PARTS, StatisticsSpec, list_parts
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import Domain
from sqlanon.table.reading import Reading

NO_LOSS = LossReport(0, 0, 0, None, 0, 0, 0, 0, 0, 0, 0, {})
"""Counts have no classes."""


class OfStatistics(Version):
    """See `Version`. For one run only: it keeps the results of the stages.

    Args:
        confirmed: nobody has kept a version of counts of the same source that was withdrawn.
        spec: what is published, and how it is protected.
    """

    def __init__(self, spec: StatisticsSpec, *, confirmed: bool = False) -> None:
        self._confirmed = confirmed
        self._protection = find_protection(spec)
        self._shape: Shape | None = None
        self._cube: Cube | None = None
        self._made: ProtectedCells | None = None
        self._readings: tuple[Reading, ...] = ()
        self._neighbour: Entry | None = None
        self._nights = Nights()
        self._past: PastTables | None = None

    @property
    def owned(self) -> bool:
        return self._protection.owned

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """See `Version.decide`.

        Raises:
            GuardError: counts of this source are published, or were, and the run would publish others.
        """
        spec, previous = state.spec, state.last_shown
        refuse_others(state, confirmed=self._confirmed)
        if previous is None or previous.status != "published":
            self._neighbour = find_neighbour(state, confirmed=self._confirmed)
            self.links = link_of_neighbour(state, self._neighbour) if self._neighbour is not None else None
        if previous is None:
            return decision
        if previous.status != "published":
            if not self._confirmed:
                raise make_withdrawn_error(spec.name, previous)
            return replace(decision, state="made anew", same_as=None)
        changes = [str(change) for change in policy_changes(previous, spec) if not change.setting]
        lost = [str(view) for view in views_of(previous) if not state.exists(view)]
        if changes or lost or previous.fingerprint is None or decision.why == ("asked for with --full",):
            why = changes or ([f"{', '.join(lost)} is gone"] if lost else ["a new version is asked for"])
            raise make_published_error(spec.name, previous, "; ".join(why))
        self._nights.follow(state, previous)
        settings = tuple(str(change) for change in policy_changes(previous, spec))
        return Decision("unchanged", settings, (), previous, previous.fingerprint)

    def look(self, work: Work) -> None:
        """See `Version.look`.

        Raises:
            GuardError: the source is not as the published version saw it.
            UnsupportedError: a column that readers see says what a summed one is.
        """
        previous = work.decision.previous
        if previous is not None and previous.status == "published" and not work.unchanged:
            if not self._nights.follows:
                raise make_published_error(work.spec.name, previous, "the source's rows changed")
            with work.watch.stage("profile"):
                work.decision = self._nights.look(work, self._shape_of(work))
        statistics = work.spec.statistics
        assert statistics is not None
        if not work.unchanged:
            check_counted(work, statistics)
        if self._neighbour is not None:
            check_same_rows(work, self._neighbour)
            check_rows(work, statistics, self._neighbour)

    def stages(self, work: Work) -> Sequence[Stage]:
        statistics = work.spec.statistics
        assert statistics is not None
        name = work.spec.name
        tables = f"{len(statistics.tables)} table{'s' if len(statistics.tables) > 1 else ''}"
        return [
            VersionStage(name, "profile", f"{name}: count the cells of {tables} and all margins"),
            VersionStage(name, "divide", self._protection.describe(name, statistics.threshold)),
            VersionStage(name, "measure", f"{name}: put together what is published"),
        ]

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        """See `Version.plan`: the cells are counted, and the share of small cells of each margin is noted."""
        self.profile(work)
        shape, cube = self._counted
        notes = (
            *self._nights.note(work.scratch, shape, cube.cells),
            *self._protection.note(self._run(work, SilentProgress())),
        )
        return plan_counts(work, shape, cube, list_neighbours(work.state), (self._protection.burden, notes))

    @property
    def _counted(self) -> tuple[Shape, Cube]:
        assert self._shape is not None
        assert self._cube is not None
        return self._shape, self._cube

    @property
    def _whole(self) -> Shape:
        """The shape of the rows of all versions, those of the first with the release of rows that readers have."""
        (shape, _), neighbour = self._counted, self._nights.neighbour
        return shape if neighbour is None else replace(shape, neighbour=neighbour)

    @property
    def _of_lineage(self) -> Shape:
        """The same where the first version is of this lineage; else the rows of no version of it are in classes."""
        return replace(self._whole, neighbour=None) if self._nights.earlier else self._whole

    def profile(self, work: Work) -> None:
        """See `Version.profile`: the cells are counted."""
        with work.watch.stage("profile"):
            shape, stage = self._nights.shape(self._shape_of(work)), self._nights.stage or work.staged.stage
            several = self._protection.several
            self._cube = count_cells(work.scratch, shape, stage, work.spec.name, several=several)
            self._shape = replace(shape, patterns=self._cube.patterns is not None)
            self._past = self._look_back(work, shape, self._cube)

    def _look_back(self, work: Work, shape: Shape, cube: Cube) -> PastTables | None:
        """The tables of all lineages; where one begins they are new, without witnesses. None: lineages do not end."""
        statistics, scratch, nights = work.spec.statistics, work.scratch, self._nights
        assert statistics is not None
        beginning = nights.beginning()
        if statistics.lineage_age is None:
            return None
        if beginning is not None:
            with scratch.beside() as apart:
                new = nights.count_new(apart, shape, work.spec.name)
                return make_past(scratch, shape, new, beginning, self._whole.neighbour)
        return nights.past or make_past(scratch, shape, cube, None, self._whole.neighbour)

    def _shape_of(self, work: Work) -> Shape:
        if self._shape is None:
            scratch, staged = work.scratch, work.staged
            quasi = build_domains(scratch, staged.roles, staged.stage).quasi
            domains: dict[str, Domain] = {domain.reading.name: domain for domain in quasi}
            self._readings = tuple(domain.reading for domain in quasi)
            (person,) = staged.persons
            if self.owned:
                check_persons(work)
            shape = shape_of(work.spec, domains, person.alias, work.target.version, _list_summed(work))
            if self._neighbour is not None:
                shape = replace(shape, neighbour=read_neighbour(work, self._neighbour, self._readings))
            self._shape = with_paths(scratch, shape, domains)
        return self._shape

    def divide(self, work: Work) -> None:
        """See `Version.divide`: the numbers of the cells are protected.

        Raises:
            InfeasibleError: a small cell of a margin cannot be protected; nothing is published.
        """
        statistics = work.spec.statistics
        assert statistics is not None
        beginning = self._nights.beginning()
        with work.watch.stage("method", "protect") as progress:
            run = self._run(work, progress)
            if beginning is None or self._past is None:
                self._made = self._protection.protect(run)
            else:
                self._made = begin_lineage(run, beginning, self._past, facts_of(statistics))

    def _run(self, work: Work, progress: Progress) -> Run:
        shape, cube = self._counted
        secret = work.secret.encode()
        stage = self._nights.stage or work.staged.stage
        return Run(work.scratch, shape, cube, stage, secret, work.spec.name, progress)

    def measure(self, work: Work) -> None:
        spec, state, target, staged = work.spec, work.state, work.target, work.staged
        shape, cube = self._counted
        protected = self._made
        assert protected is not None
        report = RunReport(
            release=spec.name,
            version=target.version,
            source=str(staged.roles.relation.ref),
            published=target.shown,
            rows=cube.counts[1],
            suppressed=0,
            classes=0,
            min_class=0,
            max_class=0,
            requirements=(),
            loss=NO_LOSS,
            seconds={},
            verified=False,
            method=self._protection.method,
            execution="kernel",
            format="statistics",
            warnings=(*reader_warnings(state.engine, spec, state.source.ref), *list_neighbours(state)),
            why=work.decision.why,
            replaces=work.decision.replaced,
            snapshot=work.source.snapshot,
            statistics=StatisticsReport(
                cells=cube.counts[1],
                shown=0,
                hidden=0,
                witnesses=protected.witnesses,
                margins=len(shape.margins),
                levels=tuple((column.name, column.levels) for column in shape.columns),
                errors=protected.errors,
                persons=shape.threshold if self._protection.method == "suppress" else 0,
                scales=tuple(summed.scale for summed in shape.sums),
                neighbour=_report_neighbour(self._whole),
                batches=self._nights.batches(work),
                patterns=shape.patterns,
                earlier=self._nights.earlier,
            ),
        )
        work.content = self._content(work, report, shape, protected)

    def _content(self, work: Work, report: RunReport, shape: Shape, protected: ProtectedCells) -> Content:
        scratch, state, target, spec = work.scratch, work.state, work.target, work.spec
        protection = self._protection
        kinds = {"followed": shape.followed, "bounds": shape.bounds, "patterns": shape.patterns}
        parts = list_parts(len(shape.sums), protection.method, **kinds)
        kept_tables = kept_beside(private_table(state.engine, target.physical), parts)
        nights, batches, past, kept_past = self._nights, self._nights.batches(work), self._past, None
        if past is not None:
            kept_past = PastTables(*kept_beside(private_table(state.engine, target.physical), PAST_PARTS).values())
        if batches:
            keeping = keep_batches(scratch, self._of_lineage, protected, kept_tables, nights.before)
        else:
            keeping = keep_statements(scratch, shape, protected.tables, kept_tables)
        if past is not None and kept_past is not None:
            keeping += keep_past(scratch, self._whole, past, kept_past)
        beginning = nights.beginning()
        private = [*kept_tables.values(), *(kept_past.parts().values() if kept_past is not None else ())]

        def write(place: TableRef, beside: Sequence[Statement] = ()) -> None:
            if batches:
                scratch.execute_all([*beside, write_versions(scratch, shape, kept_of(kept_tables), place, batches)])
                return
            scratch.execute_all([protected.view(place), *beside])

        def verify(place: TableRef, facts: LookupResult) -> RunReport:
            with scratch.repeating():
                return verify_once(place, facts)

        def verify_once(place: TableRef, lookup: LookupResult) -> RunReport:
            run = self._run(work, SilentProgress())
            if batches:
                tables = kept_of(kept_tables)
                with scratch.beside() as apart:
                    batch = batch_of(apart, tables, target.version)
                    verify_source(apart, shape, run.stage, batch, spec.name)
                verify_growth(scratch, self._of_lineage, work.staged.stage, tables, spec.name)
                shown_cells, not_shown = verify_versions(
                    scratch, self._whole, place, tables, batches, spec.name, kept_past
                )
                if beginning is not None and kept_past is not None:
                    verify_before(scratch, shape, kept_past, beginning, spec.name)
            else:
                protection.verify_source(run, kept_tables)
                shown_cells, not_shown = protection.verify(scratch, shape, place, kept_tables, spec.name)
            assert report.statistics is not None
            cells = shown_cells + not_shown
            counts = replace(report.statistics, cells=cells, shown=shown_cells, hidden=not_shown)
            columns = tuple(column.name for column in lookup.relations[place].columns)
            verified_report = replace(report, rows=cells, verified=True, seconds=work.watch.total(), statistics=counts)
            return replace(verified_report, columns=columns)

        return Content(
            write,
            verify,
            keeping,
            lambda: drop_statistics(state.engine, private),
            lambda report: metadata_rows(spec, shape, self._readings, report, protected.facts),
            report,
            work.staged.source,
            0,
            work.secret,
        )


def _report_neighbour(shape: Shape) -> NeighbourReport | None:
    neighbour = shape.neighbour
    if neighbour is None:
        return None
    columns = tuple((column.place, column.how, column.known) for column in neighbour.columns)
    persons = neighbour.persons
    promised = (persons.least, persons.share, persons.alike, persons.weighed)
    return NeighbourReport(neighbour.release, neighbour.version, neighbour.shown, columns, *promised)


def _list_summed(work: Work) -> list[Reading]:
    """The columns of the sums, in their order."""
    statistics = work.spec.statistics
    assert statistics is not None
    by_name = {reading.name.lower(): reading for reading in work.staged.roles.sensitive}
    return [by_name[summed.column.lower()] for summed in statistics.sums]
