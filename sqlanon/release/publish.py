"""Publish: the versioned physical table, then the public view, swapped in one transaction with the catalog row.

A DuckDB transaction writes one attached file, so a release into another file is built beside it, verified, closed,
flushed and put in its place by ``os.replace``; the catalog says ``pending`` before and ``published`` after.
"""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.privacy.base import Requirement
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog import KEPT, Catalog, Entry
from sqlanon.release.metadata import COLUMNS, metadata_rows, version_in
from sqlanon.release.names import Published
from sqlanon.release.recode import Recoded
from sqlanon.release.target import Publication, check_free, metadata_of, sensitive_of, views_beside, views_of
from sqlanon.release.verify import Verified, verify_physical
from sqlanon.release.verify_pair import verify_pair
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import identifier, statement
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


def publish(
    engine: Engine, spec: ReleaseSpec, target: Publication, scratch: Scratch, encoded: Encoded,
    classed: TableRef, recoded: Recoded, requirements: Sequence[Requirement], report: RunReport, watch: Stopwatch,
    seed: int,
) -> RunReport:  # fmt: skip
    """Write, verify and swap in one version; returns the report as the catalog has it.

    Raises:
        PrivacyViolation: the physical table fails; everything is rolled back.
    """
    catalog = Catalog(engine)
    # Two first releases at once would both make the schemas, and one would fail.
    with engine.lock("schemas", wait=True), engine.publishing():
        catalog.create()
        if not target.file:
            _make_schema(engine, target.view)

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
                verified = verify_pair(scratch, encoded, classed, recoded, counted, physical, requirements)
            else:
                verified = verify_physical(scratch, encoded, classed, recoded, physical, requirements)
        return _verified(report, verified, watch)

    if target.file:
        return _publish_file(engine, spec, target, scratch, encoded, classed, recoded, write, catalog, watch, seed,
                             report)  # fmt: skip
    physical = TableRef(PRIVATE_SCHEMA, target.physical)
    with engine.publishing():
        check_free(engine, catalog, spec.name, target)
        done = write(physical)
        with watch.stage("publish"):
            scratch.execute("publish/link", linked=TableRef(PRIVATE_SCHEMA, f"{target.physical}_link"),
                            classed=classed, released=recoded.released)  # fmt: skip
            facts = TableRef(PRIVATE_SCHEMA, f"{target.physical}_metadata")
            engine.load_rows(
                facts,
                COLUMNS,
                metadata_rows(spec, encoded, recoded, target.version, target.view.name, done.requirements),
            )
            _point(engine, target.view, physical, [column.name for column in recoded.columns])
            _point(engine, metadata_of(target.view), facts, [name for name, _ in COLUMNS])
            if recoded.sensitive:
                names = [column.name for column in recoded.sensitive]
                _point(engine, sensitive_of(target.view), sensitive_of(physical), names)
            done = replace(done, seconds=watch.total())
            catalog.add(spec, target.version, target.physical, target.view, "published", done, seed)
            for entry in catalog.entries(spec.name):
                if entry.status == "published" and entry.version != target.version:
                    _retire(engine, entry, target)
                    catalog.mark(spec.name, entry.version, "replaced")
    drop_old(engine, spec.name)
    return done


def _retire(engine: Engine, entry: Entry, target: Publication) -> None:
    """Drop the old views that the new version does not have: nobody would refresh them any more."""
    kept = {(view.schema, view.name) for view in views_beside(target.view, target.pair)}
    for ref in (view for view in views_of(entry) if (view.schema, view.name) not in kept):
        engine.execute(statement("publish/drop_view", engine.dialect, view=ref))


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


def spelled(table: TableRef) -> str:
    """A table's name as a person would have to write it."""
    return ".".join(identifier(part) for part in (table.database, table.schema, table.name) if part)


def _make_schema(engine: Engine, view: TableRef) -> None:
    schema = ".".join(identifier(part) for part in (view.database, view.schema) if part)
    if view.schema and not engine.has_schema(view):
        engine.execute(statement("publish/schema", engine.dialect, schema=schema))


