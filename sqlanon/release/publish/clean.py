"""Clean: drop what killed runs and old versions left."""

from __future__ import annotations

from sqlanon.engines.base import Engine
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.publish.kept_scratch import drop_kept, list_kept
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.publish.second_file import reconcile
from sqlanon.table.scratch import sweep


def clean(engine: Engine) -> tuple[str, ...]:
    """Drop what killed runs and old versions left, as far as the catalog names it; gives what was dropped.

    On an engine without temporary tables these are also the scratch tables of runs that are gone.

    Raises:
        LockedError: a run of a release is going on.
    """
    catalog = Catalog(engine)
    catalog.guard()
    copies = engine.compaction.swept() if engine.compaction else []
    dropped = [*copies, *sweep(engine)]
    names = catalog.releases()
    # Without transactions a server may finish what a killed run began: there every release is looked at.
    untidy = {one.release for one in catalog.untidy()} if engine.transactions else set(names)
    untidy |= {release for release, _ in list_kept(engine)}
    for name in sorted({*names, *untidy}):
        with engine.lock(f"release {name}"):
            if name in untidy:
                dropped += drop_kept(engine, name)
                dropped += reconcile(engine, name)
                dropped += drop_old(engine, name)
    return tuple(dropped)
