"""Scratch tables of one run: temporary tables of the session, named by one function, dropped in the end.

A killed run leaves none: temporary tables end with their session on both engines.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Self

from sqlanon.engines.base import Bind, Engine, Statement, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.progress import Stopwatch
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from types import TracebackType


class Scratch:
    """An engine and the temporary tables of one run on it; a context manager that drops them."""

    def __init__(self, engine: Engine, watch: Stopwatch | None = None) -> None:
        self.engine = engine
        self._watch = watch
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
        return table

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is executed and dropped inside is sent with the next `fetch` inside, or at the end, in as few calls as the engine can.

        Whoever uses the engine itself inside does not find what is made inside.
        """
        if self._waiting is not None:
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
        self._run(self.sql("table/drop", target=table))
        self._tables.remove(table)

    def _run(self, made: Statement) -> None:
        if self._waiting is None:
            self.engine.execute(made)
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