def _point(engine: Engine, view: TableRef, at: TableRef, columns: list[str]) -> None:
    """Point a view at another table. Rights survive: kept by a replacement, given again after a re-creation."""
    rights: list[str] = []
    if engine.exists(view):
        known = engine.relation(spelled(view))
        wanted = engine.relation(spelled(at))
        if [(c.name, c.type) for c in known.columns] != [(c.name, c.type) for c in wanted.columns]:
            rights = engine.rights(view)
            engine.execute(statement("publish/drop_view", engine.dialect, view=view))
    engine.execute(statement("publish/view", engine.dialect, view=view, physical=at, columns=columns))
    for right in rights:
        engine.execute(right)


def _publish_file(
    engine: Engine, spec: ReleaseSpec, target: Publication, scratch: Scratch, encoded: Encoded,
    classed: TableRef, recoded: Recoded, write: Callable[[TableRef], RunReport], catalog: Catalog, watch: Stopwatch, seed: int,
    report: RunReport,
) -> RunReport:  # fmt: skip
    assert target.file is not None
    beside = f"{target.file}.sqlanon-{secrets.token_hex(4)}"
    with engine.publishing():
        catalog.add(spec, target.version, target.physical, target.view, "pending", report, seed)
        scratch.execute("publish/link", linked=TableRef(PRIVATE_SCHEMA, f"{target.physical}_link"),
                        classed=classed, released=recoded.released)  # fmt: skip
    try:
        with engine.attach(beside) as database:
            place = TableRef(target.view.schema, target.view.name, database)
            with engine.publishing():
                _make_schema(engine, place)
                done = write(place)
                engine.load_rows(
                    metadata_of(place),
                    COLUMNS,
                    metadata_rows(
                        spec, encoded, recoded, target.version, target.view.name, done.requirements
                    ),
                )
        with watch.stage("publish"):
            _settle(beside, target.file)
    except BaseException:
        for leftover in (beside, f"{beside}.wal"):
            Path(leftover).unlink(missing_ok=True)
        reconcile(engine, spec.name)  # asks the file itself which version it holds
        drop_old(engine, spec.name)
        raise
    done = replace(done, seconds=watch.total())
    with engine.publishing():
        catalog.replace_report(spec.name, target.version, done)
        _published(catalog, spec.name, target.version)
    drop_old(engine, spec.name)
    return done


def _published(catalog: Catalog, release: str, version: int) -> None:
    for entry in catalog.entries(release):
        if entry.status == "published":
            catalog.mark(release, entry.version, "replaced")
    catalog.mark(release, version, "published")


def _settle(beside: str, path: str) -> None:
    """Flush the finished file and put it in place: readers see the old file or the new one."""
    with Path(beside).open("rb") as file:
        os.fsync(file.fileno())
    os.replace(beside, path)
    folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def reconcile(engine: Engine, release: str) -> list[str]:
    """Tidy up after a run that was killed between building another file and saying so in the catalog."""
    catalog = Catalog(engine)
    tidied = []
    for entry in catalog.entries(release):
        if entry.status != "pending" or not entry.file:
            continue
        for leftover in sorted(
            Path(entry.file).resolve().parent.glob(f"{glob.escape(Path(entry.file).name)}.sqlanon-*")
        ):
            leftover.unlink()
            tidied.append(str(leftover))
        there = Path(entry.file).exists() and version_in(engine, entry) == entry.version
        with engine.publishing():
            if there:
                _published(catalog, release, entry.version)
            else:
                catalog.mark(release, entry.version, "abandoned")
        tidied.append(f"{entry.release}@{entry.version}")
    return tidied


def drop_old(engine: Engine, release: str) -> list[str]:
    """Drop the tables of versions that no reader needs any more; only what the catalog names, never CASCADE."""
    catalog = Catalog(engine)
    entries = catalog.entries(release)
    live = [entry for entry in entries if entry.status in ("published", "replaced")]
    stale = [entry for entry in live if entry.status == "replaced"][: max(len(live) - KEPT, 0)]
    stale += [entry for entry in entries if entry.status == "abandoned"]
    dropped = []
    for entry in stale:
        try:
            with engine.publishing():
                _drop(engine, entry)
                catalog.mark(release, entry.version, "dropped")
        except DatabaseError:
            continue  # a reader holds it, or something depends on it: the next run tries again
        dropped.append(f"{entry.release}@{entry.version}")
    return dropped


def _drop(engine: Engine, entry: Entry) -> None:
    metadata = TableRef(PRIVATE_SCHEMA, f"{entry.physical}_metadata")
    for table in (entry.link, metadata, sensitive_of(entry.table), entry.table):
        engine.execute(statement("table/drop", engine.dialect, target=table))
