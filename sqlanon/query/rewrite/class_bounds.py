"""Chooses the aggregates to bound class by class, and the exact terms that divide the rows of a class."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.query.logic.class_counter import Count
from sqlanon.query.logic.formula import MOST_EXACT, Formula, tests_in
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.domains import Domains
from sqlanon.query.rewrite.query_plan import Aggregate, QueryPlan
from sqlanon.query.rewrite.share_bounds import is_share


def is_counted(formula: Formula, plan: QueryPlan) -> bool:
    """Whether the rows of a class that satisfy a condition are counted by the attained values of the class."""
    tests = tests_in(formula)
    return not tests & plan.tests.loose.keys() and len(tests & plan.tests.exact.keys()) <= MOST_EXACT


def by_row(formula: Formula, plan: QueryPlan) -> bool:
    """Whether a condition may differ between two rows of a class.

    It does if it asks exact columns, alone or beside boxes.
    """
    return bool(tests_in(formula) & (plan.tests.exact.keys() | plan.tests.loose.keys()))


def asks_ends(a: Aggregate, plan: QueryPlan) -> bool:
    """Whether the ends of the rows' ranges are in an aggregate, and no exact term divides the rows of a class."""
    return a.kind in ("sum", "avg", "min", "max") and a.box is not None and a.box.attained and not list_held_terms(plan)


def counts_rows(a: Aggregate) -> bool:
    """Whether it counts rows: all of them, or those with a value of an exact term."""
    return a.kind in ("rows", "count") and not a.of_boxes


def terms_of_counts(plan: QueryPlan) -> dict[int, set[str | None]]:
    """The conditions of counts and shares, with the exact terms that are counted; None: rows are."""
    terms: dict[int, set[str | None]] = {}
    for a in plan.aggregates:
        if counts_rows(a):
            terms.setdefault(a.condition, set()).add(a.term)
        elif a.ratio is not None and is_share(a.ratio):
            for condition in (a.ratio.some, *(part.condition for part in a.parts)):
                terms.setdefault(condition, set()).add(None)
    return terms


def list_held_terms(plan: QueryPlan) -> list[str]:
    """The exact terms with values that the rows hold."""
    tests = {tree.name for tree in plan.tests.exact.values()}
    return [name for name in plan.terms if name not in plan.partial or name in plan.raw or name in tests]


def rough_aggregates(scope: Scope, plan: QueryPlan, domains: Domains, counts: Mapping[int, Count]) -> frozenset[int]:
    """The aggregates with bounds that need not be tight.

    Sources that do not attain all ends and members of classes are not consistent with the release.
    """
    if not any(box.attained for box in scope.boxes.values()):
        return frozenset()
    listed = all(lookup.counts_attained for lookup in domains.lookups if lookup.box.attained)

    def tight(a: Aggregate) -> bool:
        is_tight = a.condition in counts and counts[a.condition].tight
        return counts_rows(a) and listed and (is_tight or not tests_in(plan.conditions[a.condition]))

    return frozenset(a.id for a in plan.aggregates if not tight(a))
