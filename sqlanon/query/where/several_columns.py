"""Predicates over several boxes, or over an expression of a box: sound bounds that are not tight."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.boxes.range_facts import is_finite
from sqlanon.query.functions.comparisons import FALLING, OPPOSITE, RISING
from sqlanon.query.functions.definition import NoEndsError, flat
from sqlanon.query.functions.evaluate import evaluate
from sqlanon.query.functions.registry import needs_finite_times
from sqlanon.query.functions.value import TIMES, Value, leaf
from sqlanon.query.logic.formula import Triple
from sqlanon.query.logic.number_line import measure
from sqlanon.query.parse.leaves import ExactLeaves
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.parse.source_types import SourceTypes, type_of
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
    sql,
    string,
    when,
)
from sqlanon.query.where.terms import Terms


class RowLeaves(ExactLeaves):
    """The ranges of a row, as columns of the rewritten rows.

    Args:
        scope: the names.
        types: types of expressions in the source.
        terms: names of exact expressions.
    """

    def __init__(self, scope: Scope, types: SourceTypes, terms: Terms) -> None:
        super().__init__(scope, types)
        self._terms = terms

    def exact(self, node: exp.Expr) -> Tree:
        return self._terms.column(node)

    def range_of(self, node: exp.Column) -> Value:
        """See `ExactLeaves`: nothing is known of points; their estimate goes by the shown value."""
        box = self.scope.box(node.name)
        if box.shape != "interval" or box.field.kind in ("text", "enum"):
            raise NoEndsError(node, f"column {box.field.name} has no ranges of numbers or times")
        type_ = type_of(box, self.dialect)
        null, nothing, bounded = FALSE, FALSE, TRUE
        if box.point is not None:
            null, bounded = TRUE, FALSE
        elif box.state is not None:
            state = column(f"{box.id}_state")
            nothing = sql(":s = :v", s=state, v=string("all"))
            null = sql(":s IN ('all', 'some', 'ends')" if box.beside else ":s IN ('all', 'some')", s=state)
            bounded = sql(":s IN ('none', 'ends')" if box.beside else ":s = 'none'", s=state)
        ends = (
            exp.cast(when(bounded, column(f"{box.id}_{end}")) if bounded is not FALSE else exp.null(), type_)
            for end in ("lo", "hi")
        )
        return leaf(next(ends), next(ends), null, nothing, type_, bounded=bounded is TRUE)


def compare(leaves: RowLeaves, node: exp.Expr, positive: bool) -> Triple | None:
    """The triple of a comparison of calculations; None: it is no comparison.

    Args:
        leaves: the rows.
        node: a bound comparison.
        positive: the sign.

    Raises:
        NoEndsError: a side has no ends.
    """
    if type(node) not in OPPOSITE:
        return None
    assert isinstance(node, exp.Binary)
    comparison: exp.Expr = (
        node if positive else OPPOSITE[type(node)](this=node.left.copy(), expression=node.right.copy())
    )
    _check_times(leaves.scope, comparison)
    value = evaluate(comparison, leaves)
    possible = every([negate(value.nothing), value.high])
    certain = every([negate(value.null), value.low])
    return Triple(possible, certain, when(certain, ONE, when(possible, _share(leaves, comparison), ZERO)))


def _check_times(scope: Scope, node: exp.Expr) -> None:
    """Refuse parts of times where the release shows infinite ones."""
    for part in node.walk():
        if part is node or not isinstance(part, exp.Expr) or not needs_finite_times(part):
            continue
        for name in boxes_in(part):
            column_name = scope.box(name).field.name
            if not is_finite(scope, scope.box(name)):
                refuse(
                    scope.text,
                    part,
                    f"column {column_name} has infinite ends, whose year is no number; compare {column_name} itself",
                )


def _share(leaves: RowLeaves, node: exp.Expr) -> Tree:
    """How often a comparison holds that may hold and may not, roughly."""
    if all(leaves.scope.box(name).point is not None for name in boxes_in(node)):
        return indicator(sql("COALESCE(:x, FALSE)", x=_write_shown(leaves, node)))
    sides = [evaluate(operand, leaves) for operand in flat(node)]
    if not isinstance(node, tuple(FALLING | RISING)):
        return _HALF
    return _part(*(sides if type(node) in RISING else reversed(sides)))


def _write_shown(leaves: RowLeaves, node: exp.Expr) -> Tree:
    """An expression of the values that points show."""
    if isinstance(node, exp.Column) and node.table == "_box":
        return column(f"{node.name}_lo")
    if not boxes_in(node):
        return leaves.exact(node) if node.find(exp.Column) is not None else node.copy()
    shown = node.copy()
    for name, part in node.args.items():
        if isinstance(part, list):
            shown.set(name, [_write_shown(leaves, item) if isinstance(item, exp.Expr) else item for item in part])
        elif isinstance(part, exp.Expr) and boxes_in(part):
            shown.set(name, _write_shown(leaves, part))
        elif isinstance(part, exp.Expr) and part.find(exp.Column) is not None:
            shown.set(name, leaves.exact(part))
    return shown


_HALF = sql("CAST(0.5 AS DOUBLE)")


def _part(left: Value, right: Value) -> Tree:
    """How often left < right, roughly: where the middle of the smaller span lies in the larger."""
    kinds = {left.kind, right.kind}
    if "interval" in kinds or (kinds & set(TIMES) and not kinds <= set(TIMES)):
        return _HALF
    kind = "timestamp" if "timestamp" in kinds else "date" if "date" in kinds else "boolean"
    kind = kind if kinds <= {"date", "timestamp", "boolean"} else "float"
    ends = [measure(end, kind) for side in (left, right) for end in (side.low, side.high)]
    a, b, c, d = (end for end in ends if end is not None)
    return sql(
        "COALESCE(LEAST(GREATEST((:d + :c - :a - :b) / NULLIF(2 * GREATEST(:b - :a, :d - :c), 0) + 0.5, 0.0), 1.0), "
        "0.5)",
        a=a,
        b=b,
        c=c,
        d=d,
    )
