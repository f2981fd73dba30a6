"""The views of a release, and the table behind each view.

A name does not mean that the view is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError
from sqlanon.formats import Format, format_of
from sqlanon.lake_names import lake_of
from sqlanon.noisy_spec import draws_rows
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.metadata import metadata_name
from sqlanon.release.catalog.private_tables import SENSITIVE, SYNTHETIC, private_table
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import identifier


@dataclass(frozen=True, slots=True)
class ViewTarget:
    """A view and the physical table that it shows as a whole."""

    view: TableRef
    at: TableRef


def sensitive_of(table: TableRef) -> TableRef:
    """The table of sensitive values of a view or a physical table."""
    return _second(table, SENSITIVE)


def metadata_of(view: TableRef) -> TableRef:
    """The metadata view of a view."""
    return replace(view, name=metadata_name(view.name))


def synthetic_of(table: TableRef) -> TableRef:
    """The table of synthetic rows of a view or a physical table of noisy statistics."""
    return _second(table, SYNTHETIC)


def _second(table: TableRef, suffix: str) -> TableRef:
    return replace(table, name=f"{table.name}{suffix}")


def views_beside(view: TableRef, second: str) -> tuple[TableRef, ...]:
    """Every view of a release, the public one first; ``second``: suffix of the second table, or ""."""
    return (view, metadata_of(view), *((_second(view, second),) if second else ()))


def form_of(entry: Entry) -> Format:
    """The format of a version."""
    return format_of(entry.policy["format"]["kind"])


def is_pair(entry: Entry) -> bool:
    """Whether a version has a table of sensitive values, by the report: the format need not be installed."""
    return entry.report.get("published_sensitive") is not None


def second_of(entry: Entry) -> str:
    """The suffix of the second table of a version; "" if there is none."""
    if is_pair(entry):
        return SENSITIVE
    return SYNTHETIC if (entry.report.get("noisy") or {}).get("synthetic") else ""


def second_of_spec(spec: ReleaseSpec) -> str:
    """The suffix of the second table of the next version of a release; "" if there is none."""
    if format_of(spec.format.kind).facts.paired:
        return SENSITIVE
    return SYNTHETIC if draws_rows(spec.noisy) else ""


def views_of(entry: Entry) -> tuple[TableRef, ...]:
    """Every view of a version that is in this database."""
    return views_beside(entry.view, second_of(entry)) if entry.view else ()


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
    lake = lake_of(str(source)) if source.schema is None else None
    return replace(engine.target("release.x"), name=lake.table if lake else source.name)


def list_pointings(engine: Engine, view: TableRef, name: str, *, second: str) -> list[ViewTarget]:
    """Every view of a version and the table it shows.

    Args:
        engine: the database.
        view: the public view.
        name: name of the physical table.
        second: suffix of the second table, or "".
    """
    physical = private_table(engine, name)
    shown = [ViewTarget(view, physical), ViewTarget(metadata_of(view), metadata_table(physical))]
    if second:
        shown.append(ViewTarget(_second(view, second), _second(physical, second)))
    return shown


def metadata_table(physical: TableRef) -> TableRef:
    """Table behind a version's metadata view."""
    return replace(physical, name=f"{physical.name}_metadata")


def spell_table(table: TableRef) -> str:
    """A table's name as a person would have to write it."""
    return ".".join(identifier(part) for part in (table.database, table.schema, table.name) if part)
