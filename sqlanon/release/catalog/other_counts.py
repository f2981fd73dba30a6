"""Releases of counts of the same source: two together are another system of sums, which may reveal hidden cells."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from sqlanon.engines.base import Engine
from sqlanon.errors import GuardError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.state import SHOWN
from sqlanon.spec import ReleaseSpec


def hold_counts(engine: Engine, spec: ReleaseSpec) -> AbstractContextManager[None]:
    """Lock of the source of a release of counts: no other release of counts of it is published meanwhile.

    Raises:
        LockedError: another session runs a release of counts of this source.
    """
    if spec.statistics is None:
        return nullcontext()
    return hold_counts_of(engine, str(engine.relation(spec.source).ref))


def hold_counts_of(engine: Engine, source: str) -> AbstractContextManager[None]:
    """The same lock, by the source as the catalog names it."""
    return engine.lock(f"counts of {source}")


def list_other_counts(engine: Engine, release: str, source: str) -> list[Entry]:
    """Present and former published versions of other releases of counts of a source."""
    entries = Catalog(engine).entries(source=source)
    return [entry for entry in entries if entry.release != release and entry.statistics and entry.status in SHOWN]


def refuse_published(engine: Engine, release: str, source: str) -> None:
    """Refuse counts if other counts of the same source are published.

    Raises:
        GuardError: there are other counts.
    """
    for entry in list_other_counts(engine, release, source):
        if entry.status == "published":
            raise GuardError(
                f"{release}: release {entry.release} publishes counts of the same source: both together give away what "
                "each hides. Make one release of all tables (statistics: tables), which are protected together"
            )
