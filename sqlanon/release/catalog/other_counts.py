"""Releases of counts of the same source: two together are another system of sums, which may reveal hidden cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlanon.engines.base import Engine
from sqlanon.errors import GuardError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.state import SHOWN
from sqlanon.release_kind import COUNTS


def hold_counts(engine: Engine, source: str) -> AbstractContextManager[None]:
    """Lock of a source: no other release of counts of it is published meanwhile.

    Args:
        engine: the database.
        source: the source as the catalog names it.

    Raises:
        LockedError: another session runs a release of counts of this source.
    """
    return engine.lock(f"counts of {source}")


@contextmanager
def hold_return(engine: Engine, entry: Entry, current: Entry, *, confirmed: bool) -> Iterator[None]:
    """Hold the same lock while readers get an earlier version of counts back; other releases need none.

    Args:
        engine: the database.
        entry: the version to return to.
        current: the current or last version of readers.
        confirmed: nobody has kept the current version.

    Raises:
        GuardError: other counts of the source are published, or were after this version and may have been kept.
    """
    if entry.kind is not COUNTS:
        yield
        return
    with hold_counts(engine, entry.source):
        refuse_published(engine, entry.release, entry.source)
        if entry.version != current.version and not confirmed:
            raise GuardError(
                f"{entry.release}: readers had version {current.version} after version {entry.version}: who has kept "
                "its counts subtracts those of the other, and finds small cells. If nobody has, confirm it with "
                "--allow-weaker (in Python allow_weaker=True)"
            ).advising("--allow-weaker")
        yield


def list_other_counts(engine: Engine, release: str, source: str) -> list[Entry]:
    """Present and former published versions of other releases of counts of a source."""
    entries = Catalog(engine).entries(source=source)
    return [entry for entry in entries if entry.release != release and entry.kind is COUNTS and entry.status in SHOWN]


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
