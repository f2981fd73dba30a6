"""Aggregates over separate tables of rows, so that one aggregate's values do not divide the rows of another.

An average of an exact column needs the values of single rows, a count only the classes: in one table, every class would
be divided by the values. So aggregates with exact values get tables of their own, and the groups of all tables are
joined at the end (`sqlanon.query.rewrite.sums`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.rewrite.query_plan import Aggregate, QueryPlan
from sqlanon.query.rewrite.row_expressions import exact_parts
from sqlanon.query.sql.sqltree import Tree, nodes

_HELD = frozenset(["avg", "distinct", "quantile", "native", "ratio"])
"""Kinds that are computed of tables of their own: where they read exact values, these are held."""


def separate(plan: QueryPlan, dialect: str) -> list[QueryPlan]:
    """The plan of the aggregates that hold no exact values, then a plan for each set of terms that others hold.

    Args:
        plan: plan of all aggregates.
        dialect: dialect of the terms.
    """
    sets: dict[frozenset[str], list[Aggregate]] = {frozenset(): []}
    for a in plan.aggregates:
        sets.setdefault(_list_held(a, plan), []).append(a)
    if len(sets) == 1 or (len(sets) == 2 and not sets[frozenset()]):
        return [plan]
    first = sets[frozenset()] or sets.pop(next(reversed(sets)))
    rest_sets = [aggregate_set for terms, aggregate_set in sets.items() if terms and aggregate_set is not first]
    return [_plan_of(plan, aggregate_set, dialect) for aggregate_set in (first, *rest_sets)]


def _list_held(a: Aggregate, plan: QueryPlan) -> frozenset[str]:
    """The exact terms with values that an aggregate holds, where it can be computed from separate rows."""
    calculated = any(part.value is not None for part in a.parts)
    return frozenset() if calculated else _read_as_values(a) & plan.raw


def _read_as_values(a: Aggregate) -> frozenset[str]:
    """The exact terms that an aggregate reads value by value, beside those inside of calculations."""
    if a.kind not in _HELD or a.known:
        return frozenset()
    return frozenset(term for part in a.parts for term in part.terms)


def _plan_of(plan: QueryPlan, aggregates: Sequence[Aggregate], dialect: str) -> QueryPlan:
    """The plan of some aggregates, without the parts for others."""
    parts = [part for a in aggregates for part in a.parts]
    always = _columns([*plan.keys, *plan.tests.exact.values()])
    always |= _columns(
        tree for triple in plan.tests.loose.values() for tree in (triple.possible, triple.certain, triple.share)
    )
    names_by_text = {tree.sql(dialect=dialect): name for name, tree in plan.terms.items()}
    inside = {
        names_by_text[tree.sql(dialect=dialect)]
        for part in parts
        if part.value is not None
        for branch in part.value.branches
        if branch.value is not None
        for tree in exact_parts(branch.value)
    }
    held_names = frozenset().union(*(_read_as_values(a) for a in aggregates), inside, always)
    terms = held_names | {term for part in parts for term in part.terms}
    boxes = {part.box.id for part in parts if part.box is not None}
    boxes |= {box.id for part in parts if part.value is not None for box in part.value.boxes}
    return replace(
        plan,
        aggregates=tuple(aggregates),
        terms={name: tree for name, tree in plan.terms.items() if name in terms},
        raw=plan.raw & held_names,
        partial=plan.partial & terms,
        summed=plan.summed & terms,
        values=plan.values & boxes,
        means=plan.means & boxes,
    )


def _columns(trees: Iterable[Tree]) -> frozenset[str]:
    return frozenset(node.name for tree in trees for node in nodes(tree) if isinstance(node, exp.Column))
