"""Points the views of a release at the tables of another version, within the open transaction.

Readers see the old version until the transaction commits. Rights on the views survive.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Column, Engine, LookupResult, Statement, TableRef
from sqlanon.errors import DependentsError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import ViewTarget, views_of
from sqlanon.sqltext import statement


def swap(
    engine: Engine, pointings: Sequence[ViewTarget], previous: Entry | None, lookup: LookupResult | None = None
) -> None:
    """Point the views, and drop views of the previous version that the new version does not have.

    Args:
        engine: the database, in a transaction.
        pointings: every view of the new version.
        previous: the published version; later runs do not refresh other views of it.
        lookup: some of these views and tables and of those of the previous version; the rest is looked up.

    Raises:
        DependentsError: a view must be made anew, and an object of the user depends on it.
        LockedError: readers held the views for too long.
    """
    shown_views = {(item.view.schema, item.view.name) for item in pointings}
    gone = [view for view in (views_of(previous) if previous else ()) if (view.schema, view.name) not in shown_views]

    needed = [*gone, *(item.at for item in pointings)]
    if engine.transactions:  # elsewhere a view is replaced whatever it shows
        needed += [item.view for item in pointings]
    there = look_up_rest(engine, needed, lookup or LookupResult())

    def point() -> None:
        engine.execute_all([command for item in pointings for command in _point(engine, item, there)])
        for view in gone:
            if view in there.relations:
                _drop(engine, view, "is not published any more")

    engine.run_swap(point)


def look_up_rest(engine: Engine, tables: Sequence[TableRef], lookup: LookupResult) -> LookupResult:
    """The result of a look-up together with that of views and tables that it did not ask for."""
    rest = [ref for ref in dict.fromkeys(tables) if ref not in lookup.asked]
    return lookup.join(engine.look_up(rest)) if rest else lookup


def _point(engine: Engine, item: ViewTarget, lookup: LookupResult) -> list[Statement]:
    """Replace the view if the columns stay or new columns come last.

    Otherwise it is dropped and created again with the same rights.
    """
    columns = lookup.columns(item.at)
    rights: list[Statement] = []
    if item.view in lookup.relations:
        existing = lookup.columns(item.view)
        # An engine without transactions replaces a view whatever its columns: dropping it first would leave readers
        # without a view.
        if engine.transactions and _types(columns[: len(existing)]) != _types(existing):
            if engine.rights:
                rights = engine.rights.list_restore_statements(item.view, [column.name for column in columns])
            _drop(engine, item.view, "gets other columns")
    names = [column.name for column in columns]
    view = statement("publish/view", engine.dialect, view=item.view, physical=item.at, columns=names)
    return [view, *rights]


def _types(columns: Sequence[Column]) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns]


def _drop(engine: Engine, view: TableRef, why: str) -> None:
    dependents = engine.dependents(view)
    if dependents:
        raise DependentsError(
            f"{view} {why}, and these depend on it: {', '.join(dependents)}. sqlanon drops nothing that it did not "
            "make: drop or change them, run again, and make them anew; the version before stays until then"
        )
    engine.execute(statement("publish/drop_view", engine.dialect, view=view))
