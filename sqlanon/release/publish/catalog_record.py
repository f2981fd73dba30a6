"""Writes the catalog row of the readers' version, at the end of a publication or a withdrawal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import Engine, LookupResult
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import point_views


def record_version(
    engine: Engine,
    release: str,
    version: int,
    entries: Sequence[Entry] | None = None,
    lookup: LookupResult | None = None,
) -> list[Entry]:
    """Record that readers have this version now.

    Updates the status of this version and of the version before, in the open transaction, if they exist.

    Views that only the version before has are dropped: no run would refresh them any more. Returns the catalog rows
    that `CatalogReader.live` chooses.

    Args:
        engine: the source's database.
        release: the release.
        version: the version that readers have.
        entries: these rows, where the holder of the release's lock knows them.
        lookup: views and tables of the version and of the one before, as far as they were looked up.
    """
    catalog = Catalog(engine)
    if entries is None:
        entries = catalog.live(None, release)
    (now,) = (entry for entry in entries if entry.version == version)
    before = [entry for entry in entries if entry.status == "published" and entry.version != version]
    for entry in before:
        if now.file:
            swap(engine, (), entry)
        else:
            point_views(engine, now, entry, lookup)
    if not before:
        point_views(engine, now, None, lookup)
    status = {entry.version: "withdrawn" if now.status == "returning" else "replaced" for entry in before}
    status[version] = "published"
    catalog.mark_all(release, status)
    return [replace(entry, status=status.get(entry.version, entry.status)) for entry in entries]


def record_withdrawal(engine: Engine, entry: Entry) -> None:
    """Mark the published version as withdrawn, in the open transaction: the release has no version now.

    While nothing is published, only that version is ``withdrawn``, so that a rollback finds the last published version.
    """
    catalog = Catalog(engine)
    for withdrawn in catalog.entries(entry.release, statuses=("withdrawn",)):
        catalog.mark(entry.release, withdrawn.version, "replaced")
    catalog.mark(entry.release, entry.version, "withdrawn")
