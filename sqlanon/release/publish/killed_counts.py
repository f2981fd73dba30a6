"""Finishes or takes back interrupted steps of counts, on engines without transactions.

A version that readers have, or had, can be ``pending``, ``returning`` or ``withdrawing`` in the catalog until the next
run of its release. The rules between releases of counts, and between counts and rows, read the catalog: interrupted
steps of other releases are finished or taken back first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlanon.engines.base import Engine
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.other_counts import are_beside
from sqlanon.release.catalog.state import UNSETTLED
from sqlanon.release.publish.reconcile import reconcile


def reconcile_beside(
    engine: Engine,
    release: str,
    source: str | None,
    together: Iterable[str] = (),
    unsettled: Sequence[Entry] | None = None,
) -> bool:
    """Finish or take back what killed runs left of the releases that the rules of counts look at.

    Args:
        engine: the database.
        release: the release of rows or counts that is about to get a version; its lock is held.
        source: of counts their source, whose lock is held; None: the release is of rows.
        together: the releases of rows that are protected together with the counts; their locks are held.
        unsettled: the versions between two steps, if they were read.

    Returns:
        whether there were any.

    Raises:
        LockedError: another session publishes or withdraws such counts now.

    Cost: with transactions nothing, else a query of the catalog, unless the versions were read.
    """
    if engine.transactions:
        return False
    settled = False
    for entry in Catalog(engine).entries(statuses=UNSETTLED) if unsettled is None else unsettled:
        if entry.release in together:
            reconcile(engine, entry.release)
            settled = True
        elif are_beside(entry, release, source):
            with engine.lock(f"release {entry.release}"):
                reconcile(engine, entry.release)
            settled = True
    return settled
