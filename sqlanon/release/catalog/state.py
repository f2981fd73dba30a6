"""State of a release: catalog rows, views, tables and secret.

It is read once, under the release's lock.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlanon.engines.base import Engine, LookupResult, Relation, TableRef
from sqlanon.engines.names import split_name
from sqlanon.lake_names import lake_of
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.recorded_method import keep_method
from sqlanon.release.catalog.views import default_view, public_view, second_of_spec, views_beside
from sqlanon.spec import ReleaseSpec

SHOWN = ("published", "withdrawn", "replaced", "dropped")
"""States of versions that readers had, the latest first."""
UNSETTLED = ("pending", "returning", "withdrawing")
"""States between two steps."""


@dataclass(frozen=True, slots=True)
class ReleaseState:
    """A release with the related objects of the database.

    The holder of the release's lock may use it until it changes something: no other session writes the catalog's rows
    of this release or its private tables. Views are other people's as well: the publishing transaction looks them up
    again.

    Attributes:
        engine: the source's database.
        spec: the release.
        versions: the catalog's rows of this release that a run needs, by version, as `CatalogReader.live` chooses them.
        beside: the published versions of other releases that have the same source or perhaps the same place.
        secret: key of the release's hashes; None before the first version.
        tokens: key of the pseudonyms, unless the environment holds it; ``fresh``: the key is not stored yet. Empty
            without pseudonyms.
        found: the catalog's tables, the names of all private tables, the source and the views.
        unsettled: the versions of other releases that are between two steps; None: they were not read.
    """

    engine: Engine
    spec: ReleaseSpec
    versions: tuple[Entry, ...]
    beside: tuple[Entry, ...]
    secret: str | None
    found: LookupResult
    tokens: str = field(default="", repr=False)
    fresh: bool = False
    unsettled: tuple[Entry, ...] | None = None

    @property
    def source(self) -> Relation:
        """The released table.

        Raises:
            DatabaseError: there is no such table.
        """
        return self.found.named.get(self.spec.source) or self.engine.relation(self.spec.source)

    @property
    def view(self) -> TableRef:
        """The public view; ``release.<source table>`` unless the policy names a view."""
        return _view(self.engine, self.spec, self.source)

    @property
    def published(self) -> Entry | None:
        """The published version."""
        return next((entry for entry in reversed(self.versions) if entry.status == "published"), None)

    @property
    def last_shown(self) -> Entry | None:
        """The current or last version of readers."""
        return find_last_shown(self.versions)

    def every_version(self) -> list[Entry]:
        """All rows of this release in the catalog, also of versions whose tables were dropped; read now."""
        return Catalog(self.engine).entries(self.spec.name)

    def exists(self, table: TableRef) -> bool:
        """Whether a table or view exists; the database is asked only about objects that were not looked up."""
        private = Catalog(self.engine).table
        if (table.schema, table.database) == (private.schema, private.database):
            return table.name in self.found.tables
        if table in self.found.asked:
            return table in self.found.relations
        return self.engine.exists(table)


def read_state(engine: Engine, spec: ReleaseSpec, *, every: bool = False) -> ReleaseState:
    """Read the state of a release in a few statements.

    The caller holds the release's lock, and has found that the private schema belongs to this role.

    Args:
        engine: the database.
        spec: the release; if it names no method, the state's release has the method of the published version.
        every: read all versions.
    """
    catalog = Catalog(engine)
    lookup = engine.look_up([*catalog.tables, *_views_of_spec(engine, spec)], [spec.source], catalog.table)
    listed = unsettled = None
    if engine.updates:
        versions = tuple(catalog.entries(spec.name) if every else catalog.live(lookup, spec.name))
        secret = catalog.secret_in(lookup, spec.name)
    else:
        listed, secret = catalog.list_with_secret(lookup, spec.name)
        versions = tuple(entry for entry in listed if entry.release == spec.name)
        unsettled = tuple(entry for entry in listed if entry.release != spec.name and entry.status in UNSETTLED)
    spec = keep_method(spec, find_last_shown(versions))
    keyed = spec.scope is not None
    # No run keeps the key of tokens that rotate.
    stored = keyed and not spec.rotates
    key = catalog.secret_in(lookup, scope_secret(str(spec.scope))) if stored else None
    tokens = (secrets.token_hex(32) if key is None else key) if keyed else ""
    return ReleaseState(
        engine,
        spec,
        versions,
        tuple(_find_siblings(engine, spec, lookup, listed)),
        secret,
        lookup,
        tokens,
        stored and key is None,
        unsettled,
    )


def look_up_release(engine: Engine, spec: ReleaseSpec) -> LookupResult | None:
    """The catalog, the source and the possible views of a release, without a lock; None without a catalog of today.

    No private table is listed.
    """
    catalog = Catalog(engine)
    lookup = engine.look_up([*catalog.tables, *_views_of_spec(engine, spec)], [spec.source])
    return lookup if catalog.complete(lookup) and spec.source in lookup.named else None


def glance_at_state(
    engine: Engine, spec: ReleaseSpec, lookup: LookupResult, entries: Sequence[Entry], secret: str
) -> ReleaseState:
    """The state of a release without pseudonyms, as it was read without a lock.

    ``beside`` has all versions of other releases. So it is good for the question whether there is anything to do, and
    for nothing that writes.

    Args:
        engine: the database.
        spec: the release.
        lookup: see `look_up_release`.
        entries: all rows of the catalog.
        secret: key of the release's hashes.
    """
    versions = tuple(entry for entry in entries if entry.release == spec.name)
    beside = tuple(entry for entry in entries if entry.release != spec.name)
    return ReleaseState(engine, keep_method(spec, find_last_shown(versions)), versions, beside, secret, lookup)


def scope_secret(scope: str) -> str:
    """Name of the stored key of a scope's pseudonyms in the private schema."""
    return f"pseudonyms of scope {scope}"


def _view(engine: Engine, spec: ReleaseSpec, source: Relation) -> TableRef:
    if spec.publish:
        return public_view(engine, spec.publish)
    return default_view(engine, source.ref)


def _find_siblings(
    engine: Engine, spec: ReleaseSpec, lookup: LookupResult, listed: Sequence[Entry] | None
) -> list[Entry]:
    source = lookup.named.get(spec.source)
    if source is None:
        return []  # whoever looks at the source says that it is missing
    if listed is not None:
        return [entry for entry in listed if entry.status == "published" and entry.release != spec.name]
    views = views_beside(_view(engine, spec, source), second_of_spec(spec))
    return Catalog(engine).beside(lookup, spec.name, str(source.ref), views)


def _views_of_spec(engine: Engine, spec: ReleaseSpec) -> list[TableRef]:
    """The possible public views with those next to them."""
    return [view for view in _possible_views(engine, spec) for view in views_beside(view, second_of_spec(spec))]


def _possible_views(engine: Engine, spec: ReleaseSpec) -> list[TableRef]:
    """Possible public views; without a name in the policy, the view has the source's name as the database spells it."""
    if spec.publish:
        return [public_view(engine, spec.publish)]
    lake = lake_of(spec.source)
    names = [lake.table] if lake else dict.fromkeys([split_name(spec.source)[-1], spec.source])
    return [replace(engine.target("release.x"), name=name) for name in names]


def find_last_shown(entries: Sequence[Entry]) -> Entry | None:
    """The version that readers have, or the last version if the release was unpublished.

    A new version is compared with it.
    """
    shown = [entry for entry in entries if entry.status in SHOWN]
    return max(shown, key=lambda entry: (-SHOWN.index(entry.status), entry.version), default=None)
