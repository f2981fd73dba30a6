"""Drops the tables of killed runs and of old versions."""

from __future__ import annotations

from sqlanon.engines.base import Engine
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.publish.kept_scratch import drop_kept, list_kept
from sqlanon.release.publish.reconcile import reconcile
from sqlanon.release.publish.retention import drop_old
from sqlanon.table.scratch_schema import sweep


def clean(engine: Engine) -> tuple[str, ...]:
    """Drop tables of killed runs and old versions, as far as the catalog names them; gives the dropped names.

    On an engine without temporary tables these are also the scratch tables of runs that are gone.

    Raises:
        LockedError: a run of a release is going on.
    """
    catalog = Catalog(engine)
    catalog.guard()
    copies = engine.compaction.swept() if engine.compaction else []
    dropped = [*copies, *sweep(engine)]
    names = catalog.releases()
    # Without transactions a server may finish a statement of a killed run: every release is checked.
    untidy = {release.release for release in catalog.untidy()} if engine.transactions else set(names)
    untidy |= {release for release, _ in list_kept(engine)}
    for name in sorted({*names, *untidy}):
        with engine.lock(f"release {name}"):
            if name in untidy:
                dropped += drop_kept(engine, name)
                dropped += reconcile(engine, name)
                dropped += drop_old(engine, name)
    return tuple(dropped)
