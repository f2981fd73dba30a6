"""PostgreSQL >= 14 through ``psycopg`` 3; arrays travel by binary COPY; scratch tables are temporary tables."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import psycopg
from psycopg import sql

from sqlanon.engines.base import (
    ArrowRows,
    Capabilities,
    Files,
    Frames,
    LakeWriting,
    LookupResult,
    Relation,
    SecondFile,
    Statement,
    TableRef,
    Traffic,
    Workers,
)
from sqlanon.engines.lacks import LACKS
from sqlanon.engines.names import split_name
from sqlanon.engines.postgres import reasons as answers
from sqlanon.engines.postgres import rights
from sqlanon.engines.postgres.binary import END, SIGNATURE, copy_out, receive, record_type, split_arrays
from sqlanon.engines.postgres.compaction import TableCompaction
from sqlanon.engines.postgres.connect import open_session
from sqlanon.engines.postgres.grants import GrantingSession
from sqlanon.engines.postgres.lakes import MAX_IDENTIFIER, LakeSession
from sqlanon.engines.postgres.tables import ident
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.lake_names import lake_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Longs


class PostgresEngine(LakeSession, GrantingSession, TableCompaction):
    """A PostgreSQL session."""

    dialect = "postgres"
    few_rows = conceals = None
    transactions = temporary = updates = ordered = True
    lacks = LACKS["PostgreSQL"]
    second_file: SecondFile | None = None
    files: Files | None = None
    frames: Frames | None = None
    workers: Workers | None = None
    arrow: ArrowRows | None = None
    capabilities = Capabilities(
        max_identifier=MAX_IDENTIFIER,
        text_type='text COLLATE "C"',
        contains="%(value)s = ANY(%(array)s)",
        temporary_functions="pg_temp",
        collations=True,
        block_rows=1,
        listed_bits=(
            "BIT_OR(CAST(1 AS BIGINT) << COALESCE(ARRAY_POSITION((SELECT ARRAY_AGG(v.value ORDER BY v.n DESC, v.value) "
            "FROM %(listed)s AS v WHERE v.value IS NOT NULL), %(compared)s), 0))"
        ),
        lists_values=True,
        grouping_sets=True,
        arrays_by_row=True,
        array_places=True,
        groups_by_mark=True,
        distinct_numbers=True,
        sequences=True,
        max_columns=1600,
        max_row_bytes=8160,
        traffic=Traffic(55, 20, 5),
    )

    @property
    def ledger_engine(self) -> Self:
        return self

    @property
    def lake(self) -> LakeWriting:
        return self.lake_engine.lake

    @property
    def transfer(self) -> Self:
        return self

    @property
    def reception(self) -> Self:
        return self

    @classmethod
    def open(cls, url: str, *, read_only: bool = False) -> PostgresEngine:
        """Connect to ``postgresql://user:password@host:port/database``.

        Args:
            url: as libpq reads it.
            read_only: nothing will be published. Temporary tables are still made where a method needs them.

        Raises:
            DatabaseError: the server cannot be reached or refuses; the text names the settings to check.
        """
        connection = open_session(url)
        try:
            return cls(connection, read_only=read_only)
        except BaseException:
            connection.close()
            raise

    def describe(self, text: str) -> tuple[str, ...]:
        """See `Engine.describe`.

        The server parses and binds a prepared statement; it plans it only to run it.
        """
        with self._translate_errors("the query"):
            return answers.describe_error(self._connection, text)

    def reason(self, error: DatabaseError) -> str:
        cause = error.__cause__
        # Without a state of SQL it is the connection that failed, of which the error says enough.
        return answers.reason(cause) if isinstance(cause, psycopg.Error) and cause.sqlstate else str(error)

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """See `Engine.fetch_arrays`: one binary COPY; a row of fixed width is read as one NumPy record."""
        record = record_type(dtypes)
        query = copy_out(statement, dtypes)
        data = bytearray()
        with self._translate_errors(statement.name):
            self._ready(statement.text)
        with (
            self._translate_errors(statement.name),
            self._connection.cursor() as cursor,
            cursor.copy(query, dict(statement.binds) or None),
        ):
            self._connection.wait(receive(self._connection.pgconn, data))
        return split_arrays(statement.name, memoryview(data)[len(SIGNATURE) : -END], record, dtypes)

    def fetch_words(self, statement: Statement) -> list[Longs]:
        with self._translate_errors(statement.name), self._connection.cursor(binary=True) as cursor:
            self._ready(statement.text)
            cursor.execute(statement.text, dict(statement.binds) or None)
            values = list(zip(*cursor.fetchall(), strict=True))
        return [np.frombuffer(b"".join(part or b"" for part in column), ">i8").astype(np.int64) for column in values]

    def stream_arrays(
        self, statement: Statement, dtypes: Sequence[str], rows: int
    ) -> Generator[list[npt.NDArray[np.generic]], None, None]:
        """See `Engine.stream_arrays`: one binary COPY, read as it comes."""
        record = record_type(dtypes)
        data = bytearray()
        start = len(SIGNATURE)
        with self._translate_errors(statement.name):
            self._ready(statement.text)
        with (
            self._translate_errors(statement.name),
            # Ending a COPY early fails its transaction: a savepoint keeps a transaction that may be open.
            self._connection.transaction(),
            self._connection.cursor() as cursor,
            cursor.copy(copy_out(statement, dtypes), dict(statement.binds) or None),
        ):
            more = True
            while more:
                stop = start + rows * record.itemsize
                more = self._connection.wait(receive(self._connection.pgconn, data, stop))
                if not more:
                    stop = len(data) - END
                if stop > start:
                    yield split_arrays(statement.name, data[start:stop], record, dtypes)
                    del data[:stop]
                    start = 0

    def relation(self, name: str) -> Relation:
        """See `Engine.relation`: a name without a schema is looked up on the search path of the connected role."""
        lake = lake_of(name)
        if lake is not None:
            return self._open_lake(lake)
        with self._translate_errors("catalog lookup"):
            return self._names.relation(name)

    def look_up(
        self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None
    ) -> LookupResult:
        plain = [name for name in names if lake_of(name) is None]
        with self._translate_errors("catalog lookup"):
            looked_up = self._names.look_up(tables, plain, schema)
        return self._look_up_lakes(names, tables, looked_up)

    def exists(self, ref: TableRef) -> bool:
        with self._translate_errors("catalog lookup"):
            row = self._connection.execute(
                "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.relname = %s AND "
                "(n.nspname = %s::text OR (%s::text IS NULL AND n.oid = pg_my_temp_schema()))",
                [ref.name, ref.schema, ref.schema],
            ).fetchone()
        return row is not None

    def has_schema(self, ref: TableRef) -> bool:
        return bool(
            self.fetch(
                Statement(
                    "catalog lookup",
                    "SELECT 1 FROM pg_namespace WHERE nspname = %(name)s",
                    {"name": ref.schema},
                )
            )
        )

    def target(self, name: str) -> TableRef:
        lake = lake_of(name)
        if lake is not None:
            return TableRef(None, str(lake))
        parts = split_name(name)
        if len(parts) > 2:
            raise PolicyError(f"{name!r} has too many parts; write table or schema.table")
        for part in parts:
            if len(part.encode()) > self.capabilities.max_identifier:
                raise PolicyError(f"a part of {name!r} is longer than PostgreSQL's 63 bytes")
        return TableRef(parts[0] if len(parts) == 2 else self._names.first(), parts[-1])

    def hold(self, view: TableRef) -> None:
        with self._translate_errors(f"lock {view.name}"):
            self._connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(ident(view)))

    def dependents(self, view: TableRef) -> list[str]:
        with self._translate_errors("catalog lookup"):
            return rights.dependents(self._connection, view)

    def list_dependents(self, views: Sequence[TableRef]) -> list[str]:
        with self._translate_errors("catalog lookup"):
            return rights.list_dependents(self._connection, views)

    def definition(self, view: TableRef) -> str | None:
        with self._translate_errors("catalog lookup"):
            return rights.definition(self._connection, view)
