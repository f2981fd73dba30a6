"""Writes and verifies the tables of a new version, and swaps the views together with the catalog row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlanon.engines.base import LookupResult
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.rights import grant_usage, set_readers
from sqlanon.release.catalog.state import ReleaseState, scope_secret
from sqlanon.release.catalog.target import check_still_free
from sqlanon.release.catalog.views import ViewTarget, list_pointings, metadata_table, views_of
from sqlanon.release.publish.catalog_record import record_version
from sqlanon.release.publish.content import Content
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import commit
from sqlanon.results import RunReport
from sqlanon.sqltext import statement

Judge = Callable[[RunReport], RunReport]
"""Refuses a version that was verified, or gives its report, in the publishing transaction."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version in publication.

    Attributes:
        state: the release as the run found it.
        target: where the version goes.
        content: content to write.
        watch: measures the stages.
        judge: has the last word on the verified version.
        clear: drops the scratch tables of the run, once the version is verified.
    """

    state: ReleaseState
    target: Publication
    content: Content
    watch: Stopwatch
    judge: Judge = lambda report: report
    clear: Callable[[], None] = lambda: None

    @property
    def shown(self) -> list[ViewTarget]:
        """The views, and the tables that they show."""
        return list_pointings(self.state.engine, self.target.view, self.target.physical, second=self.target.second)

    def fill(self) -> tuple[RunReport, LookupResult]:
        """Write the tables and verify them; returns the verified report, and the objects in the places of the views."""
        engine, previous = self.state.engine, self.state.published
        physical = private_table(engine, self.target.physical)
        with self.watch.stage("publish"):
            # Without transactions `load_rows` makes the metadata table at once, with its rows.
            empty = statement("publish/metadata", engine.dialect, metadata=metadata_table(physical), columns=COLUMNS)
            self.content.write(physical, [*self.content.beside, *([empty] if engine.transactions else [])])
            tables = [item.at for item in self.shown if engine.transactions or item.at != metadata_table(physical)]
            views = [item.view for item in self.shown]
            lookup = engine.look_up([*views, *tables, *(views_of(previous) if previous else ())])
            check_still_free(self.state, self.target, lookup)
        with self.watch.stage("verify"):
            report = self.judge(self.content.verify(physical, lookup))
        with self.watch.stage("publish"):
            self.content.keep()
            engine.load_rows(metadata_table(physical), COLUMNS, self.content.metadata(report))
        return replace(report, seconds=self.watch.total()), lookup

    def add(self, status: str, report: RunReport) -> Entry:
        """Add the version to the catalog."""
        state, target, content = self.state, self.target, self.content
        return Catalog(state.engine).add(state.spec, target, status, report, content.source, content.seed)

    def swap(self, report: RunReport, lookup: LookupResult) -> Entry:
        """Point the views at the version, add the catalog row and grant the readers' rights."""
        engine, spec, previous = self.state.engine, self.state.spec, self.state.published
        shown = self.shown
        views = [item.view for item in shown]
        with self.watch.stage("publish"):
            if previous:
                Catalog(engine).mark(spec.name, previous.version, "replaced")
            new = self.add("published", report)
            grant_usage(engine, spec.readers, views)
            swap(engine, shown, previous, lookup)
            set_readers(engine, spec.readers, views, previous)
        return new

    def drop_old(self, new: Entry) -> None:
        """Drop the versions that are not kept."""
        state = self.state
        with self.watch.stage("cleanup"):
            old = [replace(entry, status="replaced") if entry == state.published else entry for entry in state.versions]
            drop_old(state.engine, state.spec.name, [*old, new])

    def add_pending(self, field: Literal["lake", "sent"], facts: Mapping[str, str]) -> Entry:
        """Write and verify the tables in the database, in the open transaction; the pending row of the catalog.

        Without transactions the row comes first, so that the tables of a killed run are found.

        Args:
            field: of the report, for the facts.
            facts: about the place and the attempt.
        """
        engine, name = self.state.engine, self.state.spec.name
        if not engine.transactions:
            entry = self.add("pending", note_place(self.content.report, field, facts))
            report = note_place(self.fill()[0], field, facts)
            Catalog(engine).replace_report(name, entry.version, report)
            return replace(entry, report=json.loads(json.dumps(report.to_dict())))
        report, _ = self.fill()
        with self.watch.stage("publish"):
            return self.add("pending", note_place(report, field, facts))

    def record_shown(self, entry: Entry) -> tuple[RunReport, list[Entry]]:
        """Record that readers have the version, in the open transaction; the report, and the catalog's rows."""
        engine, name = self.state.engine, self.state.spec.name
        report = replace(RunReport.from_dict(entry.report), seconds=self.watch.total())
        Catalog(engine).replace_report(name, entry.version, report)
        if not engine.transactions:
            commit(engine, self.shown, self.state.published)
        return report, record_version(engine, name, entry.version)


def note_place(report: RunReport, field: Literal["lake", "sent"], facts: Mapping[str, str]) -> RunReport:
    """A report with facts about the place of the release and the attempt."""
    return replace(report, lake=facts) if field == "lake" else replace(report, sent=facts)


def make_room(state: ReleaseState, target: Publication, secret: str) -> None:
    """Create the private schema (of this role alone), the catalog, the secret, and the schema of the views."""
    catalog = Catalog(state.engine)
    schemas = [] if target.file else [target.view]
    there = all(ref.schema in state.found.schemas for ref in schemas)
    if catalog.complete(state.found) and there and not state.fresh:
        catalog.guard()
        catalog.drop_statistics(state.found)
        if state.secret is None:
            catalog.keep_secret(state.spec.name, secret)
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
