"""Names on PostgreSQL: ours run on a path of the system's schemas alone, names that people write on the path they have.

A role that may create in a schema of somebody's path can plant functions and operators there that fit a call better
than PostgreSQL's own, and run with his rights. So the session's path is `SAFE_PATH`, and the person's own is
remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from sqlanon.engines.base import Column, Kind, LookupResult, Relation, TableRef
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
SELECT 0, n.nspname, c.relname, c.relkind IN ('v', 'm'), a.attname, format_type(a.atttypid, a.atttypmod),
    t.typtype::text, t.typname, (
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
), o.collnamespace::regnamespace::text || '.' || quote_ident(o.collname), COALESCE(o.collisdeterministic, TRUE),
    a.attnum
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_collation AS o ON o.oid = a.attcollation
JOIN (SELECT DISTINCT * FROM unnest(%(schemas)s::text[], %(names)s::text[])) AS w(space, name) ON w.name = c.relname
    AND (n.nspname = w.space OR (w.space IS NULL AND n.oid = pg_my_temp_schema()))
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f')
UNION ALL
SELECT 1, n.nspname, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM pg_namespace AS n
WHERE n.nspname = ANY(%(schemas)s::text[])
UNION ALL
SELECT 2, NULL, c.relname, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(listed)s AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
ORDER BY 1, 12
"""
_KINDS: dict[str, Kind] = {
    "smallint": "integer",
    "integer": "integer",
    "bigint": "integer",
    "numeric": "decimal",
    "real": "float",
    "double precision": "float",
    "boolean": "boolean",
    "date": "date",
    "text": "text",
    "character varying": "text",
    "character": "text",
}


@dataclass(frozen=True, slots=True)
class OwnPath:
    """The search path of the connected role.

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
    """The person's own path on a session with the path `SAFE_PATH`."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._own = take_path(connection)

    @contextmanager
    def as_written(self) -> Iterator[None]:
        """Run SQL that the caller wrote himself, with names as he knows them; he may set another path or role."""
        is_usable = not is_failed(self._connection)
        if is_usable:
            self._connection.execute(_SET, [self._own.setting])
        try:
            yield
        finally:
            # A rollback restores the path; in a failed transaction nothing can be set.
            if not self._connection.closed and not is_failed(self._connection):
                if is_usable:
                    self._own = take_path(self._connection)
                else:
                    self._connection.execute(_SET, [SAFE_PATH])

    def relation(self, name: str) -> Relation:
        """A table or view by a name as a person writes it.

        Raises:
            DatabaseError: there is none, or tables of several schemas of the path have this name.
        """
        relation = self.look_up([], [name], unique=True).named.get(name)
        if relation is None:
            raise DatabaseError(
                f"no table or view {name} in this database; names are table or schema.table, in the exact spelling, "
                "such as public.patients"
            )
        return relation

    def look_up(
        self,
        tables: Sequence[TableRef],
        names: Sequence[str] = (),
        schema: TableRef | None = None,
        *,
        unique: bool = False,
    ) -> LookupResult:
        """See `Engine.look_up`; with ``unique``, a name that means tables of several schemas is an error."""
        meant = {name: self._places(name) for name in names}
        refs_asked = list(
            dict.fromkeys([*tables, *(ref for tries in meant.values() for refs in tries for ref in refs)])
        )
        binds = {
            "schemas": [ref.schema for ref in refs_asked],
            "names": [ref.name for ref in refs_asked],
            "listed": schema.schema if schema else None,
        }
        columns: dict[tuple[str, str], list[Column]] = {}
        views: dict[tuple[str, str], bool] = {}
        there, listed = set(), set()
        for kind, space, name, is_view, *rest in self._connection.execute(_COLUMNS, binds).fetchall():
            if kind == 0:
                columns.setdefault((space, name), []).append(_column(*rest[:-1]))
                views[space, name] = is_view
            elif kind == 1:
                there.add(str(space))
            else:
                listed.add(str(name))
        temporary = {name: space for space, name in columns if space.startswith("pg_temp")}
        relations = {}
        for ref in refs_asked:
            key = (ref.schema or temporary.get(ref.name, ""), ref.name)
            if key in columns:
                relations[ref] = Relation(TableRef(*key), tuple(columns[key]), views[key])
        relations_by_name = {}
        for name, tries in meant.items():
            place = next((index for refs in tries if (index := _first(relations, refs, unique=unique))), None)
            if place is not None:
                relations_by_name[name] = place
        return LookupResult(relations, relations_by_name, frozenset(listed), frozenset(there), frozenset(tables))

    def _places(self, name: str) -> list[list[TableRef]]:
        """Possible meanings of a name, as a list of tries.

        Each try lists the schemas of the search path, or is the schema in the name.
        """
        parts = split_name(name)
        tries = [[TableRef(schema, name) for schema in self._own.schemas]]
        if len(parts) == 2:
            tries.append([TableRef(parts[0], parts[1])])
        elif len(parts) == 1:
            tries.append([TableRef(schema, parts[0]) for schema in self._own.schemas])
        return tries

    def first(self) -> str:
        """The schema of a new table without a schema in the name.

        Raises:
            DatabaseError: no schema of the path is there.
        """
        if self._own.first is None:
            raise DatabaseError(f"no schema of the search_path ({self._own.setting}) exists; write schema.table")
        return self._own.first


def _first(relations: Mapping[TableRef, Relation], places: Sequence[TableRef], *, unique: bool) -> Relation | None:
    """The table of the first schema that has such a table; where several have, an error or nothing."""
    matching = [ref for ref in places if ref in relations]
    # A role that may create in an earlier schema could put a table of its own before the intended table.
    if len(matching) > 1 and not str(matching[0].schema).startswith("pg_"):
        if not unique:
            return None
        raise DatabaseError(
            f"{matching[0].name} is a table or view of several schemas of the search_path: "
            f"{', '.join(str(ref.schema) for ref in matching)}; write schema.table"
        )
    return relations[matching[0]] if matching else None


def _column(
    name: str,
    shown: str,
    category: str,
    type_name: str,
    own_operators: bool,
    collation: str | None,
    deterministic: bool,
) -> Column:
    return Column(
        name,
        shown,
        _kind(category, "text" if _is_citext(type_name, own_operators) else shown),
        own_operators,
        collation,
        deterministic,
        _WITHOUT_HASH.fullmatch(shown) is None,
    )


_WITHOUT_HASH = re.compile(
    r"(json|jsonpath|xml|money|bit|bit "
    r"varying|tsvector|tsquery|point|line|lseg|box|path|polygon|circle)(\(\d+\))?(\[\])*",
    re.IGNORECASE,
)
"""Builtin types that PostgreSQL cannot hash; most of them have no equality either."""


def _is_citext(type_name: str, own_operators: bool) -> bool:
    return own_operators and type_name == "citext"


def kind_of(shown: str) -> Kind:
    """The kind of a builtin type, as the system catalog writes it."""
    return _kind("b", shown)


def _kind(category: str, shown: str) -> Kind:
    if category == "e":
        return "enum"
    if category == "d" or shown.endswith("]"):
        return "other"
    if shown.startswith("timestamp"):
        return "timestamp"
    return _KINDS.get(shown.split("(", maxsplit=1)[0], "other")
