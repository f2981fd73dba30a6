"""Columns as a file or a frame holds them: unchanged, as another type that keeps values distinct, or not at all.

A type that a target lacks becomes a decimal or text, and only if a cast back gives every value of the column again.
The written file is compared with the table by the fingerprint of the rows as a multiset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from sqlanon.engines.duckdb.connection import quote
from sqlanon.errors import PolicyError, PrivacyViolation

TEXT = "VARCHAR"
_WIDE = {"hugeint": "DECIMAL(38,0)", "uhugeint": "DECIMAL(38,0)"}
_WHOLE = frozenset({"tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"})
NUMBERS = _WHOLE | {"float", "double", "decimal"}
_SIMPLE = NUMBERS | {"boolean", "varchar", "blob", "null"}
DATES = frozenset(
    ["date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone", "timestamptz_ns"]
)
_OUTSIDE = {**dict.fromkeys(DATES, ("infinity",)), "time": ("24:00:00",), "time_ns": ("24:00:00",)}
"""Texts of values that readers of a type, but DuckDB, take for others or cannot read."""
_TYPED = _SIMPLE | {"date", "timestamp", "uuid", "interval"}
"""Types that are compared by value; all others are compared by text."""

_NO_CAST = (duckdb.DataError, duckdb.ProgrammingError, duckdb.NotSupportedError)
"""Errors of DuckDB where values do not fit a type, or a cast is missing."""


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of file or frame.

    Attributes:
        name: for people.
        kept: types, by DuckDB's name, that it holds as they are.
        instead: types that become others first.
        outside: for a type the parts of a text that show a value which it does not hold.
    """

    name: str
    kept: frozenset[str]
    instead: Mapping[str, str]
    outside: Mapping[str, tuple[str, ...]]


_SPAN = {"interval": ("mon", "year")}  # a duration has no months
PARQUET = Target(
    "Parquet",
    _SIMPLE | DATES | {"time", "time_ns", "uuid", "variant"},
    {**_WIDE, "timestamp_s": "TIMESTAMP", "timestamp_ms": "TIMESTAMP"},
    _OUTSIDE,
)
ARROW = Target("Arrow", _SIMPLE | DATES | {"time", "time_ns", "enum", "interval"}, _WIDE, _OUTSIDE)
POLARS = Target("polars", ARROW.kept, _WIDE, {**_OUTSIDE, **_SPAN})
PANDAS = Target(
    "pandas",
    _SIMPLE | (DATES - {"date", "timestamptz_ns"}) | {"time", "uuid", "enum", "hugeint", "uhugeint", "interval"},
    {"date": "TIMESTAMP", "time_ns": "TIME", "timestamptz_ns": "TIMESTAMP WITH TIME ZONE"},
    {**_OUTSIDE, **_SPAN},
)


@dataclass(frozen=True, slots=True)
class CarriedColumn:
    """A column: name, type, and the type that the target gets."""

    name: str
    type: Any
    carried: str

    @property
    def expression(self) -> str:
        """SQL for the column as the target gets it, with the name."""
        return f"{_cast(quote(self.name), self.carried, str(self.type))} AS {quote(self.name)}"


def carry_columns(connection: duckdb.DuckDBPyConnection, table: str, target: Target) -> list[CarriedColumn]:
    """The columns of a table as a target holds them.

    Args:
        connection: where the table is.
        table: the quoted name of the table.
        target: the kind of file or frame.

    Raises:
        PolicyError: the target cannot hold the column; the text names the column and the type.

    Cost: one scan of the columns that change, or have a type with values that the target lacks.
    """
    relation = connection.query(f"SELECT * FROM {table}")  # noqa: S608
    carried, refused = [], []
    for name, kind in zip(relation.columns, relation.types, strict=True):
        type_text = _choose_type(connection, table, name, kind, target)
        if type_text is None:
            refused.append(f"{name} ({format_type(kind)})")
        else:
            carried.append(CarriedColumn(name, kind, type_text))
    if refused:
        raise PolicyError(
            f"{target.name} cannot hold every value of {', '.join(refused)}: cast the column in the source, or leave "
            "it out of the release"
        )
    return carried


def format_type(kind: Any) -> str:  # noqa: ANN401 - the driver's type
    """A type for people, without the values of an enum."""
    return "ENUM" if "ENUM(" in str(kind) else str(kind)


def can_hold(connection: duckdb.DuckDBPyConnection, table: str, name: str, kind: Any, target: Target) -> bool:  # noqa: ANN401
    """Whether a target holds every value of a column, in whatever type."""
    return _choose_type(connection, table, name, kind, target) is not None


def _choose_type(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    name: str,
    kind: Any,  # noqa: ANN401
    target: Target,
) -> str | None:
    outside: set[str] = set()
    first = _map_type(kind, target, outside)
    if first == str(kind) and not outside:
        return first
    every = dict.fromkeys([first, _map_type(kind, target, None), TEXT])
    for index, candidate in enumerate(every):
        if holds(connection, table, name, str(kind), candidate, outside if index == 0 else ()):
            return candidate
    return None


