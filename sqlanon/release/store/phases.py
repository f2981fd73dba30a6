"""Publishing where statements are no transaction: views are replaced one after the other, and one of them decides.

The metadata view says which version readers have: to replace it is the commit point. Before it the other views of the release are
made to show the version whose metadata it shows (``publish/switch``), after it they show the new version plainly. So readers have
the old version or the new one, whole, after each statement. Where the columns of a view change there is no such view over both: it
is replaced right after the metadata, and a kill between these two statements leaves it behind until the next run.

The catalog says what is under way, as for a release in a file (`sqlanon.release.store.second_file`): ``pending``, ``returning`` or
``withdrawing`` before, ``published`` or ``withdrawn`` after, and `reconcile` finishes what was committed and takes back the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.release.store.catalog import Entry
from sqlanon.release.store.swap import Pointing, pointings, swap
from sqlanon.release.store.target import is_pair
from sqlanon.sqltext import statement


def commit(engine: Engine, shown: Sequence[Pointing], previous: Entry | None) -> None:
    """Let readers have a version whose tables are there and verified; `point` is left to do.

    Args:
        engine: the database.
        shown: every view of the version, the public one first, then that of the metadata.
        previous: the version that is published.
    """
    public, metadata, *more = shown
    if previous is not None and previous.view == public.view:
        before = pointings(engine, public.view, previous.physical, pair=is_pair(previous))
        found = engine.look_up([ref for item in (*shown, *before) for ref in (item.view, item.at)])
        at = {item.view: item.at for item in before}
        for item in (public, *more):
            columns = found.columns(item.at)
            old = at.get(item.view)
            if old is not None and columns == found.columns(old) == found.columns(item.view):
                names = [column.name for column in columns]
                switch = statement(
                    "publish/switch", engine.dialect, view=item.view, before=old, after=item.at, columns=names,
                    metadata=metadata.view, next=metadata.at,
                )  # fmt: skip
                engine.execute(switch)
    swap(engine, [metadata], None)


def point(engine: Engine, entry: Entry, previous: Entry | None) -> None:
    """The views of a version show its tables plainly, and those that only the previous one has are gone."""
    if entry.view is not None:
        public, metadata, *more = pointings(engine, entry.view, entry.physical, pair=is_pair(entry))
        swap(engine, [metadata, *more, public], previous)


def take_back(engine: Engine, entry: Entry, entries: Sequence[Entry]) -> None:
    """Views that were to show a version that was not committed show the published one plainly again."""
    for other in entries:
        if other.status == "published" and other.view is not None and other.view == entry.view:
            point(engine, other, None)


def drop_views(engine: Engine, views: Iterable[TableRef]) -> None:
    """Drop views of a version that is being withdrawn, as far as they are there."""
    for view in views:
        if engine.exists(view):
            engine.execute(statement("publish/drop_view", engine.dialect, view=view))


def checked_view(entry: Entry) -> TableRef:
    """A view that `unpublish` makes for a moment, to compare it with what readers have."""
    return replace(entry.table, name=f"{entry.physical}_view")


__all__ = ["checked_view", "commit", "drop_views", "point", "take_back"]
