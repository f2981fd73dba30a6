"""Compacts the files of a database, so that they have no traces of dropped tables and earlier values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict

from sqlanon.engines.base import Compaction, Engine, TableRef
from sqlanon.engines.lacks import require
from sqlanon.progress import Progress, SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.publish.kept_scratch import list_table
from sqlanon.release.verify.stored_rows import find_stored_rows
from sqlanon.results import CompactReport


def compact(engine: Engine, releases: Sequence[str] | None = None, progress: Progress | None = None) -> CompactReport:
    """Have the engine rewrite the files of private tables with changed or deleted rows.

    Args:
        engine: the database.
        releases: the releases with these tables; None for all.
        progress: gets the stage.

    Raises:
        UnsupportedError: the engine or the database has no compaction; the text names the alternative.
        LockedError: a run of such a release is going on, or the database's file is open elsewhere.
        DatabaseError: compaction is not possible. Every table keeps its rows.
    """
    compaction = compaction_of(engine)
    compaction.check_compaction()
    catalog = Catalog(engine)
    catalog.guard()
    with ExitStack() as stack:
        names = catalog.releases() if releases is None else releases
        for name in names:
            stack.enter_context(engine.lock(f"release {name}"))
        entries = [entry for name in names for entry in catalog.entries(name)]
        there = engine.look_up([], schema=catalog.table).tables
        tables = dict.fromkeys([*catalog.tables, list_table(engine), *_list_changed(engine, entries)])
        label, progress = ", ".join(names), progress or SilentProgress()
        try:
            with Stopwatch(label, progress).stage("compact"):
                compacted = compaction.compact([table for table in tables if table.name in there])
        finally:
            progress.finish(label)
    return CompactReport(**asdict(compacted))


def compaction_of(engine: Engine) -> Compaction:
    """Compaction of the engine.

    Raises:
        UnsupportedError: the engine has none; the text names the alternative.
    """
    require(engine, "--compact")
    assert engine.compaction is not None
    return engine.compaction


def _list_changed(engine: Engine, entries: Sequence[Entry]) -> Iterator[TableRef]:
    """Tables of releases with rows that are changed or deleted later.

    The other tables are dropped as a whole.
    """
    for entry in entries:
        yield from find_stored_rows(engine, entry).changing
