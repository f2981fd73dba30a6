"""The classes of a version, grouped once for a connection: a temporary table with a row for each class.

Most queries ask boxes alone, and read ten or more rows of a class for what one row says. A connection that asks a
version again groups the classes into a temporary table, which later queries read in place of the view. It holds what
the view shows and nothing else, is of one version (by the token in the metadata), and is dropped once the connection
finds another version, or ends.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import DatabaseError
from sqlanon.query.boxes.box import VIEW
from sqlanon.query.boxes.released_view import ReleasedView
from sqlanon.query.release import Released
from sqlanon.query.sql.sqltree import Tree, column, select, sql, table_of
from sqlanon.sqltext import statement

FEWEST_ROWS = 20_000
"""Rows of a release from which a kept table takes less time than it saves."""
MOST_CLASSES = 2_000_000
"""Classes of a kept table: more of them are grouped by each query, and fill no memory of the session."""
MOST_TABLES = 8
"""Kept tables of a version: each has the sums of other exact columns."""
_FEWER = 2
"""Rows of the view for each class, on average, from which a kept table takes less time to read than the view."""


@dataclass(frozen=True)
class ClassTable:
    """A kept table: the columns of the classes under their own names, and numbers of each class.

    Attributes:
        table: the table, of the session.
        rows: the column with the number of rows of a class.
        sums: the columns of the aggregates of a class, by their SQL.
        arrays: for columns with arrays, the columns with numbers of these, which engines join by in less time.
    """

    table: TableRef
    rows: str
    sums: Mapping[str, str]
    arrays: Mapping[str, str]


@dataclass
class KeptClasses:
    """The kept tables of a version in a connection.

    Attributes:
        tables: by the SQL of the aggregates in them; None: asked for once, so that it is made when it is asked for
            again; False: it is not worth its memory.
        waiting: a table was asked for that the next query makes: the rewritten query before it is not kept.
    """

    tables: dict[tuple[frozenset[str], frozenset[str]], ClassTable | bool | None] = field(default_factory=dict)
    waiting: bool = False

    def take_waiting(self) -> bool:
        """Whether tables were asked for since the last call that are made when they are asked for again."""
        waiting, self.waiting = self.waiting, False
        return waiting

    def are_lost(self, engine: Engine) -> bool:
        """Whether a table is gone: the transaction that made it was rolled back."""
        try:
            return not all(
                engine.exists(table.table) for table in self.tables.values() if isinstance(table, ClassTable)
            )
        except DatabaseError:
            return False

    def forget(self, engine: Engine) -> None:
        """Drop the tables."""
        made = [table.table for table in self.tables.values() if isinstance(table, ClassTable)]
        self.tables.clear()
        for table in made:
            with suppress(DatabaseError):  # the connection is lost, and its tables are with it
                engine.execute(statement("table/drop", engine.dialect, target=table))


def kept_classes(released: Released) -> KeptClasses | None:
    """The kept tables of a release; None: the connection keeps none of it."""
    found = released.known.get(KeptClasses)
    return found if isinstance(found, KeptClasses) else None


def forget_kept(engine: Engine, released: Released) -> None:
    """Drop the kept tables of a release, and forget the rewritten queries that read them."""
    kept = kept_classes(released)
    if kept is not None:
        kept.forget(engine)
        released.known.pop("plans", None)


def keep_classes(released: Released) -> None:
    """Keep the classes of a release from now on: the caller asks `Released.known` of the same version again."""
    if released.group is None and released.group_columns:
        released.known[KeptClasses] = KeptClasses()


def class_table(view: ReleasedView, sums: Iterable[Tree], apart: Sequence[Sequence[str]] = ()) -> ClassTable | None:
    """The kept table with some aggregates of each class; None: the view is read.

    Args:
        view: the release.
        sums: the aggregates, over the columns of the view.
        apart: in place of the classes, the columns to group by: lists of those that are grouped by together.

    Cost: nothing when it is asked for first, one grouping of the view the second time; with ``apart`` before it one for
    each list, for how many rows there may be.
    """
    kept = kept_classes(view.released)
    if kept is None or _count_rows(view) < FEWEST_ROWS:
        return None
    trees = {tree.sql(dialect=view.engine.dialect): tree for tree in sums}
    columns = [name for names in apart for name in names] if apart else view.released.group_columns
    key = frozenset(columns), frozenset(trees)
    if key not in kept.tables:
        if len(kept.tables) < MOST_TABLES:
            kept.tables[key] = None
            kept.waiting = True
        return None
    if kept.tables[key] is None:
        kept.tables[key] = (_is_small(view, apart) and _make(view, list(dict.fromkeys(columns)), trees)) or False
    table = kept.tables[key]
    return table if isinstance(table, ClassTable) else None


def _is_small(view: ReleasedView, apart: Sequence[Sequence[str]]) -> bool:
    """Whether a grouping by some columns has few enough rows, by the different values of each list of them."""
    rows = table_of(view.released.view.ref, VIEW)
    many = _FEWER if apart else 0
    for names in apart:
        different = select([column(name, VIEW) for name in names], rows, distinct=True).subquery("d")
        many *= read_integer(view.fact("query/different", select([sql("COUNT(*)")], different)))
    return many <= _count_rows(view)


def _count_rows(view: ReleasedView) -> int:
    rows = table_of(view.released.view.ref, VIEW)
    return read_integer(view.fact("query/rows", select([sql("COUNT(*)")], rows)))


def _make(view: ReleasedView, names: Sequence[str], sums: Mapping[str, Tree]) -> ClassTable | None:
    """Make a table; None: it has hardly fewer rows than the view, or too many."""
    engine = view.engine
    rows = "n"
    while rows in names:
        rows += "_"
    columns = {text: f"{rows}{i}" for i, text in enumerate(sums, 1)}
    released = view.released
    arrays = {name: f"{rows}a{i}" for i, name in enumerate(names) if released.column(name).kind == "other"}
    run = secrets.token_hex(4)
    table = TableRef(None, f"_sqlanon_{run}_classes")
    asked: dict[str, Any] = {
        "columns": list(names),
        "rows": rows,
        "sums": [{"sql": tree.sql(dialect="duckdb"), "name": columns[text]} for text, tree in sums.items()],
        "arrays": [{"array": name, "name": number} for name, number in arrays.items()],
        "most": MOST_CLASSES + 1,
    }
    engine.execute(statement("query/classes", engine.dialect, run=run, kept=table, released=released.view.ref, **asked))
    ((classes, every),) = engine.fetch(statement("query/kept", engine.dialect, run=run, kept=table, rows=rows))
    if read_integer(classes) > MOST_CLASSES or _FEWER * read_integer(classes) > read_integer(every):
        engine.execute(statement("table/drop", engine.dialect, target=table))
        return None
    return ClassTable(table, rows, columns, arrays)
