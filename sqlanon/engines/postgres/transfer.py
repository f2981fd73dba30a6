"""Rows of a PostgreSQL table as texts that other engines read, and tables of such texts; see `Transfer`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from psycopg import sql

from sqlanon.engines.base import Column, Statement, TableRef
from sqlanon.engines.portable import Portable, PortableColumn
from sqlanon.engines.postgres.binary import receive
from sqlanon.engines.postgres.line_copies import LineCopies
from sqlanon.engines.postgres.tables import ident

_TYPES: Mapping[str, str] = {
    "smallint": "int16",
    "integer": "int32",
    "bigint": "int64",
    "real": "float32",
    "double precision": "float64",
    "boolean": "boolean",
    "text": "text",
    "character varying": "text",
    "name": "text",
    "date": "date",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "zoned",
    "time without time zone": "time",
    "uuid": "uuid",
    "bytea": "bytes",
}
"""The portable type of each of PostgreSQL's; PostgreSQL makes the first of several of the portable type."""
_OWN: Mapping[str, str] = {
    **{name: engine_type for engine_type, name in reversed([*_TYPES.items()])},
    "int8": "smallint",
    "uint8": "smallint",
    "uint16": "integer",
    "uint32": "bigint",
    "uint64": "numeric(20)",
    "int128": "numeric(39)",
    "uint128": "numeric(39)",
}
_DECIMAL = re.compile(r"numeric\((\d+),(\d+)\)")
_PADDED = re.compile(r"character\((\d+)\)")
_LENGTH = re.compile(r"\(\d+\)")
_ROW_BYTES = 8
"""Bytes of a row of the first block, fewer than most have."""
_DIGITS = 1000
"""Digits of a numeric that says how many it has, at most."""


class TransferSession(LineCopies):
    """A session that sends and takes rows."""

    reads_arrow = False

    def read_type(self, column: Column) -> Portable | None:
        if column.own_operators:
            return None
        array = column.type.endswith("[]")
        kind = column.type.removesuffix("[]")
        if match := _PADDED.fullmatch(kind):
            return Portable("padded", int(match[1]), array=array)
        if column.kind in ("text", "enum") and not array:
            return Portable("text")
        if match := _DECIMAL.fullmatch(kind):
            return Portable("decimal", int(match[1]), int(match[2]), array)
        name = _TYPES.get(_LENGTH.sub("", kind))
        return None if name is None else Portable(name, array=array)

    def write_type(self, kind: Portable) -> str | None:
        if kind.name == "decimal":
            type_text = f"numeric({kind.digits},{kind.scale})" if 0 <= kind.scale <= kind.digits <= _DIGITS else None
        elif kind.name == "padded":
            type_text = f"character({kind.digits})"
        else:
            type_text = _OWN.get(kind.name)
        return f"{type_text}[]" if type_text and kind.array else type_text

    def find_shaped_arrays(self, table: TableRef, columns: Sequence[PortableColumn]) -> Sequence[str]:
        """See `Transfer.find_shaped_arrays`."""
        arrays = [column.name for column in columns if column.type.array]
        if not arrays:
            return ()
        shaped = sql.SQL(", ").join(
            sql.SQL("COALESCE(BOOL_OR(ARRAY_NDIMS(t.{0}) > 1 OR ARRAY_LOWER(t.{0}, 1) <> 1), FALSE)").format(
                sql.Identifier(name)
            )
            for name in arrays
        )
        query = sql.SQL("SELECT {} FROM {} AS t").format(shaped, ident(table)).as_string(self._connection)
        (row,) = self.fetch(Statement("shapes of arrays", query))
        return [name for name, is_shaped in zip(arrays, row, strict=True) if is_shaped]

    def stream_rows(self, rows: Statement, block: int) -> Iterator[Sequence[str]]:
        """See `Transfer.stream_rows`: one COPY, read as it comes."""
        query = sql.SQL("COPY ({}) TO STDOUT").format(sql.SQL(rows.text))
        self._bring(rows.text)
        with (
            self._translate_errors(rows.name),
            # Ending a COPY early fails its transaction: a savepoint keeps a transaction that may be open.
            self._connection.transaction(),
            self._connection.cursor() as cursor,
            cursor.copy(query),
        ):
            more, width = True, _ROW_BYTES
            while more:
                data = bytearray()
                more = self._connection.wait(receive(self._connection.pgconn, data, block * width))
                lines = data.decode().split("\n")[:-1]
                if lines:
                    width = len(data) // len(lines)
                    del data
                    yield lines

    def load_texts(self, table: TableRef, columns: Sequence[PortableColumn], blocks: Iterable[Sequence[str]]) -> None:
        """See `Transfer.load_texts`: one COPY."""
        self._copy_lines(
            table,
            [(column, self.write_type(column.type) or "") for column in columns],
            blocks,
            form="CREATE TABLE {table} ({columns})",
            where="publish_to",
            advice="change them in a view of the source",
        )
        self._look_at_size(table)

    def stream_arrow(self, _table: TableRef, _columns: Sequence[PortableColumn]) -> None:
        """See `Transfer.stream_arrow`: there is none."""

    def load_arrow(self, table: TableRef, columns: Sequence[PortableColumn], stream: object) -> None:
        """See `Reception.load_arrow`.

        Raises:
            NotImplementedError: always; `reads_arrow` says so.
        """
        raise NotImplementedError
