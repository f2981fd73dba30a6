"""Decides which versions keep their tables, and drops the tables of the others."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Engine, Statement, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import metadata_table, sensitive_of, synthetic_of
from sqlanon.spec import RefreshSpec
from sqlanon.sqltext import statement


def drop_old(engine: Engine, release: str, entries: Sequence[Entry] | None = None) -> list[str]:
    """Drop the tables of versions beyond those to keep; only tables that the catalog names, never CASCADE.

    Versions that a rollback withdrew go first, then the oldest, and the predecessor of the published version last. The
    newest policy says how many stay. If keys were erased, no earlier version stays.

    Args:
        engine: the source's database.
        release: the release.
        entries: live catalog rows of the release, if known.
    """
    catalog = Catalog(engine)
    if entries is None:
        entries = catalog.live(None, release)
    dropped = [] if engine.transactions else _drop_late(engine, entries)
    published = [entry for entry in entries if entry.status == "published"]
    spare = [entry for entry in entries if entry.status == "withdrawn"]
    spare += [entry for entry in entries if entry.status == "replaced"]
    had = {entry.report.get("replaces") for entry in published}
    spare.sort(key=lambda entry: entry.version in had)
    stale = spare[: max(len(spare) + len(published) - _read_keep(entries), 0)]
    stale += [entry for entry in spare if entry not in stale and shows_erased(entry, entries)]
    stale += [entry for entry in entries if entry.status == "abandoned"]
    for entry in stale:
        try:
            with engine.publishing():
                catalog.mark(release, entry.version, find_status_after_drop(entry), drops_of(engine, entry))
        except DatabaseError:
            continue  # a reader holds it, or something depends on it: the next run tries again
        dropped.append(f"{entry.release}@{entry.version}")
    return dropped


def shows_erased(entry: Entry, entries: Sequence[Entry]) -> bool:
    """Whether a version is older than an erasure of keys (also in a killed run): no rollback may show it."""
    erasures = [erasure.version for erasure in entries if (erasure.report.get("lineage") or {}).get("erasing")]
    return entry.version < max(erasures, default=0)


def _read_keep(entries: Sequence[Entry]) -> int:
    """``keep`` as the policy said last; an older sqlanon kept two."""
    ordered = sorted(entries, key=lambda entry: (entry.status == "published", entry.version))
    refresh = ordered[-1].policy.get("refresh") if ordered else None
    return int(refresh["keep"]) if refresh else RefreshSpec().keep


def find_status_after_drop(entry: Entry) -> str:
    """The status of a version whose tables are dropped.

    Readers never had an abandoned version, so that nothing is compared with it.
    """
    return "discarded" if entry.status == "abandoned" else "dropped"


def drops_of(engine: Engine, entry: Entry) -> list[Statement]:
    """Statements that drop the tables of a version, in the open transaction; the history outlives the version."""
    return [statement("table/drop", engine.dialect, target=table) for table in _tables_of(entry)]


def _drop_late(engine: Engine, entries: Sequence[Entry]) -> list[str]:
    """Drop tables of discarded versions.

    Without transactions a server may complete a table after its run was killed and the next run cleaned up.
    """
    tables = [table for entry in entries if entry.status == "discarded" for table in _tables_of(entry)]
    there = engine.look_up([], schema=tables[0]).tables if tables else ()
    late = [table for table in tables if table.name.lower() in there]
    try:
        with engine.publishing():
            engine.execute_all([statement("table/drop", engine.dialect, target=table) for table in late])
    except DatabaseError:
        return []  # the next run tries again
    return [table.name for table in late]


def _tables_of(entry: Entry) -> list[TableRef]:
    # The released rows first: without them a rollback is refused, should the rest be left to the next run.
    tables = [
        entry.table,
        entry.link,
        metadata_table(entry.table),
        sensitive_of(entry.table),
        *((synthetic_of(entry.table),) if entry.kind.charged else ()),
        *entry.certificate,
        *entry.statistics,
    ]
    if entry.status in ("abandoned", "discarded"):
        tables.append(entry.history)  # it was never published
    return tables
