"""Key ``tables``: one release of several tables.

A policy file writes it as a mapping, and a run publishes it in a single transaction.

Every table becomes a `ReleaseSpec` of its own, named `release.table`: the keys of the mapping for all tables, replaced
by the keys of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.declared.kinds import source_name
from sqlanon.declared.records import Path
from sqlanon.policy.problems import Problems
from sqlanon.spec import ReleaseSpec, TablesSpec

_ITS_OWN = ("source", "columns", "publish")
"""Keys of a release that belong to a single table."""
_ELSEWHERE = ("publish_file", "publish_to")
"""Keys of a release that goes to another database, which a single release does."""


def expand_releases(raw: object, path: Path, problems: Problems) -> Iterator[tuple[Path, object, str | None]]:
    """The releases that an item of a policy file means: each with place, mapping, and the name of the view."""
    if not isinstance(raw, Mapping) or not {"tables", "rotate"} & raw.keys():
        yield path, raw, None
        return
    shared = {key: value for key, value in raw.items() if key not in ("tables", "rotate")}
    if "tables" not in raw:
        what = "a release of one table, whose tokens join nothing within a version"
        problems.add((*path, "rotate"), what, "rotate goes with tables; leave it out, or use an identifier")
        yield path, shared, None
        return
    if raw.get("rotate", "version") != "version":
        problems.add((*path, "rotate"), "not a word that is known", "version, or leave it out")
    for key in (*_ITS_OWN, *_ELSEWHERE):
        if key in shared:
            what = "all tables would share it" if key in _ITS_OWN else "the tables are published in one transaction"
            problems.add((*path, key), what, "each table of tables has its own" if key in _ITS_OWN else "leave it out")
            del shared[key]
    tables = raw["tables"]
    if not isinstance(tables, list) or len(tables) < 2:
        problems.add(
            (*path, "tables"), "not a list of at least two tables", "- {source: .., columns: ..} of each table"
        )
        return
    for index, table in enumerate(tables):
        table_path = (*path, "tables", index)
        if not isinstance(table, Mapping):
            problems.add(table_path, "not a mapping", "source, columns, and what differs from the other tables")
            continue
        for key in ("tables", "rotate", *_ELSEWHERE):
            if key in table:
                problems.add(
                    (*table_path, key), "not a key of a single table", "tables and rotate belong to the release"
                )
        own_settings = {key: value for key, value in table.items() if key not in ("tables", "rotate", *_ELSEWHERE)}
        name = own_settings.get("name", _last(own_settings.get("source")))
        release = {**shared, **own_settings}
        if isinstance(name, str) and isinstance(raw.get("name"), str):
            release["name"] = f"{raw['name']}.{name}"
        yield table_path, release, name if isinstance(name, str) else None


def _last(source: object) -> str | None:
    return source_name(source) if isinstance(source, str) else None


def join_tables(
    raw: Mapping[str, Any], path: Path, releases: Sequence[tuple[Path, ReleaseSpec]], problems: Problems
) -> list[tuple[Path, ReleaseSpec]]:
    """The specs of the tables of a release, which know each other and share a scope.

    It notes problems that keep them from being joined.
    """
    group = str(raw.get("name"))
    rotate = "rotate" in raw
    scopes = set()
    for release_path, spec in releases:
        columns = (*release_path, "columns")
        if problems.broken(columns) or problems.broken((*release_path, "person")):
            continue
        if spec.token is None:
            what = "no token of the person, by which the tables are joined"
            problems.add(columns, what, "person: patient_id, and the role pseudonym for that column")
            continue
        scopes.add(spec.token.scope or group)
        for key in ("scope", "secret"):
            if rotate and getattr(spec.token, key) is not None:
                what = "rotate: version draws new tokens for the tables of this release alone"
                problems.add((*columns, spec.token.name, key), what, f"leave out {key}, or rotate")
    if len(scopes) > 1:
        problems.add((*path, "tables"), "tables of several scopes, which share no tokens", "one scope, or none")
    if len({spec.refresh.max_failing for _, spec in releases}) > 1:
        what = "tables of different bounds, but versions of all tables are compared together"
        problems.add((*path, "tables"), what, "history next to tables")
    together = TablesSpec(group, tuple(spec.name for _, spec in releases), rotate)
    return [
        (release_path, replace(spec, columns=_set_scope(spec, group), together=together))
        for release_path, spec in releases
    ]


def _set_scope(spec: ReleaseSpec, group: str) -> tuple[Any, ...]:
    return tuple(
        replace(column, scope=column.scope or group) if column == spec.token else column for column in spec.columns
    )
