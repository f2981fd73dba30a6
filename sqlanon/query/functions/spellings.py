"""Other spellings of functions, and of aggregates of conditions, in the form that has a definition."""

from __future__ import annotations

from sqlglot import exp

_CONDITIONS = (exp.Predicate, exp.Not, exp.And, exp.Or)


def spell_alike(select: exp.Expr, dialect: str) -> None:
    """Write functions that are another's second name, and aggregates of conditions, in their common form.

    ``mean(x)`` is ``avg(x)``, ``now()`` the current timestamp, DuckDB's ``grouping_id(x)`` is ``grouping(x)``.
    ``count_if(c)`` counts the rows for which c is TRUE; in DuckDB it is a sum, which is NULL where c is NULL in every
    row.
    ``CAST(c AS INTEGER)`` of a condition is 1, 0, or NULL, as CASE says it; ``count(DISTINCT CASE WHEN c THEN x END)``
    and ``count(CASE WHEN c THEN x END)`` pass over NULL, and so over all rows for which c is not TRUE. Days between two
    times are the difference of their dates. Spark's casts are read as those that may give NULL, as they did before
    Spark 4; in a session of ours they are errors, as elsewhere.
    """
    for tried in list(select.find_all(exp.TryCast)) if dialect == "spark" else ():
        if not tried.args.get("safe"):
            tried.replace(_place(exp.Cast(this=tried.this.copy(), to=tried.to.copy()), tried))
    for node in list(select.find_all(exp.Anonymous)):
        name, arguments = node.name.lower(), node.expressions
        if name == "mean" and len(arguments) == 1:
            node.replace(_place(exp.Avg(this=arguments[0].copy()), node))
        elif name == "now" and not arguments:
            node.replace(_place(exp.CurrentTimestamp(), node))
    for shown in list(select.find_all(exp.GroupingId)) if dialect == "duckdb" else ():
        shown.replace(_place(exp.Grouping(expressions=[expression.copy() for expression in shown.expressions]), shown))
    for count_if in list(select.find_all(exp.CountIf)):
        if dialect == "duckdb":
            condition = exp.Cast(this=exp.Paren(this=count_if.this.copy()), to=exp.DataType.build("INT"))
            count_if.replace(_place(exp.Sum(this=_as_number(condition)), count_if))
        elif not isinstance(count_if.parent, exp.Filter):
            where = exp.Where(this=count_if.this.copy())
            count_if.replace(exp.Filter(this=_place(exp.Count(this=exp.Star()), count_if), expression=where))
    for cast in list(select.find_all(exp.Cast)):
        if type(cast) is exp.Cast and cast.to.is_type(*exp.DataType.INTEGER_TYPES) and _is_condition(cast.this):
            cast.replace(_as_number(cast))
    for count in list(select.find_all(exp.Count)):
        _count_case(count)
    for difference in list(select.find_all(exp.DateDiff)):
        unit = difference.args.get("unit")
        if unit is not None and unit.name.upper() == "DAY" and difference.expression is not None:
            ends = [exp.cast(end.copy(), "DATE") for end in (difference.this, difference.expression)]
            difference.replace(exp.Paren(this=_place(exp.Sub(this=ends[0], expression=ends[1]), difference)))


def is_grouping(node: exp.Expr) -> bool:
    """Whether a call says which terms a grouping has."""
    return isinstance(node, exp.Grouping)


def zero_for_null(node: exp.Expr) -> exp.Expr:
    """An expression, and 0 where it is NULL."""
    return exp.Coalesce(this=node, expressions=[exp.Literal.number(0)])


def _place(replacement: exp.Expr, node: exp.Expr) -> exp.Expr:
    """The node, at the place of another node in the text."""
    replacement.meta.update(node.meta)
    return replacement


def _is_condition(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), _CONDITIONS)


def _as_number(node: exp.Cast) -> exp.Expr:
    """A condition as 1, 0 or NULL of the type of the cast."""
    condition = node.this.unnest()
    literal_one, literal_zero = (exp.cast(exp.Literal.number(n), node.to.copy()) for n in (1, 0))
    otherwise = exp.Not(this=exp.Paren(this=condition.copy()))
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=literal_one), exp.If(this=otherwise, true=literal_zero)])


def _count_case(node: exp.Count) -> None:
    """DISTINCT of a CASE with a single branch, as a FILTER."""
    distinct = node.this
    if not isinstance(distinct, exp.Distinct) or len(distinct.expressions) != 1 or isinstance(node.parent, exp.Filter):
        return
    case = distinct.expressions[0].unnest()
    if not isinstance(case, exp.Case) or case.this is not None or len(case.args["ifs"]) != 1:
        return
    default = case.args.get("default")
    if default is not None and not isinstance(default.unnest(), exp.Null):
        return
    branch = case.args["ifs"][0]
    inner = node.copy()
    inner.set("this", exp.Distinct(expressions=[branch.args["true"].copy()]))
    node.replace(exp.Filter(this=inner, expression=exp.Where(this=branch.this.copy())))


def is_converted(node: exp.Column, item: exp.Expr) -> bool:
    """Whether an item reads a column as text, as a number or as a time, and not as it is."""
    above = node.parent
    while above is not None and above is not item.parent:
        if isinstance(above, exp.Count | exp.Cast):
            return True
        above = above.parent
    return False
