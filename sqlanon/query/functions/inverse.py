"""Comparisons of the day, the year, or another step of a timestamp, as comparisons of the timestamp itself.

The ends of the step decide them.

A step holds the times from its start up to, but without, the start of the next step.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sqlanon.query.functions.comparisons import MIRROR
from sqlanon.query.sql.sqltree import Tree, sql, string

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_YEAR = re.compile(r"[1-9]\d{0,3}", re.ASCII)
_TYPE = re.compile(r"(timestamp|datetime)( without time zone)?|(timestamp with time zone|timestamptz)", re.IGNORECASE)
UNITS = {"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"}


def of_the_time_itself(node: exp.Expr, time: Tree, source_type: str) -> exp.Expr | None:
    """A comparison of a step of a timestamp with a constant, as comparisons of the timestamp.

    None for any other comparison.

    Args:
        node: a bound predicate.
        time: the column of timestamps in it.
        source_type: the type in the source.
    """
    if type(node) not in MIRROR:
        return None
    assert isinstance(node, exp.Binary)
    kind, left, right = type(node), node.left.unnest(), node.right.unnest()
    if left.find(exp.Column) is None:
        kind, left, right = MIRROR[kind], right, left
    ends = None if right.find(exp.Column) is not None else _ends(left, right, time, source_type)
    if ends is None:
        return None
    from_, to = ends

    def side(compared: type[exp.Binary], end: Tree) -> exp.Expr:
        return compared(this=time.copy(), expression=end.copy())

    functions: dict[type[exp.Expr], exp.Expr] = {
        exp.EQ: exp.And(this=side(exp.GTE, from_), expression=side(exp.LT, to)),
        exp.NEQ: exp.Or(this=side(exp.LT, from_), expression=side(exp.GTE, to)),
        exp.LT: side(exp.LT, from_),
        exp.GTE: side(exp.GTE, from_),
        exp.LTE: side(exp.LT, to),
        exp.GT: side(exp.GTE, to),
    }
    return exp.Paren(this=functions[kind])


def _ends(step: exp.Expr, constant: exp.Expr, time: Tree, source_type: str) -> tuple[Tree, Tree] | None:
    """The first time with a step at or after the constant, and the first with a step after it."""
    # Of other precisions, and with other types of constants, engines round before they compare.
    match = _TYPE.fullmatch(source_type)
    inner = step.expression if isinstance(step, exp.Extract) else step.this
    if match is None or not isinstance(inner, exp.Expr) or inner.unnest() != time:
        return None
    type_ = "TIMESTAMPTZ" if match[3] else "TIMESTAMP"
    text = constant.name if isinstance(constant, exp.Literal) else ""
    if isinstance(step, exp.Year) or (isinstance(step, exp.Extract) and step.name.upper() == "YEAR"):
        if not _YEAR.fullmatch(text) or constant.is_string or int(text) > 9998:
            return None
        first, last = (exp.cast(string(f"{int(text) + i:04}-01-01"), type_) for i in (0, 1))
        return first, last
    plain = constant.is_string and _DAY.fullmatch(text) is not None
    quoted = (
        constant.to
        if isinstance(constant, exp.Cast) and isinstance(constant.this, exp.Literal) and constant.this.is_string
        else None
    )
    if isinstance(step, exp.Date) or (isinstance(step, exp.Cast) and step.to.is_type("DATE")):
        if not plain and not (quoted is not None and quoted.is_type("DATE")):
            return None
        day = exp.cast(exp.cast(constant.copy(), "DATE"), type_)
        return day, exp.Add(this=day.copy(), expression=_name_unit("DAY"))
    if isinstance(step, exp.TimestampTrunc | exp.DateTrunc) and not step.args.get("zone"):
        unit = step.args["unit"].name.upper()
        same = ("TIMESTAMPTZ",) if match[3] else ("TIMESTAMP", "TIMESTAMPNTZ")
        typed = quoted is not None and not quoted.expressions and quoted.is_type("DATE", *same)
        if unit not in UNITS or not (constant.is_string or typed):
            return None
        value = exp.cast(constant.copy(), type_)
        start = exp.TimestampTrunc(this=value, unit=exp.Var(this=unit))
        after = exp.Add(this=start.copy(), expression=_name_unit(unit))
        return sql("CASE WHEN :s = :v THEN :v ELSE :a END", s=start, v=value, a=after), after
    return None


def _name_unit(unit: str) -> Tree:
    return sql(f"INTERVAL '{3 if unit == 'QUARTER' else 1} {'MONTH' if unit == 'QUARTER' else unit}'")
