"""The tables that clients see: one for each release, with the name and the columns of the source."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, Relation, TableRef
from sqlanon.engines.lacks import require
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.lake_names import lake_of
from sqlanon.query.release import Field, ReaderRelease, describe, is_of_counts, read_metadata, relation_of
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.private_tables import METADATA, private_table
from sqlanon.release.catalog.views import metadata_of, spell_table
from sqlanon.serve.values import BOOL, DATE, FLOAT8, INT8, NUMERIC, TEXT, TIMESTAMP, Column, find_type

SCHEMA = "public"
"""Schema of a table if the schema of the source is not known."""
CATALOGS = ("pg_catalog", "information_schema")
"""Schemas that have the catalog alone."""
PUBLISHED = "release"
"""The schema of served releases where the database has no catalog."""

_KINDS = {"boolean": BOOL, "date": DATE, "float": FLOAT8, "integer": INT8, "timestamp": TIMESTAMP, "decimal": NUMERIC}
_EXACT = frozenset({"integer", "timestamp"})
"""Kinds with types that differ in more than digits."""


@dataclass(frozen=True)
class ServedTable:
    """A release as a table.

    Attributes:
        schema, name: names of the table.
        view: the release's view, as SQL names it.
        view_schema, view_name: the same in parts.
        columns: the source's, without those that the release leaves out.
        comments: form of publication of each column.
        release: the release's name.
        version: number of the version.
        comment: description of the release.
        facts: metadata of the release, different for each version.
        source_types: type of each column in the source; "": a user-defined type.
    """

    schema: str
    name: str
    view: str
    view_schema: str
    view_name: str
    columns: tuple[Column, ...]
    comments: tuple[str, ...]
    release: str
    version: int
    comment: str
    facts: tuple[object, ...]
    source_types: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Reader:
    """The reader with the rights of every query.

    Attributes:
        role: a role of the database; None: the connected role's.
        owner: confirmed that the role may read sources.
        releases: the views that are served; empty: all.
    """

    role: str | None
    owner: bool = False
    releases: tuple[str, ...] = ()


def check_reader(engine: Engine, reader: Reader) -> None:
    """Refuse a reader who could read more than releases.

    Raises:
        PolicyError: the private schema or a source is readable, or the role that counts is not known.
        UnsupportedError: a role is named, and the database has none.
        DatabaseError: there is no such role, or the connected role may not act as it.
    """
    if reader.role is not None:
        require(engine, "query --as")
        if engine.rights is not None:
            with engine.rights.acting_as(reader.role, 60.0):
                pass
    if reader.owner:
        return
    if engine.rights is None:
        if engine.exists(private_table(engine, "catalog")):
            raise PolicyError(
                "this database has the private tables of its releases, and no roles: a mistake here would show them; "
                "publish into a file of its own (publish_file) and serve that one, or confirm with --owner"
            )
        return
    if reader.role is None:
        raise PolicyError("--as ROLE is wanted: whose rights do the queries have? Or confirm with --owner")
    if engine.rights.can_use(reader.role, PRIVATE_SCHEMA):
        raise PolicyError(
            f"role {reader.role} may use the private schema {PRIVATE_SCHEMA}, which has the sources' values; name a "
            "role that reads releases only, or confirm with --owner"
        )


def read_served(engine: Engine, reader: Reader) -> tuple[ServedTable, ...]:
    """The tables of a database that a reader may read.

    Raises:
        PolicyError: the reader may read a source (not with ``owner``), or a named view is no release.
        DatabaseError: the database does not answer.
    """
    check_reader(engine, reader)
    views = _views(engine, reader.releases)
    pairs = []
    for view, source in views:
        if reader.role is not None and engine.rights and not engine.rights.can_select(reader.role, view.ref):
            if reader.releases:
                raise PolicyError(f"role {reader.role} may not read {view.ref}; grant it the view")
            continue
        rows = read_metadata(engine, view.ref)
        if not reader.releases and is_of_counts(rows):
            continue  # it answers no query; who names it is refused
        released = describe(engine, view, rows)
        _check_source(engine, reader, source, released)
        pairs.append((released, source or released.source))
    bare = Counter(_place(engine, source) for _, source in pairs)
    return tuple(
        _make_served(engine, released, source, unique=bare[_place(engine, source)] == 1) for released, source in pairs
    )


def _views(engine: Engine, view_names: Sequence[str]) -> list[tuple[Relation, str]]:
    """The views of releases, each with the source's name in the catalog; empty: not known."""
    try:
        places = Catalog(engine).places()
    except DatabaseError:  # a reader's own connection sees no catalog
        places = []
    listed = {
        TableRef(place.view_schema, place.view_name): place.source
        for place in places
        if place.view_name and not place.file
    }
    sources = {(ref.schema, ref.name): source for ref, source in listed.items()}
    if view_names:
        pairs = []
        for name in view_names:
            view = relation_of(engine, name)
            if view is None or not engine.exists(metadata_of(view.ref)):
                raise PolicyError(f"--release {name}: no such view of a release in this database")
            pairs.append((view, sources.get((view.ref.schema, view.ref.name), "")))
        return pairs
    if not listed:
        place = engine.target(f"{PUBLISHED}.x")
        tables = engine.look_up([], schema=place).tables
        names = sorted(name.removesuffix(METADATA) for name in tables if name.endswith(METADATA))
        listed = {TableRef(place.schema, name): "" for name in names if name in tables}
    views = ((relation_of(engine, spell_table(ref)), source) for ref, source in listed.items())
    return [(view, source) for view, source in views if view is not None and engine.exists(metadata_of(view.ref))]


