"""Apache Spark >= 4.0 through ``pyspark``, in this process or by Spark Connect.

Scratch tables are tables of the private schema.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Self

from pyspark.errors import PySparkException

from sqlanon.engines.base import Column, Found, Relation, TableRef
from sqlanon.engines.spark.errors import condition
from sqlanon.engines.spark.names import parts_of, qualify, quote
from sqlanon.engines.spark.session import Session
from sqlanon.engines.spark.types import collation_of, is_hashable, kind_of, name_of
from sqlanon.errors import DatabaseError, PolicyError

_NAME = re.compile(r"\w+")
_MISSING = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "NO_SUCH_",
    "CATALOG_NOT_FOUND",
    "REQUIRES_SINGLE_PART_NAMESPACE",
)


class SparkEngine(Session):
    """A session of Spark, with tables and views."""

    @property
    def workers(self) -> Self:
        """See `Engine.workers`: the executors."""
        return self

    def relation(self, name: str) -> Relation:
        relation = self._look(self.target(name))
        if relation is None:
            raise DatabaseError(
                f"no table or view {name} in this catalog; names are table, schema.table or catalog.schema.table"
            )
        return relation

    def look_up(self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None) -> Found:
        with self._translate_errors("catalog lookup"):
            there: dict[tuple[str | None, str | None], dict[str, bool] | None] = {}
            places: set[tuple[str | None, str | None]] = {(ref.database, ref.schema) for ref in tables if ref.schema}
            if schema is not None:
                places.add((schema.database, schema.schema))
            for place in places:
                there[place] = self._list_tables(*place)
        relations = {}
        for ref in dict.fromkeys(tables):  # to look at a table takes two calls of the catalog
            listed = there.get((ref.database, ref.schema)) or {}
            is_view = listed.get(ref.name.lower()) if ref.schema else True  # a temporary view has no schema
            if is_view is not None:
                relation = self._look(ref, is_view=is_view)
                if relation is not None:
                    relations[ref] = relation
        relations_by_name = {
            name: relation for name in names if (relation := self._look(self.target(name))) is not None
        }
        of = there.get((schema.database, schema.schema)) if schema is not None else None
        schemas = frozenset(
            str(ref.schema) for ref in tables if ref.schema and there.get((ref.database, ref.schema)) is not None
        )
        return Found(relations, relations_by_name, frozenset(of or ()), schemas, frozenset(tables))

    def _list_tables(self, catalog: str | None, schema: str | None) -> dict[str, bool] | None:
        """Tables and views of a schema, and whether each is a view; None where the schema is missing."""
        place = ".".join(quote(part) for part in (catalog or self._catalog, schema) if part)
        try:
            tables = self._session.sql(f"SHOW TABLES IN {place}").collect()
            views = self._session.sql(f"SHOW VIEWS IN {place}").collect()
        except PySparkException as error:
            if condition(error).startswith(_MISSING):
                return None
            raise
        is_view = {str(row[1]).lower(): False for row in tables if not row[2]}
        return is_view | {str(row[1]).lower(): True for row in views if not row[2]}

    def _look(self, ref: TableRef, *, is_view: bool | None = None) -> Relation | None:
        with self._translate_errors("catalog lookup"):
            try:
                # Rows that another session has written are not in this session's list of files.
                self._session.catalog.refreshTable(qualify(ref))
                fields = self._session.table(qualify(ref)).schema.fields
            except PySparkException as error:
                if condition(error).startswith(_MISSING):
                    return None
                raise
            if is_view is None:
                is_view = (self._list_tables(ref.database, ref.schema) or {}).get(ref.name.lower(), False)
        columns = []
        for field in fields:
            text = field.dataType.simpleString()
            collation = collation_of(text)
            columns.append(
                Column(
                    field.name,
                    name_of(text),
                    kind_of(name_of(text)),
                    collation=collation,
                    deterministic=collation is None,
                    hashable=is_hashable(text),
                )
            )
        return Relation(ref, tuple(columns), is_view)

    def exists(self, ref: TableRef) -> bool:
        with self._translate_errors("catalog lookup"):
            there = bool(self._session.catalog.tableExists(qualify(ref)))
            if there:
                self._session.catalog.refreshTable(qualify(ref))
            return there

    def has_schema(self, ref: TableRef) -> bool:
        with self._translate_errors("catalog lookup"):
            place = ".".join(quote(part) for part in (ref.database or self._catalog, ref.schema) if part)
            return bool(self._session.catalog.databaseExists(place))

    def target(self, name: str) -> TableRef:
        parts = parts_of(name)
        schema = parts[-2] if len(parts) > 1 else self._current
        catalog = parts[0] if len(parts) == 3 else self._catalog
        for part in parts:
            if len(part.encode()) > self.capabilities.max_identifier:
                raise PolicyError(f"a part of {name!r} is longer than {self.capabilities.max_identifier} bytes")
        return TableRef(schema, parts[-1], catalog)

    def hold(self, view: TableRef) -> None:
        """Without transactions nothing is held."""

    def dependents(self, view: TableRef) -> list[str]:
        """Spark binds a view when it is read: altering a view keeps the objects that depend on it."""
        return []

    def list_dependents(self, views: Sequence[TableRef]) -> list[str]:
        """See `Engine.list_dependents`: views of the same and of the current schema with the name in the text."""
        ours = {(view.schema, view.name.lower()) for view in views}
        names = {view.name.lower() for view in views}
        places = {(view.database, view.schema) for view in views} | {(self._catalog, self._current)}
        relying_views = []
        with self._translate_errors("catalog lookup"):
            for catalog, schema in places:
                for name, is_view in (self._list_tables(catalog, schema) or {}).items():
                    if is_view and (schema, name) not in ours:
                        text = self._text_of(TableRef(schema, name, catalog)) or ""
                        if names & {word.lower() for word in _NAME.findall(text)}:
                            relying_views.append(f"view {schema}.{name}")
        return sorted(relying_views)

    def definition(self, view: TableRef) -> str | None:
        with self._translate_errors("catalog lookup"):
            return self._text_of(view)

    def _text_of(self, view: TableRef) -> str | None:
        try:
            rows = self._session.sql(f"DESCRIBE TABLE EXTENDED {qualify(view)}").collect()
        except PySparkException as error:
            if condition(error).startswith(_MISSING):
                return None
            raise
        return next((str(row[1]) for row in rows if row[0] == "View Text"), None)
