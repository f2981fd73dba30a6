"""Publish: the versioned physical table, then the public view, swapped in one transaction with the catalog row.

`sqlanon.release.publish.second_file` puts a release into a separate file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlanon.engines.base import Engine, Found, Statement, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.formats import Published
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.collated import find_collated
from sqlanon.release.catalog.entry import Entry, SourceState
from sqlanon.release.catalog.file_marker import mark_rows
from sqlanon.release.catalog.metadata import COLUMNS, facts_of, metadata_rows
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.rights import drop_statistics, grant_usage, set_readers
from sqlanon.release.catalog.state import ReleaseState, read_state, scope_secret
from sqlanon.release.catalog.target import check_still_free
from sqlanon.release.catalog.views import (
    Pointing,
    list_pointings,
    metadata_of,
    metadata_table,
    sensitive_of,
    views_beside,
    views_of,
)
from sqlanon.release.history.history import table_of, value_columns
from sqlanon.release.prepare.staged import Prepared
from sqlanon.release.publish.array_dictionary import find_repeated
from sqlanon.release.publish.in_lake import commit_version, name_file
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.publish.second_file import keep_tables, make_schema, reconcile, record_version, write_file
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import commit
from sqlanon.release.verify import tokens
from sqlanon.release.verify.made import Made
from sqlanon.release.verify.verify import Verified, verify_physical
from sqlanon.release.verify.verify_pair import verify_pair
from sqlanon.results import RunReport
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of new classes.

    Attributes:
        ready: the source, and the requirements on the classes.
        made: the classes.
        report: the report so far.
        secret: key of the release's hashes.
        history: scratch table of the version's history, if there is a key.
        siblings: the tables that are published together with it.
    """

    ready: Prepared
    made: Made
    report: RunReport
    secret: str = field(repr=False)
    history: TableRef | None = None
    siblings: tokens.Siblings | None = None

    def of_version(self, engine: Engine, physical: str) -> Draft:
        """The same draft with the names of private tables in the version."""
        proof = self.made.proof.of_version(engine, physical)
        recoded = replace(self.made.recoded, members=proof.members)
        report = replace(self.report, certificate=proof.content)
        return replace(self, made=replace(self.made, recoded=recoded, proof=proof), report=report)

    def keep(self, scratch: Scratch, physical: str) -> None:
        """Copy the history into a separate table, which stays when the version is dropped.

        No statistics of private values are left.
        """
        proof, ready = self.made.proof, self.ready
        made = [private_table(scratch.engine, f"{physical}_link"), *proof.tables]
        if self.history:
            made.append(table_of(scratch.engine, physical))
            columns = proof.history_columns(value_columns(ready.roles, ready.persons))
            scratch.execute("history/keep", kept=made[-1], history=self.history, columns=columns)
        drop_statistics(scratch.engine, made)


def linked_values(ready: Prepared) -> list[str]:
    """Aliases of the sensitive columns that are counted over persons: audits find their hashes in the link table."""
    names = {reading.name for reading in ready.roles.sensitive}
    counted = any(requirement.counts_persons and requirement.column in names for requirement in ready.requirements)
    return [reading.alias for reading in ready.roles.sensitive] if counted else []


@dataclass(frozen=True, slots=True)
class Content:
    """A version to publish: functions that write and verify the tables.

    Attributes:
        write: makes the tables of readers at a place, and runs further statements.
        verify: measures the written tables, by their place and the objects looked up, and gives the report.
        beside: statements that make private tables.
        keep: makes the other private tables, in the publishing transaction; for a release in another file, before the
            file is put in place.
        metadata: the rows of the metadata table, of the verified report.
        report: the report so far.
        source: state of the source for the catalog.
        seed: of the version's random numbers.
        secret: key of the release's hashes.
    """

    write: Callable[[TableRef, Sequence[Statement]], None]
    verify: Callable[[TableRef, Found], RunReport]
    beside: Sequence[Statement]
    keep: Callable[[], None]
    metadata: Callable[[RunReport], Iterable[tuple[object, ...]]]
    report: RunReport
    source: SourceState
    seed: int
    secret: str = field(repr=False)


