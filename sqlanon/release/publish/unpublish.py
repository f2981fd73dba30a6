"""Withdraws a release from readers.

The catalog keeps the history, and the tables stay unless they are purged.
"""

from __future__ import annotations

from pathlib import Path

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lineage import lineages_of
from sqlanon.release.catalog.places import find_spot, list_left
from sqlanon.release.catalog.state import SHOWN
from sqlanon.release.history.history import table_of
from sqlanon.release.publish.deliveries import delivery_of, purge_places
from sqlanon.release.publish.reconcile import reconcile
from sqlanon.release.publish.retention import drops_of, find_status_after_drop
from sqlanon.results import UnpublishReport
from sqlanon.sqltext import statement

PURGED = ("replaced", "withdrawn", "abandoned", "dropped")
"""Versions that a purge drops; a dropped version may have a history of rows left."""


def unpublish(engine: Engine, release: str, *, purge: bool = False) -> UnpublishReport:
    """Withdraw a release from readers: drop the views, or the published file.

    The published version becomes ``withdrawn`` in the catalog. Its tables stay in the private schema, so that
    `rollback` can publish it again; a later run makes a new version. Rights on the views are dropped with them.

    Args:
        engine: the source's database.
        release: the release.
        purge: drop the tables and histories of all versions as well. Then no version need be published.

    Raises:
        PolicyError: nothing is published under this name, or the object with the view's name was not made by sqlanon.
        DependentsError: other objects read the views. Nothing was changed.
        DatabaseError: a version's tables could not be dropped, here or in the other database; the release is withdrawn
            by then.
        LockedError: a run of this release is going on, or readers held the views for too long.
    """
    with engine.lock(f"release {release}"):
        catalog = Catalog(engine)
        catalog.guard()
        reconcile(engine, release)
        entries = catalog.live(None, release)
        if not entries:
            raise catalog.unknown_name(release)
        current = next((entry for entry in entries if entry.status == "published"), None)
        if current is None and not purge:
            raise PolicyError(f"{release}: nothing is published; --purge drops the tables of its versions")
        if current:
            delivery_of(current).unpublish(engine, current)
            reconcile(engine, release)
        purged = _purge(engine, release) if purge else ()
        if purge:
            purge_places(engine, release, catalog.entries(release))
        lineages = lineages_of(engine, entries) if purge else []
        return UnpublishReport(
            release,
            current.version if current else None,
            current.report.get("published", "") if current else "",
            purged,
            _warnings(engine, current, release, purge=purge),
            tuple(description for description in (lineage.describe_kept() for lineage in lineages) if description),
            lineages[0].count_erased() if lineages else 0,
        )


def _purge(engine: Engine, release: str) -> tuple[int, ...]:
    """Drop the remaining tables of every version, each in a transaction; gives the versions that had any."""
    catalog = Catalog(engine)
    purged, refused = [], []
    names = engine.look_up([], schema=catalog.table).tables
    for entry in catalog.entries(release, statuses=PURGED):
        table = table_of(engine, entry.physical)
        if entry.status == "dropped" and table.name.lower() not in names and table.name not in names:
            continue
        try:
            with engine.publishing():
                drops = [*drops_of(engine, entry), statement("table/drop", engine.dialect, target=table)]
                catalog.mark(release, entry.version, find_status_after_drop(entry), drops)
        except DatabaseError:
            refused.append(entry.version)
        else:
            purged.append(entry.version)
    if refused:
        raise DatabaseError(
            f"{release}: nothing is published any more, but tables of version {', '.join(map(str, refused))} in "
            f"{PRIVATE_SCHEMA} could not be dropped: something reads them or depends on them. Drop that, then "
            "unpublish with --purge again"
        )
    return tuple(purged)


def _warnings(engine: Engine, current: Entry | None, release: str, *, purge: bool) -> tuple[str, ...]:
    shown = str(current.view) if current and current.view else None
    warnings = [
        f"release {entry.release} has {shown} as its source: its next run fails"
        for entry in (Catalog(engine).entries(statuses=("published",), source=shown) if shown else ())
    ]
    warnings += [
        f"{file} is from an earlier version of this release; remove it if nobody shall read it"
        for file in sorted({file for file, _, _ in Catalog(engine).files(release)})
        if Path(file).exists()
    ]
    entries = Catalog(engine).entries(release)
    newest = current or next((entry for entry in reversed(entries) if entry.status in SHOWN), None)
    warnings += list_left(entries, find_spot(newest))
    if current and current.lake and not purge:
        warnings.append(
            f"earlier versions of {current.lake['place']} have its rows until VACUUM, or an expiry of snapshots, "
            "removes their files"
        )
    if current and current.file and not purge and not engine.exists(current.table):
        warnings.append("no copy of the file is kept (keep: 1): only a run can publish the release again")
    return tuple(warnings)
