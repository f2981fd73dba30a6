"""Search for the release that a query's FROM means, and the tables that it may join.

The results are kept for each connection.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from sqlanon.engines.base import Bind, Engine, Relation, Row, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.lake_names import lake_of
from sqlanon.query.boxes.kept_classes import SessionTables, check_view, forget_kept, keep_classes
from sqlanon.query.counts.release import describe_counts
from sqlanon.query.noisy.release import describe_noisy
from sqlanon.query.release import ReaderRelease, describe, is_noisy, is_of_cells, read_metadata, relation_of
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.private_tables import SYNTHETIC, private_table
from sqlanon.release.catalog.reader import Place
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.release.catalog.views import metadata_of, spell_table, view_of
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import identifier, statement


@dataclass(frozen=True)
class FoundRelease:
    """A release, and the catalog with the rows that its name was found by; None: the metadata alone."""

    released: ReaderRelease
    catalog: TableRef | None = None
    listed: tuple[Row, ...] = ()


class Names(dict[tuple[str, str, str], FoundRelease]):
    """Meanings of the names in a connection's queries, while version and catalog stay the same.

    Attributes:
        tables: the temporary tables of the connection with the classes of versions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tables = SessionTables()


def find_rows(engine: Engine, name: str) -> ReaderRelease:
    """The release of rows that a name means; see `find`.

    Raises:
        UnsupportedError: it has counts.
    """
    released = find(engine, name)
    return describe(engine, released.view, released.metadata)


def find(
    engine: Engine,
    name: str,
    spec: ReleaseSpec | None = None,
    *,
    cached: Names | None = None,
) -> ReaderRelease:
    """The release that ``name`` means: the name of a view, a release, or a source.

    Of a name that is in ``cached`` only the metadata and the catalog are read again, with one statement. Other rows
    there indicate another version, or other releases of that name, and the name is looked up anew.

    Args:
        engine: the database.
        name: as written after FROM, or by the caller.
        spec: a release of the caller's policy; tried if the name of the source or the release is ``name``.
        cached: releases that this connection found before; new ones are added.

    Raises:
        PolicyError: no release, or several, go by that name.
    """
    names = Names() if cached is None else cached
    key = (name, spec.name if spec else "", (spec.publish or spec.source) if spec else "")
    before = names.pop(key, None)
    if before is not None:
        try:
            if _read(engine, before.released.view, before.catalog) == (
                before.released.metadata,
                before.listed,
            ):
                names.tables.drop_former(engine)
                check_view(engine, before.released)
                names[key] = before
                return before.released
        except DatabaseError:
            pass  # it was withdrawn
        forget_kept(engine, before.released)
    view, direct = _view(engine, name, spec)
    catalog, lasting = (None, False) if cached is None else (None, True) if direct else _watch_catalog(engine)
    rows, listed = _read(engine, view, catalog)
    # The view's columns are read after the metadata, since `ask` compares these again after all that it reads.
    shown = engine.relation(spell_table(view.ref))
    released = _describe(engine, shown, rows)
    # Metadata without a token may be those of two versions. The list of the catalog may have changed since the name was
    # looked up: it has to mean the same after the catalog's rows were read.
    if released.token and lasting and (catalog is None or _view(engine, name, spec)[0].ref == view.ref):
        names[key] = FoundRelease(released, catalog, listed)
        if engine.capabilities.session_tables:
            keep_classes(released, names.tables)
    return released


def forget(engine: Engine, names: Names) -> None:
    """Forget the releases that a connection knows, and drop the tables that it keeps of them."""
    for cached in names.values():
        forget_kept(engine, cached.released)
    names.clear()


def _describe(engine: Engine, view: Relation, rows: tuple[Row, ...]) -> ReaderRelease:
    if is_of_cells(rows):
        return describe_counts(view, rows)
    return describe_noisy(view, rows) if is_noisy(rows) else describe(engine, view, rows)


def is_replaced(engine: Engine, released: ReaderRelease, *, unreadable: bool) -> bool:
    """Whether a view shows another version by now; ``unreadable``: the result where the metadata cannot be read."""
    try:
        return read_metadata(engine, released.view.ref) != released.metadata
    except DatabaseError:
        return unreadable


def _read(engine: Engine, view: Relation, catalog: TableRef | None) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The metadata of a view, and the catalog's entries, at one moment."""
    if catalog is None:
        return read_metadata(engine, view.ref), ()
    query = statement(
        "query/state",
        engine.dialect,
        metadata=metadata_of(view.ref),
        columns=[name for name, _ in COLUMNS],
        catalog=catalog,
        all=not engine.updates,
    )
    parts: tuple[list[Row], list[Row]] = ([], [])
    for part, *row in engine.fetch(query):
        parts[read_integer(part)].append(tuple(row))
    return tuple(parts[0]), tuple(parts[1])


def _watch_catalog(engine: Engine) -> tuple[TableRef | None, bool]:
    """The catalog that gives names their meaning, None where this role sees none; and whether names may be kept by it.

    A catalog that another role could replace by a view is read with precautions only (`Catalog.entries`).
    """
    catalog = Catalog(engine)
    try:
        if not engine.exists(catalog.table):
            return None, True
        catalog.releases()
    except DatabaseError:
        return None, True
    try:
        catalog.guard()
    except DatabaseError:
        return None, False
    return catalog.table, True