def _map_type(kind: Any, target: Target, outside: set[str] | None, *, inner: bool = False) -> str:  # noqa: ANN401
    """The type that a target gets for a type.

    Args:
        kind: DuckDB's.
        target: the kind of file or frame.
        outside: collects the texts that no value may have; None: a type with values that the target lacks becomes
            text, as do wide integers.
        inner: the type is part of another type.
    """
    if kind.id in ("list", "array"):
        size = f"[{kind.children[1][1]}]" if kind.id == "array" and target is not PARQUET else "[]"
        return _map_type(kind.children[0][1], target, outside, inner=True) + size
    if kind.id == "struct":
        parts = [(name, child, _map_type(child, target, outside, inner=True)) for name, child in kind.children]
        if all(part == str(child) for _, child, part in parts):
            return str(kind)
        return f"STRUCT({', '.join(f'{quote(name)} {part}' for name, _, part in parts)})"
    if kind.id == "map":
        return f"MAP({', '.join(_map_type(child, target, outside, inner=True) for _, child in kind.children)})"
    if inner and kind.id == "interval" and kind.id in target.outside:
        return TEXT  # a library of frames has no durations there
    if kind.id in target.outside and (kind.id in target.kept or kind.id in target.instead):
        if outside is None:
            return TEXT
        outside.update(target.outside[kind.id])
    if kind.id in target.instead:
        return TEXT if outside is None and kind.id in _WIDE else target.instead[kind.id]
    return str(kind) if kind.id in target.kept else TEXT


def holds(
    connection: duckdb.DuckDBPyConnection, table: str, name: str, kind: str, candidate: str, outside: Iterable[str] = ()
) -> bool:
    """Whether a cast there and back leaves every value of a column unchanged, and none is outside."""
    column = quote(name)
    lost = [f"CONTAINS(CAST({column} AS VARCHAR), '{text}')" for text in sorted(outside)]
    if candidate != kind:
        lost.append(f"CAST(TRY_CAST({column} AS {candidate}) AS {kind}) IS DISTINCT FROM {column}")
    try:
        row = (
            connection.execute(
                f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL AND ({' OR '.join(lost)})"  # noqa: S608
            ).fetchall()[0]
            if lost
            else (0,)
        )
    except _NO_CAST:
        return False
    return not row[0]


def compare(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[CarriedColumn], result: str) -> None:
    """Compare the written file or frame with the table, as multisets of rows.

    Args:
        connection: reads both.
        table: the quoted name of the table.
        columns: as they were to be written.
        result: SQL of a relation that reads the written file or frame.

    Raises:
        PrivacyViolation: they differ; the text names the columns.

    Cost: one scan of each.
    """
    pairs = [
        (
            _comparable_expression(f"t.{quote(column.name)}", str(column.type), column),
            _comparable_expression(f"t.{quote(column.name)}", "", column),
        )
        for column in columns
    ]
    check(connection, table, result, pairs, [f"{column.name} ({format_type(column.type)})" for column in columns])


def check(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    result: str,
    pairs: Sequence[tuple[str, str]],
    shown_as: Sequence[str],
) -> None:
    """Compare two relations, both called t in the pairs of expressions, as multisets of rows.

    Raises:
        PrivacyViolation: they differ; the text names the columns in which they do.
    """
    released = _fingerprint(connection, table, [first for first, _ in pairs])
    try:
        fingerprint = _fingerprint(connection, result, [second for _, second in pairs])
    except _NO_CAST:
        fingerprint = None
    if fingerprint == released:
        return
    differ = [
        name
        for name, pair in zip(shown_as, pairs, strict=True)
        if not _have_same_fingerprint(connection, table, result, pair)
    ]
    which = f"column {', '.join(differ)}" if differ else "the rows"
    raise PrivacyViolation(
        f"what was written differs from the verified release in {which}; nothing was put in place: choose another "
        "format, or cast in the source"
    )


def _have_same_fingerprint(
    connection: duckdb.DuckDBPyConnection, table: str, result: str, pair: tuple[str, str]
) -> bool:
    try:
        return _fingerprint(connection, table, [pair[0]]) == _fingerprint(connection, result, [pair[1]])
    except _NO_CAST:
        return False


def _fingerprint(connection: duckdb.DuckDBPyConnection, source: str, expressions: Sequence[str]) -> tuple[object, ...]:
    """How many rows there are, the sum of their hashes and the exclusive or of those.

    The hash of several values is hashed once more: see duckdb/verify/fingerprint.
    """
    hashes = f"SELECT hash(hash({', '.join(expressions)})) AS h FROM {source} AS t"  # noqa: S608
    query = f"SELECT count(*), sum(CAST(h AS HUGEINT)), bit_xor(h) FROM ({hashes})"  # noqa: S608
    return tuple(connection.execute(query).fetchall()[0])


def _comparable_expression(column: str, kind: str, field: CarriedColumn) -> str:
    """SQL of a value as it is compared: in the type that was to be written, or by text."""
    value = _cast(column, field.carried, kind)
    if field.carried == str(field.type) and field.type.id in _TYPED:
        return value
    return f"CAST({value} AS VARCHAR)"


def _cast(column: str, target: str, kind: str) -> str:
    return column if target == kind else f"CAST({column} AS {target})"
