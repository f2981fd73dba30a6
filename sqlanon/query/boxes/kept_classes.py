"""The classes of a version, grouped once for a connection: a temporary table with a row for each class.

Most queries ask boxes alone, and read ten or more rows of a class for what one row says. A connection that asks a
version again groups the classes into a temporary table, which later queries read in place of the view. It holds what
the view shows and nothing else, is of one version (by the token in the metadata), and is dropped once the connection
finds another version, or ends. The view must be there all the same for a query that reads the table.

Within a transaction of the caller's no table is made or dropped: its rollback would undo that, and a query over a table
that is gone would end the caller's next transaction.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlanon.engines.base import Engine, Statement, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import DatabaseError
from sqlanon.query.boxes.box import VIEW
from sqlanon.query.boxes.released_view import ReleasedView
from sqlanon.query.release import ReaderRelease
from sqlanon.query.sql.sqltree import ONE, Tree, column, select, sql, table_of
from sqlanon.sqltext import statement

FEWEST_ROWS = 20_000
"""Rows of a release from which a kept table takes less time than it saves."""
MOST_CLASSES = 2_000_000
"""Classes of a kept table: more of them are grouped by each query, and fill no memory of the session."""
MOST_TABLES = 8
"""Kept tables of a connection, of all versions: those of a version have the sums of different exact columns."""
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
class SessionTables:
    """The kept tables of a connection.

    Attributes:
        used: those that queries read.
        former: those that are to be dropped, once the caller has no transaction open.
    """

    used: list[TableRef] = field(default_factory=list)
    former: list[TableRef] = field(default_factory=list)

    def is_full(self, engine: Engine) -> bool:
        """Whether there are as many tables as a connection may have."""
        self.drop_former(engine)
        return len(self.used) + len(self.former) >= MOST_TABLES

    def remove(self, engine: Engine, tables: Iterable[TableRef]) -> None:
        """Drop tables, now or by a later `drop_former`."""
        self.former += tables
        self.used = [table for table in self.used if table not in self.former]
        self.drop_former(engine)

    def drop_former(self, engine: Engine) -> None:
        """Drop the tables that are not read any more."""
        if self.former and not is_in_transaction(engine):
            with suppress(DatabaseError):  # the connection is lost, and its tables are with it
                while self.former:
                    engine.execute(statement("table/drop", engine.dialect, target=self.former[-1]))
                    self.former.pop()


def is_in_transaction(engine: Engine) -> bool:
    """Whether the caller has a transaction open: two statements are of the same one."""
    try:
        first, second = (engine.fetch(statement("query/transaction", engine.dialect)) for _ in range(2))
    except DatabaseError:
        return True  # it has failed
    return first == second


@dataclass
class KeptClasses:
    """The kept tables of a version in a connection.

    Attributes:
        session: the kept tables of the connection.
        made: those of this version.
        tables: by the SQL of the aggregates in them; None: asked for once, so that it is made when it is asked for
            again; False: it is not worth its memory.
        waiting: a table was asked for that a later query makes: the rewritten query before it is not kept.
    """

    session: SessionTables
    made: list[TableRef] = field(default_factory=list)
    tables: dict[tuple[frozenset[str], frozenset[str]], ClassTable | bool | None] = field(default_factory=dict)
    waiting: bool = False

    def take_waiting(self) -> bool:
        """Whether tables were asked for since the last call that are made when they are asked for again."""
        waiting, self.waiting = self.waiting, False
        return waiting

    def are_lost(self, engine: Engine) -> bool:
        """Whether a table is gone: the engine has opened another connection."""
        try:
            return not all(engine.exists(table) for table in self.made)
        except DatabaseError:
            return False

    def forget(self, engine: Engine) -> None:
        """Drop the tables."""
        tables, self.made = self.made, []
        self.tables.clear()
        self.session.remove(engine, tables)


def find_kept_classes(released: ReaderRelease) -> KeptClasses | None:
    """The kept tables of a release; None: the connection keeps none of it."""
    store = released.known.get(KeptClasses)
    return store if isinstance(store, KeptClasses) else None


def check_view(engine: Engine, released: ReaderRelease) -> None:
    """Read no row of the view: a query that reads a kept table in its place needs it all the same.

    Raises:
        DatabaseError: it is gone, or may not be read.
    """
    store = find_kept_classes(released)
    if store is not None and store.made:
        query = select([ONE], table_of(released.view.ref, VIEW)).limit(0)
        engine.fetch(Statement("query/view", query.sql(dialect=engine.dialect)))


def forget_kept(engine: Engine, released: ReaderRelease) -> None:
    """Drop the kept tables of a release, and forget the rewritten queries that read them."""
    store = find_kept_classes(released)
    if store is not None:
        store.forget(engine)
        released.known.pop("plans", None)


def keep_classes(released: ReaderRelease, session: SessionTables) -> None:
    """Keep the classes of a release from now on: the caller asks `ReaderRelease.known` of the same version again."""
    if released.group is None and released.group_columns:
        released.known[KeptClasses] = KeptClasses(session)


def class_table(view: ReleasedView, sums: Iterable[Tree], apart: Sequence[Sequence[str]] = ()) -> ClassTable | None:
    """The kept table with some aggregates of each class; None: the view is read.

    Args:
        view: the release.
        sums: the aggregates, over the columns of the view.
        apart: in place of the classes, the columns to group by: lists of those that are grouped by together.

    Cost: nothing when it is asked for first, one grouping of the view the second time; with ``apart`` before it one for
    each list, for how many rows there may be.
    """
    store = find_kept_classes(view.released)
    if store is None or _count_rows(view) < FEWEST_ROWS:
        return None
    trees = {tree.sql(dialect=view.engine.dialect): tree for tree in sums}
    columns = [name for names in apart for name in names] if apart else view.released.group_columns
    key = frozenset(columns), frozenset(trees)
    if key not in store.tables:
        if len(store.tables) < MOST_TABLES:
            store.tables[key] = None
            store.waiting = True
        return None
    if store.tables[key] is None:
        session = store.session
        if not _is_small(view, apart) or session.is_full(view.engine):
            store.tables[key] = False
        elif is_in_transaction(view.engine):
            store.waiting = True
        else:
            store.tables[key] = False  # also where the deadline ends it
            store.tables[key] = _keep(view, store, list(dict.fromkeys(columns)), trees) or False
    table = store.tables[key]
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


def _keep(view: ReleasedView, stored: KeptClasses, names: Sequence[str], sums: Mapping[str, Tree]) -> ClassTable | None:
    """Make a table; None: it has hardly fewer rows than the view, or too many, or the engine cannot make it."""
    table = TableRef(None, f"_sqlanon_{secrets.token_hex(8)}_classes")
    stored.made.append(table)
    stored.session.used.append(table)
    try:
        classes = _make(view, table, names, sums)
    except DatabaseError:  # such as too little memory: the view is read
        classes = None
    if classes is None:
        stored.made.remove(table)
        stored.session.remove(view.engine, [table])
    return classes


def _make(view: ReleasedView, table: TableRef, names: Sequence[str], sums: Mapping[str, Tree]) -> ClassTable | None:
    engine, released = view.engine, view.released
    rows = "n"
    while any(name.lower().startswith(rows) for name in names):  # engines compare names without case
        rows += "_"
    columns = {text: f"{rows}{i}" for i, text in enumerate(sums, 1)}
    arrays = {name: f"{rows}a{i}" for i, name in enumerate(names) if released.column(name).kind == "other"}
    arguments: dict[str, Any] = {
        "columns": list(names),
        "rows": rows,
        "sums": [{"sql": tree.sql(dialect="duckdb"), "name": columns[text]} for text, tree in sums.items()],
        "arrays": [{"array": name, "name": number} for name, number in arrays.items()],
        "most": MOST_CLASSES + 1,
    }
    engine.execute(statement("query/classes", engine.dialect, kept=table, released=released.view.ref, **arguments))
    ((classes, every),) = engine.fetch(statement("query/kept", engine.dialect, kept=table, rows=rows))
    if read_integer(classes) > MOST_CLASSES or _FEWER * read_integer(classes) > read_integer(every):
        return None
    return ClassTable(table, rows, columns, arrays)
