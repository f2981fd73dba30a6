"""Rows of a query that reads boxes only, from the kept table of the classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW
from sqlanon.query.boxes.kept_classes import ClassTable, class_table
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.attained_rows import find_attaining
from sqlanon.query.rewrite.class_bounds import list_held_terms
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.sql.sqltree import Tree, column, named, select, sql, table_of


@dataclass(frozen=True)
class KeptRows:
    """A kept table, with the columns that a query reads of it.

    Attributes:
        table: the table, with a row for each class.
        shown: columns of boxes and exact terms, over the columns of the table.
        sums: columns with aggregates of exact terms.
        members: for boxes whose sets are read as numbers, by id, a query of the numbers and ``members``.
    """

    table: ClassTable
    shown: Mapping[str, Tree]
    sums: Mapping[str, Tree]
    members: Mapping[str, exp.Select]


def has_classes(scope: Scope) -> bool:
    """Whether equal rows of the view are classes, which the query reads as they are."""
    return not scope.joins and find_attaining(scope.released).whole


def find_kept(
    scope: Scope,
    plan: QueryPlan,
    shown: Mapping[str, Tree],
    sums: Mapping[str, Mapping[str, Tree]],
    *,
    by_class: bool,
    listed: Collection[str],
) -> KeptRows | None:
    """The kept table, if it has all that the query reads; None: the query reads the view.

    Args:
        scope: the names.
        plan: the query.
        shown: the columns that rows hold of boxes.
        sums: by exact term, the aggregates in place of its values.
        by_class: rows of different classes are kept apart.
        listed: the boxes whose sets nothing reads but lookups.
    """
    held_names = list_held_terms(plan)
    if not has_classes(scope) or (held_names and (by_class or plan.means)) or not isinstance(scope.view(), exp.Table):
        return None
    classes = frozenset(scope.released.group_columns)
    read_names = {node.name: None for tree in shown.values() for node in tree.find_all(exp.Column)}
    if not read_names.keys() <= classes:
        return None
    # Sums of floating point numbers depend on the order of the rows.
    if not all(isinstance(tree, exp.Column) and not scope.is_floating(tree) for tree in plan.terms.values()):
        return None
    apart = [list(read_names), *([plan.terms[name].name] for name in held_names)] if held_names else []
    trees = {f"{name}_{end}": tree for name, ends in sums.items() for end, tree in ends.items()}
    stored = class_table(scope, trees.values(), [names for names in apart if names])
    if stored is None:
        return None
    exact = {name: plan.terms[name].copy() for name in held_names}
    names = {name: column(stored.sums[tree.sql(dialect=scope.engine.dialect)], VIEW) for name, tree in trees.items()}
    numbered = dict(shown)
    members: dict[str, exp.Select] = {}
    for box in scope.boxes.values():
        key = f"{box.id}_set"
        array = shown.get(key)
        if box.id in listed and isinstance(array, exp.Column) and array.name in stored.arrays:
            numbered[key] = column(stored.arrays[array.name], VIEW)
            expressions = [named(numbered[key], key), named(sql("ANY_VALUE(:a)", a=array), "members")]
            members[box.id] = select(expressions, table_of(stored.table, VIEW), group=[numbered[key]])
    return KeptRows(stored, {**numbered, **exact}, names, members)


def select_kept(rows_kept: KeptRows, classes: Sequence[str], *, rows: Sequence[str]) -> exp.Select:
    """The rows: one for each class.

    Args:
        rows_kept: the table.
        classes: the columns that distinguish classes, if the query reads them.
        rows: further names for the number of rows of the class.
    """
    expressions = [named(tree, name) for name, tree in rows_kept.shown.items()]
    expressions += [named(column(name, VIEW), f"c{i}") for i, name in enumerate(classes, 1)]
    expressions += [named(column(rows_kept.table.rows, VIEW), name) for name in ("n", *rows)]
    expressions += [named(tree, name) for name, tree in rows_kept.sums.items()]
    return select(expressions, table_of(rows_kept.table.table, VIEW))
