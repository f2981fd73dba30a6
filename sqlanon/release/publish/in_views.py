"""Delivers a release as views of the source's database, swapped in one transaction with the catalog row.

Engines without transactions replace the views in two phases (`sqlanon.release.publish.two_phase`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import DependentsError, PolicyError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.rights import grant_usage, set_readers
from sqlanon.release.catalog.views import ViewTarget, list_pointings, second_of, spell_table, views_of
from sqlanon.release.publish.catalog_record import record_version, record_withdrawal
from sqlanon.release.publish.delivery import PlainDelivery
from sqlanon.release.publish.new_version import NewVersion
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import commit, drop_views, probe_view
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement


class InViews(PlainDelivery):
    """See `sqlanon.release.publish.delivery.Delivery`."""

    def in_steps(self, engine: Engine) -> bool:
        return not engine.transactions

    def put(self, parts: Sequence[NewVersion]) -> list[RunReport]:
        engine = parts[0].state.engine
        if not engine.transactions:
            return [_put_in_phases(part) for part in parts]
        with engine.publishing():
            filled = [part.fill() for part in parts]
            entries = [part.swap(*filled_part) for part, filled_part in zip(parts, filled, strict=True)]
        for part, entry in zip(parts, entries, strict=True):
            part.drop_old(entry)
        return [report for report, _ in filled]

    def settle(self, engine: Engine, entry: Entry, *, there: bool) -> list[str]:
        return []

    def return_version(self, engine: Engine, entry: Entry, policy: Mapping[str, Any], current: Entry) -> None:
        catalog = Catalog(engine)
        previous = current if current.status == "published" else None
        readers = tuple(policy.get("readers") or ())
        shown = list_views(engine, entry)
        views = [item.view for item in shown]
        if not engine.transactions:
            catalog.mark(entry.release, entry.version, "returning")
            catalog.keep_policy(entry, policy)
            grant_usage(engine, readers, views)
            commit(engine, shown, previous)
            set_readers(engine, readers, views, previous)
            record_version(engine, entry.release, entry.version)
            return
        with engine.publishing():
            if previous:
                catalog.mark(entry.release, previous.version, "withdrawn")
            catalog.mark(entry.release, entry.version, "published")
            catalog.keep_policy(entry, policy)
            grant_usage(engine, readers, views)
            swap(engine, shown, previous)
            set_readers(engine, readers, views, previous)

    def unpublish(self, engine: Engine, entry: Entry) -> None:
        with engine.publishing():
            there = [item for item in list_views(engine, entry) if engine.exists(item.view)]

            def drop() -> None:
                refuse_others(engine, entry, there)
                if not engine.transactions:
                    Catalog(engine).mark(entry.release, entry.version, "withdrawing")
                drop_views(engine, [item.view for item in there])

            engine.run_swap(drop)
            record_withdrawal(engine, entry)

    def withdraw(self, engine: Engine, entry: Entry) -> None:
        drop_views(engine, views_of(entry))

    def keep_readers(self, engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
        grant_usage(engine, spec.readers, views_of(entry))
        set_readers(engine, spec.readers, views_of(entry), entry)


def _put_in_phases(new: NewVersion) -> RunReport:
    """Publish without transactions."""
    engine, spec, previous = new.state.engine, new.state.spec, new.state.published
    shown = new.shown
    views = [item.view for item in shown]
    with new.watch.stage("publish"):
        pending = new.add("pending", new.content.report)
    report, lookup = new.fill()
    with new.watch.stage("cleanup"):
        # A run that is killed once the version is published leaves no values: the next one may find nothing to do.
        new.clear()
    with new.watch.stage("publish"):
        Catalog(engine).replace_report(spec.name, new.target.version, report)
        grant_usage(engine, spec.readers, views)
        lookup = commit(engine, shown, previous, lookup)
        set_readers(engine, spec.readers, views, previous)
        # The state is that of the holder of the release's lock: nobody else has written these rows.
        pending = replace(pending, report=json.loads(json.dumps(report.to_dict())))
        entries = record_version(engine, spec.name, pending.version, [*new.state.versions, pending], lookup)
    with new.watch.stage("cleanup"):
        drop_old(engine, spec.name, entries)
    return report


def list_views(engine: Engine, entry: Entry) -> list[ViewTarget]:
    """The views of a version in the source's database, and the tables that they show."""
    assert entry.view is not None
    return list_pointings(engine, entry.view, entry.physical, second=second_of(entry))


def refuse_others(engine: Engine, entry: Entry, there: Sequence[ViewTarget]) -> None:
    """Check that the existing views of a version are sqlanon's, and that no other object reads them.

    Raises:
        PolicyError, DependentsError: the check fails.
    """
    for item in there:
        _check_own(engine, entry, item)
    relying = engine.list_dependents([item.view for item in there])
    if relying:
        raise DependentsError(
            f"{entry.release}: these read {', '.join(str(item.view) for item in there)}: {', '.join(relying)}. "
            "sqlanon drops nothing that it did not make: drop or change them and unpublish again; the release "
            "is still published"
        )


def _check_own(engine: Engine, entry: Entry, item: ViewTarget) -> None:
    """Check that the view is the published view: the same query over the same table.

    Raises:
        PolicyError: the view was replaced.
    """
    if engine.definition(item.view) is not None:
        engine.hold(item.view)  # so that the checked view is the dropped view
    definition = engine.definition(item.view)
    if definition is not None and not engine.exists(item.at):
        return  # its table was dropped by hand: such a view shows nothing to anybody
    if definition is not None:
        like = probe_view(entry)
        names = [column.name for column in engine.relation(spell_table(item.at)).columns]
        engine.execute(statement("publish/view", engine.dialect, view=like, physical=item.at, columns=names))
        expected = engine.definition(like)
        engine.execute(statement("publish/drop_view", engine.dialect, view=like))
        if definition == expected:
            return
    what = "is not a view" if definition is None else "was made anew by somebody else: its query is not sqlanon's"
    raise PolicyError(
        f"{entry.release}: {item.view} {what}. sqlanon drops nothing that it did not make: drop or rename it and "
        f"unpublish again; the catalog says that version {entry.version} is published until then"
    )
