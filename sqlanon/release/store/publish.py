"""Publish: the versioned physical table, then the public view, swapped in one transaction with the catalog row.

How a release gets into a file of its own is in `sqlanon.release.store.second_file`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.formats import Published, Recoded
from sqlanon.progress import Stopwatch
from sqlanon.release.check.history import table_of
from sqlanon.release.check.verify import Verified, verify_physical
from sqlanon.release.check.verify_pair import verify_pair
from sqlanon.release.make.prepare import Prepared
from sqlanon.release.store.catalog import Catalog, Entry, private_table
from sqlanon.release.store.metadata import COLUMNS, metadata_rows
from sqlanon.release.store.rights import admit, let_in
from sqlanon.release.store.second_file import keep_tables, make_schema, put, reconcile, settled
from sqlanon.release.store.swap import Pointing, spelled, swap
from sqlanon.release.store.target import Publication, check_free, metadata_of, sensitive_of, views_of
from sqlanon.results import RunReport
from sqlanon.spec import RefreshSpec, ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Private:
    """What only the owner may ever read of a version.

    Attributes:
        seed: of the version's random numbers.
        secret: what the release's hashes are keyed with.
        history: scratch table of the version's history, where there is a key.
        columns: its columns of sensitive values and of persons.
    """

    seed: int
    secret: str
    history: TableRef | None
    columns: Sequence[str]

    def keep(self, scratch: Scratch, physical: str) -> None:
        """Copy the history beside the version's table, where it outlives it."""
        if self.history:
            kept = table_of(scratch.engine, physical)
            scratch.execute("history/keep", kept=kept, history=self.history, columns=list(self.columns))
            scratch.engine.drop_statistics([kept])


def publish(
    engine: Engine, spec: ReleaseSpec, target: Publication, scratch: Scratch, encoded: Encoded,
    classed: TableRef, recoded: Recoded, ready: Prepared, report: RunReport, watch: Stopwatch, private: Private,
) -> RunReport:  # fmt: skip
    """Write, verify and swap in one version; returns the report as the catalog has it.

    Raises:
        PrivacyViolation: the physical table fails; everything is rolled back.
    """
    catalog = Catalog(engine)
    # Two first releases at once would both make the schemas, and one would fail.
    with engine.lock("schemas", wait=True), engine.publishing():
        catalog.create()
        catalog.keep_secret(spec.name, private.secret)
        if not target.file:
            make_schema(engine, target.view)

    def write(place: TableRef) -> RunReport:
        with watch.stage("publish"):
            scratch.execute(
                "publish/table",
                physical=place,
                classed=classed,
                released=recoded.released,
                published=listed(recoded.columns),
            )
            if recoded.sensitive:
                scratch.execute(
                    "publish/sensitive",
                    physical=sensitive_of(place),
                    classed=classed,
                    released=recoded.released,
                    published=listed(recoded.sensitive),
                )
        with watch.stage("verify"):
            physical = engine.relation(spelled(place))
            if recoded.sensitive:
                counted = engine.relation(spelled(sensitive_of(place)))
                verified = verify_pair(
                    scratch, encoded, classed, recoded, counted, physical, ready.requirements
                )
            else:
                verified = verify_physical(scratch, encoded, classed, recoded, physical, ready.requirements)
        return _verified(report, verified, watch)

    if target.file:
        return _publish_file(engine, spec, target, scratch, encoded, classed, recoded, write, catalog, watch,
                             private, report, ready)  # fmt: skip
    physical = private_table(engine, target.physical)
    persons = [one.alias for one in ready.persons]
    with engine.publishing():
        check_free(engine, catalog, spec.name, target)
        done = write(physical)
        with watch.stage("publish"):
            link = private_table(engine, f"{target.physical}_link")
            scratch.execute(
                "publish/link", linked=link, classed=classed, groups=recoded.groups, persons=persons
            )
            engine.drop_statistics([link])
            private.keep(scratch, target.physical)
            engine.load_rows(
                metadata_table(physical),
                COLUMNS,
                metadata_rows(spec, encoded, recoded, target.version, target.view.name, done.requirements),
            )
            previous = next((e for e in catalog.entries(spec.name) if e.status == "published"), None)
            if previous:
                catalog.mark(spec.name, previous.version, "replaced")
            done = replace(done, seconds=watch.total())
            catalog.add(
                spec,
                target.version,
                target.physical,
                target.view,
                "published",
                done,
                ready.source,
                private.seed,
            )
            shown = pointings(engine, target.view, target.physical, pair=target.pair)
            let_in(engine, spec.readers, [item.view for item in shown])
            swap(engine, shown, previous)
            admit(engine, spec.readers, [item.view for item in shown], previous)
    drop_old(engine, spec.name)
    return done


def keep(engine: Engine, spec: ReleaseSpec, entry: Entry, at: str) -> None:
    """Nothing to publish: note that a run looked, and do what readers and retention ask for now."""
    with engine.publishing():
        let_in(engine, spec.readers, views_of(entry))
        admit(engine, spec.readers, views_of(entry), entry)
        Catalog(engine).checked(spec, entry.version, at)
    drop_old(engine, spec.name)


