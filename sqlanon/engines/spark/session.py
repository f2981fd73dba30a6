"""A session of Spark: it opens, runs statements, moves rows and arrays, locks and closes."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from sqlanon.engines.base import (
    PRIVATE_SCHEMA,
    Capabilities,
    Compaction,
    Engine,
    Files,
    Frames,
    Reception,
    Rights,
    Row,
    SecondFile,
    Statement,
    TableRef,
    Traffic,
)
from sqlanon.engines.lacks import LACKS
from sqlanon.engines.spark import open_session, small_statements
from sqlanon.engines.spark.batches import BackgroundStatements
from sqlanon.engines.spark.binds import Binds, frame_of, list_rows
from sqlanon.engines.spark.errors import GONE, condition, is_gone, of_spark, reason, translate_error
from sqlanon.engines.spark.locks import LEASE, Locks
from sqlanon.engines.spark.meter import JobMeter
from sqlanon.engines.spark.names import qualify, quote
from sqlanon.engines.spark.small_tables import SmallTables
from sqlanon.engines.spark.types import arrow_type, name_of
from sqlanon.errors import DatabaseError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from sqlanon.lack import Lack
    from sqlanon.usage import Usage

log = logging.getLogger("sqlanon.sql")

_FEW_ROWS = 1000
"""Rows that are loaded by one task, into one file."""
_VIEW = re.compile(
    r"(\s*(?:--[^\n]*\n|/\*.*?\*/|\s)*)CREATE OR REPLACE VIEW ((?:`(?:[^`]|``)*`|[\w.])+)\s+AS\b", re.DOTALL
)


class Session:
    """A session of Spark, with settings and statements."""

    dialect = "spark"
    rights: Rights | None = None
    second_file: SecondFile | None = None
    compaction: Compaction | None = None
    files: Files | None = None
    frames: Frames | None = None
    reception: Reception | None = None
    fetch_words = load_list = None
    transactions = temporary = updates = False
    ordered = True
    above = block = 100_000
    capabilities = Capabilities(
        max_identifier=128,
        text_type="VARCHAR",
        contains="ARRAY_CONTAINS(%(array)s, %(value)s)",
        temporary_functions="",
        collations=False,
        block_rows=4096,
        type_of="TYPEOF(%(value)s)",
        interpreted_rows=20_000,
        numbers_parts=True,
        session_views=True,
        timestamp="TIMESTAMP_NTZ",
        distinct_numbers=True,
        first_element=0,
        groups_by_mark=True,
        counts_in_domains=True,
        readers="Spark grants nothing to them; let them read the views, and the files of their tables, by the rights "
        "of the catalog and of the warehouse",
        traffic=Traffic(90, 12, 4.7, 3),
    )

    def __init__(
        self,
        session: SparkSession,
        *,
        refuse: str | None = None,
        stops: bool = False,
        lease: float = LEASE,
        ledger: Callable[[], Engine] | None = None,
    ) -> None:
        """Take over a session.

        Args:
            session: of this engine alone; the settings are changed.
            refuse: why nothing may be written; None: it may.
            stops: Spark is stopped when the engine is closed.
            lease: seconds that a lock is held without news.
            ledger: opens the database with the ledgers, when it is first asked for; None: there is none.
        """
        self._open_ledger = ledger
        self._ledger: Engine | None = None
        self._session, self._refuse, self._stops, self._gone = session, refuse, stops, False
        self._few = False
        self._metered = JobMeter(session, remote=open_session.is_connect(session))
        with self._translate_errors("to open the catalog"):
            self._catalog = session.catalog.currentCatalog()
            self._current = session.catalog.currentDatabase()
        self._locks = Locks(self._rows, self._catalog, lease)
        self._binds = Binds(session)
        self.conceals = self._binds.conceals
        self._small = SmallTables(session, self._metered.sql, self._catalog)
        self._running = BackgroundStatements()

    @property
    def lacks(self) -> Mapping[str, Lack]:
        return LACKS["Spark" if self._open_ledger is None else "Spark with state"]

    @property
    def ledger_engine(self) -> Engine | None:
        """See `Engine.ledger_engine`: a DuckDB file has one writing process, so that it is opened when it is used."""
        if self._ledger is None and self._open_ledger is not None:
            self._ledger = self._open_ledger()
        return self._ledger

    @contextmanager
    def _translate_errors(self, name: str) -> Iterator[None]:
        if self._gone:  # Spark Connect would wait for each statement anew
            raise DatabaseError(f"Spark refused {name}: {GONE}")
        start = time.perf_counter()
        try:
            yield
        except Exception as error:
            if not of_spark(error):
                raise
            self._gone |= is_gone(error)  # another statement of a batch may have found so before
            if self._gone and open_session.is_connect(self._session):
                open_session.limit_retries(self._session, 0)  # for requests of pyspark itself when the process ends
            raise translate_error(name, error) from error
        log.debug("%s %.3f s", name, time.perf_counter() - start)

    def _bring(self, statement: Statement | str) -> None:
        """Make the tables that a statement names and that are made of rows elsewhere; here there are none."""

    def _frame(self, statement: Statement | str) -> DataFrame:
        """Run a command, or plan a query."""
        self._bring(statement)
        self._running.wait_for(statement if isinstance(statement, str) else statement.text)
        if isinstance(statement, str):
            return self._metered.sql(statement)
        text = self._binds.text(statement)
        view = _VIEW.match(text)
        if view:
            self._locks.check()
            verb = "ALTER VIEW" if self._session.catalog.tableExists(view[2]) else "CREATE VIEW"
            text = f"{view[1]}{verb} {view[2]} AS{text[view.end() :]}"
        return self._metered.sql(text)

    def _rows(self, text: str) -> list[Row]:
        with self._translate_errors("catalog"):
            return [tuple(row) for row in self._metered.sql(text).collect()]

    def execute(self, statement: Statement | str) -> None:
        """See `Engine.execute`: one call of the catalog alters an existing view; OR REPLACE would drop it first."""
        with self._limit_size(statement), self._translate_errors(_name(statement)):
            self._bring(statement)
            self._running.wait_for(statement if isinstance(statement, str) else statement.text)
            if not (isinstance(statement, Statement) and self._small.run(statement, self._binds)):
                self._frame(statement)

    def execute_all(self, statements: Sequence[Statement]) -> None:
        """See `Engine.execute_all`: scratch tables may be made and dropped beside statements that do not need them."""
        for statement in statements:
            self._bring(statement)  # here, as no thread shares the database that brings rows
        self._running.run(statements, self.execute)

    def fetch(
        self, statement: Statement | str, *, max_rows: int = 100_000, first: Sequence[Statement] = ()
    ) -> list[Row]:
        self.execute_all(first)
        with self._limit_size(statement), self._translate_errors(_name(statement)):
            rows = list_rows(self._frame(statement))
        if len(rows) > max_rows:
            raise DatabaseError(f"{_name(statement)} returned more than {max_rows} rows")
        return rows

    def describe(self, text: str) -> tuple[str, ...]:
        """See `Engine.describe`: the schema of a query is known before it runs."""
        with self._translate_errors("the query"):
            fields = self._metered.sql(self._binds.conceal_literals(text)).schema.fields
        return tuple(name_of(field.dataType.simpleString()) for field in fields)

    def reason(self, error: DatabaseError) -> str:
        return reason(error)

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """See `Engine.fetch_arrays`: by Arrow."""
        with self._translate_errors(statement.name):
            table = self._frame(statement).toArrow()
        if any(column.null_count for column in table.columns):
            raise DatabaseError(f"{statement.name} returned a NULL where none can be")
        return [
            column.to_numpy().astype(dtype, copy=False) for column, dtype in zip(table.columns, dtypes, strict=True)
        ]

    def stream_arrays(
        self, statement: Statement, dtypes: Sequence[str], rows: int
    ) -> Generator[list[npt.NDArray[np.generic]], None, None]:
        """See `Engine.stream_arrays`: all of it is fetched, and given in blocks."""
        arrays = self.fetch_arrays(statement, dtypes)
        for start in range(0, len(arrays[0]), rows):
            yield [array[start : start + rows] for array in arrays]

    def load_arrays(self, table: TableRef, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        import numpy as np
        import pyarrow as pa

        arrow = pa.table({name: pa.array(np.ascontiguousarray(array)) for name, array in columns.items()})
        self._load(table, arrow)

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        import pyarrow as pa

        cells = list(zip(*rows, strict=True)) or [()] * len(columns)
        arrow = pa.table(
            {name: pa.array(values, arrow_type(kind)) for (name, kind), values in zip(columns, cells, strict=True)}
        )
        self._load(table, arrow)

    def _load(self, table: TableRef, rows: pa.Table) -> None:
        view = f"_sqlanon_rows_{secrets.token_hex(4)}"
        name = qualify(table)
        listed = ", ".join(quote(column) for column in rows.column_names)
        few = rows.num_rows <= _FEW_ROWS
        self._running.wait_for_table(table.name)
        with self.few_rows() if few and not self._few else nullcontext(), self._translate_errors(f"load {table.name}"):
            frame_of(self._session, rows).createOrReplaceTempView(view)
            try:
                hint = "/*+ COALESCE(1) */ " if few else ""
                query = f"SELECT {hint}{listed} FROM {view}"  # noqa: S608 - quoted names
                try:
                    self._metered.sql(f"CREATE TABLE {name} AS {query}")
                except PySparkException as error:
                    if condition(error) != "TABLE_OR_VIEW_ALREADY_EXISTS":
                        raise
                    self._metered.sql(f"INSERT INTO {name} ({listed}) {query}")
            finally:
                self._session.catalog.dropTempView(view)

    @contextmanager
    def few_rows(self, settings: Mapping[str, str] = small_statements.FEW) -> Iterator[None]:
        """See `Engine.few_rows`: to compile a small query takes longer than to interpret it, and one task is enough."""
        self._running.wait_for_creations()  # Spark reads the settings while statements run
        with self._translate_errors("settings of the session"):
            before, already = small_statements.use(self._session, settings), self._few
        self._few = True
        try:
            yield
        finally:
            self._few = already
            with suppress(DatabaseError), self._translate_errors("settings of the session"):
                small_statements.restore(self._session, before)

    def _limit_size(self, statement: Statement | str) -> AbstractContextManager[None]:
        """The catalog has few rows, however many the source has, and other runs may append to it now."""
        settings = small_statements.choose_settings(_name(statement), already=self._few)
        return self.few_rows(settings) if settings else nullcontext()

    def snapshot(self, *, whole: bool = False) -> AbstractContextManager[None]:
        """See `Engine.snapshot`: Spark has none."""
        return nullcontext()

    def publishing(self) -> AbstractContextManager[None]:
        """See `Engine.publishing`: nothing is undone; without the lock a session changes nothing any more."""
        self._locks.check()
        return nullcontext()

    @contextmanager
    def lock(self, name: str, *, wait: bool = False) -> Iterator[None]:
        """See `Engine.lock`; every writer holds one.

        Raises:
            DatabaseError: this catalog must not be written to without a confirmation.
        """
        if self._refuse:
            raise DatabaseError(self._refuse)
        with self._translate_errors("to make the private schema"):
            schema = f"{quote(self._catalog)}.{quote(PRIVATE_SCHEMA)}"
            if not self._session.catalog.databaseExists(schema):
                self._metered.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        with self._locks.lock(name, wait=wait):
            try:
                yield
            except BaseException:
                with suppress(DatabaseError):  # the caller must hear of the first failure
                    self._running.wait()
                raise
            self._running.wait()

    def run_swap(self, action: Callable[[], None]) -> None:
        """See `Engine.run_swap`: readers are never in the way."""
        action()

    def usage(self) -> Usage:
        """See `Engine.usage`."""
        return self._metered.usage(count=not self._running.busy)

    def cancel(self) -> None:
        """See `Engine.cancel`: the session is of this engine alone."""
        with suppress(Exception):
            self._session.interruptAll()

    def close(self) -> None:
        """Close the session, if it is ours."""
        self._running.close()
        self._locks.close()
        if self._ledger is not None:
            self._ledger.close()
        with suppress(DatabaseError), self._translate_errors("to close the session"):  # the last statement's values
            self._binds.drop()
        if self._stops:
            with suppress(Exception):
                self._session.stop()


def _name(statement: Statement | str) -> str:
    return statement.name if isinstance(statement, Statement) else "the statement"
