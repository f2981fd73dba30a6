"""Scratch tables of a run: named by one function, dropped in the end.

They are temporary tables of the session, of which a killed run leaves none. Where an engine has no such tables they are
made in the private schema: a run there holds a lock with the run's name, and the next run drops the tables with a free
lock.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from sqlanon.engines.base import Bind, Engine, Statement, TableRef
from sqlanon.engines.rows import read_integer, read_integers
from sqlanon.errors import DatabaseError
from sqlanon.progress import Stopwatch
from sqlanon.sqltext import scratch_table, statement
from sqlanon.table.scratch_schema import lock_of, make_private_schema, private_table, sweep

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    import numpy as np
    import numpy.typing as npt

    Arrays = list[npt.NDArray[np.generic]]

_CREATED = re.compile(r"""CREATE (?:TEMPORARY )?(?:TABLE|VIEW) (?:["`][^"`]+["`]\.)*["`]([^"`]+)["`]""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Step:
    """Origin of a scratch table: the stage, the template (empty: it was loaded), the seconds."""

    stage: str
    statement: str
    seconds: float


FEW_ROWS = 1000
"""Rows of a small run: whatever is joined with whatever, it takes less time than to plan it."""
Keep = Callable[[TableRef, Step], None]
"""Keeps a copy of a scratch table that is about to be dropped."""


