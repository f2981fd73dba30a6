"""Rows of a DuckDB table as texts that other engines read, and tables of such texts; see `Transfer`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlanon.engines.base import Column, Row, Statement, TableRef
from sqlanon.engines.duckdb.compaction import FileCompaction
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.portable import Portable, PortableColumn

_TYPES: Mapping[str, str] = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "HUGEINT": "int128",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
    "UHUGEINT": "uint128",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "BOOLEAN": "boolean",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "zoned",
    "TIME": "time",
    "UUID": "uuid",
    "BLOB": "bytes",
}
"""The portable type of each of DuckDB's; DuckDB makes the first of several of the portable type."""
_OWN = {name: engine_type for engine_type, name in reversed([*_TYPES.items()])}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_DIGITS = 38
"""Digits of a DECIMAL, at most."""


class TransferConnection(FileCompaction):
    """A connection that sends and takes rows."""

    def read_type(self, column: Column) -> Portable | None:
        kind = column.type
        array = kind.endswith("[]")
        kind = kind.removesuffix("[]")
        if kind.startswith("ENUM(") and kind.endswith(")"):
            return Portable("text", array=array)
        if match := _DECIMAL.fullmatch(kind):
            return Portable("decimal", int(match[1]), int(match[2]), array)
        name = _TYPES.get(kind)
        return None if name is None else Portable(name, array=array)

    def write_type(self, kind: Portable) -> str | None:
        if kind.name == "decimal":
            type_text = f"DECIMAL({kind.digits},{kind.scale})" if 0 <= kind.scale <= kind.digits <= _DIGITS else None
        else:
            type_text = _OWN.get(kind.name)
        return f"{type_text}[]" if type_text and kind.array else type_text

    def stream_rows(self, rows: Statement, arrays: Sequence[bool], block: int) -> Iterator[Sequence[Row]]:
        """See `Transfer.stream_rows`: DuckDB makes the rows as they are fetched."""
        with self._translate_errors(rows.name, rows.text):
            result = self._run(rows)
        while True:
            with self._translate_errors(rows.name, rows.text):
                some = result.fetchmany(block)
            if not some:
                return
            yield some

    def load_texts(self, table: TableRef, columns: Sequence[PortableColumn], blocks: Iterable[Sequence[Row]]) -> None:
        """See `Transfer.load_texts`: a block becomes arrays, which DuckDB casts."""
        import numpy as np

        name = self._qualify(table)
        defined = ", ".join(f"{quote(column.name)} {self.write_type(column.type)}" for column in columns)
        values = ", ".join(self._cast(f'"{i}"', column.type) for i, column in enumerate(columns))
        with self._translate_errors(f"load {table.name}"):
            self._use(self._empty)
            self._connection.execute(f"CREATE TABLE {name} ({defined})")
        for block in blocks:
            # A registered view would be kept, with all its values, until the transaction ends: DuckDB finds a variable.
            _sqlanon_block = {
                str(i): np.fromiter(cells, dtype=object, count=len(block))
                for i, cells in enumerate(zip(*block, strict=True))
            }
            with self._translate_errors(f"load {table.name}"):
                self._connection.execute(f"SET pandas_analyze_sample = {len(block)}")
                # The variable is looked for where the driver is called.
                self._metered.raw.execute(f"INSERT INTO {name} SELECT {values} FROM _sqlanon_block")  # noqa: S608
                self._metered.add_statement()

    def read_texts(self, table: TableRef, columns: Sequence[PortableColumn], block: int) -> Iterator[Sequence[Row]]:
        """Rows of a table as texts that PostgreSQL reads, ``block`` rows at a time; as of ``sent/rows``."""
        cells = ", ".join(_spell(quote(column.name), column.type) for column in columns)
        text = f"SELECT {cells} FROM {self._qualify(table)}"  # noqa: S608
        return self.stream_rows(Statement(f"to read {table}", text), [column.type.array for column in columns], block)

    def _cast(self, text: str, kind: Portable) -> str:
        """SQL for the value of a text, or for the list of values of a list of texts."""
        if kind.array:
            value = self._cast("e", Portable(kind.name, kind.digits, kind.scale))
            return f"LIST_TRANSFORM(CAST({text} AS VARCHAR[]), LAMBDA e: {value})"
        text = f"CAST({text} AS VARCHAR)"
        if kind.name == "bytes":
            return f"UNHEX(SUBSTR({text}, 3))"
        if kind.form in ("day", "zoned"):  # DuckDB has the mark of a year before 1 after the date
            text = rf"REGEXP_REPLACE({text}, '^(\S+)(.*) BC$', '\1 (BC)\2')"
        return f"CAST({text} AS {self.write_type(kind)})"


def _spell(value: str, kind: Portable) -> str:
    """SQL for the text of a value, or for the list of texts of a list of values."""
    if kind.array:
        return f"LIST_TRANSFORM({value}, LAMBDA e: {_spell('e', Portable(kind.name, kind.digits, kind.scale))})"
    if kind.form == "float":
        return f"CAST(CAST({value} AS DOUBLE) AS VARCHAR)"
    if kind.form == "bytes":
        return f"'\\x' || LOWER(HEX({value}))"
    text = f"CAST({value} AS VARCHAR)"
    if kind.form in ("day", "zoned"):  # DuckDB has the mark of a year before 1 after the date
        return f"CASE WHEN {text} LIKE '% (BC)%' THEN REPLACE({text}, ' (BC)', '') || ' BC' ELSE {text} END"
    return text