def _view(engine: Engine, name: str, spec: ReleaseSpec | None) -> tuple[Relation, bool]:
    """The view that a name means, and whether the name is the view's own."""
    direct = relation_of(engine, name)
    if direct is not None and engine.exists(metadata_of(direct.ref)):
        return direct, True
    if direct is not None and direct.ref.name.endswith(SYNTHETIC):
        statistics = replace(direct.ref, name=direct.ref.name.removesuffix(SYNTHETIC))
        if engine.exists(metadata_of(statistics)):
            raise PolicyError(
                f"{direct.ref} has synthetic rows, which have no bounds and no intervals: ask {statistics}, of whose "
                "noisy tables they were drawn; the database itself answers any SQL about the rows"
            )
    is_release = spec is not None and (_same(name, spec.source) or _same(name, spec.name))
    for tier in (
        [_view_of(engine, spec)] if is_release and spec is not None else [],
        _in_catalog(engine, name, direct),
        [_default(engine, name)],
    ):
        relations = {}
        for view in tier:
            relation = relation_of(engine, spell_table(view))
            if relation is not None and engine.exists(metadata_of(relation.ref)):
                relations[relation.ref] = relation
        if len(relations) > 1:
            names = ", ".join(sorted(str(ref) for ref in relations))
            raise PolicyError(f"{name} has several releases: {names}; name one of them")
        if relations:
            return next(iter(relations.values())), False
    views = sorted(
        {str(TableRef(place.view_schema, place.view_name)) for place in _list_published(engine) if place.view_name}
    )
    raise PolicyError(
        f"no release goes by the name {name} in this database; name a published view, or the table that it was made "
        f"of: {', '.join(views) or 'such as release.patients'}"
    )


def dimensions_of(engine: Engine, released: ReaderRelease, spec: ReleaseSpec | None) -> frozenset[TableRef]:
    """The tables that queries over a release may join.

    They are those of the caller's policy if it is for this release, else those of the catalog.
    """
    view = released.view.ref
    if spec is not None and _place(_view_of(engine, spec)) == _place(view):
        names = list(spec.dimensions)
    else:
        names = _list_dimensions(engine, view)
    relations = (relation_of(engine, name) for name in names)
    return frozenset(relation.ref for relation in relations if relation is not None)


def _list_dimensions(engine: Engine, view: TableRef) -> list[str]:
    """The dimensions of a published view, as the catalog has them; a reader without rights to the catalog sees none."""
    catalog = private_table(engine, "catalog")
    binds: dict[str, Bind] = {"schema": view.schema, "name": view.name}
    if not engine.updates:  # of several rows of a version the last one counts
        entries = Catalog(engine).entries(statuses=("published",), views=[view])
        policies = [entry.policy for entry in entries if entry.view and _place(entry.view) == _place(view)]
        return [name for policy in policies for name in policy.get("dimensions") or ()]
    try:
        with guard_reading(engine, catalog):
            rows = engine.fetch(statement("query/policy", engine.dialect, binds, catalog=catalog))
    except DatabaseError:
        return []
    return [name for row in rows for name in json.loads(str(row[0])).get("dimensions") or ()]


def _place(view: TableRef) -> tuple[str | None, str]:
    return view.schema, view.name


def _list_published(engine: Engine) -> list[Place]:
    """The releases that the catalog lists as published; a reader without rights to the catalog sees nothing."""
    try:
        return Catalog(engine).places()
    except DatabaseError:
        return []


def _view_of(engine: Engine, spec: ReleaseSpec) -> TableRef:
    """The view of a policy's release; a view in a separate file is looked for without the source."""
    return view_of(engine, spec) if spec.publish else _default(engine, spec.source)


def _default(engine: Engine, name: str) -> TableRef:
    return engine.target(f"release.{identifier(_bare(name))}")


def _in_catalog(engine: Engine, name: str, direct: Relation | None) -> list[TableRef]:
    """The published releases of that name or source."""
    views = []
    database = Catalog(engine).table.database
    for entry in _list_published(engine):
        if not entry.view_name or entry.file:
            continue
        if entry.release == name or _same(entry.source, name) or _is(engine, entry.source, direct):
            views.append(TableRef(entry.view_schema, entry.view_name, database))
    if lake_of(name) is not None:
        views += [entry.view for entry in Catalog(engine).list_in_lake(name) if entry.view is not None]
    return views


def _is(engine: Engine, name: str, direct: Relation | None) -> bool:
    """Whether a table's name, as a policy writes it, means the table that was found."""
    if direct is None or not f".{_fold(name)}".endswith(f".{_fold(direct.ref.name)}"):
        return False  # without asking the database
    meant = relation_of(engine, name)
    return meant is not None and meant.ref == direct.ref


def _bare(name: str) -> str:
    lake = lake_of(name)
    return lake.table if lake else name.rsplit(".", 1)[-1].strip('"')


def _same(first: str, second: str) -> bool:
    return _fold(first) == _fold(second)


def _fold(name: str) -> str:
    return name.replace('"', "").lower()
