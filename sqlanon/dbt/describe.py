"""Published releases as sources of dbt, with descriptions and ``meta`` of their columns, which catalogs show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlanon.database.lineage import describe_change
from sqlanon.database.readable import ReadableDatabase
from sqlanon.errors import PolicyError
from sqlanon.query.release import read_release
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.views import spell_table


def describe_releases(database: ReadableDatabase, names: Sequence[str] = ()) -> dict[str, Any]:
    """The content of a properties file of dbt.

    Args:
        database: where the releases are.
        names: of releases; none: every published release with a view in this database.

    Raises:
        PolicyError: a release is not published here.
    """
    entries = [
        entry
        for entry in Catalog(database.engine).entries(statuses=("published",))
        if entry.view and entry.kind.has_rows
    ]
    unknown = [name for name in names if name not in {entry.release for entry in entries}]
    if unknown:
        listed = ", ".join(entry.release for entry in entries) or "none"
        raise PolicyError(f"{', '.join(unknown)}: no published release of rows with a view here; there are: {listed}")
    sources: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        if not names or entry.release in names:
            sources.setdefault(str(entry.view_schema), []).append(_table(database, entry))
    return {
        "version": 2,
        "sources": [{"name": schema, "schema": schema, "tables": tables} for schema, tables in sorted(sources.items())],
    }


def _table(database: ReadableDatabase, entry: Entry) -> dict[str, Any]:
    assert entry.view is not None
    engine = database.engine
    released = read_release(engine, engine.relation(spell_table(entry.view)))
    by_name = {name: field for field in released.fields for name in field.published}
    columns: list[dict[str, Any]] = []
    for column in released.view.columns:
        field = by_name.get(column.name)
        if field is None:
            columns.append({"name": column.name})
            continue
        _, masking, text = describe_change(field, entry.policy, entry.report)
        about = {"role": field.role, "source_column": field.name, "masking": masking}
        columns.append({"name": column.name, "description": f"{field.name}, {text}", "meta": {"sqlanon": about}})
    context = {key: value for key, value in (entry.policy.get("context") or {}).items() if value}
    requirements = {
        key: value for key, value in entry.policy["privacy"].items() if value and key in ("k", "l", "distinct_l")
    }
    about_release: dict[str, Any] = {"release": entry.release, "version": entry.version, "source": entry.source}
    about_release |= {"privacy": requirements, **({"context": context} if context else {})}
    return {
        "name": str(entry.view_name),
        "description": f"Anonymized release {entry.release}, version {entry.version}, by sqlanon {entry.sqlanon}.",
        "meta": {"sqlanon": about_release},
        "columns": columns,
    }
