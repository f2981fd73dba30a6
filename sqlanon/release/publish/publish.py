"""Publish: the versioned physical table, then the public view, swapped in one transaction with the catalog row.

`sqlanon.release.publish.second_file` puts a release into a separate file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from sqlanon.engines.base import Engine, Found
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import mark_rows
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.rights import grant_usage, set_readers
from sqlanon.release.catalog.state import ReleaseState, read_state, scope_secret
from sqlanon.release.catalog.target import check_still_free
from sqlanon.release.catalog.views import (
    Pointing,
    list_pointings,
    metadata_of,
    metadata_table,
    views_beside,
    views_of,
)
from sqlanon.release.publish.content import Content
from sqlanon.release.publish.in_lake import (
    commit_version,
    expire_as_asked,
    name_file,
    reading_version,
    write_version,
)
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.publish.second_file import keep_tables, make_schema, reconcile, record_version, write_file
from sqlanon.release.publish.send import name_attempt, send_version
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import commit
from sqlanon.results import RunReport
from sqlanon.sqltext import statement


def put_in(new: New) -> RunReport:
    """Write, verify and swap in a version; returns the report as the catalog has it.

    Raises:
        PrivacyViolation: the written tables fail, or a decision of people refuses them; everything is rolled back.
    """
    engine = new.state.engine
    with new.watch.stage("state"):
        make_room(new.state, new.target, new.content.secret)
    if new.target.file:
        return _publish_file(new)
    if new.target.lake:
        return put_in_lakes([new])[0]
    if new.target.sent:
        return new.put_in_database(new.target.sent)
    if not engine.transactions:
        return new.put_in_phases()
    with engine.publishing():
        report, lookup = new.fill()
        entry = new.swap(report, lookup)
    new.drop_old(entry)
    return report


def put_together(parts: Sequence[New]) -> list[RunReport]:
    """Write, verify and swap in the versions of several tables in one transaction; the reports as the catalog has them.

    Raises:
        PrivacyViolation: the written tables fail; everything is rolled back.
    """
    engine = parts[0].state.engine
    lakes = [part for part in parts if part.target.lake]
    if lakes and len(lakes) < len(parts):
        raise PolicyError(
            f"{lakes[0].state.spec.name}: tables that are published together go into lake tables all, or none"
        )
    for part in parts:
        with part.watch.stage("state"):
            # Objects made by an earlier part exist now.
            now = read_state(engine, part.state.spec)
            make_room(replace(part.state, found=now.found, fresh=now.fresh), part.target, part.content.secret)
    if lakes:
        return put_in_lakes(parts)
    with engine.publishing():
        filled = [part.fill() for part in parts]
        new = [part.swap(*filled_part) for part, filled_part in zip(parts, filled, strict=True)]
    for part, entry in zip(parts, new, strict=True):
        part.drop_old(entry)
    return [report for report, _ in filled]


def put_in_lakes(parts: Sequence[New]) -> list[RunReport]:
    """The same into lake tables; the first commit decides for all.

    Raises:
        PrivacyViolation: the written tables fail, here or as they are read back from the lake.
    """
    engine, file = parts[0].state.engine, name_file()
    with engine.publishing():
        entries = [part.add_pending(file, str(parts[0].target.lake)) for part in parts]
    try:
        for part, entry in zip(parts, entries, strict=True):
            write_version(engine, entry, part.watch)
        with ExitStack() as reading:
            places = [reading.enter_context(reading_version(engine, entry)) for entry in entries]
            for part, place in zip(parts, places, strict=True):
                with part.watch.stage("verify"):
                    part.content.verify(*place)
        with parts[0].watch.stage("publish"):
            for entry in entries:
                commit_version(engine, entry)
        reports = [part.record_shown(entry) for part, entry in zip(parts, entries, strict=True)]
    except BaseException:
        for part in parts:
            _clean_up(engine, part.state.spec.name)
        raise
    for part, entry in zip(parts, entries, strict=True):
        with part.watch.stage("cleanup"):
            drop_old(engine, part.state.spec.name)
            expire_as_asked(engine, part.state.spec, entry)
    return reports


Judge = Callable[[RunReport], RunReport]
"""Refuses a version that was verified, or gives its report, in the publishing transaction."""


@dataclass(frozen=True, slots=True)
class New:
    """A version in publication.

    Attributes:
        state: the release as the run found it.
        target: where the version goes.
        content: content to write.
        watch: measures the stages.
        judge: has the last word on the verified version.
    """

    state: ReleaseState
    target: Publication
    content: Content
    watch: Stopwatch
    judge: Judge = lambda report: report

    @property
    def _shown(self) -> list[Pointing]:
        return list_pointings(self.state.engine, self.target.view, self.target.physical, second=self.target.second)

    def fill(self) -> tuple[RunReport, Found]:
        """Write the tables and verify them; returns the verified report, and the objects in the places of the views."""
        engine, previous = self.state.engine, self.state.published
        physical = private_table(engine, self.target.physical)
        with self.watch.stage("publish"):
            # Without transactions `load_rows` makes the metadata table at once, with its rows.
            empty = statement("publish/metadata", engine.dialect, metadata=metadata_table(physical), columns=COLUMNS)
            self.content.write(physical, [*self.content.beside, *([empty] if engine.transactions else [])])
            lookup = engine.look_up(
                [
                    *(ref for item in self._shown for ref in (item.view, item.at)),
                    *(views_of(previous) if previous else ()),
                ]
            )
            check_still_free(self.state, self.target, lookup)
        with self.watch.stage("verify"):
            report = self.judge(self.content.verify(physical, lookup))
        with self.watch.stage("publish"):
            self.content.keep()
            engine.load_rows(metadata_table(physical), COLUMNS, self.content.metadata(report))
        return replace(report, seconds=self.watch.total()), lookup

    def _add(self, status: str, report: RunReport) -> Entry:
        state, target, content = self.state, self.target, self.content
        return Catalog(state.engine).add(state.spec, target, status, report, content.source, content.seed)

    def swap(self, done: RunReport, found: Found) -> Entry:
        """Point the views at the version, add the catalog row and grant the readers' rights."""
        engine, spec, previous = self.state.engine, self.state.spec, self.state.published
        shown = self._shown
        views = [item.view for item in shown]
        with self.watch.stage("publish"):
            if previous:
                Catalog(engine).mark(spec.name, previous.version, "replaced")
            new = self._add("published", done)
            grant_usage(engine, spec.readers, views)
            swap(engine, shown, previous, found)
            set_readers(engine, spec.readers, views, previous)
        return new

    def drop_old(self, new: Entry) -> None:
        """Drop the versions that are not kept."""
        state = self.state
        with self.watch.stage("cleanup"):
            old = [replace(entry, status="replaced") if entry == state.published else entry for entry in state.versions]
            drop_old(state.engine, state.spec.name, [*old, new])

    def add_pending(self, file: str, first: str) -> Entry:
        """Write and verify the tables in the database, in the open transaction; the pending row of the catalog.

        Args:
            file: name of the files in the lake.
            first: place of the lake table whose commit decides.
        """
        assert self.target.lake is not None
        report, _ = self.fill()
        report = replace(report, lake={"place": self.target.lake, "file": file, "first": first})
        with self.watch.stage("publish"):
            return self._add("pending", report)

    def record_shown(self, entry: Entry) -> RunReport:
        """Record that readers of the lake have the version; gives the report."""
        engine, name = self.state.engine, self.state.spec.name
        report = replace(RunReport.from_dict(entry.report), seconds=self.watch.total())
        with self.watch.stage("publish"), engine.publishing():
            Catalog(engine).replace_report(name, entry.version, report)
            record_version(engine, name, entry.version)
        return report

    def put_in_database(self, place: str) -> RunReport:
        """The same with another database; the transaction there decides."""
        engine, spec, previous = self.state.engine, self.state.spec, self.state.published
        with engine.publishing():
            report, _ = self.fill()
            report = replace(report, sent={"place": place, "token": name_attempt()})
            with self.watch.stage("publish"):
                entry = self._add("pending", report)
        try:
            send_version(engine, entry, self.watch, previous, spec.columns)
            report = replace(report, seconds=self.watch.total())
            with self.watch.stage("publish"), engine.publishing():
                Catalog(engine).replace_report(spec.name, self.target.version, report)
                entries = record_version(engine, spec.name, self.target.version)
                set_readers(engine, (), views_of(entry), previous)
        except BaseException:
            _clean_up(engine, spec.name)
            raise
        with self.watch.stage("cleanup"):
            drop_old(engine, spec.name, entries)
        return report

    def put_in_phases(self) -> RunReport:
        """The same without transactions."""
        engine, spec, previous = self.state.engine, self.state.spec, self.state.published
        shown = self._shown
        views = [item.view for item in shown]
        try:
            with self.watch.stage("publish"):
                self._add("pending", self.content.report)
            report, _ = self.fill()
            with self.watch.stage("publish"):
                Catalog(engine).replace_report(spec.name, self.target.version, report)
                grant_usage(engine, spec.readers, views)
                commit(engine, shown, previous)
                set_readers(engine, spec.readers, views, previous)
                entries = record_version(engine, spec.name, self.target.version)
        except BaseException:
            _clean_up(engine, spec.name)
            raise
        with self.watch.stage("cleanup"):
            drop_old(engine, spec.name, entries)
        return report


