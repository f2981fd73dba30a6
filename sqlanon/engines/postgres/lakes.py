"""Lake tables as sources of releases in PostgreSQL: a DuckDB in memory reads them, COPY brings the rows.

A table is opened at one version, and is known here by its columns. The first statement that names it makes a temporary
table of its rows: until then no row is read. In a transaction, as of a snapshot, the table ends with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from sqlanon.engines.base import Column, LookupResult, Relation, TableRef
from sqlanon.engines.portable import PortableColumn
from sqlanon.engines.postgres.names import kind_of
from sqlanon.engines.postgres.tables import ident
from sqlanon.engines.postgres.transfer import TransferSession
from sqlanon.engines.staging import LakeStaging
from sqlanon.errors import DatabaseError, UnsupportedError
from sqlanon.lake_names import LakeName, lake_of

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine

MAX_IDENTIFIER = 63
"""Bytes of a name."""
_WHOLE = re.compile(r"numeric\((\d+)\)")
_BLOCK = 10_000
"""Rows that are in memory on their way."""


@dataclass(frozen=True, slots=True)
class _LakeCopy:
    """A lake table at one version.

    Attributes:
        origin: the view of the DuckDB that reads it.
        relation: the temporary table here.
        columns: the columns in portable types.
    """

    origin: TableRef
    relation: Relation
    columns: tuple[PortableColumn, ...]


class LakeSession(TransferSession):
    """A session that reads lake tables."""

    def __init__(self, connection: psycopg.Connection, *, read_only: bool = False) -> None:
        self._staging = LakeStaging()
        self._copies: dict[str, _LakeCopy] = {}
        self._latest: dict[str | None, str] = {}
        """The copy of each lake table that was opened last, which DuckDB reads."""
        super().__init__(connection, read_only=read_only)

    @property
    def lake_engine(self) -> DuckDBEngine:
        """A DuckDB in memory, which is opened when it is first asked for."""
        return self._staging.engine

    def close(self) -> None:
        """Close the connection, and the DuckDB in memory."""
        self._staging.close()
        super().close()

    @contextmanager
    def snapshot(self, *, whole: bool = False) -> Iterator[None]:
        """See `Engine.snapshot`: of lake tables as well, where some were looked up."""
        if self._staging.opened is None:
            with super().snapshot(whole=whole):
                yield
            return
        with self._staging.opened.holding_lakes(), super().snapshot(whole=whole):
            yield

    def _look_up_lakes(self, names: Sequence[str], tables: Sequence[TableRef], looked_up: LookupResult) -> LookupResult:
        """What was looked up, with the lake tables among the names and tables."""
        opened = {name: self._open_lake(lake) for name in names if (lake := lake_of(name)) is not None}
        again = {ref: self._copies[ref.name].relation for ref in tables if ref.shown and ref.name in self._copies}
        if not opened and not again:
            return looked_up
        return replace(looked_up, named={**looked_up.named, **opened}, relations={**looked_up.relations, **again})

    def _open_lake(self, lake: LakeName) -> Relation:
        """Open a table at the latest version, or at that of the open snapshot; no row is read.

        Raises:
            UnsupportedError: a column has values or a name that PostgreSQL cannot hold.
            DatabaseError, PolicyError: as `LakeTables.relation` raises them.
        """
        origin = self.lake_engine.relation(str(lake))
        shown = str(origin.ref)
        digest = hashlib.sha256(f"{shown}\0{origin.snapshot}\0{origin.columns}".encode()).hexdigest()
        ref = TableRef(None, f"_sqlanon_lake_{digest[:24]}", shown=shown)
        self._drop_earlier(ref)
        copy = self._copies.get(ref.name)
        if copy is not None:
            return copy.relation
        portable_columns, columns, problems = [], [], []
        for column in origin.columns:
            kind = self.lake_engine.read_type(column)
            type_text = None if kind is None else self.write_type(kind)
            if kind is None or type_text is None or len(column.name.encode()) > MAX_IDENTIFIER:
                problems.append(f"{column.name} ({column.shown_type})")
                continue
            portable_columns.append(PortableColumn(column.name, kind))
            columns.append(_describe(column.name, type_text))
        if problems:
            raise UnsupportedError(
                f"{shown}: PostgreSQL has no type for every value of these columns, or no such name: "
                f"{', '.join(problems)}; write the table without them, or work in a DuckDB file (duckdb:///path)"
            )
        relation = Relation(ref, tuple(columns), is_view=True, snapshot=origin.snapshot)
        self._copies[ref.name] = _LakeCopy(origin.ref, relation, tuple(portable_columns))
        return relation

    def _drop_earlier(self, ref: TableRef) -> None:
        """Drop the rows of the version that was looked up before this one, outside of transactions."""
        before = self._latest.get(ref.shown)
        self._latest[ref.shown] = ref.name
        if before not in (None, ref.name) and self._connection.info.transaction_status == TransactionStatus.IDLE:
            self._control("to drop a copy", f'DROP TABLE IF EXISTS pg_temp."{before}"')

    def _bring(self, *texts: str) -> None:
        """Bring the rows of the lake tables that statements name, unless they are here."""
        for name, copy in self._copies.items():
            if any(f'"{name}"' in text for text in texts) and not self._is_here(name):
                self._load_lake(copy)

    def _is_here(self, name: str) -> bool:
        with self._translate_errors("catalog lookup"):
            row = self._connection.execute("SELECT pg_catalog.to_regclass(%s)", [f'pg_temp."{name}"']).fetchone()
        return row is not None and row[0] is not None

    def _load_lake(self, copy: _LakeCopy) -> None:
        table = copy.relation.ref
        if self._latest.get(table.shown) != table.name:
            raise DatabaseError(f"{table}: another version was looked up meanwhile; run again")
        inside = self._connection.info.transaction_status == TransactionStatus.INTRANS
        typed = [
            (portable, column.type + _collation(column))
            for portable, column in zip(copy.columns, copy.relation.columns, strict=True)
        ]
        self._copy_lines(
            table,
            typed,
            self.lake_engine.read_texts(copy.origin, copy.columns, _BLOCK),
            form="CREATE TEMP TABLE {table} ({columns})" + (" ON COMMIT DROP" if inside else ""),
            where=str(table),
            advice="write the table without them, or work in a DuckDB file (duckdb:///path)",
        )
        with self._translate_errors(f"load {table}"):
            self._connection.execute(sql.SQL("ANALYZE {}").format(ident(table)))


def _describe(name: str, type_text: str) -> Column:
    """A column as the system catalog would have it."""
    is_text = type_text.removesuffix("[]") == "text"
    type_text = _WHOLE.sub(r"numeric(\1,0)", type_text)
    return Column(name, type_text, kind_of(type_text), collation='pg_catalog."C"' if is_text else None)


def _collation(column: Column) -> str:
    return f" COLLATE {column.collation}" if column.collation else ""
