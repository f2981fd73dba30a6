"""Rows of a DuckDB table as texts that other engines read, and tables of such texts; see `Transfer`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.engines.base import Column, Statement, TableRef
from sqlanon.engines.duckdb.compaction import FileCompaction
from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.portable import Portable, PortableColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

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
_OWN = {name: engine_type for engine_type, name in reversed([*_TYPES.items()])} | {"padded": "VARCHAR"}
_IN_ARROW = {"decimal", *_TYPES.values()} - {"int128", "uint128", "time", "uuid"}
"""Types that Arrow has as well."""
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_DIGITS = 38
"""Digits of a DECIMAL, at most."""


class _ArrowStream:
    """A relation that a connection to another database can read: DuckDB refuses the relation itself."""

    def __init__(self, relation: DuckDBPyRelation) -> None:
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


class TransferConnection(FileCompaction):
    """A connection that sends and takes rows."""

    reads_arrow = True
    own_columns = 0

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

    def find_shaped_arrays(self, _table: TableRef, _columns: Sequence[PortableColumn]) -> Sequence[str]:
        """See `Transfer.find_shaped_arrays`: its arrays are lists."""
        return ()

    def stream_rows(self, rows: Statement, block: int) -> Iterator[Sequence[str]]:
        """See `Transfer.stream_rows`: DuckDB makes the lines as they are fetched."""
        with self._translate_errors(rows.name, rows.text):
            result = self._run(rows)
        while True:
            with self._translate_errors(rows.name, rows.text):
                lines = result.fetchmany(block)
            if not lines:
                return
            yield [line for (line,) in lines]

    def load_texts(self, table: TableRef, columns: Sequence[PortableColumn], blocks: Iterable[Sequence[str]]) -> None:
        """See `Transfer.load_texts`: DuckDB gets a block as one text, which it splits."""
        name = self._qualify(table)
        defined = ", ".join(f"{quote(column.name)} {self.write_type(column.type)}" for column in columns)
        values = ", ".join(self._read(f"r.f[{i}]", column.type) for i, column in enumerate(columns, 1))
        with self._translate_errors(f"load {table.name}"):
            self._use(self._empty)
            self._connection.execute(f"CREATE TABLE {name} ({defined})")
        lines = "SELECT UNNEST(STRING_SPLIT($lines, CHR(10))) AS line"
        fields = f"SELECT STRING_SPLIT(l.line, CHR(9)) AS f FROM ({lines}) AS l"  # noqa: S608
        insert = f"INSERT INTO {name} SELECT {values} FROM ({fields}) AS r"  # noqa: S608
        for block in blocks:
            if block:
                with self._translate_errors(f"load {table.name}"):
                    self._connection.execute(insert, {"lines": "\n".join(block)})

    def stream_arrow(self, table: TableRef, columns: Sequence[PortableColumn]) -> object | None:
        """See `Transfer.stream_arrow`: types that Arrow lacks go as texts, lists of these do not go."""
        if any(column.type.array and column.type.name not in _IN_ARROW for column in columns):
            return None
        cells = ", ".join(
            f"{self._hold(quote(column.name), column.type)} AS {quote(f'c{i}')}" for i, column in enumerate(columns)
        )
        self._use(self._empty)
        with self._translate_errors(f"to send {table.name}"):
            return _ArrowStream(self._metered.raw.sql(f"SELECT {cells} FROM {self._qualify(table)}"))  # noqa: S608

    def load_arrow(self, table: TableRef, columns: Sequence[PortableColumn], stream: object) -> None:
        """See `Reception.load_arrow`: one statement, which pulls the rows."""
        values = ", ".join(
            f"{quote(f'c{i}') if column.type.name in _IN_ARROW else self._cast(quote(f'c{i}'), column.type)} "
            f"AS {quote(column.name)}"
            for i, column in enumerate(columns)
        )
        _sqlanon_stream = stream  # DuckDB looks for the variable where the driver is called
        with self._translate_errors(f"load {table.name}"):
            self._use(self._empty)
            self._metered.raw.execute(f"CREATE TABLE {self._qualify(table)} AS SELECT {values} FROM _sqlanon_stream")  # noqa: S608
            self._metered.add_statement()

    def _hold(self, value: str, kind: Portable) -> str:
        """SQL for a value as an Arrow stream has it."""
        return f"CAST({value} AS {self.write_type(kind)})" if kind.name in _IN_ARROW else _spell(value, kind)

    def read_texts(self, table: TableRef, columns: Sequence[PortableColumn], block: int) -> Iterator[Sequence[str]]:
        """Rows of a table as lines of PostgreSQL's COPY, ``block`` rows at a time; as of ``sent/rows``."""
        fields = ", CHR(9), ".join(_write(quote(column.name), column.type) for column in columns)
        text = f"SELECT CONCAT({fields}) FROM {self._qualify(table)}"  # noqa: S608
        return self.stream_rows(Statement(f"to read {table}", text), block)

    def _read(self, field: str, kind: Portable) -> str:
        """SQL for the value of a field of a line."""
        text = f"NULLIF({field}, '\\N')"
        if kind.array or kind.form in ("bytes", "text"):
            text = _unescape(text)
        return self._cast(_split(text) if kind.array else text, kind)

    def _cast(self, text: str, kind: Portable) -> str:
        """SQL for the value of a text, or for the list of values of a list of texts."""
        if kind.array:
            value = self._cast("e", Portable(kind.name, kind.digits, kind.scale))
            return f"LIST_TRANSFORM(CAST({text} AS VARCHAR[]), LAMBDA e: {value})"
        text = f"CAST({text} AS VARCHAR)"
        if kind.name == "bytes":
            return f"UNHEX(SUBSTR({text}, 3))"
        if kind.form in ("day", "zoned"):  # DuckDB has the mark of a year before 1 after the date
            earlier = rf"REGEXP_REPLACE({text}, '^(\S+)(.*) BC$', '\1 (BC)\2')"
            text = f"CASE WHEN ENDS_WITH({text}, ' BC') THEN {earlier} ELSE {text} END"
        return f"CAST({text} AS {self.write_type(kind)})"