def make_room(state: ReleaseState, target: Publication, secret: str) -> None:
    """Create the private schema (of this role alone), the catalog, the secret, and the schema of the views."""
    catalog = Catalog(state.engine)
    schemas = [] if target.file else [target.view]
    there = all(ref.schema in state.found.schemas for ref in schemas)
    if catalog.complete(state.found) and there and state.secret is not None and not state.fresh:
        catalog.guard()
        catalog.drop_statistics(state.found)
        return
    # Two first releases at once would both make the schemas, and one would fail.
    with state.engine.lock("schemas", wait=True), state.engine.publishing():
        lookup = state.found
        if catalog.table in lookup.relations:  # another session may have added its later columns by now
            lookup = state.engine.look_up([*catalog.tables, *schemas])
        catalog.create(lookup, schemas)
        catalog.drop_statistics(state.found)
        if state.secret is None:
            catalog.keep_secret(state.spec.name, secret)
        if state.fresh and state.spec.scope is not None:
            catalog.keep_secret(scope_secret(state.spec.scope), state.tokens)


def _publish_file(new: New) -> RunReport:
    state, target, content, watch, judge = new.state, new.target, new.content, new.watch, new.judge
    assert target.file is not None
    engine, spec, catalog = state.engine, state.spec, Catalog(state.engine)
    with watch.stage("state"), engine.publishing():
        catalog.add(spec, target, "pending", content.report, content.source, content.seed)
        engine.execute_all(content.beside)
        content.keep()

    def fill(database: str) -> RunReport:
        place = replace(target.view, database=database)
        with engine.publishing():
            with watch.stage("publish"):
                make_schema(engine, place)
                empty = statement("publish/metadata", engine.dialect, metadata=metadata_of(place), columns=COLUMNS)
                content.write(place, [empty])
                lookup = engine.look_up([place, *views_beside(place, target.second)[2:]])
            with watch.stage("verify"):
                report = judge(content.verify(place, lookup))
            with watch.stage("publish"):
                rows = mark_rows(content.metadata(report), content.secret, spec.name, target.version)
                engine.load_rows(metadata_of(place), COLUMNS, rows)
        with watch.stage("cleanup"):
            with engine.publishing():  # a file in place and a pending version are enough for `reconcile`
                catalog.replace_report(spec.name, target.version, replace(report, seconds=watch.total()))
            if spec.refresh.keep > 1:
                shown = list_pointings(engine, target.view, target.physical, second=target.second)
                keep_tables(engine, shown, database)
        return report

    try:
        file = write_file(engine, spec.name, target.file, fill, watch)
    except BaseException:
        _clean_up(engine, spec.name)
        raise
    file = replace(file, seconds=watch.total())
    with watch.stage("cleanup"):
        with engine.publishing():
            catalog.replace_report(spec.name, target.version, file)
            record_version(engine, spec.name, target.version)
        drop_old(engine, spec.name)
    return file


def _clean_up(engine: Engine, release: str) -> None:
    """Clean up without hiding the first error from the caller; the next run repeats failed steps."""
    with suppress(DatabaseError):
        reconcile(engine, release)  # asks the file, or the metadata view, which version there is
        drop_old(engine, release)
