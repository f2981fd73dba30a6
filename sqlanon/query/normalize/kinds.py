"""Kinds of results of a SELECT: rows, groups of rows, or a single row."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.query.normalize.expression_subqueries import Scalar

AGGREGATED = (exp.AggFunc, exp.Filter, exp.WithinGroup)
"""Nodes with contents about rows, not about their group: arguments, conditions of FILTER, orders of quantiles."""


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an expression is of a group of rows: an aggregate that is no window function."""
    return any(not isinstance(part, Scalar) and not over_window(part) for part in node.find_all(exp.AggFunc))


def over_window(node: exp.Expr) -> bool:
    """Whether an aggregate is a window function itself: OVER belongs to it."""
    above = node.parent
    while isinstance(above, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        node, above = above, above.parent
    return isinstance(above, exp.Window) and above.this is node


def clauses(select: exp.Select) -> Iterator[exp.Expr]:
    """The clauses of a SELECT that hold expressions of groups."""
    yield from select.expressions
    for name in ("having", "order", "qualify"):
        if select.args.get(name) is not None:
            yield select.args[name]


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT gives groups, or a single row for all rows."""
    return bool(
        select.args.get("group") or select.args.get("having") or any(has_aggregate(part) for part in clauses(select))
    )


def has_groupings(select: exp.Select) -> bool:
    """Whether the groups of a SELECT are of several groupings: ROLLUP, CUBE or GROUPING SETS."""
    group = select.args.get("group")
    return group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets) is not None


def has_window(select: exp.Select) -> bool:
    """Whether a SELECT has window functions."""
    return any(part.find(exp.Window) for part in clauses(select))
