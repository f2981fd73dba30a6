"""Apache Spark >= 4.0 through ``pyspark``, in this process or by Spark Connect.

Scratch tables are tables of the private schema.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, cast

from pyspark.errors import PySparkException

from sqlanon.engines.base import Column, Engine, LakeWriting, LookupResult, Relation, Statement, TableRef, Work
from sqlanon.engines.portable import Portable, PortableColumn
from sqlanon.engines.spark import open_session, transfer
from sqlanon.engines.spark.binds import frame_of
from sqlanon.engines.spark.errors import condition, find_lacking_call, silence_logs
from sqlanon.engines.spark.lakes import LakeSession
from sqlanon.engines.spark.locks import LEASE
from sqlanon.engines.spark.names import parts_of, qualify, quote
from sqlanon.engines.spark.open_session import is_connect
from sqlanon.engines.spark.python_archive import ship
from sqlanon.engines.spark.small_tables import select_field
from sqlanon.engines.spark.types import read_fields
from sqlanon.engines.spark.workers import map_rows
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.lake_names import lake_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


_NAME = re.compile(r"\w+")
_SESSION_CATALOG = "spark_catalog"
"""The catalog that has tables of every format."""
_MISSING = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "NO_SUCH_",
    "CATALOG_NOT_FOUND",
    "REQUIRES_SINGLE_PART_NAMESPACE",
)


class SparkEngine(LakeSession):
    """A session of Spark, with tables and views."""

    _refreshes = True
    """The server has the call that lists files anew."""

    @classmethod
    def open(
        cls,
        url: str,
        *,
        threads: int | None,
        accept_shared: bool = False,
        temporary: bool = False,
        archive: bool | str = False,
        ledger: Callable[[], Engine] | None = None,
    ) -> Self:
        """Open ``sc://host:port`` or ``spark+local:///DIR?cores=2``.

        Args:
            url: the server, or the folder of a session of our own.
            threads: cores of a session of our own.
            accept_shared: others may be able to read the files of the private schema.
            temporary: the catalog may be gone with the session.
            archive: see `sqlanon.engines.spark.python_archive.ship`.
            ledger: see `__init__`.

        Both URLs may have ``accept_shared=true`` and ``temporary=true`` among their parameters.

        Raises:
            DatabaseError: no Java, no server, or no catalog; the text gives the remedy.
        """
        place, confirmed = open_session.split_confirmations(url)
        accept_shared |= "accept_shared" in confirmed
        temporary |= "temporary" in confirmed
        if url.lower().startswith("sc:"):
            return cls.of(
                open_session.open_remote(place),
                accept_shared=accept_shared,
                temporary=temporary,
                archive=archive,
                ledger=ledger,
            )
        session, private, started = open_session.open_local(place, threads=threads)
        try:
            shared = accept_shared or private
            return cls.of(
                session, accept_shared=shared, temporary=temporary, stops=started, archive=archive, ledger=ledger
            )
        except BaseException:
            if started:
                session.stop()
            raise

    @classmethod
    def of(
        cls,
        session: SparkSession,
        *,
        accept_shared: bool = False,
        temporary: bool = False,
        stops: bool = False,
        lease: float = LEASE,
        archive: bool | str = False,
        ledger: Callable[[], Engine] | None = None,
    ) -> Self:
        """An engine on a session of the caller's; see `open` for the arguments."""
        silence_logs()
        open_session.check_version(session.version)
        refuse = open_session.explain_unwritable(session, accept_shared=accept_shared, temporary=temporary)
        own_session = open_session.own_settings(session)
        if archive:
            ship(own_session, archive)
        return cls(own_session, refuse=refuse, stops=stops, lease=lease, ledger=ledger)

    @property
    def most_rows(self) -> int:
        """See `ArrowRows`: tables of more rows are worked on in executors."""
        return self.above

    @property
    def workers(self) -> Self:
        """See `Engine.workers`: the executors."""
        return self

    @property
    def tasks(self) -> int:
        """See `Workers.tasks`: two for each core; those of a shuffle over Spark Connect, which names no cores."""
        if is_connect(self._session):
            return int(self._session.conf.get("spark.sql.shuffle.partitions") or 1)
        return 2 * int(self._session.sparkContext.defaultParallelism)

    def map_arrays(
        self,
        read: Statement,
        work: Work,
        table: TableRef,
        columns: Sequence[tuple[str, str]],
        *,
        by: str | None = None,
        groups: int = 1,
    ) -> None:
        self._running.wait_for_table(table.name)
        with self._translate_errors(read.name):
            rows = map_rows(self._frame(read), work, columns, by, groups, self.tasks).write
            # Columns of integers are written as ORC in three fifths of the time of Parquet.
            (rows.format("orc") if self._catalog == _SESSION_CATALOG else rows).saveAsTable(qualify(table))

    @property
    def arrow(self) -> Self:
        """See `Engine.arrow`: Spark plans and compiles each statement, whatever the number of rows."""
        return self

    @property
    def transfer(self) -> Self:
        """See `Engine.transfer`."""
        return self

    @property
    def lake(self) -> LakeWriting:
        """See `Engine.lake`."""
        return self.lake_engine.lake

    def read_type(self, column: Column) -> Portable | None:
        """See `Transfer.read_type`."""
        return transfer.read_type(column)

    def find_shaped_arrays(self, _table: TableRef, _columns: Sequence[PortableColumn]) -> Sequence[str]:
        """See `Transfer.find_shaped_arrays`: its arrays are lists."""
        return ()

    def stream_rows(self, rows: Statement, block: int) -> Iterator[Sequence[str]]:
        """See `Transfer.stream_rows`: through the driver, a partition at a time."""
        with self._translate_errors(rows.name):
            yield from transfer.stream_rows(self._frame(rows), block)

    def stream_arrow(self, _table: TableRef, _columns: Sequence[PortableColumn]) -> None:
        """See `Transfer.stream_arrow`: rows of many partitions come as lines."""

    def read_arrow(self, query: Statement) -> pa.Table:
        with self._limit_size(query), self._translate_errors(query.name):
            return self._frame(query).toArrow()

    def write_arrow(self, table: TableRef, rows: object) -> None:
        frame = cast("pa.Table", rows)
        view = f"_sqlanon_rows_{secrets.token_hex(4)}"
        shown = ", ".join(map(select_field, frame.schema))
        text = f"CREATE TABLE {qualify(table)} AS SELECT {shown} FROM {view}"  # noqa: S608 - quoted names
        with self._translate_errors(f"load {table.name}"):
            frame_of(self._session, frame).createOrReplaceTempView(view)
            try:
                self._frame(Statement("publish/load", text))
            finally:
                self._session.catalog.dropTempView(view)

    def relation(self, name: str) -> Relation:
        lake = lake_of(name)
        if lake is not None:
            return self._open_lake(lake)
        relation = self._look(self.target(name))
        if relation is None:
            raise DatabaseError(
                f"no table or view {name} in this catalog; names are table, schema.table or catalog.schema.table"
            )
        return relation

    def look_up(
        self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None
    ) -> LookupResult:
        # A table is looked at by calls of the catalog alone; a statement lists those of a schema.
        if schema is not None:
            self._running.wait()
        with self._translate_errors("catalog lookup"):
            listed = self._list_names(schema.database, schema.schema) if schema is not None else None
        relations = {}
        for ref in dict.fromkeys(tables):  # of views among them the columns are wanted, and no rows
            in_schema = schema is not None and (ref.database, ref.schema) == (schema.database, schema.schema)
            if in_schema and ref.name.lower() not in (listed or ()):
                continue
            relation = self._look(ref, view_rows=False)
            if relation is not None:
                relations[ref] = relation
        plain = [name for name in names if lake_of(name) is None]
        by_name = {name: relation for name in plain if (relation := self._look(self.target(name))) is not None}
        there = {(ref.database, ref.schema) for ref in relations}
        schemas = {str(ref.schema) for ref in relations}
        for ref in tables:
            place = (ref.database, ref.schema)
            if ref.schema and place not in there and self.has_schema(ref):
                there.add(place)
                schemas.add(ref.schema)
        looked_up = LookupResult(relations, by_name, frozenset(listed or ()), frozenset(schemas), frozenset(tables))
        return self._look_up_lakes(names, tables, looked_up)

    def _list_names(self, catalog: str | None, schema: str | None) -> frozenset[str] | None:
        """Tables and views of a schema; None where the schema is missing."""
        return self._list(f"SHOW TABLES IN {self._place(catalog, schema)}")

    def _list_views(self, catalog: str | None, schema: str | None) -> frozenset[str] | None:
        """Views of a schema; None where the schema is missing."""
        return self._list(f"SHOW VIEWS IN {self._place(catalog, schema)}")

    def _place(self, catalog: str | None, schema: str | None) -> str:
        return ".".join(quote(part) for part in (catalog or self._catalog, schema) if part)

    def _list(self, text: str) -> frozenset[str] | None:
        try:
            rows = self._metered.sql(text).collect()
        except PySparkException as error:
            if condition(error).startswith(_MISSING):
                return None
            raise
        return frozenset(str(row[1]).lower() for row in rows if not row[2])

    def _look(self, ref: TableRef, *, view_rows: bool = True) -> Relation | None:
        """Look at a table or view; ``view_rows``: of a view the rows may be read afterwards."""
        self._running.wait_for_table(ref.name)
        with self._translate_errors("catalog lookup"):
            try:
                is_view = ref.schema is None or self._session.catalog.getTable(qualify(ref)).tableType == "VIEW"
                # Rows that another session has written are not in this session's list of files.
                if view_rows or not is_view:
                    self._refresh(ref)
                fields = self._session.table(qualify(ref)).schema.fields
            except PySparkException as error:
                if condition(error).startswith(_MISSING):
                    return None
                raise
        return Relation(ref, read_fields(fields), is_view)

    def _refresh(self, ref: TableRef) -> None:
        """Have the session list the files of a table anew, on servers that keep lists of files."""
        if self._refreshes:
            try:
                self._session.catalog.refreshTable(qualify(ref))
            except PySparkException as error:
                if find_lacking_call(error) is None:
                    raise
                self._refreshes = False

    def exists(self, ref: TableRef) -> bool:
        self._running.wait_for_table(ref.name)
        with self._translate_errors("catalog lookup"):
            there = bool(self._session.catalog.tableExists(qualify(ref)))
            if there:
                self._refresh(ref)
            return there

    def has_schema(self, ref: TableRef) -> bool:
        with self._translate_errors("catalog lookup"):
            return bool(self._session.catalog.databaseExists(self._place(ref.database, ref.schema)))

    def target(self, name: str) -> TableRef:
        lake = lake_of(name)
        if lake is not None:
            return TableRef(None, str(lake))
        parts = parts_of(name)
        schema = parts[-2] if len(parts) > 1 else self._current
        catalog = parts[0] if len(parts) == 3 else self._catalog
        for part in parts:
            if len(part.encode()) > self.capabilities.max_identifier:
                raise PolicyError(f"a part of {name!r} is longer than {self.capabilities.max_identifier} bytes")
        return TableRef(schema, parts[-1], catalog)

    def hold(self, view: TableRef) -> None:
        """Without transactions nothing is held."""

    def dependents(self, view: TableRef) -> list[str]:
        """Spark binds a view when it is read: altering a view keeps the objects that depend on it."""
        return []

    def list_dependents(self, views: Sequence[TableRef]) -> list[str]:
        """See `Engine.list_dependents`: views of the same and of the current schema with the name in the text."""
        ours = {(view.schema, view.name.lower()) for view in views}
        names = {view.name.lower() for view in views}
        places = {(view.database, view.schema) for view in views} | {(self._catalog, self._current)}
        relying_views = []
        with self._translate_errors("catalog lookup"):
            for catalog, schema in places:
                for name in self._list_views(catalog, schema) or ():
                    if (schema, name) not in ours:
                        text = self._text_of(TableRef(schema, name, catalog)) or ""
                        if names & {word.lower() for word in _NAME.findall(text)}:
                            relying_views.append(f"view {schema}.{name}")
        return sorted(relying_views)

    def definition(self, view: TableRef) -> str | None:
        with self._translate_errors("catalog lookup"):
            return self._text_of(view)

    def _text_of(self, view: TableRef) -> str | None:
        try:
            rows = self._metered.sql(f"DESCRIBE TABLE EXTENDED {qualify(view)}").collect()
        except PySparkException as error:
            if condition(error).startswith(_MISSING):
                return None
            raise
        return next((str(row[1]) for row in rows if row[0] == "View Text"), None)
