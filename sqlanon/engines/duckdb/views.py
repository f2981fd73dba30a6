"""Views of a DuckDB database: the query of a view, and other objects of the user's that read it.

DuckDB keeps no dependencies of views, so both are read from its own parser's trees of the stored queries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import duckdb

from sqlanon.engines.base import TableRef

_NAME = r'(?:"(?:[^"]|"")*"|[^\s".(]+)'
_HEAD = re.compile(
    rf"CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP\s+|TEMPORARY\s+)?VIEW\s+"
    rf"{_NAME}(?:\.{_NAME})*\s*(\((?:{_NAME}|[\s,])*\))?\s*AS\s+",
    re.IGNORECASE,
)
_VIEWS = "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal AND database_name = $database"
_MACROS = (
    "SELECT schema_name, function_name, macro_definition, function_type FROM duckdb_functions() "
    "WHERE NOT internal AND macro_definition IS NOT NULL AND database_name = $database"
)


def definition(connection: duckdb.DuckDBPyConnection, database: str, view: TableRef) -> str | None:
    """See `Engine.definition`."""
    rows = connection.execute(
        f"{_VIEWS} AND lower(schema_name) = lower($schema) AND lower(view_name) = lower($name)",
        {"database": view.database or database, "schema": view.schema or "main", "name": view.name},
    ).fetchall()
    if not rows:
        return None
    head = _HEAD.match(str(rows[0][2]))
    if head is None:
        return str(rows[0][2])
    tree = _tree(connection, str(rows[0][2])[head.end() :])
    return json.dumps([head.group(1), tree]) if tree is not None else str(rows[0][2])


def list_dependents(connection: duckdb.DuckDBPyConnection, database: str, views: Sequence[TableRef]) -> list[str]:
    """See `Engine.list_dependents`: views and macros that name any of them."""
    ours = {_lower(view) for view in views}
    names = []
    for schema, name, text in connection.execute(_VIEWS, {"database": database}).fetchall():
        head = _HEAD.match(str(text))
        query = str(text)[head.end() :] if head else str(text)
        if (schema.lower(), name.lower()) not in ours and _reads(connection, query, str(schema), ours):
            names.append(f"view {schema}.{name}")
    for schema, name, text, kind in connection.execute(_MACROS, {"database": database}).fetchall():
        query = str(text) if kind == "table_macro" else f"SELECT {text}"
        if _reads(connection, query, str(schema), ours):
            names.append(f"macro {schema}.{name}")
    return sorted(set(names))


def _lower(view: TableRef) -> tuple[str, str]:
    return (view.schema or "main").lower(), view.name.lower()


def _reads(connection: duckdb.DuckDBPyConnection, query: str, schema: str, views: set[tuple[str, str]]) -> bool:
    tree = _tree(connection, query)
    if tree is None:  # a query that the parser has no tree for: any mention counts
        return any(name in query.lower() for _, name in views)
    for node in _nodes(tree):
        if node.get("type") == "BASE_TABLE":
            name = str(node.get("table_name")).lower()
            places = [str(node["schema_name"]).lower()] if node.get("schema_name") else [schema.lower(), "main"]
            if any((place, name) in views for place in places):
                return True
    return False


def _tree(connection: duckdb.DuckDBPyConnection, query: str) -> Any:  # noqa: ANN401 - a parse tree
    """The query as DuckDB's parser sees it, wherever its words are; None where the parser has no such tree."""
    with suppress(duckdb.Error):
        row = connection.execute("SELECT json_serialize_sql($1)", [query.strip().rstrip(";")]).fetchone()
        parsed = json.loads(str(row[0])) if row else {"error": True}
        if not parsed.get("error"):
            for node in _nodes(parsed):
                for key in ("query_location", "query_location_length"):
                    node.pop(key, None)
            return parsed["statements"]
    return None


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    if isinstance(tree, dict):
        yield tree
        for item in list(tree.values()):
            yield from _nodes(item)
    elif isinstance(tree, list):
        for item in tree:
            yield from _nodes(item)
