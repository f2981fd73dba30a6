"""Unpublish: withdraw a release from its readers.

The catalog keeps its history, and the tables stay unless they are purged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine
from sqlanon.errors import DatabaseError, DependentsError, PolicyError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import version_in
from sqlanon.release.catalog.lake_facts import is_shown
from sqlanon.release.catalog.lineage import lineages_of
from sqlanon.release.catalog.receiver import is_shown_there
from sqlanon.release.catalog.target import check_no_link
from sqlanon.release.catalog.views import Pointing, list_pointings, second_of, spell_table
from sqlanon.release.history.history import table_of
from sqlanon.release.publish.in_lake import expire_history
from sqlanon.release.publish.retention import drops_of, find_status_after_drop
from sqlanon.release.publish.second_file import reconcile, record_withdrawal
from sqlanon.release.publish.send import drop_remains, withdraw_sent
from sqlanon.release.publish.two_phase import drop_views, probe_view
from sqlanon.results import UnpublishReport
from sqlanon.sqltext import statement

PURGED = ("replaced", "withdrawn", "abandoned", "dropped")
"""Versions that a purge drops; a dropped version may have a history of rows left."""


def unpublish(engine: Engine, release: str, *, purge: bool = False) -> UnpublishReport:
    """Withdraw a release from readers: drop the views, or the published file.

    The published version becomes ``withdrawn`` in the catalog. Its tables stay in the private schema, so that
    `rollback` can publish it again; a later run makes a new version. Rights on the views are dropped with them.

    Args:
        engine: the source's database.
        release: the release.
        purge: drop the tables and histories of all versions as well. Then no version need be published.

    Raises:
        PolicyError: nothing is published under this name, or the object with the view's name was not made by sqlanon.
        DependentsError: other objects read the views. Nothing was changed.
        DatabaseError: a version's tables could not be dropped, here or in the other database; the release is withdrawn
            by then.
        LockedError: a run of this release is going on, or readers held the views for too long.
    """
    with engine.lock(f"release {release}"):
        catalog = Catalog(engine)
        catalog.guard()
        reconcile(engine, release)
        entries = catalog.live(None, release)
        if not entries:
            raise catalog.unknown_name(release)
        current = next((entry for entry in entries if entry.status == "published"), None)
        if current is None and not purge:
            raise PolicyError(f"{release}: nothing is published; --purge drops the tables of its versions")
        if current and current.lake:
            _withdraw_from_lake(engine, current)
        elif current and current.sent:
            _withdraw_from_database(engine, current)
        elif current and current.file:
            _withdraw_file(engine, current)
        elif current:
            _withdraw_views(engine, current)
        purged = _purge(engine, release) if purge else ()
        in_lakes = [entry for entry in entries if entry.lake]
        if purge and in_lakes:
            expire_history(engine, (), in_lakes[-1])
        if purge:
            drop_remains(engine, release)
        lineages = lineages_of(engine, entries) if purge else []
        return UnpublishReport(
            release,
            current.version if current else None,
            current.report.get("published", "") if current else "",
            purged,
            _warnings(engine, current, release, purge=purge),
            tuple(description for description in (lineage.describe_kept() for lineage in lineages) if description),
            lineages[0].count_erased() if lineages else 0,
        )


def _withdraw_views(engine: Engine, entry: Entry) -> None:
    assert entry.view is not None
    shown = list_pointings(engine, entry.view, entry.physical, second=second_of(entry))
    with engine.publishing():
        there = [item for item in shown if engine.exists(item.view)]

        def drop() -> None:
            _refuse_others(engine, entry, there)
            if not engine.transactions:
                Catalog(engine).mark(entry.release, entry.version, "withdrawing")
            drop_views(engine, [item.view for item in there])

        engine.run_swap(drop)
        record_withdrawal(engine, entry)


def _refuse_others(engine: Engine, entry: Entry, there: Sequence[Pointing]) -> None:
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


def _check_own(engine: Engine, entry: Entry, item: Pointing) -> None:
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


def _withdraw_file(engine: Engine, entry: Entry) -> None:
    """The catalog records the step before the file is removed, so that `reconcile` finishes it after a kill."""
    assert entry.file is not None
    check_no_link(entry.release, entry.file)
    if Path(entry.file).exists() and version_in(engine, entry) != entry.version:
        raise PolicyError(
            f"{entry.release}: {entry.file} does not hold version {entry.version} of it, so it is not removed; move it "
            "away and unpublish again"
        )
    with engine.publishing():
        Catalog(engine).mark(entry.release, entry.version, "withdrawing")
    reconcile(engine, entry.release)


def _withdraw_from_lake(engine: Engine, entry: Entry) -> None:
    """As `_withdraw_file`: the catalog records the step before the table's rows are removed."""
    if not is_shown(engine, entry):
        raise PolicyError(
            f"{entry.release}: {entry.lake['place']} does not hold version {entry.version} of it, or was changed "
            "since, so its rows are not removed; move it away and unpublish again"
        )
    _withdraw(engine, entry)


