"""Names on PostgreSQL: ours run on a path of the system's schemas alone, names that people write on the path they have.

A role that may create in a schema of somebody's path can plant functions and operators there that fit a call better
than PostgreSQL's own, and run with his rights. So the session's path is `SAFE_PATH`, and the person's own is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from sqlanon.engines.base import Column, Kind, Relation, TableRef
from sqlanon.engines.names import split_name
from sqlanon.engines.postgres.connect import is_failed
from sqlanon.errors import DatabaseError

SAFE_PATH = "pg_catalog, pg_temp"
"""Temporary tables come last: none can take the place of a table or type of the system's."""

_TAKE = (
    "SELECT pg_catalog.current_setting('search_path'), pg_catalog.current_schemas(true)::pg_catalog.text[], "
    "pg_catalog.current_schema()::pg_catalog.text, pg_catalog.set_config('search_path', %s, false)"
)
_SET = "SELECT pg_catalog.set_config('search_path', %s, false)"
_COLUMNS = """
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), a.attname, format_type(a.atttypid, a.atttypmod), t.typtype::text, t.typname, (
    WITH RECURSIVE base(oid, typtype, typbasetype, typnamespace) AS (
        SELECT t.oid, t.typtype, t.typbasetype, t.typnamespace
        UNION ALL
        SELECT u.oid, u.typtype, u.typbasetype, u.typnamespace
        FROM base JOIN pg_type AS u ON u.oid = base.typbasetype
        WHERE base.typtype = 'd'
    )
    SELECT bool_or(b.typtype = 'b' AND b.typnamespace <> 'pg_catalog'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_type AS e WHERE e.typarray = b.oid))
    FROM base AS b
), o.collnamespace::regnamespace::text || '.' || quote_ident(o.collname), COALESCE(o.collisdeterministic, TRUE)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_collation AS o ON o.oid = a.attcollation
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.relname = %(name)s AND n.nspname = %(schema)s
ORDER BY a.attnum
"""
_PLACES = """
SELECT p.schema
FROM unnest(%(schemas)s::text[]) WITH ORDINALITY AS p(schema, place)
JOIN pg_namespace AS n ON n.nspname = p.schema
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.relname = %(name)s
ORDER BY p.place
"""
_KINDS: dict[str, Kind] = {
    "smallint": "integer", "integer": "integer", "bigint": "integer", "numeric": "decimal",
    "real": "float", "double precision": "float", "boolean": "boolean", "date": "date",
    "text": "text", "character varying": "text", "character": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OwnPath:
    """The path of whoever connected.

    Attributes:
        setting: ``search_path`` as he has it.
        schemas: those of it that are there and that he may use, in order, with those that PostgreSQL adds.
        first: where his new tables go; None if nowhere.
    """

    setting: str
    schemas: tuple[str, ...]
    first: str | None


def take_path(connection: psycopg.Connection) -> OwnPath:
    """Remember the session's path and set `SAFE_PATH`."""
    row = connection.execute(_TAKE, [SAFE_PATH]).fetchone()
    assert row is not None
    return OwnPath(str(row[0]), tuple(row[1]), row[2])


class Names:
    """The person's own path on a session whose path is `SAFE_PATH`."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._own = take_path(connection)

    @contextmanager
    def as_written(self) -> Iterator[None]:
        """Run SQL that the caller wrote himself, with names as he knows them; he may set another path or role."""
        given = not is_failed(self._connection)
        if given:
            self._connection.execute(_SET, [self._own.setting])
        try:
            yield
        finally:
            # A rollback takes the path back to what it was before; in a failed transaction nothing can be set.
            if not self._connection.closed and not is_failed(self._connection):
                if given:
                    self._own = take_path(self._connection)
                else:
                    self._connection.execute(_SET, [SAFE_PATH])

    def relation(self, name: str) -> Relation:
        """A table or view by what a person wrote.

        Raises:
            DatabaseError: there is none, or tables of several schemas of the path have this name.
        """
        parts = split_name(name)
        tries: list[tuple[str | None, str]] = [(None, name)]
        if len(parts) in (1, 2):
            tries.append((parts[0] if len(parts) == 2 else None, parts[-1]))
        for schema, table in tries:
            place = schema or self._place(table)
            rows = (
                self._connection.execute(_COLUMNS, {"schema": place, "name": table}).fetchall()
                if place
                else []
            )
            if rows:
                columns = tuple(_column(*row[3:]) for row in rows)
                return Relation(TableRef(rows[0][0], rows[0][1]), columns, rows[0][2])
        raise DatabaseError(
            f"no table or view {name} in this database; names are table or schema.table, in the exact spelling"
        )

    def _place(self, table: str) -> str | None:
        """The schema of the path that has the table."""
        binds = {"schemas": list(self._own.schemas), "name": table}
        found = [str(row[0]) for row in self._connection.execute(_PLACES, binds).fetchall()]
        # Whoever may create in an earlier schema could put a table of his own before the one that is meant.
        if len(found) > 1 and not found[0].startswith("pg_"):
            raise DatabaseError(
                f"{table} is a table or view of several schemas of the search_path: {', '.join(found)}; write schema.table"
            )
        return found[0] if found else None

    def first(self) -> str:
        """The schema of a new table whose name says none.

        Raises:
            DatabaseError: no schema of the path is there.
        """
        if self._own.first is None:
            raise DatabaseError(
                f"no schema of the search_path ({self._own.setting}) exists; write schema.table"
            )
        return self._own.first


def _column(
    name: str, shown: str, category: str, type_name: str, own_operators: bool, collation: str | None, deterministic: bool
) -> Column:  # fmt: skip
    return Column(name, shown, _kind(category, "text" if _is_citext(type_name, own_operators) else shown),
                  own_operators, collation, deterministic, _WITHOUT_HASH.fullmatch(shown) is None)  # fmt: skip


_WITHOUT_HASH = re.compile(
    r"(json|jsonpath|xml|money|bit|bit varying|tsvector|tsquery|point|line|lseg|box|path|polygon|circle)(\(\d+\))?(\[\])*",
    re.IGNORECASE,
)
"""Builtin types that PostgreSQL cannot hash; most of them have no equality either."""


def _is_citext(type_name: str, own_operators: bool) -> bool:
    return own_operators and type_name == "citext"


def _kind(category: str, shown: str) -> Kind:
    if category == "e":
        return "enum"
    if category == "d" or shown.endswith("]"):
        return "other"
    if shown.startswith("timestamp"):
        return "timestamp"
    return _KINDS.get(shown.split("(", maxsplit=1)[0], "other")
