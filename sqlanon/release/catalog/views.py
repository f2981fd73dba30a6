"""The views of a release, and the table behind each view.

A name does not mean that the view is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError
from sqlanon.formats import Format, format_of
from sqlanon.lake_names import lake_of
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.metadata import metadata_name
from sqlanon.release.catalog.private_tables import SENSITIVE, private_table
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import identifier


@dataclass(frozen=True, slots=True)
class Pointing:
    """A view and the physical table that it shows as a whole."""

    view: TableRef
    at: TableRef


def sensitive_of(table: TableRef) -> TableRef:
    """The table of sensitive values of a view or a physical table."""
    return replace(table, name=f"{table.name}{SENSITIVE}")


def metadata_of(view: TableRef) -> TableRef:
    """The metadata view of a view."""
    return replace(view, name=metadata_name(view.name))


def views_beside(view: TableRef, pair: bool) -> tuple[TableRef, ...]:
    """Every view of a release, the public one first."""
    return (view, metadata_of(view), *((sensitive_of(view),) if pair else ()))


def form_of(entry: Entry) -> Format:
    """The format of a version."""
    return format_of(entry.policy["format"]["kind"])


def is_pair(entry: Entry) -> bool:
    """Whether a version has a second table, by the report, so that the format need not be installed."""
    return entry.report.get("published_sensitive") is not None


def views_of(entry: Entry) -> tuple[TableRef, ...]:
    """Every view of a version that is in this database."""
    return views_beside(entry.view, is_pair(entry)) if entry.view else ()


def public_view(engine: Engine, name: str) -> TableRef:
    """The view that a policy names.

    Raises:
        PolicyError: the view would be in another catalog than the release.
    """
    view, here = engine.target(name), engine.target("release.x").database
    if view.database != here:
        raise PolicyError(
            f"publish: {name} is in another catalog; views are made in the one that is connected to, {here}"
        )
    return view


def view_of(engine: Engine, spec: ReleaseSpec) -> TableRef:
    """The public view of a release; ``release.<source table>`` unless the policy names a view."""
    if spec.publish:
        return public_view(engine, spec.publish)
    return default_view(engine, engine.relation(spec.source).ref)


def default_view(engine: Engine, source: TableRef) -> TableRef:
    """The public view of a release without a view's name: the source's name, in the schema of releases."""
    lake = lake_of(source.name)
    return replace(engine.target("release.x"), name=lake.table if lake else source.name)


def list_pointings(engine: Engine, view: TableRef, name: str, *, pair: bool) -> list[Pointing]:
    """Every view of a version and the table it shows; ``name``: name of the physical table."""
    physical = private_table(engine, name)
    shown = [Pointing(view, physical), Pointing(metadata_of(view), metadata_table(physical))]
    if pair:
        shown.append(Pointing(sensitive_of(view), sensitive_of(physical)))
    return shown


def metadata_table(physical: TableRef) -> TableRef:
    """Table behind a version's metadata view."""
    return replace(physical, name=f"{physical.name}_metadata")


def spell_table(table: TableRef) -> str:
    """A table's name as a person would have to write it."""
    return ".".join(identifier(part) for part in (table.database, table.schema, table.name) if part)
