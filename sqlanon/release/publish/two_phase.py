"""Publishes without transactions: views are replaced one after the other, and replacing one of them is the commit.

Before the deciding view is replaced, the other views are made to show whichever version it shows; afterwards they are
made to show the new version plainly. So readers have the whole old or the whole new version after each statement.

If the columns of the views stay, the metadata view decides, and the others follow it (``publish/switch``). If the
columns of a view of rows change, no view can show the rows of both versions, so that view decides: the metadata view
shows the version with the same columns (``publish/follow``), and the others follow the metadata view. Views of a single
version are empty while the other version is shown. If the columns of both views of a pair change, the second view is
empty between the commit and the next statement.

The catalog records the pending step, as for a release in a file (`sqlanon.release.publish.second_file`): ``pending``,
``returning`` or ``withdrawing`` before, ``published`` or ``withdrawn`` after. `reconcile` finishes committed steps and
takes back the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import Column, Engine, LookupResult, Statement, TableRef
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import ViewTarget, list_pointings, second_of, views_of
from sqlanon.release.publish.swap import look_up_rest, swap
from sqlanon.sqltext import identifier, statement

Named = dict[str, str | None]
"""A column of a view of two tables: ``name`` there, ``before`` and ``after`` in the tables, None if missing."""


def commit(
    engine: Engine, shown: Sequence[ViewTarget], previous: Entry | None, lookup: LookupResult | None = None
) -> LookupResult:
    """Publish a version with verified tables, and give its views and tables; `point_views` is left to do.

    Args:
        engine: the database.
        shown: every view of the version, the public one first, then that of the metadata.
        previous: the published version.
        lookup: tables of the version; the rest, and the views, are looked up now.
    """
    public, metadata, *_ = shown
    after = {item.view: item.at for item in shown}
    before: dict[TableRef, TableRef] = {}
    if previous is not None and previous.view == public.view:
        earlier = list_pointings(engine, public.view, previous.physical, second=second_of(previous))
        before = {item.view: item.at for item in earlier}
    tables = LookupResult() if lookup is None else lookup.keep(after.values())
    lookup = look_up_rest(engine, [*before, *before.values(), *after, *after.values()], tables)
    if not before or any(table not in lookup.relations for table in before.values()):
        # `point_views` makes the others: nothing that is whole is shown under their names
        swap(engine, [metadata], None, lookup)
        return lookup
    changed = [
        ViewTarget(view, table)
        for view, table in before.items()
        if _shape(lookup.columns(view)) != _shape(lookup.columns(table))
    ]
    swap(engine, changed, None, lookup)  # by hand
    rows = [view for view in dict.fromkeys([*before, *after]) if view != metadata.view]
    reshaped = [
        view
        for view in rows
        if view in before
        and view in after
        and _shape(lookup.columns(before[view])) != _shape(lookup.columns(after[view]))
    ]
    deciding = reshaped[0] if reshaped else metadata.view
    if reshaped:
        sign = _sign(engine, lookup.columns(before[deciding]), lookup.columns(after[deciding]))
        follow = statement(
            "publish/follow",
            engine.dialect,
            metadata=metadata.view,
            before=before[metadata.view],
            after=metadata.at,
            columns=_match_columns(lookup.columns(before[metadata.view]), lookup.columns(metadata.at)),
            view=deciding,
            shown=after[deciding],
            **sign,
        )
        engine.execute(follow)
    for view in rows:
        if view != deciding:
            old, new = before.get(view), None if view in reshaped else after.get(view)
            of = [lookup.columns(table) for table in (old, new) if table is not None]
            engine.execute(_switch(engine, view, _in_order(of[0], of[-1]), old, new, metadata))
    swap(engine, [ViewTarget(deciding, after[deciding])], None, lookup)
    return lookup


def _switch(
    engine: Engine,
    view: TableRef,
    columns: Sequence[Named],
    before: TableRef | None,
    after: TableRef | None,
    metadata: ViewTarget,
) -> Statement:
    return statement(
        "publish/switch",
        engine.dialect,
        view=view,
        before=before,
        after=after,
        columns=columns,
        metadata=metadata.view,
        next=metadata.at,
    )


def _in_order(before: Sequence[Column], after: Sequence[Column]) -> list[Named]:
    """Columns of two tables of the same shape, paired by position; the view has the names of the first table."""
    return [{"name": old.name, "before": old.name, "after": new.name} for old, new in zip(before, after, strict=True)]


def _match_columns(before: Sequence[Column], after: Sequence[Column]) -> list[Named]:
    """Columns of the metadata tables: an older table may lack some, and spell others differently."""
    exact = {column.name: column.name for column in before}
    spelled = {column.name.lower(): column.name for column in before} | exact
    return [
        {
            "name": column.name,
            "before": spelled.get(column.name, spelled.get(column.name.lower())),
            "after": column.name,
        }
        for column in after
    ]


def _shape(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Columns as a reader's query depends on them: lower-case names and types, in order."""
    return [(column.name.lower(), column.type) for column in columns]