def keep_readers(engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
    """Nobody looked at the source, and yet the policy's readers and dimensions hold from now on."""
    now = {"readers": list(spec.readers), "dimensions": list(spec.dimensions)}
    if any(set(entry.policy.get(key) or ()) != set(names) for key, names in now.items()):
        with engine.publishing():
            let_in(engine, spec.readers, views_of(entry))
            admit(engine, spec.readers, views_of(entry), entry)
            Catalog(engine).keep_policy(entry, dict(entry.policy) | now)


def pointings(engine: Engine, view: TableRef, name: str, *, pair: bool) -> list[Pointing]:
    """Every view of a version and the table it shows; ``name`` is the physical table's."""
    physical = private_table(engine, name)
    shown = [Pointing(view, physical), Pointing(metadata_of(view), metadata_table(physical))]
    if pair:
        shown.append(Pointing(sensitive_of(view), sensitive_of(physical)))
    return shown


def metadata_table(physical: TableRef) -> TableRef:
    """What a version's metadata view shows."""
    return replace(physical, name=f"{physical.name}_metadata")


def listed(columns: Sequence[Published]) -> list[dict[str, str]]:
    """Published columns as templates take them."""
    return [{"source": c.source, "column": c.column, "name": c.name} for c in columns]


def _verified(report: RunReport, verified: Verified, watch: Stopwatch) -> RunReport:
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


def _publish_file(
    engine: Engine, spec: ReleaseSpec, target: Publication, scratch: Scratch, encoded: Encoded,
    classed: TableRef, recoded: Recoded, write: Callable[[TableRef], RunReport], catalog: Catalog, watch: Stopwatch, private: Private,
    report: RunReport, ready: Prepared,
) -> RunReport:  # fmt: skip
    assert target.file is not None
    with engine.publishing():
        catalog.add(
            spec, target.version, target.physical, target.view, "pending", report, ready.source, private.seed
        )
        scratch.execute("publish/link", linked=private_table(engine, f"{target.physical}_link"),
                        classed=classed, groups=recoded.groups,
                        persons=[one.alias for one in ready.persons])  # fmt: skip
        private.keep(scratch, target.physical)

    def fill(database: str) -> RunReport:
        place = replace(target.view, database=database)
        with engine.publishing():
            make_schema(engine, place)
            done = write(place)
            engine.load_rows(
                metadata_of(place),
                COLUMNS,
                metadata_rows(spec, encoded, recoded, target.version, target.view.name, done.requirements),
            )
        with engine.publishing():  # whoever finds the file in place and the version pending needs no more
            catalog.replace_report(spec.name, target.version, replace(done, seconds=watch.total()))
        if spec.refresh.keep > 1:
            keep_tables(engine, pointings(engine, target.view, target.physical, pair=target.pair), database)
        return done

    try:
        done = put(engine, target.file, fill, watch)
    except BaseException:
        with suppress(
            DatabaseError
        ):  # what failed first is what the caller must hear of; the next run tidies up
            reconcile(engine, spec.name)  # asks the file itself which version it holds
            drop_old(engine, spec.name)
        raise
    done = replace(done, seconds=watch.total())
    with engine.publishing():
        catalog.replace_report(spec.name, target.version, done)
        settled(engine, spec.name, target.version)
    drop_old(engine, spec.name)
    return done


def drop_old(engine: Engine, release: str) -> list[str]:
    """Drop the tables of versions beyond those to keep; only what the catalog names, never CASCADE.

    Versions that a rollback withdrew go first, then the oldest, and what readers had before the published one last. How many
    stay is what the newest policy says.
    """
    catalog = Catalog(engine)
    entries = catalog.entries(release)
    published = [entry for entry in entries if entry.status == "published"]
    spare = [entry for entry in entries if entry.status == "withdrawn"]
    spare += [entry for entry in entries if entry.status == "replaced"]
    had = {entry.report.get("replaces") for entry in published}
    spare.sort(key=lambda entry: entry.version in had)
    stale = spare[: max(len(spare) + len(published) - _kept(entries), 0)]
    stale += [entry for entry in entries if entry.status == "abandoned"]
    dropped = []
    for entry in stale:
        try:
            with engine.publishing():
                drop_tables(engine, entry)
                catalog.mark(release, entry.version, "dropped")
        except DatabaseError:
            continue  # a reader holds it, or something depends on it: the next run tries again
        dropped.append(f"{entry.release}@{entry.version}")
    return dropped


def _kept(entries: Sequence[Entry]) -> int:
    """``keep`` as the policy said last; an older sqlanon kept two."""
    said = sorted(entries, key=lambda entry: (entry.status == "published", entry.version))
    refresh = said[-1].policy.get("refresh") if said else None
    return int(refresh["keep"]) if refresh else RefreshSpec().keep


def drop_tables(engine: Engine, entry: Entry) -> None:
    """Drop the tables of a version, in the transaction that is open; its history outlives it."""
    tables = [entry.link, metadata_table(entry.table), sensitive_of(entry.table), entry.table]
    if entry.status == "abandoned":
        tables.append(entry.history)  # nobody ever saw it
    for table in tables:
        engine.execute(statement("table/drop", engine.dialect, target=table))