def _withdraw_from_database(engine: Engine, entry: Entry) -> None:
    """As `_withdraw_file`: the catalog records the step before the views in the other database are dropped."""
    if not is_shown_there(engine, entry):
        raise PolicyError(
            f"{entry.release}: {entry.sent['place']} does not show version {entry.version} of it, or its rows were "
            "changed since, so nothing is dropped there: rename or drop the view and unpublish again"
        )
    withdraw_sent(engine, entry, check_only=True)
    _withdraw(engine, entry)


def _withdraw(engine: Engine, entry: Entry) -> None:
    """Check the views beside the catalog and record the step in one transaction, and take the step."""
    assert entry.view is not None
    shown = list_pointings(engine, entry.view, entry.physical, second=second_of(entry))
    with engine.publishing():
        _refuse_others(engine, entry, [item for item in shown if engine.exists(item.view)])
        Catalog(engine).mark(entry.release, entry.version, "withdrawing")
    reconcile(engine, entry.release)


def _purge(engine: Engine, release: str) -> tuple[int, ...]:
    """Drop the remaining tables of every version, each in a transaction; gives the versions that had any."""
    catalog = Catalog(engine)
    purged, refused = [], []
    names = engine.look_up([], schema=catalog.table).tables
    for entry in catalog.entries(release, statuses=PURGED):
        table = table_of(engine, entry.physical)
        if entry.status == "dropped" and table.name.lower() not in names and table.name not in names:
            continue
        try:
            with engine.publishing():
                drops = [*drops_of(engine, entry), statement("table/drop", engine.dialect, target=table)]
                catalog.mark(release, entry.version, find_status_after_drop(entry), drops)
        except DatabaseError:
            refused.append(entry.version)
        else:
            purged.append(entry.version)
    if refused:
        raise DatabaseError(
            f"{release}: nothing is published any more, but tables of version {', '.join(map(str, refused))} in "
            f"{PRIVATE_SCHEMA} could not be dropped: something reads them or depends on them. Drop that, then "
            "unpublish with --purge again"
        )
    return tuple(purged)


def _warnings(engine: Engine, current: Entry | None, release: str, *, purge: bool) -> tuple[str, ...]:
    shown = str(current.view) if current and current.view else None
    warnings = [
        f"release {entry.release} has {shown} as its source: its next run fails"
        for entry in (Catalog(engine).entries(statuses=("published",), source=shown) if shown else ())
    ]
    warnings += [
        f"{file} is from an earlier version of this release; remove it if nobody shall read it"
        for file in sorted({file for file, _, _ in Catalog(engine).files(release)})
        if Path(file).exists()
    ]
    if current and current.lake and not purge:
        warnings.append(
            f"earlier versions of {current.lake['place']} have its rows until VACUUM, or an expiry of snapshots, "
            "removes their files"
        )
    if current and current.file and not purge and not engine.exists(current.table):
        warnings.append("no copy of the file is kept (keep: 1): only a run can publish the release again")
    return tuple(warnings)