def _check_source(engine: Engine, reader: Reader, source: str, released: ReaderRelease) -> None:
    if reader.owner:
        return
    names = {name for name in (source, released.source) if name}
    tables = {relation.ref for name in names if (relation := relation_of(engine, name)) is not None}
    for ref in tables - {released.view.ref}:
        if engine.rights is None or (reader.role and engine.rights.can_select(reader.role, ref)):
            who = f"role {reader.role} may read" if engine.rights else "this database has"
            raise PolicyError(
                f"{who} {ref}, the source of {released.view.ref}; name a role that may not, or confirm with --owner"
            )


def _make_served(engine: Engine, released: ReaderRelease, source: str, *, unique: bool) -> ServedTable:
    view = released.view.ref
    schema, name = _place(engine, source) if unique else (view.schema or SCHEMA, view.name)
    if schema.lower() in CATALOGS:
        schema = SCHEMA
    facts = json.loads(str(next(row[5] for row in released.metadata if row[0] == "")))
    how = ", ".join(f"{key}={facts[key]}" for key in ("k", "l") if facts.get(key) not in (None, "", "1"))
    version = int(facts.get("version", 0))
    comment = f"release {facts.get('release', view.name)}, version {version}, format {released.format}"
    return ServedTable(
        schema,
        name,
        spell_table(view),
        view.schema or "",
        view.name,
        tuple(_column(field) for field in released.fields),
        tuple(_comment(field) for field in released.fields),
        str(facts.get("release", view.name)),
        version,
        f"{comment}{f', {how}' if how else ''}; answers are estimates with bounds",
        released.metadata,
        tuple((field.name, field.source_type if field.kind in _KINDS else "") for field in released.fields),
    )


def _column(field: Field) -> Column:
    kind = _KINDS.get(field.kind, TEXT)
    return Column(field.name, find_type(field.source_type) if field.kind in _EXACT else kind)


def _comment(field: Field) -> str:
    return (
        f"{field.role}, published as {', '.join(field.published)}"
        if field.published
        else f"{field.role}, not published"
    )


def _place(engine: Engine, source: str) -> tuple[str, str]:
    """Schema and name of a source, as the policy writes it; dots in the name of a lake table are part of the name."""
    if lake_of(source) is not None:
        return SCHEMA, source
    try:
        table = exp.to_table(source, dialect=engine.dialect)
    except SqlglotError:
        return SCHEMA, source
    return table.db or SCHEMA, table.name
