"""Delivers a release as a separate DuckDB file: built next to the published file, flushed, and moved over it.

A DuckDB transaction writes one attached file, and a file has no rights. So the published file has one version only, and
the tables of earlier versions stay in the private schema of the source's file. The catalog records the pending step
(``pending``: a run, ``returning``: a rollback) before ``os.replace``, and ``published`` after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError, UnsupportedError, file_errors
from sqlanon.private_folder import PrivateFolder, put_in_place, sweep
from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import check_marked, check_ours, mark_rows, version_in
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.places import check_no_link
from sqlanon.release.catalog.private_tables import schema_of
from sqlanon.release.catalog.views import (
    ViewTarget,
    list_pointings,
    metadata_of,
    metadata_table,
    second_of,
    spell_table,
    views_beside,
)
from sqlanon.release.publish.catalog_record import record_version
from sqlanon.release.publish.delivery import PlainDelivery
from sqlanon.release.publish.new_version import NewVersion
from sqlanon.release.publish.retention import drop_old
from sqlanon.results import RunReport
from sqlanon.sqltext import statement

T = TypeVar("T")


class InFile(PlainDelivery):
    """See `sqlanon.release.publish.delivery.Delivery`."""

    def in_steps(self, engine: Engine) -> bool:
        return True

    def put(self, parts: Sequence[NewVersion]) -> list[RunReport]:
        if len(parts) > 1:
            raise UnsupportedError(f"{parts[0].state.spec.name}: publish_file: a file holds one release of one table")
        return [_put(parts[0])]

    def settle(self, engine: Engine, entry: Entry, *, there: bool) -> list[str]:
        return [str(folder) for folder in sweep(Path(str(entry.file)))]

    def return_version(self, engine: Engine, entry: Entry, policy: Mapping[str, Any], current: Entry) -> None:
        """See `Delivery.return_version`; after a kill `reconcile` reads from the file which version it holds."""
        catalog, file = Catalog(engine), str(entry.file)
        check_no_link(entry.release, file)
        check_ours(engine, entry.release, file)
        check_marked(engine, entry, metadata_table(entry.table))
        view = TableRef(entry.view_schema, str(entry.view_name), entry.database)
        shown = list_pointings(engine, view, entry.physical, second=second_of(entry))
        with engine.publishing():
            catalog.mark(entry.release, entry.version, "returning")
            catalog.keep_policy(entry, policy)
        give_back(engine, entry, shown, Stopwatch(entry.release, SilentProgress()))
        with engine.publishing():
            record_version(engine, entry.release, entry.version)

    def unpublish(self, engine: Engine, entry: Entry) -> None:
        file = str(entry.file)
        check_no_link(entry.release, file)
        if Path(file).exists() and version_in(engine, entry) != entry.version:
            raise PolicyError(
                f"{entry.release}: {file} does not hold version {entry.version} of it, so it is not removed; move it "
                "away and unpublish again"
            )
        with engine.publishing():
            Catalog(engine).mark(entry.release, entry.version, "withdrawing")

    def withdraw(self, engine: Engine, entry: Entry) -> None:
        if Path(str(entry.file)).exists() and version_in(engine, entry) == entry.version:
            Path(str(entry.file)).unlink()


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


def keep_tables(engine: Engine, shown: Sequence[ViewTarget], database: str) -> None:
    """Copy the readers' tables into the private schema, for a rollback."""
    with engine.publishing():
        for item in shown:
            _copy(engine, item.at, replace(item.view, database=database))


def give_back(engine: Engine, entry: Entry, shown: Sequence[ViewTarget], watch: Stopwatch) -> None:
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


def _put(new: NewVersion) -> RunReport:
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

    file = write_file(engine, spec.name, target.file, fill, watch)
    file = replace(file, seconds=watch.total())
    with watch.stage("cleanup"):
        with engine.publishing():
            catalog.replace_report(spec.name, target.version, file)
            record_version(engine, spec.name, target.version)
        drop_old(engine, spec.name)
    return file
