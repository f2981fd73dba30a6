"""Scratch tables of one run: temporary tables of the session, named by one function, dropped in the end.

A killed run leaves none: temporary tables end with their session on both engines.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.engines.base import Bind, Engine, Statement, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.progress import Stopwatch
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from types import TracebackType


_CREATED = re.compile(r'CREATE TEMPORARY TABLE "([^"]+)"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Step:
    """What made a scratch table: the stage, the template (empty: it was loaded), its seconds."""

    stage: str
    statement: str
    seconds: float


Keep = Callable[[TableRef, Step], None]
"""Keeps a copy of a scratch table that is about to be dropped."""


class Scratch:
    """An engine and the temporary tables of one run on it; a context manager that drops them."""

    def __init__(self, engine: Engine, watch: Stopwatch | None = None, keep: Keep | None = None) -> None:
        """Begin a run.

        Args:
            engine: the database.
            watch: what measures the stages.
            keep: gets every table before it is dropped. Statements then go one by one, so that each has its own time.
        """
        self.engine = engine
        self._watch = watch
        self._keep = keep
        self._made: dict[TableRef, Step] = {}
        self.run = secrets.token_hex(4)
        self._tables: list[TableRef] = []
        self._waiting: list[Statement] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._watch.stage("cleanup") if self._watch else nullcontext():
            self._drop_all(error)

    def _drop_all(self, error: BaseException | None) -> None:
        for table in list(self._tables):
            with suppress(DatabaseError) if error else nullcontext():
                self._give(table)
        drops = [self.sql("table/drop", target=table) for table in reversed(self._tables)]
        try:
            self.engine.execute_all(drops)
        except DatabaseError:
            if error is None:
                raise
            for drop in drops:
                with suppress(DatabaseError):  # what failed first is what the caller must hear of
                    self.engine.execute(drop)

    def table(self, step: str) -> TableRef:
        """A new temporary table's name; it need not be made."""
        table = TableRef(None, f"_sqlanon_{self.run}_{step}")
        if table not in self._tables:
            self._tables.append(table)
            self._made[table] = Step(self._watch.current if self._watch else "", "", 0.0)
        return table

    def _give(self, table: TableRef) -> None:
        """Pass a table that is about to be dropped to the keeper of scratch tables, if there is one."""
        if self._keep is not None and self.engine.exists(table):
            self._keep(table, self._made[table])

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is executed and dropped inside is sent with the next `fetch` inside, or at the end, in as few calls as the engine can.

        Code that uses the engine directly inside does not find what is made inside.
        """
        if self._waiting is not None or self._keep is not None:
            yield
            return
        self._waiting = []
        try:
            yield
            waiting = self._waiting
        finally:
            self._waiting = None
        if waiting:
            self.engine.execute_all(waiting)

    def drop(self, table: TableRef) -> None:
        """Drop a scratch table before the end of the run."""
        self._give(table)
        self._run(self.sql("table/drop", target=table))
        self._tables.remove(table)

    def _note(self, made: Statement, seconds: float) -> None:
        """What made a table: the first statement that names it."""
        created = _CREATED.search(made.text)
        table = TableRef(None, created[1]) if created else None
        if table in self._made:
            stage = self._watch.current if self._watch else ""
            self._made[table] = Step(stage, made.name, seconds)

    def _run(self, made: Statement) -> None:
        if self._waiting is None:
            start = time.perf_counter()
            self.engine.execute(made)
            if self._keep is not None:
                self._note(made, time.perf_counter() - start)
        else:
            self._waiting.append(made)

    def sql(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> Statement:
        """Template ``name`` in the engine's dialect; see `sqlanon.sqltext.statement`."""
        return statement(name, self.engine.dialect, binds, run=self.run, **context)

    def execute(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> None:
        """Render and run a template."""
        self._run(self.sql(name, binds, **context))

    def execute_all(self, statements: Sequence[Statement]) -> None:
        """Run statements of this run in as few calls as the engine can."""
        with self.together():
            for made in statements:
                self._run(made)

    def fetch(
        self, name: str, binds: dict[str, Bind] | None = None, **context: object
    ) -> list[tuple[object, ...]]:
        """Render a query and fetch its few rows."""
        first, self._waiting = self._waiting or [], None if self._waiting is None else []
        return self.engine.fetch(self.sql(name, binds, **context), first=first)
