"""Versions of counts: cells are counted, hidden, and verified by a certificate.

See docs/statistics.md. A release has one version, or versions that follow one another: see `sqlanon.statistics.nights`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon._version import __version__
from sqlanon.engines.base import Found, Statement, TableRef
from sqlanon.errors import GuardError, InfeasibleError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.other_counts import list_other_counts, refuse_published
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.refresh import Decision, policy_changes, shown_as
from sqlanon.release.catalog.rights import drop_statistics, reader_warnings
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.views import views_of
from sqlanon.release.plans.counts import plan_counts
from sqlanon.release.publish.publish import Content
from sqlanon.release.stages.work import Outline, Stage, Version, Work
from sqlanon.release.versions.neighbour import check_same_rows, find_neighbour, link_of_neighbour, read_neighbour
from sqlanon.release.versions.nights import Nights
from sqlanon.results import LossReport, PlanReport, RunReport
from sqlanon.results.counted import NeighbourReport, StatisticsReport
from sqlanon.spec import Hierarchy, ReleaseSpec
from sqlanon.statistics.certificate import Kept, keep_statements, kept_beside, verify_published, verify_source
from sqlanon.statistics.choose import UnservedError
from sqlanon.statistics.cube import Cube, count_cells, read_system
from sqlanon.statistics.hide import Hidden, hide_cells
from sqlanon.statistics.nights import batch_of, keep_batches, verify_growth, verify_versions, write_versions
from sqlanon.statistics.shape import Shape, shape_of, with_paths
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import Domain
from sqlanon.table.reading import Reading

NO_LOSS = LossReport(0, 0, 0, None, 0, 0, 0, 0, 0, 0, 0, {})
"""Counts have no classes."""


@dataclass(frozen=True, slots=True)
class Count:
    """Count the cells of all tables and their margins."""

    release: str
    tables: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: count the cells of {self.tables} table{'s' if self.tables > 1 else ''} and all margins"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        work.version.profile(work)


@dataclass(frozen=True, slots=True)
class Hide:
    """Hide small cells, and others that would give them away, with witnesses that prove it."""

    release: str
    threshold: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: hide cells of fewer than {self.threshold} persons, and others that give them away"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        work.version.divide(work)


@dataclass(frozen=True, slots=True)
class Assemble:
    """Put the content to publish together."""

    release: str

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: put together what is published"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        work.version.measure(work)


class OfStatistics(Version):
    """See `Version`. For one run only: it keeps the results of the stages.

    Args:
        confirmed: nobody has kept a version of counts of the same source that was withdrawn.
    """

    def __init__(self, *, confirmed: bool = False) -> None:
        self._confirmed = confirmed
        self._shape: Shape | None = None
        self._cube: Cube | None = None
        self._hidden: Hidden | None = None
        self._readings: tuple[Reading, ...] = ()
        self._neighbour: Entry | None = None
        self._nights = Nights()

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """See `Version.decide`.

        Raises:
            GuardError: counts of this source are published, or were, and the run would publish others.
        """
        spec, previous = state.spec, state.last_shown
        _refuse_others(state, confirmed=self._confirmed)
        if previous is None or previous.status != "published":
            self._neighbour = find_neighbour(state, confirmed=self._confirmed)
            self.links = link_of_neighbour(state, self._neighbour) if self._neighbour is not None else None
        if previous is None:
            return decision
        if previous.status != "published":
            if not self._confirmed:
                raise _make_withdrawn_error(spec.name, previous)
            return replace(decision, state="made anew", same_as=None)
        changes = [str(change) for change in policy_changes(previous, spec) if not change.setting]
        lost = [str(view) for view in views_of(previous) if not state.exists(view)]
        if changes or lost or previous.fingerprint is None or decision.why == ("asked for with --full",):
            why = changes or ([f"{', '.join(lost)} is gone"] if lost else ["a new version is asked for"])
            raise _make_published_error(spec.name, previous, "; ".join(why))
        self._nights.follow(state, previous)
        settings = tuple(str(change) for change in policy_changes(previous, spec))
        return Decision("unchanged", settings, (), previous, previous.fingerprint)

    def look(self, work: Work) -> None:
        """See `Version.look`.

        Raises:
            GuardError: the source is not as the published version saw it.
        """
        previous = work.decision.previous
        if previous is not None and previous.status == "published" and not work.unchanged:
            if not self._nights.follows:
                raise _make_published_error(work.spec.name, previous, "the source's rows changed")
            with work.watch.stage("profile"):
                work.decision = self._nights.look(work, self._shape_of(work))
        if self._neighbour is not None:
            check_same_rows(work, self._neighbour)

    def stages(self, work: Work) -> Sequence[Stage]:
        """See `Version.stages`."""
        statistics = work.spec.statistics
        assert statistics is not None
        name = work.spec.name
        return [Count(name, len(statistics.tables)), Hide(name, statistics.threshold), Assemble(name)]

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        """See `Version.plan`: the cells are counted, and the share of small cells of each margin is noted."""
        self.profile(work)
        shape, cube = self._counted
        planned = plan_counts(work, shape, cube, list_neighbours(work.state))
        return replace(planned, notes=(*self._nights.note, *planned.notes))

    @property
    def _counted(self) -> tuple[Shape, Cube]:
        assert self._shape is not None
        assert self._cube is not None
        return self._shape, self._cube

    def profile(self, work: Work) -> None:
        """See `Version.profile`: the cells are counted."""
        with work.watch.stage("profile"):
            shape, stage = self._shape_of(work), self._nights.stage or work.staged.stage
            self._cube = count_cells(work.scratch, shape, stage, work.spec.name)

    def _shape_of(self, work: Work) -> Shape:
        if self._shape is None:
            scratch, staged = work.scratch, work.staged
            quasi, _, _ = build_domains(scratch, staged.roles, staged.stage)
            domains: dict[str, Domain] = {domain.reading.name: domain for domain in quasi}
            self._readings = tuple(domain.reading for domain in quasi)
            (person,) = staged.persons
            shape = shape_of(work.spec, domains, person.alias, work.target.version)
            if self._neighbour is not None:
                shape = replace(shape, neighbour=read_neighbour(work, self._neighbour, self._readings))
            self._shape = with_paths(scratch, shape, domains)
        return self._shape

    def divide(self, work: Work) -> None:
        """See `Version.divide`: cells are hidden.

        Raises:
            InfeasibleError: a small cell of a margin cannot be protected; nothing is published.
        """
        shape, cube = self._counted
        with work.watch.stage("method") as progress:
            system = read_system(work.scratch, shape, cube, work.secret.encode())
            try:
                self._hidden = hide_cells(work.scratch, shape, system, work.secret.encode(), progress)
            except UnservedError as error:
                margin = shape.margin_name(system.levels_of(error.margin))
                why = (
                    "the search for cells to hide took as long as it may, and a small cell of "
                    f"{margin} is not protected yet"
                    if error.exhausted
                    else f"a small cell of {margin} cannot be hidden from readers whatever else is hidden"
                )
                if shape.neighbour is not None:
                    why += f", as they have {shape.neighbour.release}@{shape.neighbour.version} as well"
                raise InfeasibleError(
                    f"{work.spec.name}: {why}; nothing was published. Publish coarser levels or fewer columns"
                ) from None

    def measure(self, work: Work) -> None:
        """See `Version.measure`."""
        spec, state, target, staged = work.spec, work.state, work.target, work.staged
        shape, cube = self._counted
        hidden = self._hidden
        assert hidden is not None
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
            method="suppress",
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
                witnesses=hidden.witnesses,
                margins=len(shape.margins),
                levels=tuple((column.name, column.levels) for column in shape.columns),
                neighbour=_report_neighbour(shape),
                batches=self._nights.batches(work),
            ),
        )
        work.content = self._content(work, report, shape, hidden)

    def _content(self, work: Work, report: RunReport, shape: Shape, hidden: Hidden) -> Content:
        scratch, staged, state, target = work.scratch, work.staged, work.state, work.target
        cube, spec, nights = self._counted[1], work.spec, self._nights
        batches = nights.batches(work)
        kept_tables = kept_beside(private_table(state.engine, target.physical))
        context = shape.context()

        made = Kept(cube.cells, cube.atoms, hidden.witness)
        if batches:
            keeping = keep_batches(scratch, shape, made, hidden.table, kept_tables, nights.before)
        else:
            keeping = keep_statements(scratch, shape, made, kept_tables)

        def write(place: TableRef, beside: Sequence[Statement] = ()) -> None:
            if batches:
                scratch.execute_all([*beside, write_versions(scratch, shape, kept_tables, place, batches)])
                return
            table = scratch.sql("statistics/view", physical=place, cells=cube.cells, hidden=hidden.table, **context)
            scratch.execute_all([table, *beside])

        def verify(place: TableRef, found: Found) -> RunReport:
            if batches:
                with scratch.beside() as apart:
                    own = batch_of(apart, kept_tables, target.version)
                    verify_source(apart, shape, nights.stage or staged.stage, own, spec.name)
                verify_growth(scratch, shape, staged.stage, kept_tables, spec.name)
                shown_cells, not_shown = verify_versions(scratch, shape, place, kept_tables, batches, spec.name)
            else:
                verify_source(scratch, shape, staged.stage, kept_tables, spec.name)
                shown_cells, not_shown = verify_published(scratch, shape, place, kept_tables, spec.name)
            assert report.statistics is not None
            cells = shown_cells + not_shown
            counts = replace(report.statistics, cells=cells, shown=shown_cells, hidden=not_shown)
            columns = tuple(column.name for column in found.relations[place].columns)
            done = replace(report, rows=cells, verified=True, seconds=work.watch.total(), statistics=counts)
            return replace(done, columns=columns)

        return Content(
            write,
            verify,
            keeping,
            lambda: drop_statistics(state.engine, [kept_tables.cells, kept_tables.atoms, kept_tables.witness]),
            lambda report: metadata_rows(spec, shape, self._readings, report),
            report,
            staged.source,
            0,
            work.secret,
        )


def _report_neighbour(shape: Shape) -> NeighbourReport | None:
    found = shape.neighbour
    if found is None:
        return None
    columns = tuple((column.place, column.how, column.known) for column in found.columns)
    return NeighbourReport(found.release, found.version, found.shown, columns)


def metadata_rows(
    spec: ReleaseSpec, shape: Shape, readings: Sequence[Reading], report: RunReport
) -> Iterable[tuple[object, ...]]:
    """The metadata of the view: rules and columns; nothing of the data but counts of the view's own rows."""
    statistics, counts = spec.statistics, report.statistics
    assert statistics is not None
    assert counts is not None
    facts = {
        "release": spec.name,
        "source": spec.source,
        "version": report.version,
        "sqlanon": __version__,
        "token": secrets.token_hex(16),
        "types": {reading.name: reading.column.kind for reading in readings},
        "collations": {
            reading.name: reading.column.collation
            for reading in readings
            if reading.column.kind == "text" and reading.column.collation is not None
        },
        "equal_unlike": [reading.name for reading in readings if not reading.column.deterministic],
        "statistics": {
            "persons": statistics.threshold,
            "zeros": "shown",
            "interval": "full",
            "insiders": statistics.insiders,
            "bounds": statistics.bounds,
            "method": "suppress",
            "tables": [{"name": table.name, "by": list(table.by)} for table in statistics.tables],
            "measures": dict(statistics.measures),
            "shown": counts.shown,
            "hidden": counts.hidden,
            **({"together": list(statistics.together)} if statistics.together else {}),
            **({"versions": list(counts.batches)} if counts.batches else {}),
        },
    }
    yield "", "release", "", "statistics", "", json.dumps(facts), None
    for column, reading in zip(shape.columns, readings, strict=True):
        published = json.dumps([column.name, column.level])
        kind, paths = "nominal", []
        if isinstance(reading.spec.hierarchy, Hierarchy):
            kind, paths = "hierarchy", [list(path[: column.levels]) for path in reading.spec.hierarchy.levels]
        declared = json.dumps({"levels": column.levels, "paths": paths})
        yield column.name, "dimension", kind, "statistics", reading.column.shown_type, published, declared
    for name, kind in statistics.measures:
        yield name, "measure", kind, "statistics", "", json.dumps([name]), None


