"""The values of the passes as SQL, and over the source, where what they mean can be computed exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.logic.formula import Formula
from sqlanon.query.parse.bind import BoundQuery, bind
from sqlanon.query.parse.parse import Query, parse
from sqlanon.query.parse.scope import ITEM
from sqlanon.query.release import ReaderRelease
from sqlanon.query.rewrite.box_rows import BoxRows, Tables, box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import Final, final_select, with_tables
from sqlanon.query.rewrite.query_plan import Aggregate, Quad, QueryPlan
from sqlanon.query.rewrite.sums import sums


@dataclass(frozen=True)
class Passes:
    """What each pass makes of one query."""

    query: Query
    bound: BoundQuery
    plan: QueryPlan
    rows: BoxRows
    groups: Tables
    final: Final

    def rendered(self) -> dict[str, exp.Expr]:
        """By block, its SQL."""
        last = self.final.tree.copy()
        last.set("with_", None)
        return {
            "parsed": parsed(self.query),
            "bound": bound_sql(self.bound),
            "collected": collected(self.bound, self.plan),
            "rows": rows_sql(self.rows),
            "sums": sums_sql(self.groups),
            "select": last,
        }


def passes(engine: object, text: str, released: ReaderRelease, joinable: frozenset[object]) -> Passes:
    """Run every pass of a query."""
    query = parse(text, engine.dialect)  # type: ignore[attr-defined]
    bound = bind(engine, query, released, joinable)  # type: ignore[arg-type]
    plan = collect(bound)
    rows = box_rows(bound.scope, plan)
    groups = sums(bound.scope, plan, rows)
    return Passes(query, bound, plan, rows, groups, final_select(bound, plan, rows, groups))


def parsed(query: Query) -> exp.Select:
    """The parts of a query as one SELECT."""
    made = exp.Select().select(*(exp.alias_(node.copy(), name, quoted=True) for name, node in query.items))
    made = made.from_(query.source.copy())
    made.set("joins", [join.copy() for join in query.joins] or None)
    return _clauses(made, query, query.where, query.groups, query.having, tuple(term.copy() for term in query.order))


def _clauses(
    made: exp.Select,
    query: Query,
    where: exp.Expr | None,
    groups: tuple[exp.Expr, ...],
    having: exp.Expr | None,
    order: tuple[exp.Ordered, ...],
) -> exp.Select:
    made = made.where(where.copy()) if where is not None else made
    made = made.group_by(*(term.copy() for term in groups)) if groups else made
    made = made.having(having.copy()) if having is not None else made
    made = made.order_by(*(term.copy() for term in order)) if order else made
    made = made.limit(query.limit) if query.limit is not None else made
    return made.offset(query.offset) if query.offset else made


def bound_sql(bound: BoundQuery) -> exp.Select:
    """A bound query: over the view, the values of boxes and the items of the SELECT."""
    made = exp.Select().select(*(exp.alias_(tree.copy(), name, quoted=True) for name, tree in bound.items))
    made = made.from_(exp.to_table("x"))
    made.args["from_"].this.replace(bound.scope.view())
    made.set("joins", [join.copy() for join in bound.scope.joins] or None)
    return _clauses(made, bound.query, bound.where, bound.groups, bound.having, bound.order)


def collected(bound: BoundQuery, plan: QueryPlan) -> exp.Select:
    """What is plan of the rows, as if every row's own values were known, and the items over that."""

    def formula(found: Formula) -> exp.Expr:
        if isinstance(found, bool):
            return exp.true() if found else exp.false()
        if isinstance(found, int):
            if found in plan.tests.boxed:
                return plan.tests.boxed[found].tree.copy()
            if found in plan.tests.exact:
                return plan.terms[plan.tests.exact[found].name].copy()
            if found in {one.inside for one in plan.spread.values()}:
                return exp.true()
            return exp.column(str(found), table="_loose")
        parts = [formula(part) for part in sorted(found[1], key=str)]
        return exp.and_(*parts) if found[0] == "and" else exp.or_(*parts)

    def value(a: Aggregate) -> exp.Expr:
        if a.kind == "error":
            return exp.Literal.number(0)
        argument: exp.Expr = exp.Star()
        if a.box is not None:
            argument = a.box.value
        elif a.term is not None:
            argument = plan.terms[a.term].copy()
        kinds: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {
            "rows": lambda x: exp.Count(this=x),
            "count": lambda x: exp.Count(this=x),
            "sum": lambda x: exp.Sum(this=x),
            "avg": lambda x: exp.Avg(this=x),
            "min": lambda x: exp.Min(this=x),
            "max": lambda x: exp.Max(this=x),
            "distinct": lambda x: exp.Count(this=exp.Distinct(expressions=[x])),
        }
        where = formula(plan.conditions[a.condition])
        return exp.Filter(this=kinds[a.kind](argument), expression=exp.Where(this=where))

    inner = exp.Select().select(
        *(exp.alias_(tree.copy(), f"g{i}", quoted=True) for i, tree in enumerate(bound.groups)),
        *(exp.alias_(value(a), f"a{a.id}", quoted=True) for a in plan.aggregates),
    )
    inner = inner.from_(exp.to_table("x"))
    inner.args["from_"].this.replace(bound.scope.view())
    inner.set("joins", [join.copy() for join in bound.scope.joins] or None)
    inner = inner.where(formula(plan.conditions[0]))
    inner = inner.group_by(*(tree.copy() for tree in bound.groups)) if bound.groups else inner
    outputs = plan.outputs
    items = [(name, item.low if isinstance(item, Quad) else item) for name, item in outputs.items]
    outer = exp.Select().select(*(exp.alias_(tree.copy(), name, quoted=True) for name, tree in items))
    outer = outer.from_(inner.subquery("_groups"))
    outer = outer.where(outputs.having.copy()) if outputs.having != exp.true() else outer
    outer = outer.order_by(*(term.copy() for term in outputs.order)) if outputs.order else outer
    outer = outer.limit(bound.query.limit) if bound.query.limit is not None else outer
    for node in list(outer.find_all(exp.Column)):
        if not node.table and node.name[:1] in "elh" and node.name[1:].isdigit():
            node.replace(exp.column(exp.to_identifier(f"a{node.name[1:]}", quoted=True)))
        elif not node.table and node.name[:1] == "u" and node.name[1:].isdigit():
            null = exp.Is(this=exp.column(f"a{node.name[1:]}", quoted=True), expression=exp.null())
            node.replace(exp.Case(ifs=[exp.If(this=null, true=exp.Literal.number(1))], default=exp.Literal.number(0)))
    return outer


