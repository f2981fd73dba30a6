"""Allowed parts of a query: shapes without an answer over a release are refused before any name is looked up.

A clause that is dropped, or a function that gives another value in the next row or call, would make an answer wrong
without an error. A function of the server may read files and tables, or write. So unknown parts are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from sqlanon.query.functions.aggregates import QUANTILES as QUANTILE_CALLS
from sqlanon.query.functions.registry import is_known, is_replaced, name_of, nearest, unknown_arguments
from sqlanon.query.normalize.expression_subqueries import Scalar
from sqlanon.query.normalize.kinds import over_window
from sqlanon.query.refusal import refuse

_TABLE = {"this", "db", "catalog", "alias"}
_REFUSED: dict[type[exp.Expr], str] = {
    exp.Placeholder: "the query has a placeholder: give its value as a parameter, or write it into the query",
    exp.Parameter: "the query has a parameter: give its value, or write it into the query",
    exp.Columns: "write the columns out; COLUMNS(...) is not answered over a release",
}
_TYPES = {
    *exp.DataType.NUMERIC_TYPES,
    *exp.DataType.TEXT_TYPES,
    *exp.DataType.TEMPORAL_TYPES,
    exp.DataType.Type.BOOLEAN,
    exp.DataType.Type.INTERVAL,
    exp.DataType.Type.ARRAY,
    exp.DataType.Type.LIST,
} - {exp.DataType.Type.NAME, exp.DataType.Type.MONEY, exp.DataType.Type.SMALLMONEY, exp.DataType.Type.BIT}
QUANTILES = "percentile_cont(0.5) WITHIN GROUP (ORDER BY x) and percentile_disc(..), at one share between 0 and 1"
"""The form that every engine has, for refusals."""


def admit(text: str, select: exp.Select) -> None:
    """Refuse parts that no rewriting reads; before CTEs and subqueries are merged.

    Args:
        text: the whole query, for messages.
        select: the query as it was parsed.

    Raises:
        RefusedQueryError: a piece of the query has no answer over a release.
    """
    for kind, reason in _REFUSED.items():
        node = select.find(kind)
        if node is not None:
            refuse(text, node, reason)
    for node in select.walk():
        if isinstance(node, exp.Table):
            plain_table(text, node)
        elif isinstance(node, exp.Subquery):
            _only(text, node, {"this", "alias"})
        elif isinstance(node, exp.Func):
            _known_function(text, node)
        elif isinstance(node, exp.ObjectIdentifier) or (isinstance(node, exp.DataType) and node.this not in _TYPES):
            # Other types look names up in the catalog, read documents, or go by settings of the server.
            refuse(text, node.parent, "casts are to numbers, text, booleans, dates and times")
        elif isinstance(node, exp.Dot | exp.Operator):
            refuse(text, node, "functions and operators of a schema are not answered over a release")
        elif isinstance(node, exp.Limit | exp.Fetch):
            options = node.args.get("limit_options")
            if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
                refuse(
                    text,
                    node,
                    "LIMIT takes a number of rows, without ties or percent: groups are ordered by estimates",
                )
        elif isinstance(node, exp.Star) and any(node.args.values()):
            refuse(text, node, "a star with EXCLUDE, REPLACE or RENAME is not answered; write the columns out")


def plain_table(text: str, table: exp.Table) -> None:
    """Refuse a table with a sample, a pivot, a version, names for columns, or anything else but a name.

    Raises:
        RefusedQueryError: see above.
    """
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        refuse(text, table, "a table's columns cannot be named anew here; use their own names")
    _only(text, table, _TABLE)


def aggregates(text: str, select: exp.Select) -> None:
    """Refuse aggregates where they have no meaning; after all is merged.

    Raises:
        RefusedQueryError: see above.
    """
    again = select.meta.get("regroup") is not None
    rows = [select.args.get("where"), *(join.args.get("on") for join in select.args.get("joins") or ())]
    rows += [node.expression for node in select.find_all(exp.Filter) if not again]
    for part in rows:
        inside = next(_aggregates_in(part), None) if part is not None else None
        if inside is not None:
            refuse(text, inside, "an aggregate is not allowed in WHERE, FILTER or ON; write it in HAVING")
    for node in _aggregates_in(select):
        # The outer aggregate is of groups where it is a window function, or where the groups are grouped again.
        inner = any(part is not node for part in _aggregates_in(node))
        if isinstance(node, exp.Window):
            continue
        if node.find(exp.Window) or (inner and not again and not over_window(node)):
            refuse(
                text,
                node,
                "aggregates of aggregates are those of groups: write the inner one in a subquery with a GROUP BY, or "
                "sum(count(*)) OVER ()",
            )


def _aggregates_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates and window functions in an expression; a subquery's value is none."""
    return (part for part in node.find_all(exp.AggFunc, exp.Window) if not isinstance(part, Scalar))


def _only(text: str, node: exp.Expr, allowed: set[str]) -> None:
    for name, value in node.args.items():
        if value and name not in allowed:
            clause = {"sample": "TABLESAMPLE", "pivots": "PIVOT", "joins": "a join in parentheses"}.get(
                name, name.strip("_").upper()
            )
            refuse(text, node, f"{clause} is not answered over a release")


def _known_function(text: str, node: exp.Func) -> None:
    if isinstance(node, exp.Exists):
        return  # it is written as IN, or refused there
    allowed = is_known(node) or isinstance(node, exp.AggFunc)  # others are refused where they are collected
    if isinstance(node, exp.Array):
        above = node.parent.parent if isinstance(node.parent, exp.Paren) else node.parent
        allowed = isinstance(above, exp.Any | exp.All)
    if isinstance(node, exp.Array) and not allowed and node.find_ancestor(*QUANTILE_CALLS):
        refuse(
            text,
            node,
            "quantiles are answered at one share each: percentile_cont(0.25) .., percentile_cont(0.75) ..",
        )
    if not is_known(node) and re.match(r"(approx_)?(quantile|median)", name_of(node)):
        refuse(text, node, f"here quantiles are {QUANTILES}")
    if is_known(node) and unknown_arguments(node):
        refuse(
            text,
            node,
            f"{name_of(node)} is not answered with these arguments; write it with those of the SQL standard alone",
        )
    if is_replaced(node) and not isinstance(node.parent, exp.WithinGroup):
        refuse(text, node, f"{name_of(node)}: this function is not answered over a release{nearest(node)}")
    if not allowed:
        refuse(
            text,
            node,
            f"{name_of(node)}: this function is not answered over a release{nearest(node)}; there are arithmetic, "
            "dates, text, CASE, CAST, COALESCE and the like, whose value depends on their arguments alone",
        )