def _sign(engine: Engine, before: Sequence[Column], after: Sequence[Column]) -> dict[str, Any]:
    """Difference of the columns of the next version from the version before, as parameters of ``publish/follow``."""
    old, new = ([column.name.lower() for column in columns] for columns in (before, after))
    sign: dict[str, Any] = {"renamed": [], "types": None}
    gained = [column.name for column in after if column.name.lower() not in old]
    lost = [column.name for column in before if column.name.lower() not in new]
    if gained or lost:
        return {**sign, "column": (gained or lost)[0], "next": int(bool(gained))}
    index = next(i for i, pair in enumerate(zip(_shape(before), _shape(after), strict=True)) if pair[0] != pair[1])
    name = after[index].name
    if old[index] != new[index]:
        # The next version has the name within the first columns, the version before has it after them.
        return {**sign, "column": name, "renamed": [f"_sqlanon_{i}" for i in range(index + 1)], "next": 0}
    word = engine.capabilities.type_of
    types = [word % {"value": f"{table}.{identifier(name)}"} for table in "vs"]
    return {**sign, "column": name, "types": types, "next": 1}


def point_views(engine: Engine, entry: Entry, previous: Entry | None, lookup: LookupResult | None = None) -> None:
    """Make the views of a version show the tables plainly, and drop views that only the previous version has.

    ``lookup``: these views and tables, as far as they were looked up.
    """
    if entry.view is not None:
        public, metadata, *more = list_pointings(engine, entry.view, entry.physical, second=second_of(entry))
        swap(engine, [*more, metadata, public], previous, lookup)


def take_back(engine: Engine, entry: Entry, entries: Sequence[Entry]) -> None:
    """Make views prepared for an uncommitted version show the published version plainly again."""
    for published in entries:
        if published.status == "published" and published.view is not None and published.view == entry.view:
            _drop_new(engine, entry, published)
            point_views(engine, published, None)


def _drop_new(engine: Engine, entry: Entry, published: Entry) -> None:
    """Drop views that `commit` made and the published version does not have.

    A view with such a name and another query stays.
    """
    assert entry.view is not None
    shown = list_pointings(engine, entry.view, entry.physical, second=second_of(entry))
    for item in shown[len(views_of(published)) :]:
        there = engine.definition(item.view)
        if there is None or not engine.exists(item.at):
            continue
        columns = engine.look_up([item.at]).columns(item.at)
        names = _in_order(columns, columns)
        engine.execute(_switch(engine, probe_view(entry), names, None, item.at, shown[1]))
        definition = engine.definition(probe_view(entry))
        drop_views(engine, [probe_view(entry), *([item.view] if definition == there else [])])


def drop_views(engine: Engine, views: Iterable[TableRef]) -> None:
    """Drop views of a version that is being withdrawn, as far as they are there."""
    for view in views:
        if engine.exists(view):
            engine.execute(statement("publish/drop_view", engine.dialect, view=view))


def probe_view(entry: Entry) -> TableRef:
    """A short-lived view, to compare its definition with the readers' view."""
    return replace(entry.table, name=f"{entry.physical}_view")