def content_of(state: ReleaseState, target: Publication, scratch: Scratch, draft: Draft, watch: Stopwatch) -> Content:
    """Content of a version of new classes, for `put_in`; nothing is written yet.

    Args:
        state: the release as the run found it.
        target: where the version goes.
        scratch: the run.
        draft: the version.
        watch: measures the stages.
    """
    engine, spec = state.engine, state.spec
    draft = draft.of_version(engine, target.physical)
    ready, made, report = draft.ready, draft.made, draft.report
    encoded, classed, recoded, proof = made.encoded, made.classed.table, made.recoded, made.proof

    def write(place: TableRef, beside: Sequence[Statement] = ()) -> None:
        tables = [
            scratch.sql(
                "publish/table",
                physical=place,
                classed=classed,
                released=recoded.released,
                published=list_columns(recoded.columns),
                dense=recoded.groups.dense,
                repeated=find_repeated(scratch, recoded, encoded.rows),
            )
        ]
        if recoded.sensitive:
            tables.append(
                scratch.sql(
                    "publish/sensitive",
                    physical=sensitive_of(place),
                    classed=classed,
                    released=recoded.released,
                    published=list_columns(recoded.sensitive),
                )
            )
        scratch.execute_all([*tables, *beside])

    def verify(place: TableRef, found: Found) -> RunReport:
        physical = found.relations[place]
        proof.verify(scratch, made)
        if recoded.sensitive:
            relation = found.relations[sensitive_of(place)]
            verified = verify_pair(scratch, made.classed, recoded, relation, physical, ready.requirements)
        else:
            verified = verify_physical(scratch, made.classed, recoded, physical, ready.requirements)
        done = proof.add_marks(as_verified(report, verified, watch), engine, physical)
        if not recoded.sensitive:
            persons = [person.alias for person in ready.persons]
            done = replace(done, exposed=proof.expose(scratch, made, physical, ready.roles.insensitive, persons))
        reached, warned = tokens.verify_tokens(scratch, state, physical, recoded.layout.of_class, draft.siblings)
        return replace(done, requirements=(*done.requirements, *reached), warnings=(*done.warnings, *warned))

    link = scratch.sql(
        "publish/link",
        linked=private_table(engine, f"{target.physical}_link"),
        classed=classed,
        groups=recoded.groups,
        persons=[person.alias for person in ready.persons],
        values=linked_values(ready),
        omitted=recoded.omitted,
        link=ready.roles.link,
    )
    names = {domain.reading.alias: recoded.layout.names[domain.code] for domain in encoded.quasi}
    facts = facts_of(recoded, target.view.name) | find_collated(scratch, encoded.roles)

    def metadata(done: RunReport) -> Iterable[tuple[object, ...]]:
        return metadata_rows(spec, encoded.roles, names, target.version, facts, done.requirements)

    return Content(
        write,
        verify,
        [link, *proof.statements(scratch, classed, ready.roles.link)],
        lambda: draft.keep(scratch, target.physical),
        metadata,
        report,
        ready.source,
        made.seed,
        draft.secret,
    )


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
        return new.put_in_lake(new.target.lake)
    if not engine.transactions:
        return new.put_in_phases()
    with engine.publishing():
        done, found = new.fill()
        entry = new.swap(done, found)
    new.drop_old(entry)
    return done


