"""Lake tables as sources on Spark: a DuckDB in memory reads them, and Arrow brings their rows.

A table is opened at one version without reading a row. Where a statement names it first, its rows, which are few,
become a temporary view of the session; a later version has a view of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlanon.engines.base import LookupResult, Relation, Statement, TableRef
from sqlanon.engines.portable import PortableColumn
from sqlanon.engines.spark.binds import frame_of
from sqlanon.engines.spark.names import qualify
from sqlanon.engines.spark.session import Session
from sqlanon.engines.spark.small_tables import select_field
from sqlanon.engines.spark.types import read_fields
from sqlanon.engines.staging import LakeStaging
from sqlanon.errors import DatabaseError, UnsupportedError
from sqlanon.lake_names import LakeName, lake_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlanon.engines.duckdb.engine import DuckDBEngine

_IN_SPARK = {"int8", "int16", "int32", "int64", "float32", "float64", "decimal", "boolean", "text", "date"}
_IN_SPARK |= {"timestamp", "zoned", "bytes"}
"""Portable types that Spark has."""


@dataclass(slots=True)
class _LakeRows:
    """A lake table at one version.

    Attributes:
        origin: the table as DuckDB reads it.
        relation: the temporary view.
        columns: the columns.
        loaded: whether the view has the rows.
    """

    origin: TableRef
    relation: Relation
    columns: tuple[PortableColumn, ...]
    loaded: bool = False


class LakeSession(Session):
    """A session that reads lake tables."""

    most_bytes = 256 << 20
    most_lake_rows = 100_000
    """Rows of a lake table that go through this process, at most."""

    @cached_property
    def _staging(self) -> LakeStaging:
        """Of the tables of a lake."""
        return LakeStaging()

    @cached_property
    def _lakes(self) -> dict[str, _LakeRows]:
        """The lake tables that were opened, by the names of their views."""
        return {}

    @property
    def lake_engine(self) -> DuckDBEngine:
        """A DuckDB in memory, which is opened when it is first asked for."""
        return self._staging.engine

    def close(self) -> None:
        """Close the session, without views of lake tables, and the DuckDB in memory."""
        self._drop_views([*self._lakes])
        self._staging.close()
        super().close()

    def _open_lake(self, lake: LakeName) -> Relation:
        """Open a table at the latest version; no row is read.

        Raises:
            UnsupportedError: a column has a type that Spark lacks.
            DatabaseError, PolicyError: as `LakeTables.relation` raises them.
        """
        origin = self.lake_engine.relation(str(lake))
        shown = str(origin.ref)
        digest = hashlib.sha256(f"{shown}\0{origin.snapshot}\0{origin.columns}".encode()).hexdigest()
        ref = TableRef(None, f"_sqlanon_lake_{digest[:24]}", shown=shown)
        if ref.name in self._lakes:
            return self._lakes[ref.name].relation
        columns, problems = [], []
        for column in origin.columns:
            kind = self.lake_engine.read_type(column)
            if kind is None or kind.name not in _IN_SPARK:
                problems.append(f"{column.name} ({column.shown_type})")
            else:
                columns.append(PortableColumn(column.name, kind))
        if problems:
            raise UnsupportedError(
                f"{shown}: Spark has no type for every value of these columns: {', '.join(problems)}; write the table "
                "without them, or work in a DuckDB file (duckdb:///path)"
            )
        self._drop_views([name for name, rows in self._lakes.items() if rows.relation.ref.shown == shown])
        empty = self._read_lake(origin.ref, columns, typed=True)
        fields = self._show_rows(ref, empty).schema.fields
        relation = Relation(ref, read_fields(fields), is_view=True, snapshot=origin.snapshot)
        self._lakes[ref.name] = _LakeRows(origin.ref, relation, tuple(columns))
        return relation

    def _look_up_lakes(self, names: Sequence[str], tables: Sequence[TableRef], looked_up: LookupResult) -> LookupResult:
        """What was looked up, with the lake tables among the names and tables."""
        opened = {name: self._open_lake(lake) for name in names if (lake := lake_of(name)) is not None}
        again = {ref: self._lakes[ref.name].relation for ref in tables if ref.shown and ref.name in self._lakes}
        return replace(looked_up, named={**looked_up.named, **opened}, relations={**looked_up.relations, **again})

    def _bring(self, statement: Statement | str) -> None:
        """Bring the rows of the lake tables that a statement names, unless they are here."""
        text = statement if isinstance(statement, str) else statement.text
        for name, rows in self._lakes.items():
            if name in text and not rows.loaded:
                self._load_lake(rows)

    def _load_lake(self, rows: _LakeRows) -> None:
        """Bring the rows of a lake table.

        Raises:
            UnsupportedError: they are too many, or too large, for the memory of this process.
            DatabaseError: files that have no versions were changed since the table was opened.
        """
        shown = rows.relation.ref.shown
        brought = self._read_lake(rows.origin, rows.columns)
        lake = lake_of(str(shown))
        if brought.num_rows > self.most_lake_rows or brought.nbytes > self.most_bytes:
            example = (
                f" (CREATE TABLE t USING {lake.scheme} LOCATION '...')" if lake and lake.scheme != "iceberg" else ""
            )
            raise UnsupportedError(
                f"{shown} has more than {self.most_lake_rows} rows or {self.most_bytes >> 20} MiB, the most of a lake "
                f"table that goes through this process to Spark: register it in Spark's catalog{example} and name it, "
                "or connect to DuckDB or PostgreSQL, such as duckdb:///release.duckdb"
            )
        if lake is not None and lake.scheme == "parquet":
            now = self.lake_engine.relation(str(lake))
            if now.snapshot != rows.relation.snapshot:
                raise DatabaseError(f"{shown}: files were written or removed since they were opened; run again")
        self._show_rows(rows.relation.ref, brought)
        rows.loaded = True

    def _read_lake(self, origin: TableRef, columns: Sequence[PortableColumn], *, typed: bool = False) -> pa.Table:
        """The rows of a lake table, of too many some; or, to know their types, none."""
        reader = pa.RecordBatchReader.from_stream(self.lake_engine.stream_arrow(origin, columns))
        batches, rows, size = list[pa.RecordBatch](), 0, 0
        while not typed and rows <= self.most_lake_rows and size <= self.most_bytes:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                break
            batches.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
        # pyspark takes no column without a chunk.
        table = pa.Table.from_batches(batches, reader.schema) if batches else reader.schema.empty_table()
        return table.rename_columns([column.name for column in columns])

    def _show_rows(self, ref: TableRef, rows: pa.Table) -> DataFrame:
        """Make rows a temporary view."""
        with self._translate_errors(f"load {ref}"):
            frame_of(self._session, rows).selectExpr(*map(select_field, rows.schema)).createOrReplaceTempView(ref.name)
            return self._session.table(qualify(ref))

    def _drop_views(self, names: Sequence[str]) -> None:
        for name in names:
            self._running.wait_for_creations()
            del self._lakes[name]
            with self._translate_errors("to drop a view"):
                self._session.catalog.dropTempView(name)
