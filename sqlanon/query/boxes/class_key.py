"""The columns of a release that distinguish the classes."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW
from sqlanon.query.boxes.released_view import ReleasedView
from sqlanon.query.sql.sqltree import column, select, sql, table_of


def class_key(view: ReleasedView) -> tuple[str, ...]:
    """The columns by which rows are grouped into classes: those of single values where they are enough, else all.

    Engines group by arrays several times slower than by numbers and texts. Whether the other columns' values identify a
    class is a fact about a version, asked once.
    """
    released = view.released
    return released.once("class key", lambda: _class_key(view))


def _class_key(view: ReleasedView) -> tuple[str, ...]:
    released = view.released
    every = released.group_columns
    single = tuple(name for name in every if released.column(name).kind != "other")
    if not single or len(single) == len(every):
        return every
    rows = table_of(released.view.ref, VIEW)
    counts = [
        select([sql("COUNT(*)")], select([column(name, VIEW) for name in names], rows, distinct=True).subquery("d"))
        for names in (single, every)
    ]
    same = exp.EQ(this=counts[0].subquery(), expression=counts[1].subquery())
    return single if view.fact("query/classes", select([same])) else every
