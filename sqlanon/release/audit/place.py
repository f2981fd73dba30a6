"""Place of the audited table.

It is the session's database, or the file into which a release of it was published.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.release.audit.audit_pair import facts_beside
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import version_in
from sqlanon.release.catalog.views import spell_table, view_of, views_of
from sqlanon.spec import ReleaseSpec


@dataclass(frozen=True, slots=True)
class Place:
    """Table or view to audit.

    Attributes:
        relation: the table or view.
        entry: the catalog's version that it shows; None without a version, or if the session may not read the catalog.
        file: the file of the table; None if the table is in the session's database.
    """

    relation: Relation
    entry: Entry | None
    file: str | None

    @property
    def shown(self) -> str:
        """For people."""
        return f"{self.relation.ref} in {self.file}" if self.file else str(self.relation.ref)


@contextmanager
def open_place(engine: Engine, table: str, spec: ReleaseSpec | None) -> Iterator[Place]:
    """The table, while the file of the table is open.

    A release that went into another file is read there if the session is on the source's database, which has the
    private tables of persons and classes. On the file itself they are out of reach.

    Args:
        engine: the session.
        table: the table's name.
        spec: the release of a policy that the table is audited against.
    """
    if spec is not None and spec.publish_file and engine.second_file:
        entry = next(
            (published for published in _find_published(engine, release=spec.name) if published.file),
            None,
        )
        view = view_of(engine, spec) if entry else None
        if entry and view and view == engine.target(table):
            file_entry = replace(entry, file=spec.publish_file)
            entry_in_file = file_entry if version_in(engine, file_entry) == file_entry.version else None
            with engine.second_file.attach(spec.publish_file, read_only=True) as database:
                relation = engine.relation(spell_table(replace(view, database=database)))
                yield Place(relation, entry_in_file, spec.publish_file)
            return
    relation = engine.relation(table)
    yield Place(relation, _find_shown(engine, relation.ref), None)


def find_table(engine: Engine, name: str) -> str:
    """The table or view of a name: itself, or the view of the published release that goes by it where no table does."""
    try:
        engine.relation(name)
    except DatabaseError:
        views = (entry.view for entry in _find_published(engine, release=name) if not entry.file)
        return next((spell_table(view) for view in views if view is not None), name)
    return name


def is_release(engine: Engine, table: str) -> bool:
    """Whether a table shows a published version.

    The catalog decides as far as the session may read it, else the metadata next to the table.
    """
    ref = engine.relation(table).ref
    return bool(facts_beside(engine, ref)) or any(ref in views_of(entry) for entry in _find_published(engine, view=ref))


def _find_published(engine: Engine, *, release: str | None = None, view: TableRef | None = None) -> list[Entry]:
    """The published versions of a release, or those that may have a view."""
    try:
        return Catalog(engine).entries(release, statuses=("published",), views=[view] if view else ())
    except DatabaseError:
        return []  # the session is that of a reader


def _find_shown(engine: Engine, view: TableRef) -> Entry | None:
    return next((entry for entry in _find_published(engine, view=view) if entry.view == view), None)
