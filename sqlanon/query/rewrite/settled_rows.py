"""Rows of a query with merged settled classes, from the kept table of the classes where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW
from sqlanon.query.boxes.class_key import class_key
from sqlanon.query.boxes.kept_classes import class_table
from sqlanon.query.boxes.unroll import ROWS
from sqlanon.query.logic.class_counter import Venn
from sqlanon.query.logic.formula import Triple
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.attained_rows import CLASS_ROWS, find_attaining
from sqlanon.query.rewrite.class_bounds import list_held_terms
from sqlanon.query.rewrite.cut_classes import Results, are_of_classes, join_cut
from sqlanon.query.rewrite.domains import Domains
from sqlanon.query.rewrite.kept_rows import has_classes
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.rewrite.row_columns import list_shown_columns, sums_of
from sqlanon.query.rewrite.settled_classes import RowColumns, SettledConditions, group_rows
from sqlanon.query.sql.sqltree import Tree, column, is_true, named, select, some


def can_settle(scope: Scope, plan: QueryPlan, domains: Domains) -> bool:
    """Whether it is enough to know of most rows which conditions they satisfy: no values of boxes are asked for."""
    if (
        plan.means
        or plan.spread
        or domains.lookups
        or any(a.of_boxes for aggregate in plan.aggregates for a in aggregate.parts)
    ):
        return False
    classes = frozenset(scope.released.group_columns)
    shown = list_shown_columns(scope, plan, domains).values()
    return all(node.name in classes for tree in shown for node in tree.find_all(exp.Column))


def select_settled(
    scope: Scope,
    plan: QueryPlan,
    domains: Domains,
    settled: SettledConditions,
    wide: Sequence[Triple],
    results: Results,
    venns: Iterable[Venn | None],
) -> tuple[list[tuple[str, exp.Expr]], Results]:
    """The tables of the rows, and the results of the conditions over them.

    Args:
        scope: the names.
        plan: the query.
        domains: the boxes of the query, divided.
        settled: the settled conditions.
        wide: the results of the conditions, whatever the values of exact columns are.
        results: the results of the conditions.
        venns: the cells of conditions for the solver.
    """
    view, columns, where = _select_settled_columns(scope, plan, domains, wide)
    # Without exact terms a settled query is grouped as it is: the kept table itself has the rows of others.
    stored = class_table(scope, []) if columns.held and has_classes(scope) else None
    settled_results = Results(settled.apply_to(results.triples), settled.count(results.counts, column(CLASS_ROWS)))
    if stored is None:
        return [(ROWS, group_rows(settled, view, columns, where))], settled_results
    alike = are_of_classes(results, columns.boxes, CLASS_ROWS, venns)
    # The kept table knows the rows of a class, so that rows which satisfy no condition need not be counted.
    triples = results.triples[:1] if plan.filters else results.triples
    any_possible = some(triple.possible for triple in triples)
    tables = join_cut(settled, view, stored, columns, (where, [any_possible]), results if alike else None)
    return tables, results.read() if alike else settled_results


def _select_settled_columns(
    scope: Scope, plan: QueryPlan, domains: Domains, wide: Sequence[Triple]
) -> tuple[exp.Select, RowColumns, list[Tree]]:
    """The columns read from every row, their names, and the conditions for rows, where settled classes are together."""
    shown = list_shown_columns(scope, plan, domains)
    classes = {f"c{i}": column(name, VIEW) for i, name in enumerate(class_key(scope), 1)}
    held_names = list_held_terms(plan)
    view = select([named(tree.copy(), name) for name, tree in {**shown, **plan.terms, **classes}.items()], scope.view())
    partial = [name for name in plan.terms if name not in held_names]
    sums = {f"{name}_{end}": tree for name in partial for end, tree in sums_of(column(name), name, plan).items()}
    reached = some(triple.possible for triple in wide)
    columns = RowColumns(
        list(shown), held_names, list(classes), sums, (CLASS_ROWS, find_attaining(scope.released).members())
    )
    return view, columns, [] if is_true(reached) else [reached]