def rows_sql(rows: BoxRows) -> exp.Select:
    """The box rows: how many, and what each condition says of them."""
    last = exp.Select().select(exp.column("n", quoted=True))
    trees = {
        f"{end}{i}": tree
        for i, triple in enumerate(rows.triples)
        for end, tree in zip("pcs", (triple.possible, triple.certain, triple.share), strict=True)
    }
    last = last.select(*(exp.alias_(tree.copy(), name, quoted=True) for name, tree in trees.items()))
    last = last.from_(rows.written.rows(rows.last, trees.values()))
    last.set("with_", with_tables([(name, tree.copy()) for name, tree in rows.tables], last))
    return last


def sums_sql(groups: Tables) -> exp.Select:
    """The tables that sum up, and the groups."""
    last = exp.select("*").from_(groups[-1][0])
    last.set("with_", with_tables([(name, tree.copy()) for name, tree in groups], last))
    return last


def over_source(tree: exp.Expr, source: str, fields: Mapping[str, str]) -> exp.Expr:
    """A block over the source itself: the view is the source, the value of a box is its column.

    Args:
        tree: a block of parsed, bound or collected.
        source: the source's name.
        fields: the source columns of the boxes, by id.
    """
    made = tree.copy()
    for table in list(made.find_all(exp.Table)):
        if table.alias == "released":
            table.replace(exp.to_table(source).as_("released", quoted=True))
    select = made if isinstance(made, exp.Select) else None
    items = [item.unalias().copy() for item in select.expressions] if select is not None else []
    for node in list(made.find_all(exp.Column)):
        if node.table == "_box":
            node.replace(exp.column(fields[node.name], table="released"))
        elif node.table == ITEM:
            node.replace(exp.Paren(this=items[int(node.name)].copy()))
    for node in list(made.find_all(exp.Column)):
        if node.table == "_box":
            node.replace(exp.column(fields[node.name], table="released"))
    return made
