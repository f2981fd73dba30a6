"""What there is in a DuckDB database: tables, their columns and schemas, asked for in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from sqlanon.engines.base import Column, Found, Relation, TableRef
from sqlanon.engines.duckdb.types import kind_of

Key = tuple[str, str, str]

_COLUMNS = (
    "SELECT 0, database_name, schema_name, table_name, column_name, data_type, column_index FROM duckdb_columns() "
    "WHERE (database_name, lower(schema_name), lower(table_name)) IN ({places})"
)
# What has columns and is none of these is a view; duckdb_views() would write out the text of every view of the system.
_TABLES = (
    "SELECT 1, database_name, schema_name, table_name, NULL, NULL, NULL FROM duckdb_tables() "
    "WHERE (database_name, lower(schema_name), lower(table_name)) IN ({places})"
)
_SCHEMAS = (
    "SELECT 2, database_name, schema_name, NULL, NULL, NULL, NULL FROM duckdb_schemas() "
    "WHERE (database_name, lower(schema_name)) IN ({places})"
)
_LISTED = (
    "SELECT 3, NULL, NULL, table_name, NULL, NULL, NULL FROM duckdb_tables() "
    "WHERE (database_name, lower(schema_name)) IN ({places})"
)


def look_up(
    connection: duckdb.DuckDBPyConnection,
    database: str,
    tables: Sequence[TableRef],
    meant: Mapping[str, Sequence[TableRef]],
    schema: TableRef | None,
) -> Found:
    """See `Engine.look_up`.

    Args:
        connection: where builtins alone are found.
        database: of tables that have a schema and do not say theirs.
        tables: what is looked for.
        meant: name -> the tables that it can mean, the first that is there.
        schema: whose tables are listed.
    """
    wanted = list(dict.fromkeys([*tables, *(ref for refs in meant.values() for ref in refs)]))
    keys = {ref: _key(ref, database) for ref in wanted}
    binds: dict[str, str] = {}

    def mark(value: str) -> str:
        binds[f"v{len(binds)}"] = value
        return f"$v{len(binds) - 1}"

    parts = []
    if wanted:
        places = ", ".join(f"({', '.join(map(mark, key))})" for key in dict.fromkeys(keys.values()))
        spaces = ", ".join(
            f"({', '.join(map(mark, key))})" for key in dict.fromkeys(key[:2] for key in keys.values())
        )
        parts = [
            _COLUMNS.format(places=places),
            _TABLES.format(places=places),
            _SCHEMAS.format(places=spaces),
        ]
    if schema is not None:
        whose = (schema.database or database, str(schema.schema).lower())
        parts.append(_LISTED.format(places=f"({', '.join(map(mark, whose))})"))
    rows = connection.execute(" UNION ALL ".join(parts) + " ORDER BY 1, 7", binds).fetchall() if parts else []
    columns: dict[Key, list[Column]] = {}
    refs: dict[Key, TableRef] = {}
    tables_there: set[Key] = set()
    there = set()
    listed = set()
    for kind, base, space, name, column, data_type, _ in rows:
        if kind == 3:
            listed.add(str(name))
        elif kind == 2:
            there.add((str(base), str(space).lower()))
        else:
            key = (str(base), str(space).lower(), str(name).lower())
            if kind == 1:
                tables_there.add(key)
                continue
            columns.setdefault(key, []).append(Column(str(column), str(data_type), kind_of(str(data_type))))
            refs[key] = TableRef(str(space), str(name), str(base))
    relations = {
        ref: Relation(refs[key], tuple(columns[key]), key not in tables_there)
        for ref, key in keys.items()
        if key in refs
    }
    named = {
        name: next(relations[ref] for ref in tries if ref in relations)
        for name, tries in meant.items()
        if any(ref in relations for ref in tries)
    }
    schemas_there = frozenset(str(ref.schema) for ref, key in keys.items() if ref.schema and key[:2] in there)
    return Found(relations, named, frozenset(listed), schemas_there, frozenset(tables))


def _key(ref: TableRef, database: str) -> Key:
    base = ref.database or (database if ref.schema else "temp")
    return base, (ref.schema or "main").lower(), ref.name.lower()


__all__ = ["look_up"]
