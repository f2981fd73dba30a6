"""An engine within the DuckDB of a host process, as a guest.

It works in a private in-memory database; the host process keeps a connection open.

dbt-duckdb's Python models need it: the file is open in dbt, so no second connection by path is possible, and dbt's
objects in the file are not ours to write to.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import duckdb

from sqlanon.engines.base import Engine, Session, TableRef
from sqlanon.engines.duckdb.errors import explain
from sqlanon.errors import DatabaseError


@dataclass(frozen=True, slots=True)
class Guest:
    """A private database next to the host's.

    Attributes:
        engine: works in the private database.
        name: the host's name of that database.
        session: the host's own connection.
    """

    engine: Engine
    name: str
    session: Session

    def take(self, relation: object, table: TableRef) -> None:
        """Copy an object that the host's connection can read (a relation, a data frame) into a private table.

        Raises:
            DatabaseError: it cannot be read.
        """
        seen = f"{self.name}_source"
        try:
            self.session.register(seen, relation)
            try:
                self.session.execute(f"CREATE TABLE {self._spell(table)} AS SELECT * FROM {seen}")  # noqa: S608
            finally:
                self.session.unregister(seen)
        except duckdb.Error as error:
            raise DatabaseError(
                f"DuckDB could not read the relation: {explain(error)}; give what dbt.ref or dbt.source returns, "
                "and no pre-hook that leaves a transaction open"
            ) from error

    def give(self, table: TableRef) -> object:
        """A table or view of the private database as a relation of the host's connection, which outlives the former.

        Raises:
            DatabaseError: the host refused.
        """
        copy = f"{self.name}_release"
        try:
            self.session.execute(
                f"CREATE TEMPORARY TABLE {copy} AS SELECT * FROM {self._spell(table)}"  # noqa: S608
            )
            return self.session.query(f"SELECT * FROM {copy}")  # noqa: S608
        except duckdb.Error as error:
            raise DatabaseError(f"DuckDB could not hand the release to dbt: {explain(error)}") from error

    def _spell(self, table: TableRef) -> str:
        parts = (self.name, table.schema or "main", table.name)
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


@contextmanager
def guest(session: Session, make_engine: Callable[[Any, None, str], Engine]) -> Iterator[Guest]:
    """Attach a private database in memory and detach it at the end, with all that is in it.

    Args:
        session: an open DuckDB connection, or an object with the same interface.
        make_engine: `DuckDBEngine`, which imports this file.

    Raises:
        DatabaseError: the host refused.
    """
    name = f"_sqlanon_{secrets.token_hex(4)}"
    try:
        cursor = session.cursor()
        cursor.execute(f"ATTACH ':memory:' AS {name} (READ_WRITE)")
        engine = make_engine(cursor, None, name)
    except (duckdb.Error, AttributeError) as error:
        raise DatabaseError(
            f"no DuckDB session ({type(error).__name__}); give the session that dbt-duckdb hands to the model"
        ) from error
    try:
        yield Guest(engine, name, session)
    finally:
        with suppress(DatabaseError, duckdb.Error):  # a broken session takes the private database with it
            engine.close()
            last = session.cursor()
            last.execute(f"DETACH {name}")
            last.close()
