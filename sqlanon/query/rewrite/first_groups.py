"""Bounds aggregates over the first groups of a subquery, such as the sum of the three largest counts.

The first groups may differ between sources, but their total differs much less: the sum of the k largest counts rises
with each count. So it is between the sums of the k largest low ends and of the k largest high ends, where a group that
need not exist has the low end 0.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.aggregates import is_count
from sqlanon.query.rewrite.query_plan import GroupAggregate
from sqlanon.query.rewrite.typed_quotient import mean
from sqlanon.query.sql.sqltree import Tree, column, select, sql, when

MEMBERS = "_members"
"""The groups: ``there`` in every source, ``here`` in some; see `sqlanon.query.rewrite.group_bounds`."""
_NUMBER = exp.Literal.number


def of_first(aggregate: GroupAggregate, columns: dict[str, Tree], most: int, term: Tree | None) -> dict[str, Tree]:
    """The columns of an aggregate of the first groups that are narrower than those of all that may be among them.

    Args:
        aggregate: the aggregate.
        columns: the columns of the aggregate.
        most: the number of first groups.
        term: the term that is largest in the first groups; None: the smallest are first, or there is no order.
    """
    if aggregate.filtered or most < 1:
        return {}
    sure, may = (sql(f"COUNT(CASE WHEN m.{name} THEN 1 END)") for name in ("there", "here"))
    if aggregate.kind in ("rows", "count") and (aggregate.value is None or _is_count(aggregate)):
        fewest, most_ = (sql("LEAST(:c, :k)", c=count, k=_NUMBER(most)) for count in (sure, may))
        return _narrower(columns, fewest, most_)
    if aggregate.kind not in ("sum", "avg", "max") or not _is_count(aggregate) or aggregate.node.this.unnest() != term:
        return {}
    never = {"u": when(sql(":c > 0", c=sure), _NUMBER(0), columns["u"])}
    low, high = (_largest(aggregate, end, 1 if aggregate.kind == "max" else most) for end in ("l", "h"))
    if aggregate.kind == "avg":
        kind = aggregate.type or exp.DataType.build("DOUBLE")
        full = sql(":c >= :k", c=sure, k=_NUMBER(most))
        low, high = (
            when(full, mean(kind, end, _NUMBER(most)), columns[name]) for end, name in ((low, "l"), (high, "h"))
        )
    return _narrower(columns, low, high) | never


def _is_count(aggregate: GroupAggregate) -> bool:
    """Whether the argument is a count, which is no less than 0 and never NULL."""
    return is_count(aggregate.node.this.unnest())


def _narrower(columns: dict[str, Tree], low: Tree, high: Tree) -> dict[str, Tree]:
    return {
        "l": sql("GREATEST(:a, :b)", a=columns["l"], b=low),
        "h": sql("LEAST(:a, :b)", a=columns["h"], b=high),
    }


def _largest(aggregate: GroupAggregate, end: str, count: int) -> Tree:
    """The sum of the largest ends."""
    there = column("there" if end == "l" else "here")
    value = when(there, column(f"v{aggregate.id}{end}"), _NUMBER(0))
    first = select([exp.alias_(value, "x")], MEMBERS, order=[exp.Ordered(this=value.copy(), desc=True)])
    first.set("limit", exp.Limit(expression=_NUMBER(count)))
    return exp.Paren(this=exp.Select(expressions=[sql("SUM(f.x)")], from_=exp.From(this=first.subquery("f"))))
