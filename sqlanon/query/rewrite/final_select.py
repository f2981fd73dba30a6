"""Writes the last SELECT over the groups, and the whole statement that answers a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.rewrite.box_rows import BoxRows, Tables
from sqlanon.query.rewrite.query_plan import Quad, QueryPlan
from sqlanon.query.sql.sqltree import (
    FALSE,
    TRUE,
    Tree,
    column,
    every,
    is_false,
    is_true,
    named,
    negate,
    nodes,
    select,
    some,
    sql,
)


@dataclass(frozen=True)
class Final:
    """The statement that answers a query.

    Attributes:
        tree: the SQL; the last columns are ``certain``, with conditions on groups ``others``, and a column for each
            check; an item with bounds has four: estimate, low, high, undefined.
        columns: the items, and whether each has bounds.
        tight: of those with bounds, whether they are tight.
        conditional: conditions on groups choose the rows; ``others`` says whether more may be in the answer.
        others: for an answer without rows: the SQL that counts the groups which may be in it; None: it is not known.
    """

    tree: exp.Select
    columns: tuple[tuple[str, bool], ...]
    tight: Mapping[str, bool]
    conditional: bool
    others: exp.Select | None = None


def final_select(bound: BoundQuery, plan: QueryPlan, rows: BoxRows, groups: Tables, *, keyed: bool = False) -> Final:
    """The statement that answers a query.

    Args:
        bound: the query.
        plan: the plan with the query's outputs.
        rows: the box rows.
        groups: the tables that sum them up, the last of them with a row for each group.
        keyed: the keys of GROUP BY are the first columns.
    """
    query, outputs = bound.query, plan.outputs
    expressions: list[Tree] = [column(f"g{i}") for i in range(len(plan.keys))] if keyed else []
    for name, item in outputs.items:
        if isinstance(item, Quad):
            ends = {"": item.estimate, "_low": item.low, "_high": item.high, "_undefined": item.undefined}
            expressions += [named(tree.copy(), f"{name}{end}") for end, tree in ends.items()]
        else:
            expressions.append(named(item.copy(), name))
    having = [condition.copy() for condition in (outputs.having, outputs.qualify) if not is_true(condition)]
    count = len(plan.keys)
    if plan.regroup is not None:
        count = len(plan.regroup.keys)
        having += [column("shown")] if count else []
    conditions = (bound.having, bound.qualify, bound.inner_having if plan.regroup is not None and count else None)
    conditional = any(condition is not None for condition in conditions)
    ways = _others(plan, every(having))
    expressions.append(named(_certain(bound, plan), "certain"))
    if conditional:
        others = select([sql("COUNT(*)")], groups[-1][0], where=ways).subquery()
        expressions.append(named(sql("(:n) > 0", n=others) if count else FALSE, "others"))
    expressions += [named(check.tree.copy(), f"check{i}") for i, check in enumerate(plan.checks)]
    # Ties, and answers without an order, come in the order of their keys, so that every engine gives the same.
    ties = [exp.Ordered(this=column(f"g{i}"), nulls_first=True) for i in range(count)]
    statement = select(
        expressions, groups[-1][0], where=having, order=[*(term.copy() for term in outputs.order), *ties]
    )
    if query.limit is not None:
        statement.set("limit", exp.Limit(expression=exp.Literal.number(query.limit)))
    if query.offset:
        statement.set("offset", exp.Offset(expression=exp.Literal.number(query.offset)))
    statement.set("with_", with_tables([*rows.tables, *groups], statement))
    tight = rows.tight and not bound.scope.linked and plan.regroup is None
    nothing = None
    if conditional and (count or plan.regroup is None):
        possible = some([every(ways), *(check.tree.copy() for check in plan.checks)])
        nothing = select([sql("COUNT(*)")], groups[-1][0], where=[possible])
        nothing.set("with_", with_tables([*rows.tables, *groups], nothing))
    return Final(
        statement,
        tuple((name, isinstance(item, Quad)) for name, item in outputs.items),
        {
            name: tight and item.tight and not rows.rough & ({plan.direct[name]} if name in plan.direct else rows.rough)
            for name, item in outputs.items
            if isinstance(item, Quad)
        },
        conditional,
        nothing,
    )


def _others(plan: QueryPlan, shown: Tree) -> list[Tree]:
    """Whether a group whose estimates do not pass the conditions is in the answer of some consistent source."""
    outputs, present = plan.outputs, plan.present
    ways = [sql("COALESCE(:x, TRUE)", x=condition) for condition in (outputs.may, outputs.qualifiable)]
    if plan.regroup is not None:
        ways += [column("may")] if plan.regroup.keys else []
    elif present is not None:
        ways.append(sql("COALESCE(:h, 0) > 0", h=column(f"h{present.id}")))
    return [*ways, negate(sql("COALESCE(:x, FALSE)", x=shown))]


def _certain(bound: BoundQuery, plan: QueryPlan) -> Tree:
    """Whether a group is in the answer of every consistent source."""
    query, present = bound.query, plan.present
    certain = [plan.outputs.sure.copy(), plan.outputs.qualified.copy()]
    if plan.regroup is not None:
        certain += [column("sure")] if plan.regroup.keys else []
        if query.limit is not None and plan.regroup.keys:
            certain.append(sql("(SELECT COUNT(*) FROM _again) <= :n", n=exp.Literal.number(query.limit)))
        if query.offset:
            certain.append(FALSE)
    elif present is not None:
        certain.append(sql("COALESCE(:l, 0) > 0", l=column(f"l{present.id}")))
        if query.limit is not None or query.offset:
            most = exp.Literal.number(query.limit if query.limit is not None else 1 << 60)
            all_in = sql("(SELECT COUNT(*) FROM _groups) <= :n", n=most)
            certain.append(FALSE if query.offset else some([all_in, *_first(bound, plan, most)]))
            none_unknown = "(SELECT COUNT(*) FROM _rows WHERE :s IN ('some', 'any')) = 0"
            open_ = [box for box in plan.spread if bound.scope.box(box).state is not None]
            certain += [sql(none_unknown, s=column(f"{box}_state")) for box in open_]
            if bound.scope.released.left_out:
                certain.append(FALSE)  # the rows may be in further groups
    return every(certain) if certain else TRUE


def _first(bound: BoundQuery, plan: QueryPlan, most: Tree) -> list[Tree]:
    """Whether a group is among the first in every source.

    It is if all groups are certain, and their sort keys are exact.
    """
    settled, present = plan.outputs.settled, plan.present
    if (
        bound.having is not None
        or bound.qualify is not None
        or not plan.outputs.order
        or present is None
        or is_false(settled)
    ):
        return []
    open_ = sql(
        "(SELECT COUNT(*) FROM _groups WHERE NOT (COALESCE(:l, 0) > 0 AND :s)) = 0",
        l=column(f"l{present.id}"),
        s=settled,
    )
    # Groups that are equal in all terms come in an order of the engine's: all of them have to fit.
    order = exp.Order(expressions=[term.copy() for term in plan.outputs.order])
    place = exp.Window(this=sql("COUNT(*)"), order=order)
    return [every([open_, sql(":p <= :n", p=place, n=most)])]


def _is_plain(tree: exp.Expr, names: Collection[str]) -> bool:
    """Whether a table has columns of a table of the database and nothing else: to read these twice takes less time."""
    if not isinstance(tree, exp.Select) or any(tree.args.get(part) for part in ("group", "joins", "distinct", "where")):
        return False
    source = tree.args["from_"].this
    plain = isinstance(source, exp.Table) and source.name not in names
    return plain and all(isinstance(item.unalias(), exp.Column | exp.Literal) for item in tree.expressions)


def with_tables(tables: Iterable[tuple[str, exp.Expr]], last: exp.Expr) -> exp.With:
    """The tables as a WITH; a table that is read more than once is made once, on every engine."""
    listed = list(tables)
    reads = Counter(
        node.name
        for tree in [*(table for _, table in listed), last]
        for node in nodes(tree)
        if isinstance(node, exp.Table)
    )
    expressions = [
        exp.CTE(
            this=tree,
            alias=exp.TableAlias(this=exp.to_identifier(name)),
            materialized=True if reads[name] > 1 and not _is_plain(tree, reads) else None,
        )
        for name, tree in listed
    ]
    return exp.With(expressions=expressions)