def put_together(parts: Sequence[New]) -> list[RunReport]:
    """Write, verify and swap in the versions of several tables in one transaction; the reports as the catalog has them.

    Raises:
        PrivacyViolation: the written tables fail; everything is rolled back.
    """
    engine = parts[0].state.engine
    for part in parts:
        with part.watch.stage("state"):
            # Objects made by an earlier part exist now.
            now = read_state(engine, part.state.spec)
            make_room(replace(part.state, found=now.found, fresh=now.fresh), part.target, part.content.secret)
    with engine.publishing():
        filled = [part.fill() for part in parts]
        new = [part.swap(*made) for part, made in zip(parts, filled, strict=True)]
    for part, entry in zip(parts, new, strict=True):
        part.drop_old(entry)
    return [done for done, _ in filled]


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
            empty = statement("publish/metadata", engine.dialect, metadata=metadata_table(physical), columns=COLUMNS)
            self.content.write(physical, [*self.content.beside, empty])
            found = engine.look_up(
                [
                    *(ref for item in self._shown for ref in (item.view, item.at)),
                    *(views_of(previous) if previous else ()),
                ]
            )
            check_still_free(self.state, self.target, found)
        with self.watch.stage("verify"):
            done = self.judge(self.content.verify(physical, found))
        with self.watch.stage("publish"):
            self.content.keep()
            engine.load_rows(metadata_table(physical), COLUMNS, self.content.metadata(done))
        return replace(done, seconds=self.watch.total()), found

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

    def put_in_lake(self, place: str) -> RunReport:
        """The same with a lake table; the lake's commit decides."""
        engine, spec = self.state.engine, self.state.spec
        with engine.publishing():
            done, _ = self.fill()
            done = replace(done, lake={"place": place, "file": name_file()})
            with self.watch.stage("publish"):
                entry = self._add("pending", done)
        try:
            commit_version(engine, entry, self.watch)
            done = replace(done, seconds=self.watch.total())
            with self.watch.stage("publish"), engine.publishing():
                Catalog(engine).replace_report(spec.name, self.target.version, done)
                entries = record_version(engine, spec.name, self.target.version)
        except BaseException:
            _clean_up(engine, spec.name)
            raise
        with self.watch.stage("cleanup"):
            drop_old(engine, spec.name, entries)
        return done

    def put_in_phases(self) -> RunReport:
        """The same without transactions."""
        engine, spec, previous = self.state.engine, self.state.spec, self.state.published
        shown = self._shown
        views = [item.view for item in shown]
        try:
            with self.watch.stage("publish"):
                self._add("pending", self.content.report)
            done, _ = self.fill()
            with self.watch.stage("publish"):
                Catalog(engine).replace_report(spec.name, self.target.version, done)
                grant_usage(engine, spec.readers, views)
                commit(engine, shown, previous)
                set_readers(engine, spec.readers, views, previous)
                entries = record_version(engine, spec.name, self.target.version)
        except BaseException:
            _clean_up(engine, spec.name)
            raise
        with self.watch.stage("cleanup"):
            drop_old(engine, spec.name, entries)
        return done


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
        found = state.found
        if catalog.table in found.relations:  # another session may have added its later columns by now
            found = state.engine.look_up([*catalog.tables, *schemas])
        catalog.create(found, schemas)
        catalog.drop_statistics(state.found)
        if state.secret is None:
            catalog.keep_secret(state.spec.name, secret)
        if state.fresh and state.spec.scope is not None:
            catalog.keep_secret(scope_secret(state.spec.scope), state.tokens)


def list_columns(columns: Sequence[Published]) -> list[dict[str, str]]:
    """Published columns as templates take them."""
    return [{"source": c.source, "column": c.column, "name": c.name, "kind": c.kind} for c in columns]


def as_verified(report: RunReport, verified: Verified, watch: Stopwatch) -> RunReport:
    """The report of a version whose tables were verified."""
    return replace(
        report,
        requirements=verified.requirements,
        classes=verified.classes,
        min_class=verified.min_class,
        max_class=verified.max_class,
        pm=verified.pm,
        seconds=watch.total(),
        verified=True,
    )


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
                found = engine.look_up([place, *views_beside(place, target.second)[2:]])
            with watch.stage("verify"):
                done = judge(content.verify(place, found))
            with watch.stage("publish"):
                rows = mark_rows(content.metadata(done), content.secret, spec.name, target.version)
                engine.load_rows(metadata_of(place), COLUMNS, rows)
        with watch.stage("cleanup"):
            with engine.publishing():  # a file in place and a pending version are enough for `reconcile`
                catalog.replace_report(spec.name, target.version, replace(done, seconds=watch.total()))
            if spec.refresh.keep > 1:
                shown = list_pointings(engine, target.view, target.physical, second=target.second)
                keep_tables(engine, shown, database)
        return done

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
