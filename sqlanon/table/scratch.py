"""Scratch tables of one run: temporary tables of the session, named by one function, dropped in the end.

A killed run leaves none: temporary tables end with their session on both engines.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Self

from sqlanon.engines.base import Bind, Engine, Statement, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from types import TracebackType


class Scratch:
    """An engine and the temporary tables of one run on it; a context manager that drops them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.run = secrets.token_hex(4)
        self._tables: list[TableRef] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for table in reversed(self._tables):
            try:
                self.engine.execute(self.sql("table/drop", target=table))
            except DatabaseError:
                if error is None:
                    raise

    def table(self, step: str) -> TableRef:
        """A new temporary table's name; it need not be made."""
        table = TableRef(None, f"_sqlanon_{self.run}_{step}")
        if table not in self._tables:
            self._tables.append(table)
        return table

    def drop(self, table: TableRef) -> None:
        """Drop a scratch table before the end of the run."""
        self.engine.execute(self.sql("table/drop", target=table))
        self._tables.remove(table)

    def sql(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> Statement:
        """Template ``name`` in the engine's dialect; see `sqlanon.sqltext.statement`."""
        return statement(name, self.engine.dialect, binds, run=self.run, **context)

    def execute(self, name: str, binds: dict[str, Bind] | None = None, **context: object) -> None:
        """Render and run a template."""
        self.engine.execute(self.sql(name, binds, **context))

    def fetch(
        self, name: str, binds: dict[str, Bind] | None = None, **context: object
    ) -> list[tuple[object, ...]]:
        """Render a query and fetch its few rows."""
        return self.engine.fetch(self.sql(name, binds, **context))
