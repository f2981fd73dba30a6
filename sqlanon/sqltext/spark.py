"""Corrections of sqlglot's SQL for Spark.

Without an error sqlglot writes SQL that Spark would understand otherwise, or not at all; the tree is corrected.
"""

from __future__ import annotations

from sqlglot import exp

WIDE = "DECIMAL(38, 0)"
"""Whole numbers of more than 64 bits."""
DIGITS = 38
"""Of a decimal, at most; a number with more is a double."""


_NO_KEYS = (exp.Query, exp.Placeholder, exp.Star, exp.AggFunc, exp.Window)
"""Parts of expressions that stay numbers in GROUP BY."""


def for_spark(tree: exp.Expr) -> exp.Expr:
    """A core template's tree as Spark has to read it."""
    for cte in list(tree.find_all(exp.CTE)):
        cte.set("materialized", None)
    for literal in list(tree.find_all(exp.Literal)):
        if not literal.is_string and sum(map(str.isdigit, literal.name)) > DIGITS:
            literal.replace(exp.Literal.number(f"{literal.name}D"))
    for kind in list(tree.find_all(exp.DataType)):
        if kind.this in (exp.DType.INT128, exp.DType.UINT128, exp.DType.UBIGINT):
            kind.replace(exp.DataType.build(WIDE, dialect="spark"))
    for array in list(tree.find_all(exp.ArrayAgg)):
        _sort_array(array)
    for call in reversed(list(tree.find_all(exp.Anonymous))):  # what is inside first
        if call.name.upper() == "HASH":
            summed = _summed_hash(call)
            hashed = call.replace(_hash(call.expressions))
            if summed is not None:
                summed.replace(_sum_in_halves(hashed))
    for part in reversed(list(tree.find_all(exp.Extract))):
        if part.name.upper() == "EPOCH":
            part.replace(_epoch(part.expression))
    for window in list(tree.find_all(exp.Window)):
        if isinstance(window.this, exp.RowNumber | exp.Lag) and not window.args.get("order"):
            order = exp.Ordered(this=exp.Literal.number(0), nulls_first=True)
            window.set("order", exp.Order(expressions=[order]))
    for least in reversed(list(tree.find_all(exp.Least, exp.Greatest))):
        if not least.expressions:  # Spark wants two values
            least.replace(exp.paren(least.this.copy()))
    for lateral in list(tree.find_all(exp.Lateral)):
        if isinstance(lateral.this, exp.GenerateSeries):
            _series(lateral, lateral.this)
    for select in list(tree.find_all(exp.Select)):
        _group_by_expressions(select)
    if isinstance(tree, exp.Insert) and isinstance(tree.expression, exp.Values):
        rows = tree.expression.expressions
        selects = [exp.select(*(item.copy() for item in row.expressions)) for row in rows]
        first, *more = selects
        query: exp.Expr = first
        for branch in more:
            query = exp.union(query, branch, distinct=False)
        tree.set("expression", query)
    return tree


def _hash(values: list[exp.Expr]) -> exp.Expr:
    """64 bits of several values. Spark's hash passes over NULLs, so that each value says whether it is one."""
    nulls = [exp.Is(this=exp.paren(value.copy()), expression=exp.Null()) for value in values]
    return exp.func("XXHASH64", *(value.copy() for value in values), *nulls)


def _summed_hash(call: exp.Expr) -> exp.Expr | None:
    """The sum of a hash as a wide number; None where a call is used otherwise."""
    cast = call.parent
    total = cast.parent if isinstance(cast, exp.Cast) else None
    if not isinstance(total, exp.Sum) or isinstance(total.parent, exp.Window | exp.Filter):
        return None
    return total if total.this is cast and cast.to == exp.DataType.build(WIDE, dialect="spark") else None


def _sum_in_halves(hashed: exp.Expr) -> exp.Expr:
    """The sum of integers of 64 bits: the halves are added up as integers, as Spark makes an object of each decimal.

    A table has at most 2^31 rows, so that no sum of 32 bits each overflows.
    """
    high = exp.Sum(this=exp.func("SHIFTRIGHT", hashed.copy(), exp.Literal.number(32), dialect="spark"))
    low = exp.Sum(this=exp.BitwiseAnd(this=hashed.copy(), expression=exp.Literal.number(0xFFFFFFFF)))
    wide = exp.Mul(this=exp.cast(high, WIDE, dialect="spark"), expression=exp.Literal.number(1 << 32))
    return exp.paren(exp.Add(this=wide, expression=low))


def _group_by_expressions(select: exp.Select) -> None:
    """Expressions over columns in place of their numbers in GROUP BY.

    Sail does not find by a number that another expression is of the same columns.
    """
    group = select.args.get("group")
    for number in list(group.expressions) if group is not None else []:
        if isinstance(number, exp.Literal) and not number.is_string:
            selected = select.expressions[int(number.name) - 1].unalias()
            if selected.find(exp.Column) and not selected.find(*_NO_KEYS):
                number.replace(selected.copy())


def _epoch(moment: exp.Expr) -> exp.Expr:
    """Seconds since 1970 of a date or a timestamp as it is written; Spark cannot extract them.

    The session's time zone does not count.
    """
    start, until = (
        exp.cast(each, "TIMESTAMP_NTZ", dialect="spark") for each in (exp.Literal.string("1970-01-01"), moment.copy())
    )
    micros = exp.Anonymous(this="TIMESTAMPDIFF", expressions=[exp.var("MICROSECOND"), start, until])
    return exp.paren(exp.Div(this=micros, expression=exp.Literal.number("1000000D")))


def _series(lateral: exp.Lateral, series: exp.GenerateSeries) -> None:
    """A series for each row, from a subquery.

    Spark has no such table function, and its SEQUENCE runs down if the end is below the start.
    """
    start, end = series.args["start"], series.args["end"]
    holds = exp.LTE(this=exp.paren(start.copy()), expression=exp.paren(end.copy()))
    values = exp.Case(ifs=[exp.If(this=holds, true=series.copy())])
    (name,) = lateral.args["alias"].columns
    query = exp.select(exp.alias_(exp.Explode(this=values), name.copy()))
    alias = exp.TableAlias(this=lateral.args["alias"].this.copy())
    lateral.replace(exp.Lateral(this=query.subquery(), alias=alias))


def _sort_array(node: exp.Expr) -> None:
    """ARRAY_AGG with ORDER BY: Spark collects in no order, so the array is sorted, by the keys and then the values."""
    order = node.this
    if not isinstance(order, exp.Order):
        return
    keys = [item.this.copy() for item in order.expressions]
    value = order.this.copy()
    if [key.sql() for key in keys] == [value.sql()]:
        node.replace(exp.func("ARRAY_SORT", exp.func("COLLECT_LIST", value)))
        return
    struct = exp.func(
        "NAMED_STRUCT",
        *(part for i, key in enumerate(keys) for part in (exp.Literal.string(f"k{i}"), key)),
        exp.Literal.string("v"),
        value,
    )
    extraction = exp.Lambda(this=exp.column("v", table="x"), expressions=[exp.to_identifier("x")])
    node.replace(exp.func("TRANSFORM", exp.func("ARRAY_SORT", exp.func("COLLECT_LIST", struct)), extraction))
