"""A Spark query without its values.

They become elements of arrays in a view of one row, with which the query is joined.

A join of each SELECT in place of a subquery for each value: Spark plans and lists every subquery, and a statement that
counts many things has hundreds of values.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import sqlglot
from sqlglot import exp

from sqlanon.errors import TemplateError

_WHOLE = {"INT": 2**31, "BIGINT": 2**63}
_STRUCTURE = (
    exp.DataTypeParam,
    exp.Interval,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
    exp.Group,
    exp.Ordered,
    exp.WindowSpec,
    exp.TimestampTrunc,
    exp.TableSample,
    exp.Bracket,
)
"""Under which a literal is a place, a size or a unit."""
_OPTIONS = ("offset", "decimals", "unit", "quantile")
"""Arguments of functions that Spark wants to be constants."""
_KEPT = ("0", "1", "0.0", "1.0")
"""Numbers of formulas: counts and shares begin with them."""
_READ = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "DOUBLE")
"""Types that are casts of texts in a query; these are cast once, and not for each row."""


def separate_values(text: str, view: str) -> tuple[str, Mapping[str, tuple[str, list[str]]]]:
    """The query with elements of a view's arrays in place of its texts and numbers.

    Limits, places of columns, units, parameters of types and of functions, and the numbers 0 and 1 stay in the text.

    Args:
        text: one query of Spark; another statement is returned as it is.
        view: the name of the view. It has one row, and for each type of values a column, which is an array.

    Returns:
        The query, and for each column of the view the type of Spark, and the values as texts that Spark casts to it.

    Raises:
        TemplateError: it cannot be read.
    """
    try:
        tree = sqlglot.parse_one(text, read="spark")
    except sqlglot.errors.SqlglotError:  # whose text quotes the query's
        raise TemplateError("a query whose values are kept apart does not parse") from None
    if not isinstance(tree, exp.Query):
        return text, {}
    grouped = {id(each.find_ancestor(exp.Select)) for each in tree.find_all(exp.AggFunc) if not _is_windowed(each)}
    by_kind: dict[str, dict[str, int]] = {}
    joined: dict[int, exp.Select] = {}
    for literal in list(tree.find_all(exp.Literal)):
        if isinstance(literal.parent, _STRUCTURE) or literal.arg_key in _OPTIONS:
            continue
        if not literal.is_string and literal.name in _KEPT:
            continue
        whole, kind, value = _find_value(literal)
        places = by_kind.setdefault(kind, {})
        select = _of_rows(whole, grouped)
        array: exp.Expr = exp.column(_column_of(kind), table=None if select is None else view, quoted=True)
        if select is None:
            array = exp.select(array).from_(exp.to_identifier(view, quoted=True)).subquery()
        else:
            joined[id(select)] = select
        place = exp.Literal.number(places.setdefault(value, len(places)))
        whole.replace(exp.Bracket(this=array, expressions=[place]))
    for select in joined.values():
        table = exp.Table(this=exp.to_identifier(view, quoted=True))
        if select.args.get("from_") is None:
            select.from_(table, copy=False)
        else:
            select.join(table, join_type="cross", copy=False)
    return tree.sql(dialect="spark"), {_column_of(kind): (kind, list(places)) for kind, places in by_kind.items()}


def _column_of(kind: str) -> str:
    """The column that has the values of a type.

    >>> _column_of("DECIMAL(5, 2)")
    '_sqlanon_decimal_5_2'
    """
    return "_".join(["_sqlanon", *"".join(c if c.isalnum() else " " for c in kind.lower()).split()])


def _find_value(literal: exp.Expr) -> tuple[exp.Expr, str, str]:
    """The largest piece of a query that is one value, its type, and the value as a text.

    The piece is a literal, its cast, or the sign before it.
    """
    parent = literal.parent
    if isinstance(parent, exp.Cast) and not parent.args.get("safe"):
        kind = parent.to.sql(dialect="spark")
        if kind in _READ and (literal.is_string or kind == "DOUBLE"):
            return parent, kind, literal.name
    if literal.is_string:
        return literal, "STRING", literal.name
    whole, sign = (parent, "-") if isinstance(parent, exp.Neg) else (literal, "")
    value = f"{sign}{literal.name}"
    if "e" in value.lower():
        return whole, "DOUBLE", value
    if "." not in value:
        for kind, end in _WHOLE.items():
            if -end <= int(value) < end:
                return whole, kind, value
    number = Decimal(value).as_tuple()
    scale = -int(number.exponent)
    return whole, f"DECIMAL({max(len(number.digits), scale)}, {scale})", value


def _of_rows(node: exp.Expr, grouped: set[int]) -> exp.Select | None:
    """The SELECT from whose rows a node is computed.

    None if it is not computed from one row, as after GROUP BY, or if a join would change more.
    """
    aggregated, parent = False, node
    while parent.parent is not None and not isinstance(parent.parent, exp.Select):
        parent = parent.parent
        aggregated |= isinstance(parent, exp.AggFunc | exp.Filter) and not _is_windowed(parent)
    select = parent.parent
    if not isinstance(select, exp.Select) or parent.arg_key in ("from_", "joins", "laterals"):
        return None
    if any(expression.is_star for expression in select.expressions):  # it would show the values
        return None
    of_rows = aggregated or parent.arg_key == "where" or not (id(select) in grouped or select.args.get("group"))
    return select if of_rows else None


def _is_windowed(aggregate: exp.Expr) -> bool:
    """Whether an aggregate is a window's, which has rows still."""
    parent = aggregate.parent
    return isinstance(parent, exp.Window) or (isinstance(parent, exp.Filter) and isinstance(parent.parent, exp.Window))
