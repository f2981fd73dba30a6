"""Columns of a lineage: columns of the first cohort, and columns that a later NULL adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.formats import Layout, Names, PublishedColumn, format_of
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import identifier
from sqlanon.table.reading import Reading, Roles


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns that a version of a lineage publishes.

    Attributes:
        names: published names of every quasi column, by alias.
        layout: the columns of the view.
        parts: the published columns that come from the class, in order.
        added: columns that the lineage does not have yet, and their types.
        filled: per column that flags NULLs, the value for classes that were made before the first NULL: SQL over a
            class, called r.
    """

    names: Mapping[str, Names]
    layout: Layout
    parts: tuple[str, ...]
    added: Mapping[str, str]
    filled: Mapping[str, str]


def shape_of(spec: ReleaseSpec, roles: Roles, earlier: Sequence[str] | None, cohort: Mapping[str, Names]) -> Shape:
    """The columns of the next version.

    Args:
        spec: the release.
        roles: the source's columns.
        earlier: columns of classes in the lineage; None if the lineage begins now.
        cohort: published names of every quasi column in the cohort, by alias; empty without a cohort.
    """
    form = format_of(spec.format.kind)
    names, columns, added, filled = {}, list[PublishedColumn](), {}, {}
    quasi = {reading.alias for reading in roles.quasi}
    for reading in roles.published_order():
        if reading.alias not in quasi:
            columns += form.of_kept(reading)
            continue
        mean = reading.name in spec.format.mean
        plain, full = (form.names(reading, mean=mean, nulls=nulls) for nulls in (False, True))
        flags = [part for part in full.list_columns() if part not in plain.list_columns()]
        cohort_names = cohort.get(reading.alias, plain)
        has = any(flag in (earlier or ()) or flag in cohort_names.list_columns() for flag in flags)
        names[reading.alias] = full if has else plain
        columns += form.of_quasi(reading, names[reading.alias])
        for flag in flags if has else ():
            kind, sql = _without_nulls(plain, flag == full.null)
            filled[flag] = sql
            if earlier is not None and flag not in earlier:
                added[flag] = kind
    layout = Layout(dict(names), tuple(columns))
    return Shape(names, layout, layout.of_class, added, filled)


def _without_nulls(names: Names, state: bool) -> tuple[str, str]:
    """Type and value of the column about NULLs, for a class of rows without NULL.

    If the first part is hidden, any value is possible.
    """
    first = f"r.{identifier(names.list_columns()[0])}"
    if state:
        return "TEXT", f"CASE WHEN {first} IS NULL THEN 'any' ELSE 'none' END"
    return "BOOLEAN", f"({first} IS NULL)"


def list_kept_columns(roles: Roles) -> list[dict[str, object]]:
    """The columns published unchanged, as templates take them."""
    return [
        {
            "alias": reading.alias,
            "name": reading.name,
            "as_text": reading.column.own_operators or reading.column.kind == "other",
        }
        for reading in roles.kept
    ]


def quasi_columns(roles: Roles) -> list[dict[str, object]]:
    """The quasi columns, as templates that hash them take them."""
    return [_hash_parameters(reading) for reading in roles.quasi]


def _hash_parameters(reading: Reading) -> dict[str, object]:
    listed = reading.listed is not None or reading.column.kind == "enum"
    return {
        "alias": reading.alias,
        "listed": listed,
        "as_text": listed or reading.column.own_operators or not reading.column.hashable,
    }