class Scratch:
    """An engine and the temporary tables of a run on it; a context manager that drops them."""

    def __init__(
        self, engine: Engine, watch: Stopwatch | None = None, keep: Keep | None = None, *, alone: bool = True
    ) -> None:
        """Begin a run.

        Args:
            engine: the database.
            watch: measures the stages.
            keep: gets every table before it is dropped. Statements then go one by one, so that each is timed.
            alone: no other run, which may be larger, uses the engine meanwhile.
        """
        self._alone = alone
        self.engine = engine
        self._watch = watch
        self._keep = keep
        self._made: dict[TableRef, Step] = {}
        self._over: dict[TableRef, tuple[TableRef, ...]] = {}
        self.run = secrets.token_hex(4)
        self.few = False
        self._tables: list[TableRef] = []
        self._types: list[TableRef] = []
        self._waiting: list[Statement] | None = None
        self._dropping: list[TableRef] = []
        self._held = ExitStack()
        self._inner = self._open = False
        self._repeated: list[TableRef] = []

    def beside(self) -> Scratch:
        """A separate place in the same stage, for tables of the same names; ``keep`` gets those tables too.

        A context manager, as `Scratch`.
        """
        inner = Scratch(self.engine, self._watch, self._keep, alone=self._alone)
        inner._inner, inner.few = True, self.few
        return inner

    def __enter__(self) -> Self:
        self._open = not self.engine.temporary
        return self

    def _begin(self) -> None:
        """Before the first table in the private schema: lock the run's tables, and drop those of runs that ended."""
        self._open = False
        self._held.enter_context(self.engine.lock(lock_of(self.run)))
        if not self._inner:
            # A session may get its own lock twice, and would drop the tables of the run that it is in.
            make_private_schema(self.engine)
            sweep(self.engine, self.run)

    def work_in(self, engine: Engine) -> None:
        """Make all tables of the run in another database, which is closed at the end; no table was made yet."""
        self._open = False
        self._held.callback(engine.close)
        if self._watch is not None:
            self._watch.meter.count(engine.usage)
        if self.engine.few_rows is not None:
            self._held.enter_context(self.engine.few_rows())
        self.engine = engine

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cleaning = self._watch.stage("cleanup") if self._watch and not self._inner else nullcontext()
        # The caller must hear of the first failure. An engine may find at the lock that a drop has failed.
        with cleaning, suppress(*([DatabaseError] if error else [])), self._held:
            self._drop_all(error)

    def clear(self) -> None:
        """Drop all tables now, where those of a killed process stay; tables that are kept go at the end of the run."""
        if not self.engine.temporary and self._keep is None:
            self._drop_all(None)
            self._tables, self._types = [], []

    def expect(self, rows: int) -> None:
        """Say how many rows the source has: the plans of a small run's statements are not worth a search.

        From here on no statement may read tables that can be large, such as those of a view that is the source.
        """
        if not self._alone or self.few or self.engine.few_rows is None:
            return
        self.few = rows <= FEW_ROWS
        if self.few or rows <= self.engine.capabilities.interpreted_rows:
            self._held.enter_context(self.engine.few_rows())

    def _drop_all(self, error: BaseException | None) -> None:
        for table in list(self._tables):
            with suppress(DatabaseError):  # a table that cannot be kept does not undo the publication
                self._give(table)
        drops = [self.sql("table/drop", target=table) for table in reversed(self._tables)]
        drops += [self.sql("table/drop_type", target=type_name) for type_name in self._types]
        try:
            self.engine.execute_all(drops)
        except DatabaseError:
            if error is None:
                raise
            for drop in drops:
                with suppress(DatabaseError):  # the caller must hear of the first failure
                    self.engine.execute(drop)

    def table(self, step: str) -> TableRef:
        """A new scratch table's name; it need not be made."""
        return self._add(self.name_table(step))

    def _add(self, table: TableRef) -> TableRef:
        if table in self._dropping:
            self._dropping.remove(table)  # made again before its drop was sent
        elif table not in self._tables:
            self._tables.append(table)
            self._made[table] = Step(self._watch.current if self._watch else "", "", 0.0)
        return table

    def once(self, step: str, over: Sequence[TableRef] = ()) -> TableRef:
        """A name for rows that are read once: of a temporary view, if the engine has `Capabilities.session_views`.

        Args:
            step: name of the table.
            over: tables that are dropped with it.
        """
        table = self._add(self._name_view(step))
        self._over[table] = tuple(over)
        return table

    def small(self, step: str) -> TableRef:
        """A name for a table of few rows, which engines with `Capabilities.session_views` hold in this process."""
        return self._add(self._name_view(f"small_{step}"))

    def _name_view(self, step: str) -> TableRef:
        table = self.name_table(step)
        return TableRef(None, table.name) if self.engine.capabilities.session_views else table

    @property
    def keeps(self) -> bool:
        """Whether every table is kept before it is dropped."""
        return self._keep is not None

    @property
    def made(self) -> tuple[TableRef, ...]:
        """The scratch tables that there are, in the order in which they were named."""
        return tuple(self._tables)

    @contextmanager
    def repeating(self) -> Iterator[None]:
        """Context manager for statements that may run again: tables of the time before are dropped first."""
        for table in self._repeated:
            if table in self._tables:
                self.drop(table)
        before = set(self._tables)
        try:
            yield
        finally:
            self._repeated = [table for table in self._tables if table not in before]

    def type(self, step: str) -> TableRef:
        """Name of a new scratch type, of engines with types that list values; it need not be made."""
        type_name = self.name_table(step)
        self._types.append(type_name)
        return type_name

    def name_table(self, step: str) -> TableRef:
        """The name that `table` gives to the table of a step, whether or not it exists."""
        if self._open:
            self._begin()
        name = f"_sqlanon_{self.run}_{step}"
        return TableRef(None, name) if self.engine.temporary else private_table(self.engine, name)

    def _give(self, table: TableRef) -> None:
        """Pass a table to the keeper of scratch tables, if there is a keeper, before the table is dropped.

        The rows of a view are in other tables.
        """
        is_view = table in self._over and self.engine.capabilities.session_views
        if self._keep is not None and not is_view and self.engine.exists(table):
            self._keep(table, self._made[table])

    @contextmanager
    def together(self) -> Iterator[None]:
        """Context manager that sends statements to the engine in as few calls as it can.

        Statements that create or drop are sent with the next fetch inside, or at the end.

        Code that uses the engine directly inside does not find tables made inside.
        """
        if self._waiting is not None or self._keep is not None:
            yield
            return
        self._waiting = []
        try:
            yield
            self._send()
            self._forget_dropped()
        finally:
            self._waiting, self._dropping = None, []

    def _send(self) -> None:
        """Send the waiting statements."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self.engine.execute_all(waiting)
            self._forget_dropped()

    def drop(self, table: TableRef) -> None:
        """Drop a scratch table before the end of the run."""
        self._give(table)
        self._run(self.sql("table/drop", target=table))
        self._dropping.append(table)
        for beneath in self._over.get(table, ()):
            self.drop(beneath)
        if self._waiting is None:
            self._forget_dropped()

    def _forget_dropped(self) -> None:
        """Forget the tables with drops that were sent; those of a batch that failed are dropped at the end."""
        for table in self._dropping:
            self._tables.remove(table)
        self._dropping = []

    def _note(self, query: Statement, seconds: float) -> None:
        """Note the origin of a table: the first statement that names it."""
        created = _CREATED.search(query.text)
        for table in self._made:
            if created and table.name == created[1]:
                stage = self._watch.current if self._watch else ""
                self._made[table] = Step(stage, query.name, seconds)

    def _run(self, query: Statement) -> None:
        if self._waiting is None:
            start = time.perf_counter()
            self.engine.execute(query)
            if self._keep is not None:
                self._note(query, time.perf_counter() - start)
        else:
            self._waiting.append(query)

    def sql(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> Statement:
        """Template ``name`` in the engine's dialect; see `sqlanon.sqltext.statement`."""
        return statement(name, self.engine.dialect, binds, run=self.run, **context)

    def execute(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> None:
        """Render and run a template."""
        self._run(self.sql(name, binds, **context))

    def execute_all(self, statements: Sequence[Statement]) -> None:
        """Run statements of this run in as few calls as the engine can."""
        with self.together():
            for statement in statements:
                self._run(statement)

    def fetch(
        self, name: str, binds: dict[str, Bind] | None = None, *, max_rows: int = 100_000, **context: object
    ) -> list[tuple[object, ...]]:
        """Render a query and fetch the few rows; see `Engine.fetch`."""
        first, self._waiting = self._waiting or [], None if self._waiting is None else []
        rows = self.engine.fetch(self.sql(name, binds, **context), max_rows=max_rows, first=first)
        self._forget_dropped()
        return rows

    def count(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> int:
        """The whole number that a template of a single row and column returns."""
        return read_integer(self.fetch(name, binds, max_rows=1, **context)[0][0])

    def numbers(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> tuple[int, ...]:
        """The whole numbers of the single row that a template returns; none where it returns no row."""
        rows = self.fetch(name, binds, max_rows=1, **context)
        return read_integers(rows[0]) if rows else ()

    def fetch_arrays(self, select: Statement, dtypes: Sequence[str]) -> Arrays:
        """`Engine.fetch_arrays`, in the query's order on every engine."""
        self._send()
        if self.engine.ordered:
            return self.engine.fetch_arrays(select, dtypes)
        from sqlanon.sqltext.trees import is_ordered, number_rows

        if not is_ordered(select, self.engine.dialect):
            return self.engine.fetch_arrays(select, dtypes)
        *columns, number = self.engine.fetch_arrays(number_rows(select, self.engine.dialect), [*dtypes, "int64"])
        order = number.argsort()
        return [column[order] for column in columns]

    def stream_arrays(self, select: Statement, dtypes: Sequence[str], rows: int) -> Generator[Arrays, None, None]:
        """`Engine.stream_arrays`, in the query's order on every engine.

        If an engine keeps no order, a scratch table is used.
        """
        self._send()
        if self.engine.ordered:
            yield from self.engine.stream_arrays(select, dtypes, rows)
            return
        from sqlanon.sqltext.trees import NUMBER, is_ordered, number_rows

        if not is_ordered(select, self.engine.dialect):
            yield from self.engine.stream_arrays(select, dtypes, rows)
            return
        spool = self.table("stream")
        query = number_rows(select, self.engine.dialect)
        self._run(replace(query, text=f"CREATE {scratch_table(spool)} AS {query.text}"))
        total = self.count("table/count", source=spool)
        names = [column.name for column in self.engine.look_up([spool]).columns(spool)]
        for first in range(1, total + 1, rows):
            block = self.sql(
                "table/spooled",
                {"first": first, "past": first + rows},
                spool=spool,
                columns=names,
                number=NUMBER,
            )
            *columns, number = self.engine.fetch_arrays(block, [*dtypes, "int64"])
            order = number.argsort()
            yield [column[order] for column in columns]
        self.drop(spool)
