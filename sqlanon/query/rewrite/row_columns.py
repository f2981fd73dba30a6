"""The columns that the rows of a query hold: of boxes, and in place of exact terms."""

from __future__ import annotations

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.listed_boxes import Lookup
from sqlanon.query.boxes.unroll import constants_of, no_members
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.attained_rows import attains_distinct
from sqlanon.query.rewrite.domains import Domains
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.sql.sqltree import Tree, sql


def list_shown_columns(scope: Scope, plan: QueryPlan, domains: Domains) -> dict[str, Tree]:
    """Columns that the rows hold for every box, by name."""
    shown: dict[str, Tree] = {}
    for box in scope.boxes.values():
        keyed = _needs_keys(box, domains)
        for domain in domains.of.get(box.id, ()):
            shown |= domain.columns()
        if keyed:
            plain = constants_of(box)
            shown |= {
                f"{box.id}_{part}": sql("COALESCE(:x, :c)", x=tree, c=plain.get(part, no_members(box)))
                for part, tree in box.parts.items()
            }
        if box.state is not None:
            shown[f"{box.id}_state"] = box.state
            if keyed and box.point is not None:
                shown[f"{box.id}_state"] = sql("CASE WHEN :x IS NULL THEN 'all' ELSE 'none' END", x=box.point)
        if box.id in plan.means and box.mean is not None:
            shown[f"{box.id}_mean"] = box.mean
    for a in plan.aggregates:
        if a.box is not None and a.box.shape == "set" and attains_distinct(scope, a, plan):
            shown[f"{a.box.id}_set"] = a.box.parts["set"]
    return {name: tree.copy() for name, tree in shown.items()}


def find_listed_sets(scope: Scope, plan: QueryPlan, domains: Domains) -> frozenset[str]:
    """The boxes whose sets nothing reads but lookups, which know every row's."""
    asked_boxes = {part.box.id for a in plan.aggregates for part in a.parts if part.box is not None}
    return frozenset(
        box.id
        for box in scope.boxes.values()
        if (box.shape == "set" and box.state is None and box.point is None and box.id not in asked_boxes)
        and all(isinstance(domain, Lookup) for domain in domains.of.get(box.id, ()))
    )


def _needs_keys(box: Box, domains: Domains) -> bool:
    """Whether the box's keys must not be NULL: GROUP BY spreads it, and it may hold NULL."""
    box_domains = domains.of.get(box.id, ())
    return (
        bool(box_domains)
        and isinstance(box_domains[-1], Lookup)
        and box_domains[-1].key is not None
        and box.state is not None
    )


def list_needed_tests(plan: QueryPlan) -> list[Tree]:
    """Exact tests that every row has to pass: they shrink the rows before the grouping."""
    formula = plan.conditions[0]
    parts = formula[1] if isinstance(formula, tuple) and formula[0] == "and" else [formula]
    numbers = sorted(p for p in parts if isinstance(p, int) and not isinstance(p, bool))
    return [plan.terms[plan.tests.exact[p].name].copy() for p in numbers if p in plan.tests.exact]


def sums_of(tree: Tree, name: str, plan: QueryPlan) -> dict[str, Tree]:
    """Aggregates that are kept of an exact term in place of values: not all types have an order, or sums."""
    sums = {"n": sql("COUNT(:x)", x=tree)}
    if name in plan.ordered:
        sums |= {"min": sql("MIN(:x)", x=tree), "max": sql("MAX(:x)", x=tree)}
    if name in plan.summed:
        sums |= {
            "s": sql("SUM(:x)", x=tree),
            "neg": sql("SUM(LEAST(:x, 0))", x=tree),
            "pos": sql("SUM(GREATEST(:x, 0))", x=tree),
        }
    return sums
