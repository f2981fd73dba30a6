"""The swap: views of a release pointed at another version's tables, within the transaction that is open.

Readers see the old version until that transaction commits. Their rights and those of others on the views survive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.engines.base import Column, Engine, Statement, TableRef
from sqlanon.errors import DependentsError
from sqlanon.release.store.catalog import Entry
from sqlanon.release.store.target import views_of
from sqlanon.sqltext import identifier, statement


@dataclass(frozen=True, slots=True)
class Pointing:
    """A view and the physical table that it shows, whole."""

    view: TableRef
    at: TableRef


def spelled(table: TableRef) -> str:
    """A table's name as a person would have to write it."""
    return ".".join(identifier(part) for part in (table.database, table.schema, table.name) if part)


def swap(engine: Engine, pointings: Sequence[Pointing], previous: Entry | None) -> None:
    """Point the views, and drop those of the previous version that the new one does not have.

    Args:
        engine: the database, in a transaction.
        pointings: every view of the new version.
        previous: the version that is published, whose other views nobody would refresh any more.

    Raises:
        DependentsError: a view must be made anew, and something of the user's stands on it.
        LockedError: readers held the views for too long.
    """
    kept = {(item.view.schema, item.view.name) for item in pointings}
    gone = [view for view in (views_of(previous) if previous else ()) if (view.schema, view.name) not in kept]

    def point() -> None:
        for item in pointings:
            _point(engine, item)
        for view in gone:
            if engine.exists(view):
                _drop(engine, view, "is not published any more")

    engine.swapping(point)


def _point(engine: Engine, item: Pointing) -> None:
    """Replace the view where its columns stay or new ones come last; else make it anew with the rights it had."""
    wanted = engine.relation(spelled(item.at)).columns
    rights: list[Statement] = []
    if engine.exists(item.view):
        known = engine.relation(spelled(item.view)).columns
        if _types(wanted[: len(known)]) != _types(known):
            rights = engine.rights(item.view, [column.name for column in wanted])
            _drop(engine, item.view, "gets other columns")
    names = [column.name for column in wanted]
    engine.execute(statement("publish/view", engine.dialect, view=item.view, physical=item.at, columns=names))
    for right in rights:
        engine.execute(right)


def _types(columns: Sequence[Column]) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns]


def _drop(engine: Engine, view: TableRef, why: str) -> None:
    standing = engine.dependents(view)
    if standing:
        raise DependentsError(
            f"{view} {why}, and these depend on it: {', '.join(standing)}. sqlanon drops nothing that it did not make: drop "
            "or change them, run again, and make them anew; the version before stays until then"
        )
    engine.execute(statement("publish/drop_view", engine.dialect, view=view))
