"""Find the release that a query's FROM means, and read what its metadata table tells of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlanon.engines.base import Column, Engine, Relation, TableRef
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.formats import Format, format_of
from sqlanon.release.store.catalog import Catalog, Entry
from sqlanon.release.store.metadata import COLUMNS
from sqlanon.release.store.swap import spelled
from sqlanon.release.store.target import metadata_of, sensitive_of, view_of
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import identifier, statement


@dataclass(frozen=True)
class Field:
    """One published source column, as the metadata tell it.

    Attributes:
        name: the source's name for it.
        role: quasi, sensitive or insensitive.
        treatment: ordered, nominal or hierarchy; "" unless quasi.
        kind: of its type: integer, float, decimal, boolean, date, timestamp, text, enum or other.
        source_type: the type's name in the source.
        published: the columns of the view.
        declared: what the policy declares of its domain.
        collation: SQL for the COLLATE of a text column in the source; None: not known, or the engine has none.
        deterministic: values that are equal in the source have the same text.
    """

    name: str
    role: str
    treatment: str
    kind: str
    source_type: str
    published: tuple[str, ...]
    declared: Mapping[str, Any] = field(default_factory=dict)
    collation: str | None = None
    deterministic: bool = True


@dataclass(frozen=True)
class Released:
    """A release as a reader sees it: the view, its columns, and where there is one the table of sensitive values by group.

    ``source`` is the table it was made of, as the policy writes it.
    """

    view: Relation
    format: str
    fields: tuple[Field, ...]
    group: str | None = None
    sensitive: Relation | None = None
    source: str = ""

    @property
    def form(self) -> Format:
        """How it was published.

        Raises:
            PolicyError: a newer sqlanon made it, in a format that this one does not know.
        """
        return format_of(self.format)

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns of the view that make its groups: what is the same in them is one group."""
        if self.group is not None:
            return (self.group,)
        return tuple(name for own in self.fields if own.role == "quasi" for name in own.published)

    def source_in(self, engine: Engine) -> TableRef | None:
        """The table it was made of, where this database has it and shows it."""
        found = _relation(engine, self.source) if self.source else None
        return found.ref if found is not None else None

    def column(self, name: str) -> Column:
        """A column of the view."""
        return next(column for column in self.view.columns if column.name == name)


def find(engine: Engine, name: str, spec: ReleaseSpec | None = None, *, given: bool = False) -> Released:
    """The release that ``name`` means: a release's view, a release's name, or a source's.

    Args:
        engine: the database.
        name: as written after FROM, or by the caller.
        spec: a release of the caller's policy; tried if its source or its name is ``name``.
        given: ``name`` is the caller's own choice of a release.

    Raises:
        PolicyError: no release, or several, go by that name.
    """
    direct = _relation(engine, name)
    if direct is not None and engine.exists(metadata_of(direct.ref)):
        return read(engine, direct)
    named = spec is not None and (given or _same(name, spec.source) or _same(name, spec.name))
    for tier in (
        [_view_of(engine, spec)] if named and spec is not None else [],
        _in_catalog(engine, name, direct),
        [_default(engine, name)],
    ):
        found = {}
        for view in tier:
            known = _relation(engine, spelled(view))
            if known is not None and engine.exists(metadata_of(known.ref)):
                found[known.ref] = known
        if len(found) > 1:
            names = ", ".join(sorted(str(ref) for ref in found))
            raise PolicyError(f"{name} has several releases: {names}; name one of them")
        if found:
            return read(engine, next(iter(found.values())))
    raise PolicyError(
        f"no release goes by the name {name} in this database; name a published view, or the table that it was made of"
    )


def dimensions_of(engine: Engine, released: Released, spec: ReleaseSpec | None = None) -> frozenset[TableRef]:
    """The tables that queries over a release may join: those of the caller's policy for it, else those of the catalog's."""
    view = (released.view.ref.schema, released.view.ref.name)
    names: list[str] = []
    if spec is not None and _place(_view_of(engine, spec)) == view:
        names = list(spec.dimensions)
    else:
        for entry in _published(engine):
            if entry.view is not None and _place(entry.view) == view:
                names = list(entry.policy.get("dimensions") or ())
    found = (_relation(engine, name) for name in names)
    return frozenset(relation.ref for relation in found if relation is not None)


def _place(view: TableRef) -> tuple[str | None, str]:
    return view.schema, view.name


def _published(engine: Engine) -> list[Entry]:
    """What the catalog says is published; a reader without rights to the catalog sees nothing."""
    try:
        return [entry for entry in Catalog(engine).entries() if entry.status == "published"]
    except DatabaseError:
        return []


def _view_of(engine: Engine, spec: ReleaseSpec) -> TableRef:
    """The view of a policy's release; one in a file of its own is looked for without its source."""
    return view_of(engine, spec) if spec.publish else _default(engine, spec.source)


def _default(engine: Engine, name: str) -> TableRef:
    return engine.target(f"release.{identifier(_bare(name))}")


def read(engine: Engine, view: Relation) -> Released:
    """Read the metadata beside a view.

    Raises:
        PolicyError: they are not those of a release of ours.
    """
    beside = metadata_of(view.ref)
    rows = engine.fetch(
        statement("query/metadata", engine.dialect, metadata=beside, columns=[n for n, _ in COLUMNS])
    )
    own = next((row for row in rows if row[0] == ""), None)
    if own is None:
        raise PolicyError(f"{beside} does not describe a release")
    facts = json.loads(str(own[5]))
    types, collations = facts.get("types", {}), facts.get("collations", {})
    fields = tuple(
        Field(
            str(row[0]), str(row[1]), str(row[2]), types.get(row[0], "other"), str(row[4]),
            tuple(json.loads(str(row[5]))), json.loads(str(row[6])) if row[6] else {},
            collations.get(row[0]), row[0] not in facts.get("equal_unlike", ()),
        )
        for row in rows
        if row[0] != ""
    )  # fmt: skip
    sensitive = engine.relation(spelled(sensitive_of(view.ref))) if "sensitive_view" in facts else None
    return Released(
        view, str(own[3]), fields, facts.get("group_column"), sensitive, str(facts.get("source", ""))
    )


def _relation(engine: Engine, name: str) -> Relation | None:
    try:
        return engine.relation(name)
    except DatabaseError:
        return None


def _in_catalog(engine: Engine, name: str, direct: Relation | None) -> list[TableRef]:
    """The published releases of that name or source."""
    found = []
    for entry in _published(engine):
        if entry.view is None:
            continue
        if entry.release == name or _same(entry.source, name) or _is(engine, entry.source, direct):
            found.append(entry.view)
    return found


def _is(engine: Engine, name: str, direct: Relation | None) -> bool:
    """Whether a table's name, as a policy writes it, means the table that was found."""
    if direct is None or _folded(direct.ref.name) not in _folded(name):
        return False  # without asking the database
    meant = _relation(engine, name)
    return meant is not None and meant.ref == direct.ref


def _bare(name: str) -> str:
    return name.rsplit(".", 1)[-1].strip('"')


def _same(first: str, second: str) -> bool:
    return _folded(first) == _folded(second)


def _folded(name: str) -> str:
    return name.replace('"', "").lower()
