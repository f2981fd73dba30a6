"""Several parts of a date as the keys of groups: the step of the calendar with all parts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.sql.sqltree import Tree

_LEVELS = ("YEAR", "QUARTER", "MONTH", "DAY")
_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "YEAR",
    exp.Quarter: "QUARTER",
    exp.Month: "MONTH",
    exp.Day: "DAY",
    exp.DayOfMonth: "DAY",
}
_NEEDED = {
    "YEAR": {"YEAR"},
    "QUARTER": {"YEAR", "QUARTER"},
    "MONTH": {"YEAR", "MONTH"},
    "DAY": {"YEAR", "MONTH", "DAY"},
}


def common_key(terms: Sequence[Tree], value: Tree) -> Tree | None:
    """An expression of a column that all terms are functions of, and that they determine; None: none is known.

    It is the column itself, where that is a term. Else it is the start of a year, quarter, month or day: by year and
    month rows are grouped as by months, and by month alone they are not.

    Args:
        terms: expressions of the column.
        value: the column.
    """
    if any(term.unnest() == value for term in terms):
        return value
    whole: set[str] = set()
    parts: set[str] = set()
    for term in terms:
        level, truncated = _level(term.unnest(), value)
        if level not in _LEVELS:
            return None
        (whole if truncated else parts).add(level)
    finest = max(whole | parts, key=_LEVELS.index)
    available = set(parts)
    for level in whole:  # a month gives the quarter and year
        available |= set(_LEVELS[: _LEVELS.index(level) + 1])
    if finest not in whole and not available >= _NEEDED[finest]:
        return None
    return exp.TimestampTrunc(this=value.copy(), unit=exp.Var(this=finest))


def _level(node: exp.Expr, value: Tree) -> tuple[str, bool]:
    """The step of the calendar of a term, and whether it is the start of the step; "": another expression."""
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        unit = node.args.get("unit")
        return (unit.name.upper() if unit is not None and node.this.unnest() == value else ""), True
    if isinstance(node, exp.Cast | exp.Date):
        whole = isinstance(node, exp.Date) or node.to.is_type("DATE")
        return ("DAY" if whole and node.this is not None and node.this.unnest() == value else ""), True
    if isinstance(node, exp.Extract):
        return (node.this.name.upper() if node.expression.unnest() == value else ""), False
    if isinstance(node, exp.Anonymous):
        expressions = node.expressions
        is_part = node.name.lower() == "date_part" and len(expressions) == 2 and expressions[1].unnest() == value
        return (expressions[0].name.upper() if is_part else ""), False
    part = _PARTS.get(type(node), "")
    return (part if part and node.this.unnest() == value else ""), False
