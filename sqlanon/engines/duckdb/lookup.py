"""Look-up of tables, columns and schemas of a DuckDB database, in one statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb

from sqlanon.engines.base import Column, LookupResult, Relation, TableRef
from sqlanon.engines.duckdb.types import kind_of

Key = tuple[str, str, str]

# Every part may find more than was asked for: DuckDB takes longer to plan conditions on several columns together.
_COLUMNS = (
    "SELECT 0, database_name, schema_name, table_name, column_name, data_type, column_index FROM duckdb_columns() "
    "WHERE database_name IN ({bases}) AND lower(schema_name) IN ({spaces}) AND lower(table_name) IN ({names})"
)
# Any other object with columns is a view; duckdb_views() would write out the text of every view of the system.
_TABLES = (
    "SELECT 1, database_name, schema_name, table_name, NULL, NULL, NULL FROM duckdb_tables() WHERE database_name IN "
    "({bases}) AND lower(schema_name) IN ({spaces}) AND (lower(table_name) IN ({names}) OR {listed})"
)
_SCHEMAS = (
    "SELECT 2, database_name, schema_name, NULL, NULL, NULL, NULL FROM duckdb_schemas() "
    "WHERE database_name IN ({bases}) AND lower(schema_name) IN ({spaces})"
)


def look_up(
    send: Callable[[str, Mapping[str, str]], duckdb.DuckDBPyConnection],
    database: str,
    tables: Sequence[TableRef],
    meant: Mapping[str, Sequence[TableRef]],
    schema: TableRef | None,
) -> LookupResult:
    """See `Engine.look_up`.

    Args:
        send: executes a text with values where builtins alone are found.
        database: of tables with a schema and without a database.
        tables: the tables to look up.
        meant: name -> the tables that it can mean; the first existing table counts.
        schema: a table of the schema to list.
    """
    refs_asked = list(dict.fromkeys([*tables, *(ref for refs in meant.values() for ref in refs)]))
    keys = {ref: _key(ref, database) for ref in refs_asked}
    binds: dict[str, str] = {}

    def mark(value: str) -> str:
        binds[f"v{len(binds)}"] = value
        return f"$v{len(binds) - 1}"

    whose = None if schema is None else (schema.database or database, str(schema.schema).lower())
    keys_asked = [*keys.values(), *([(*whose, "")] if whose else [])]
    marks = [", ".join(map(mark, dict.fromkeys(part))) for part in zip(*keys_asked, strict=True)]
    listed_there = "FALSE" if whose is None else f"lower(schema_name) = {mark(whose[1])}"
    rows: list[tuple[Any, ...]] = []
    if keys_asked:
        bases, spaces, names = marks
        parts = [
            part.format(bases=bases, spaces=spaces, names=names, listed=listed_there)
            for part in (_COLUMNS, _TABLES, _SCHEMAS)[0 if refs_asked else 1 :]
        ]
        rows = send(" UNION ALL ".join(parts), binds).fetchall()
    columns: dict[Key, list[Column]] = {}
    refs: dict[Key, TableRef] = {}
    tables_there: set[Key] = set()
    there = set()
    listed = set()
    for kind, base, space, name, column, data_type, _ in sorted(rows, key=lambda row: (row[0], row[6] or 0)):
        place = (str(base), str(space).lower())
        if kind == 2:
            there.add(place)
        else:
            key = (*place, str(name).lower())
            if kind == 1:
                tables_there.add(key)
                if place == whose:
                    listed.add(str(name))
                continue
            columns.setdefault(key, []).append(Column(str(column), str(data_type), kind_of(str(data_type))))
            refs[key] = TableRef(str(space), str(name), str(base))
    relations = {
        ref: Relation(refs[key], tuple(columns[key]), key not in tables_there)
        for ref, key in keys.items()
        if key in refs
    }
    relations_by_name = {
        name: next(relations[ref] for ref in tries if ref in relations)
        for name, tries in meant.items()
        if any(ref in relations for ref in tries)
    }
    schemas_there = frozenset(str(ref.schema) for ref, key in keys.items() if ref.schema and key[:2] in there)
    return LookupResult(relations, relations_by_name, frozenset(listed), schemas_there, frozenset(tables))


def _key(ref: TableRef, database: str) -> Key:
    base = ref.database or (database if ref.schema else "temp")
    return base, (ref.schema or "main").lower(), ref.name.lower()
