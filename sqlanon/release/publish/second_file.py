"""A release in a separate DuckDB file: built next to the published file, flushed, and moved over it.

A DuckDB transaction writes one attached file, and a file has no rights. So the published file holds one version only,
the tables of versions to return to stay in the private schema of the source's file, and the catalog records the pending
step (``pending``: a run, ``returning``: a rollback) before ``os.replace`` and ``published`` after.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import file_errors
from sqlanon.private_folder import PrivateFolder, put_in_place, sweep
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import check_ours, version_in
from sqlanon.release.catalog.lake_facts import is_committed
from sqlanon.release.catalog.lineage import undo
from sqlanon.release.catalog.private_tables import schema_of
from sqlanon.release.catalog.receiver import is_sent
from sqlanon.release.catalog.views import Pointing, spell_table, views_of
from sqlanon.release.publish.in_lake import commit_version, remove_files, withdraw
from sqlanon.release.publish.send import finish_sent, withdraw_sent
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import drop_views, point_views, probe_view, take_back
from sqlanon.sqltext import statement

T = TypeVar("T")


def write_file(
    engine: Engine,
    release: str,
    path: str,
    fill: Callable[[str], T],
    watch: Stopwatch,
) -> T:
    """Make a database file and put it in the place of another file of the release.

    Readers see the old file or the new one, whole.

    Args:
        engine: the source's database, which attaches the new file while ``fill`` works.
        release: the release.
        path: where the file goes.
        fill: writes into the database that is attached under this name.
        watch: measures the stages.

    Raises:
        PolicyError: the file there by now was not published by this release.
    """
    assert engine.second_file is not None
    # No other user may read rows that are not verified yet, whatever the umask: they are written in a folder of this
    # user.
    with file_errors(path), PrivateFolder(Path(path)) as folder:
        beside = folder.path / Path(path).name
        with engine.second_file.attach(str(beside)) as database:
            result = fill(database)
        with watch.stage("publish"):
            check_ours(engine, release, path)
            put_in_place(beside, Path(path))
    return result


def keep_tables(engine: Engine, shown: Sequence[Pointing], database: str) -> None:
    """Copy the readers' tables into the private schema, for a rollback."""
    with engine.publishing():
        for item in shown:
            _copy(engine, item.at, replace(item.view, database=database))


def give_back(engine: Engine, entry: Entry, shown: Sequence[Pointing], watch: Stopwatch) -> None:
    """Put a kept version into the published file again; the caller has marked it ``returning``."""
    assert entry.file is not None

    def fill(database: str) -> None:
        with engine.publishing():
            make_schema(engine, replace(shown[0].view, database=database))
            for item in shown:
                _copy(engine, replace(item.view, database=database), item.at)

    write_file(engine, entry.release, entry.file, fill, watch)


def _copy(engine: Engine, copy: TableRef, origin: TableRef) -> None:
    names = [column.name for column in engine.relation(spell_table(origin)).columns]
    engine.execute(statement("publish/copy", engine.dialect, copy=copy, origin=origin, columns=names))


def make_schema(engine: Engine, view: TableRef) -> None:
    """Create the schema of a view if it is missing."""
    if view.schema and not engine.has_schema(view):
        engine.execute(schema_of(engine, view))


def record_version(engine: Engine, release: str, version: int) -> list[Entry]:
    """Record that readers have this version now.

    Updates the status of this version and of the version before, in the open transaction, if they exist.

    Views that only the version before has are dropped: no run would refresh them any more. Returns the catalog rows
    that `CatalogReader.live` chooses.
    """
    catalog = Catalog(engine)
    entries = catalog.live(None, release)
    (now,) = (entry for entry in entries if entry.version == version)
    before = [entry for entry in entries if entry.status == "published" and entry.version != version]
    for entry in before:
        if now.file:
            swap(engine, (), entry)
        else:
            point_views(engine, now, entry)
    if not before:
        point_views(engine, now, None)
    status = {entry.version: "withdrawn" if now.status == "returning" else "replaced" for entry in before}
    status[version] = "published"
    for changed, new in status.items():
        catalog.mark(release, changed, new)
    return [replace(entry, status=status.get(entry.version, entry.status)) for entry in entries]


def record_withdrawal(engine: Engine, entry: Entry) -> None:
    """Mark the published version as withdrawn, in the open transaction: the release has no version now.

    While nothing is published, only that version is ``withdrawn``, so that a rollback finds the last published version.
    """
    catalog = Catalog(engine)
    for withdrawn in catalog.entries(entry.release, statuses=("withdrawn",)):
        catalog.mark(entry.release, withdrawn.version, "replaced")
    catalog.mark(entry.release, entry.version, "withdrawn")


def _as_before(entry: Entry, entries: Sequence[Entry]) -> str:
    """New status of a version that did not reach the file."""
    if entry.status == "pending":
        return "abandoned"
    if not any(earlier.status in ("published", "withdrawn") for earlier in entries):
        return "withdrawn"  # nothing is published, and this one was last
    newer = any(earlier.status == "published" and earlier.version < entry.version for earlier in entries)
    return "withdrawn" if newer else "replaced"


def _is_there(engine: Engine, entry: Entry) -> bool:
    """Whether a version that was under way reached its readers."""
    if entry.lake:
        return is_committed(engine, entry)
    if entry.sent:
        return is_sent(engine, entry)
    return (not entry.file or Path(entry.file).exists()) and version_in(engine, entry) == entry.version


def reconcile(
    engine: Engine, release: str, entries: Sequence[Entry] | None = None, private: Collection[str] | None = None
) -> list[str]:
    """Tidy up after a kill between building another file, or replacing views, and recording it in the catalog.

    Args:
        engine: the source's database.
        release: the release.
        entries: live catalog rows of the release, if known.
        private: names of the tables and views of the private schema, if known.
    """
    catalog = Catalog(engine)
    tidied = []
    for entry in catalog.live(None, release) if entries is None else entries:
        probed = private is None or probe_view(entry).name.lower() in private
        if entry.status == "published" and not entry.file and not engine.transactions and probed:
            engine.execute(statement("publish/drop_view", engine.dialect, view=probe_view(entry)))
        if entry.status == "withdrawing":
            if entry.lake:
                withdraw(engine, entry)
            if entry.sent:
                withdraw_sent(engine, entry)
            if not entry.file:
                drop_views(engine, views_of(entry))
            elif Path(entry.file).exists() and version_in(engine, entry) == entry.version:
                Path(entry.file).unlink()
            with engine.publishing():
                record_withdrawal(engine, entry)
            tidied.append(f"{entry.release}@{entry.version}")
        if entry.status not in ("pending", "returning"):
            continue
        if entry.file:
            tidied += [str(folder) for folder in sweep(Path(entry.file))]
        there = _is_there(engine, entry)
        if entry.sent and there:
            finish_sent(entry)
        if entry.lake and there:
            commit_version(engine, entry)
        elif entry.lake:
            tidied += remove_files(engine, entry)
        with engine.publishing():
            if there:
                record_version(engine, release, entry.version)
            else:
                take_back(engine, entry, catalog.live(None, release))
                if entry.status == "pending":
                    undo(engine, entry)
                catalog.mark(release, entry.version, _as_before(entry, catalog.live(None, release)))
        tidied.append(f"{entry.release}@{entry.version}")
    return tidied