def _unescape(text: str) -> str:
    """SQL for the text of a field with backslashes before special characters: those between pairs of backslashes."""
    marks = {"t": 9, "n": 10, "r": 13, "b": 8, "f": 12, "v": 11}
    part = "p"
    for mark, code in marks.items():
        part = rf"REPLACE({part}, '\{mark}', CHR({code}))"
    joined = rf"ARRAY_TO_STRING(LIST_TRANSFORM(STRING_SPLIT({text}, '\\'), LAMBDA p: {part}), '\')"
    return rf"CASE WHEN CONTAINS({text}, '\') THEN {joined} ELSE {text} END"


def _split(text: str) -> str:
    """SQL for the texts of the elements of a list: ``{"a, b",c,NULL}``."""
    elements = rf"""REGEXP_EXTRACT_ALL(SUBSTR({text}, 2, LENGTH({text}) - 2), '(?s)"(?:[^"\\]|\\.)*"|[^,]+')"""
    plain = r"REGEXP_REPLACE(SUBSTR(e, 2, LENGTH(e) - 2), '\\(.)', '\1', 'gs')"
    return (
        f"LIST_TRANSFORM({elements}, LAMBDA e: "
        f"""CASE WHEN STARTS_WITH(e, '"') THEN {plain} WHEN e <> 'NULL' THEN e END)"""
    )


def _write(value: str, kind: Portable) -> str:
    """SQL for the field of a value in a line."""
    if kind.array:
        element = _spell("e", kind)
        if kind.form in ("bytes", "text"):
            element = rf"""REPLACE(REPLACE({element}, '\', '\\'), '"', '\"')"""
        elements = f"""LIST_TRANSFORM({value}, LAMBDA e: COALESCE('"' || {element} || '"', 'NULL'))"""
        text = f"'{{' || COALESCE(ARRAY_TO_STRING({elements}, ','), '') || '}}'"
        text = f"CASE WHEN {value} IS NOT NULL THEN {text} END"
    else:
        text = _spell(value, kind)
    if kind.array or kind.form in ("bytes", "text"):
        for plain, escaped in ((r"'\'", r"'\\'"), ("CHR(9)", r"'\t'"), ("CHR(10)", r"'\n'"), ("CHR(13)", r"'\r'")):
            text = f"REPLACE({text}, {plain}, {escaped})"
    return rf"COALESCE({text}, '\N')"


def _spell(value: str, kind: Portable) -> str:
    """SQL for the text of a value that is no list."""
    if kind.form == "float":
        return f"CAST(CAST({value} AS DOUBLE) AS VARCHAR)"
    if kind.form == "bytes":
        return rf"'\x' || LOWER(HEX({value}))"
    text = f"CAST({value} AS VARCHAR)"
    if kind.form == "zoned":
        moment = f"CAST(MAKE_TIMESTAMP(EPOCH_US({value})) AS VARCHAR)"
        return (
            f"CASE WHEN NOT ISFINITE({value}) THEN {text} WHEN {moment} LIKE '% (BC)%' "
            f"THEN REPLACE({moment}, ' (BC)', '') || '+00 BC' ELSE {moment} || '+00' END"
        )
    if kind.form == "day":  # DuckDB has the mark of a year before 1 after the date
        return f"CASE WHEN {text} LIKE '% (BC)%' THEN REPLACE({text}, ' (BC)', '') || ' BC' ELSE {text} END"
    return text
