"""What a query may consist of: shapes that have no answer over a release are refused before any name is looked up.

A clause that is dropped, or a function that gives another value in the next row or call, would make an answer wrong
without an error. A function of the server may read files and tables, or write. So what is not known is refused.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sqlanon.query.functions.aggregates import QUANTILES as QUANTILE_CALLS
from sqlanon.query.functions.registry import is_known, name_of, nearest, unknown_arguments
from sqlanon.query.refusal import refuse

_TABLE = {"this", "db", "catalog", "alias"}
_REFUSED: dict[type[exp.Expr], str] = {
    exp.Placeholder: "write values into the query; placeholders cannot be bound here",
    exp.Parameter: "write values into the query; parameters cannot be bound here",
    exp.Rollup: "ROLLUP is not answered; ask one query for each grouping",
    exp.Cube: "CUBE is not answered; ask one query for each grouping",
    exp.GroupingSets: "GROUPING SETS are not answered; ask one query for each grouping",
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
    """Refuse what no rewriting reads; before CTEs and subqueries are merged.

    Args:
        text: the whole query, for messages.
        select: the query as it was parsed.

    Raises:
        Refused: a piece of it has no answer over a release.
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
    """Refuse a table with a sample, a pivot, a version, names for its columns, or anything else but a name.

    Raises:
        Refused: see above.
    """
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        refuse(text, table, "a table's columns cannot be named anew here; use their own names")
    _only(text, table, _TABLE)


def aggregates(text: str, select: exp.Select) -> None:
    """Refuse aggregates where they have no meaning, and subqueries inside expressions; after all is merged.

    Raises:
        Refused: see above.
    """
    for clause in ("expressions", "where", "group", "having", "order"):
        found = select.args.get(clause) or ()
        for part in found if isinstance(found, list | tuple) else (found,):
            nested = part.find(exp.Query, exp.Exists)
            if nested is not None:
                refuse(
                    text,
                    nested,
                    "a subquery inside an expression is not answered over a release; ask it first and write its answer "
                    "as a constant, or join its table",
                )
    rows = [select.args.get("where"), *(join.args.get("on") for join in select.args.get("joins") or ())]
    rows += [found.expression for found in select.find_all(exp.Filter)]
    for part in rows:
        inside = part.find(exp.AggFunc, exp.Window) if part is not None else None
        if inside is not None:
            refuse(text, inside, "an aggregate is not allowed in WHERE, FILTER or ON; write it in HAVING")
    for node in select.find_all(exp.AggFunc):
        # The outer one is of groups where it is a window function.
        inner = any(other is not node for other in node.find_all(exp.AggFunc))
        if node.find(exp.Window) or (inner and not isinstance(node.parent, exp.Window)):
            refuse(
                text,
                node,
                "aggregates of aggregates have no bounds; over the groups of an answer there is sum(count(*)) OVER ()",
            )


def _only(text: str, node: exp.Expr, known: set[str]) -> None:
    for name, value in node.args.items():
        if value and name not in known:
            clause = {"sample": "TABLESAMPLE", "pivots": "PIVOT", "joins": "a join in parentheses"}.get(
                name, name.strip("_").upper()
            )
            refuse(text, node, f"{clause} is not answered over a release")


def _known_function(text: str, node: exp.Func) -> None:
    known = is_known(node) or isinstance(node, exp.AggFunc)  # others are refused where they are collected
    if isinstance(node, exp.Array):
        above = node.parent.parent if isinstance(node.parent, exp.Paren) else node.parent
        known = isinstance(above, exp.Any | exp.All)
    if isinstance(node, exp.Array) and not known and node.find_ancestor(*QUANTILE_CALLS):
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
    if not known:
        refuse(
            text,
            node,
            f"{name_of(node)}: this function is not answered over a release{nearest(node)}; there are arithmetic, "
            "dates, text, CASE, CAST, COALESCE and the like, whose value depends on their arguments alone",
        )
