"""Finishes or takes back publications that a kill or a failure interrupted between two states of the catalog."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

from sqlanon.engines.base import Engine
from sqlanon.errors import DatabaseError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lineage import undo
from sqlanon.release.catalog.places import place_of
from sqlanon.release.publish.catalog_record import record_version, record_withdrawal
from sqlanon.release.publish.deliveries import delivery_of
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.publish.two_phase import probe_view, take_back
from sqlanon.sqltext import statement


def _as_before(entry: Entry, entries: Sequence[Entry]) -> str:
    """New status of a version that did not reach the file."""
    if entry.status == "pending":
        return "abandoned"
    if not any(earlier.status in ("published", "withdrawn") for earlier in entries):
        return "withdrawn"  # nothing is published, and this one was last
    newer = any(earlier.status == "published" and earlier.version < entry.version for earlier in entries)
    return "withdrawn" if newer else "replaced"


def reconcile(
    engine: Engine, release: str, entries: Sequence[Entry] | None = None, private: Collection[str] | None = None
) -> list[str]:
    """Tidy up after a kill between the step that decides which version readers have, and recording it.

    Args:
        engine: the source's database.
        release: the release.
        entries: live catalog rows of the release, if known.
        private: names of the tables and views of the private schema, if known.
    """
    catalog = Catalog(engine)
    tidied = []
    for entry in catalog.live(None, release) if entries is None else entries:
        delivery = delivery_of(entry)
        probed = private is None or probe_view(entry).name.lower() in private
        if entry.status == "published" and not entry.file and not engine.transactions and probed:
            engine.execute(statement("publish/drop_view", engine.dialect, view=probe_view(entry)))
        if entry.status == "withdrawing":
            delivery.withdraw(engine, entry)
            with engine.publishing():
                record_withdrawal(engine, entry)
            tidied.append(f"{entry.release}@{entry.version}")
        if entry.status not in ("pending", "returning"):
            continue
        there = place_of(entry).is_there(engine, entry)
        tidied += delivery.settle(engine, entry, there=there)
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


def clean_up(engine: Engine, release: str) -> None:
    """Clean up without hiding the first error from the caller; the next run repeats failed steps."""
    with suppress(DatabaseError):
        reconcile(engine, release)  # asks the place, or the metadata view, which version there is
        drop_old(engine, release)
