"""Hierarchies from tables of the source's database.

They are read before anything else, so that the rooms below see trees only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.column_spec import Hierarchy, HierarchyTable, Recode
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.policy.hierarchies import of_paths, with_other
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement

MOST_LEAVES = 1_000_000
"""Rows of a hierarchy table, at most."""


def with_tables(engine: Engine, spec: ReleaseSpec) -> ReleaseSpec:
    """The release with the trees that the hierarchy tables hold now.

    Raises:
        PolicyError: a table does not exist, or is no tree; rows are numbered in their order. Or ``spec`` is not a
            release, but the path of a file or a whole policy. Or groups of noisy statistics would be of the data.
    """
    if not isinstance(spec, ReleaseSpec):
        raise PolicyError(
            f"a release is a ReleaseSpec, and this is a {type(spec).__name__}; a policy file has its releases in "
            'sqlanon.load_policy("anon.yml").releases'
        )
    if spec.noisy is not None:
        _refuse_data(engine, spec, [table for table, _ in spec.noisy.budget.persons])
    columns = tuple(
        replace(column, hierarchy=_read(engine, column.hierarchy.table, column.recode))
        if isinstance(column.hierarchy, HierarchyTable)
        else column
        for column in spec.columns
    )
    return spec if columns == spec.columns else replace(spec, columns=columns)


def _refuse_data(engine: Engine, spec: ReleaseSpec, persons: Sequence[str]) -> None:
    """Groups that are published for certain, noise or not, are of a table that has no rows of persons."""
    hierarchy_tables = [
        column.hierarchy.table for column in spec.columns if isinstance(column.hierarchy, HierarchyTable)
    ]
    tables = engine.look_up([], [*hierarchy_tables, *persons]).named if hierarchy_tables else {}
    person_tables = [tables[table].ref for table in persons if table in tables]
    for table in hierarchy_tables:
        if table in tables and (tables[table].is_view or tables[table].ref in person_tables):
            kind = "a view, which may be of persons' rows" if tables[table].is_view else "a table of persons' rows"
            raise PolicyError(
                f"{spec.name}: hierarchy table {tables[table].ref} is {kind}: groups that follow from the data show "
                "who is in it. Name a table that lists them"
            )


def _read(engine: Engine, table: str, recode: Recode | None) -> Hierarchy:
    relation = engine.relation(table)
    name = f"hierarchy table {relation.ref}"
    if len(relation.columns) < 2:
        raise PolicyError(f"{name}: one column only; a leaf, its parents, and the root, in this order")
    query = statement(
        "table/paths", engine.dialect, source=relation.ref, columns=[column.name for column in relation.columns]
    )
    rows = engine.fetch(query, max_rows=MOST_LEAVES)
    if not rows or any(None in row for row in rows):
        problem = "a NULL in it" if rows else "no row"
        raise PolicyError(f"{name}: {problem}; one row a leaf, from the leaf to the root")
    hierarchy = of_paths(name, [(number, tuple(map(str, row))) for number, row in enumerate(rows, 1)])
    return hierarchy if recode is None or recode.other is None else with_other(hierarchy, recode.other)