def _make_published_error(release: str, entry: Entry, why: str) -> GuardError:
    return GuardError(
        f"{release}: version {entry.version} {shown_as(entry)}, and a run would publish other counts ({why}): a reader "
        "who has kept the old ones subtracts them, and finds single persons who came or went. The published version "
        "stays as it is; versions that are safe together are those of refresh: {mode: frozen}, from the first on. If "
        "nobody has kept it, unpublish the release, and then run --allow-weaker"
    )


def _make_withdrawn_error(release: str, entry: Entry) -> GuardError:
    return GuardError(
        f"{release}: readers had version {entry.version} of {entry.release}, with counts of the same source: who has "
        "kept them subtracts them from new ones, and finds small cells. If nobody has kept them, confirm it with "
        "--allow-weaker (in Python allow_weaker=True); rollback publishes the old version again"
    ).advising("--allow-weaker")


def _refuse_others(state: ReleaseState, *, confirmed: bool) -> None:
    """No other counts of the same source are published, nor were, unless nobody has kept them."""
    name, source = state.spec.name, str(state.source.ref)
    refuse_published(state.engine, name, source)
    for entry in list_other_counts(state.engine, name, source):
        if not confirmed:
            raise _make_withdrawn_error(name, entry)


def list_neighbours(state: ReleaseState) -> tuple[str, ...]:
    """Warnings of releases of rows of the same source."""
    source = str(state.source.ref)
    names = [entry.release for entry in state.beside if entry.source == source and entry.kind.has_rows]
    statistics = state.spec.statistics
    assert statistics is not None
    return tuple(
        f"release {name} publishes rows of the same source: hidden cells are not protected from who has both; give no "
        "reader both"
        for name in names
        if name not in statistics.together
    )
