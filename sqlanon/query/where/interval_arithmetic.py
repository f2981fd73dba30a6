"""Predicates over several boxes, or over an expression of one: three-valued interval logic, sound and not tight."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.boxes.range_facts import is_finite
from sqlanon.query.logic.formula import Triple
from sqlanon.query.logic.number_line import measure
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    column,
    every,
    indicator,
    negate,
    parenthesize,
    some,
    sql,
    string,
    when,
    with_columns,
)
from sqlanon.query.where.terms import Terms

_NOT: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}
_RISING = (exp.Floor, exp.Ceil, exp.TimestampTrunc, exp.DateTrunc, exp.Year, exp.TsOrDsToDate)


_NUMBERS, _TIMES = ("integer", "float", "decimal"), ("date", "timestamp")


@dataclass(frozen=True)
class Span:
    """Where an expression of a row lies.

    Attributes:
        low, high: its ends, where it is not NULL; NULL where nothing bounds it.
        known, nothing: it is surely not NULL; it surely is.
        kind: of its type.
        shown: its value over the representative values that the release publishes; None: it publishes ranges.
    """

    low: Tree
    high: Tree
    known: Tree
    nothing: Tree
    kind: str
    shown: Tree | None = None


def compare(scope: Scope, terms: Terms, node: exp.Expr, positive: bool) -> Triple | None:
    """The triple of a comparison, or None if its sides have no ends.

    Args:
        scope: the names.
        terms: where exact expressions are named.
        node: a bound comparison.
        positive: its sign.
    """
    if type(node) not in _NOT:
        return None
    assert isinstance(node, exp.Binary)
    kind = type(node) if positive else _NOT[type(node)]
    left, right = (span(scope, terms, side) for side in (node.left, node.right))
    if left is None or right is None:
        return None
    if kind in (exp.GT, exp.GTE):
        left, right = right, left
        kind = {exp.GT: exp.LT, exp.GTE: exp.LTE}[kind]
    a, b, c, d = left.low, left.high, right.low, right.high
    apart = sql(":b < :c OR :d < :a", a=a, b=b, c=c, d=d)
    same = sql(":a = :d AND :b = :c", a=a, b=b, c=c, d=d)
    texts: dict[type[exp.Expr], tuple[Tree, Tree]] = {
        exp.LT: (sql(":a < :d", a=a, d=d), sql(":b < :c", b=b, c=c)),
        exp.LTE: (sql(":a <= :d", a=a, d=d), sql(":b <= :c", b=b, c=c)),
        exp.EQ: (negate(sql("COALESCE(:x, FALSE)", x=apart)), same),
        exp.NEQ: (negate(sql("COALESCE(:x, FALSE)", x=same)), apart),
    }
    can, must = texts[kind]
    nothing = some([left.nothing, right.nothing])
    # Ends that are not known are NULL: then it may be, and need not.
    possible = every([negate(nothing), sql("COALESCE(:x, TRUE)", x=can)])
    certain = every([left.known, right.known, sql("COALESCE(:x, FALSE)", x=must)])
    between = sql("CAST(0.5 AS DOUBLE)")
    if left.shown is not None and right.shown is not None:
        holds = kind(this=parenthesize(left.shown), expression=parenthesize(right.shown))
        between = indicator(sql("COALESCE(:x, FALSE)", x=holds))
    elif kind in (exp.LT, exp.LTE):
        between = _part(left, right) or between
    return Triple(possible, certain, when(certain, ONE, when(possible, between, ZERO)))


def _part(left: Span, right: Span) -> Tree | None:
    """How often left < right, roughly: where the middle of the smaller span lies in the larger."""
    kinds = {left.kind, right.kind}
    if kinds & set(_TIMES) and not kinds <= set(_TIMES):
        return None
    kind = "timestamp" if "timestamp" in kinds else ""
    ends = [measure(end, kind or left.kind) for end in (left.low, left.high)] + [
        measure(end, kind or right.kind) for end in (right.low, right.high)
    ]
    if any(end is None for end in ends):
        return None
    a, b, c, d = (end for end in ends if end is not None)
    return sql(
        "COALESCE(LEAST(GREATEST((:d + :c - :a - :b) / NULLIF(2 * GREATEST(:b - :a, :d - :c), 0) + 0.5, 0.0), 1.0), "
        "0.5)",
        a=a,
        b=b,
        c=c,
        d=d,
    )


def span(scope: Scope, terms: Terms, node: exp.Expr) -> Span | None:
    """The ends of an expression over the rows of the rewritten query; None: they are unknown."""
    node = node.unnest()
    if not boxes_in(node):
        value = terms.column(node) if node.find(exp.Column) else node.copy()
        null = sql(":v IS NULL", v=value)
        return Span(value, value, negate(null), null, _kind(node), value)
    if isinstance(node, exp.Column):
        box = scope.box(node.name)
        if box.shape != "interval" or box.field.kind in ("text", "enum"):
            return None
        if box.point is not None:  # any value, and the estimate goes by the one that is shown
            value = column(f"{box.id}_lo")
            open_ = exp.Case(ifs=[exp.If(this=FALSE.copy(), true=value)])
            return Span(open_, open_, FALSE, FALSE, box.field.kind, value)
        known, nothing = TRUE, FALSE
        bounded: Tree = TRUE
        if box.state is not None:
            state = column(f"{box.id}_state")
            known = sql(":s = :v", s=state, v=string("none"))
            nothing = sql(":s = :v", s=state, v=string("all"))
            bounded = some([known, *([sql(":s = :v", s=state, v=string("ends"))] if box.beside else [])])
        return Span(*_ends(box.id, bounded), known, nothing, box.field.kind)
    if isinstance(node, exp.Neg):
        inner = span(scope, terms, node.this)
        if inner is None:
            return None
        first, last = (exp.Neg(this=parenthesize(end)) for end in (inner.high, inner.low))
        negative = exp.Neg(this=parenthesize(inner.shown)) if inner.shown is not None else None
        return Span(first, last, inner.known, inner.nothing, inner.kind, negative)
    if isinstance(node, exp.Add | exp.Sub):
        left, right = (span(scope, terms, side) for side in (node.left, node.right))
        if left is None or right is None:
            return None
        # Infinities of both signs, and NaN, which is above all: only a constant is added to floating point numbers.
        if right.kind == "float" or (left.kind == "float" and not isinstance(node.right.unnest(), exp.Literal)):
            return None
        low, high = (right.low, right.high) if isinstance(node, exp.Add) else (right.high, right.low)
        kind = type(node)
        wide = left.kind if right.kind not in _TIMES else ""
        ends = (
            kind(this=parenthesize(_wide(left.low, wide)), expression=parenthesize(low)),
            kind(this=parenthesize(_wide(left.high, wide)), expression=parenthesize(high)),
        )
        own = _sum_kind(left.kind, right.kind, minus=isinstance(node, exp.Sub))
        shown: Tree | None = None
        if left.shown is not None and right.shown is not None:
            shown = kind(this=parenthesize(_wide(left.shown, wide)), expression=parenthesize(right.shown))
        return Span(*ends, every([left.known, right.known]), some([left.nothing, right.nothing]), own, shown)
    if isinstance(node, exp.Mul | exp.Div):
        return _multiple(scope, terms, node)
    if isinstance(node, exp.Abs):
        return _size(scope, terms, node)
    if isinstance(node, exp.Coalesce):
        return _replace_null(scope, terms, node)
    if isinstance(node, _RISING) or (isinstance(node, exp.Extract) and node.name.upper() == "YEAR"):
        return _rising(scope, terms, node)
    return None


def _multiple(scope: Scope, terms: Terms, node: exp.Mul | exp.Div) -> Span | None:
    """A span times, or divided by, a constant above 0: neither ever falls, rounded or not."""
    other, by = node.left, node.right
    if isinstance(node, exp.Mul) and not boxes_in(by):
        other, by = node.left, node.right
    elif isinstance(node, exp.Mul):
        other, by = by, other
    by = by.unnest()
    if not isinstance(by, exp.Literal) or by.is_string or float(by.this) <= 0:
        return None
    inner = span(scope, terms, other)
    if inner is None or inner.kind not in _NUMBERS:
        return None

    def at(end: Tree) -> Tree:
        sides = (end, by) if other is node.left else (by, end)
        return type(node)(
            this=parenthesize(sides[0]),
            expression=parenthesize(sides[1]),
            **({"typed": node.args.get("typed"), "safe": node.args.get("safe")} if isinstance(node, exp.Div) else {}),
        )

    wide = inner.kind if isinstance(node, exp.Mul) else ""
    over = at(inner.shown) if inner.shown is not None else None
    kind = inner.kind if inner.kind == "float" else "decimal"
    ends = (at(_wide(inner.low, wide)), at(_wide(inner.high, wide)))
    return Span(*ends, inner.known, inner.nothing, kind, over)


def _size(scope: Scope, terms: Terms, node: exp.Abs) -> Span | None:
    """The distance of a span from 0."""
    inner = span(scope, terms, node.this)
    if inner is None or inner.kind not in _NUMBERS:
        return None
    # Of ends that are not known nothing follows, not even from one of them.
    low = sql(
        "CASE WHEN :l >= 0 THEN :l WHEN :h <= 0 THEN -:h WHEN :l < 0 AND :h > 0 THEN 0 END",
        l=inner.low,
        h=inner.high,
    )
    high = sql("CASE WHEN :l <= :h THEN GREATEST(ABS(:l), ABS(:h)) END", l=inner.low, h=inner.high)
    over = exp.Abs(this=inner.shown.copy()) if inner.shown is not None else None
    return Span(low, high, inner.known, inner.nothing, inner.kind, over)


def _replace_null(scope: Scope, terms: Terms, node: exp.Coalesce) -> Span | None:
    """A span with a constant in place of NULL."""
    inner = span(scope, terms, node.this)
    constant = node.expressions[0] if len(node.expressions) == 1 else None
    if inner is None or constant is None or constant.find(exp.Column, exp.Null) or inner.kind not in _NUMBERS:
        return None
    if isinstance(constant.unnest(), exp.Literal) and constant.unnest().is_string:
        return None
    low, high = (when(inner.nothing, constant, when(inner.known, end)) for end in (inner.low, inner.high))
    over = exp.Coalesce(this=inner.shown.copy(), expressions=[constant.copy()]) if inner.shown is not None else None
    return Span(low, high, TRUE, FALSE, inner.kind, over)


def _sum_kind(left: str, right: str, *, minus: bool) -> str:
    """The kind of a sum or difference; "": one that has no measure here, or is not known."""
    if left in _NUMBERS:
        return left if right in _NUMBERS or not right else "date" if right == "date" else ""
    if left == "date":
        found = {"date": "integer" if minus else "", "interval": "timestamp"} | dict.fromkeys(_NUMBERS, "date")
        return found.get(right, "")
    return "timestamp" if left == "timestamp" and right == "interval" else ""


def _ends(name: str, known: Tree) -> tuple[Tree, Tree]:
    ends = (column(f"{name}_lo"), column(f"{name}_hi"))
    return ends if known is TRUE else (when(known, ends[0]), when(known, ends[1]))


def _wide(tree: Tree, kind: str) -> Tree:
    """Sums of integers must not overflow where the source's own do not."""
    return exp.cast(tree.copy(), "DECIMAL(38, 0)") if kind == "integer" else tree


def _rising(scope: Scope, terms: Terms, node: exp.Expr) -> Span | None:
    """A function that never falls, of one box: its values at the ends."""
    inside = [found for found in node.find_all(exp.Column) if found.table == "_box"]
    if len(inside) != 1 or inside[0].parent is not node:
        return None
    inner = span(scope, terms, inside[0])
    if inner is None:
        return None
    kind = "integer" if isinstance(node, exp.Extract | exp.Year) else inner.kind
    box = scope.box(inside[0].name)
    if kind != inner.kind and not is_finite(scope, box):
        name = box.field.name
        refuse(
            scope.text,
            node,
            f"column {name} has infinite ends, whose year is no number; compare {name} itself",
        )

    def at(end: Tree) -> Tree:
        return with_columns(node, lambda found: end if found.table == "_box" else None)

    over = at(inner.shown) if inner.shown is not None else None
    return Span(at(inner.low), at(inner.high), inner.known, inner.nothing, kind, over)


def _kind(node: exp.Expr) -> str:
    if isinstance(node, exp.Literal):
        return "text" if node.is_string else "decimal"
    if isinstance(node, exp.Interval):
        return "interval"
    if isinstance(node, exp.Cast):
        return str(node.to.sql()).lower()
    return ""
