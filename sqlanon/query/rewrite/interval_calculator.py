"""Calculations with aggregates as intervals: estimate, low, high, and whether the value may be undefined."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.parse.null_constants import is_null
from sqlanon.query.parse.scope import Scope
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Aggregates, Groups
from sqlanon.query.rewrite.case_expressions import calculate_case, calculate_extreme, calculate_nullif
from sqlanon.query.rewrite.left_out_rows import widen
from sqlanon.query.rewrite.query_plan import Quad
from sqlanon.query.rewrite.quotients import divide, multiply
from sqlanon.query.rewrite.window_functions import has_aggregate, read_window, type_window
from sqlanon.query.sql.sqltree import (
    FALSE,
    Tree,
    as_type,
    column,
    every,
    number,
    parenthesize,
    some,
    sql,
    when,
)
from sqlanon.query.sql.types import is_number, is_whole

_OF_NULL = "a calculation with NULL is NULL"
_PLACES = 2
"""Digits of a number of places, at most, to which estimates are rounded."""


class IntervalCalculator:
    """Bound expressions with aggregates, over the columns ``e<i>``, ``l<i>``, ``h<i>``, ``u<i>`` of aggregate i.

    Args:
        scope: the names.
        notes: where aggregates are noted down.
        groups: reads what is around them.
    """

    def __init__(self, scope: Scope, notes: Aggregates, groups: Groups) -> None:
        self.scope, self.notes, self.groups = scope, notes, groups

    def calculation(self, node: exp.Expr) -> Quad:
        """An aggregate, or a calculation with some."""
        bare = node.unnest()
        if isinstance(bare, exp.Filter | exp.AggFunc | exp.Window):
            return self.quad(bare)
        made = self.quad(node, typed=True)
        self.check(node)
        return made

    def check(self, node: exp.Expr) -> exp.DataType:
        """The type of a calculation; refuse one that the engine does not do with aggregates of these types."""
        whole = exp.Paren(this=node.copy())
        for over in list(whole.find_all(exp.Window)):
            over.replace(exp.cast(exp.null(), type_window(self, over)))
        for found in list(whole.find_all(exp.AggFunc)):
            inside = found.parent if isinstance(found.parent, exp.Filter) else found
            inside.replace(exp.cast(exp.null(), self.notes.type_of(found)))
        return self.notes.type_of(whole.this)

    def quad(self, node: exp.Expr, *, typed: bool = False, sharp: bool = False) -> Quad:
        """An expression with aggregates, as intervals.

        Args:
            node: the expression.
            typed: it is calculated with, so that aggregates have the types that they have in the source.
            sharp: a function that jumps is taken of it, so that the bounds have to hold to the last digit.
        """
        if isinstance(node, exp.Paren):
            return self.quad(node.this, typed=typed, sharp=sharp)
        if isinstance(node, exp.Window):
            return read_window(self, node, as_source=typed, sharp=sharp)
        if isinstance(node, exp.Filter | exp.AggFunc):
            return self._leaf(node, typed=typed, sharp=sharp)
        if isinstance(node, exp.Neg):
            inner = self.quad(node.this, typed=True, sharp=sharp)
            estimate, low, high = (exp.Neg(this=parenthesize(t)) for t in (inner.estimate, inner.high, inner.low))
            return Quad(
                estimate,
                low,
                high,
                inner.undefined,
                inner.tight,
            )
        if isinstance(node, exp.Round | exp.Floor | exp.Ceil) or type(node) is exp.Cast:
            return self._rising(node)
        if isinstance(node, exp.Coalesce) and len(node.expressions) == 1 and self.is_constant(node.expressions[0]):
            return self._coalesce(node, sharp=sharp)
        if isinstance(node, exp.Nullif):
            return calculate_nullif(self, node, sharp=sharp)
        if isinstance(node, exp.Greatest | exp.Least):
            return calculate_extreme(self, node, sharp=sharp)
        if isinstance(node, exp.Case):
            return calculate_case(self, node)
        if isinstance(node, exp.Mod):
            return self._rest(node)
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv):
            return self._calculate(node, sharp=sharp)
        if isinstance(node, exp.WithinGroup):
            refuse(
                self.scope.text,
                node,
                "WITHIN GROUP there are percentile_cont and percentile_disc at one share, ORDER BY one expression, "
                "ascending",
            )
        return refuse(
            self.scope.text,
            node,
            "with aggregates there are +, -, * and /, % by constants, round, floor, ceil, cast, coalesce, nullif, "
            "greatest, least and CASE of numbers",
        )

    def _leaf(self, node: exp.Expr, *, typed: bool, sharp: bool) -> Quad:
        found = self.notes.aggregate(node)
        estimate, low, high, undefined = (column(f"{end}{found.id}") for end in "elhu")
        if found.kind in ("distinct", "rows"):
            # A group without any value has no row of its own where values are counted.
            estimate, low, high = (sql("COALESCE(:x, 0)", x=tree) for tree in (estimate, low, high))
        undefined = sql("COALESCE(:u, :d)", u=undefined, d=exp.Literal.number(int(found.undefined)))
        error = self.notes.error(node) if sharp else None
        if error is not None:
            by = column(f"e{error.id}")
            low, high = (
                sql(text, x=as_type(end, "DOUBLE"), e=by) for text, end in ((":x - :e", low), (":x + :e", high))
            )
        left_out = self.scope.released.left_out
        if left_out:
            bounds = widen(found, (low, high), undefined, left_out)
            low, high = (exp.null() if end is None else end for end in bounds)
        unlike = self.scope.released.unlike if self.scope.released.as_of_source else None
        if unlike is not None:
            if found.kind not in ("rows", "count"):
                return refuse(
                    self.scope.text,
                    node,
                    "of the source itself (--as-of-source) there are bounds of counts alone",
                )
            less, more = unlike.retained + unlike.stale, unlike.stale + unlike.not_published
            low, high = (
                sql("GREATEST(:l - :n, 0)", l=low, n=number(less)),
                sql(":h + :n", h=high, n=number(more)),
            )
        kind = self.notes.type_of(node) if typed else None
        if kind is not None and is_number(kind):
            low, high = exp.cast(low, kind), exp.cast(high, kind)
        return Quad(
            estimate,
            low,
            high,
            undefined,
            error is None and not left_out and found.tight,
        )

    def is_constant(self, node: exp.Expr) -> bool:
        """Whether it reads no column."""
        if node.find(exp.Null) is not None:
            refuse(self.scope.text, node, _OF_NULL)
        if node.find(exp.Column, exp.AggFunc, exp.Window) is not None:
            return False
        if is_null(self.scope, node):
            refuse(self.scope.text, node, _OF_NULL)
        return True

    def _rising(self, node: exp.Expr) -> Quad:
        parts = [part for key, part in node.args.items() if key not in ("this", "to") and isinstance(part, exp.Expr)]
        rest = not all(self.is_constant(part) for part in parts)
        if rest or (isinstance(node, exp.Cast) and not node.to.is_type(*exp.DataType.NUMERIC_TYPES)):
            refuse(
                self.scope.text,
                node,
                "aggregates are rounded to a constant number of places, and cast to numbers",
            )
        inner = self.quad(node.this, typed=True, sharp=True)

        def at(tree: Tree) -> Tree:
            copied = node.copy()
            copied.set("this", tree.copy())
            return copied

        estimate = at(inner.estimate)
        if isinstance(node, exp.Round) and node.args.get("decimals") is not None:
            # The estimate is a double, which not every engine rounds to places.
            scale = sql("POWER(CAST(10 AS DOUBLE), :p)", p=node.args["decimals"])
            rounded = sql("ROUND(:e * :s) / :s", e=inner.estimate, s=scale)
            # 10 to the power of hundreds of places is no double, and a double has fewer digits.
            places = node.args["decimals"]
            estimate = inner.estimate if places.is_int and len(places.name) > _PLACES else rounded
        return self.meet(Quad(estimate, at(inner.low), at(inner.high), inner.undefined, inner.tight))

    def meet(self, made: Quad) -> Quad:
        """Where the bounds meet, the estimate is theirs: it must not lie on the other side of a jump."""
        estimate = when(sql(":l = :h", l=made.low, h=made.high), as_type(made.low, "DOUBLE"), made.estimate)
        return Quad(estimate, made.low, made.high, made.undefined, made.tight)

    def _rest(self, node: exp.Mod) -> Quad:
        """The rest of a division by a constant.

        It rises with the aggregate within one quotient, and then starts again.
        """
        by = node.right
        if not self.is_constant(by):
            refuse(self.scope.text, node, "aggregates are divided by constants")
        inner = self.quad(node.left, typed=True, sharp=True)

        def at(tree: Tree) -> Tree:
            return exp.Mod(this=parenthesize(tree), expression=parenthesize(by))

        low, high = at(inner.low), at(inner.high)
        within = sql(":l - :a = :h - :b AND (:l >= 0 OR :h <= 0)", l=inner.low, h=inner.high, a=low, b=high)
        known = sql("NOT :l IS NULL AND NOT :h IS NULL", l=inner.low, h=inner.high)
        ends = (
            sql("CASE WHEN :l >= 0 THEN 0 ELSE -ABS(:m) END", l=inner.low, m=by),
            sql("CASE WHEN :h <= 0 THEN 0 ELSE ABS(:m) END", h=inner.high, m=by),
        )
        low, high = (when(within, end, when(known, wide, None)) for end, wide in zip((low, high), ends, strict=True))
        middle = sql("(CAST(:l AS DOUBLE) + CAST(:h AS DOUBLE)) / 2", l=low, h=high)
        return Quad(middle, low, high, inner.undefined, tight=False)

    def _coalesce(self, node: exp.Coalesce, *, sharp: bool) -> Quad:
        inner = self.quad(node.this, typed=True, sharp=sharp)
        value = node.expressions[0]
        maybe = sql(":u = 1", u=inner.undefined)
        # The estimate may be NULL although rows are possible, and NULL ends may be unbounded: only no possible value is
        # sure.
        nothing = self.surely_nothing(node.this)
        low = when(nothing, value, when(every([maybe, sql(":l > :v", l=inner.low, v=value)]), value, inner.low))
        high = when(nothing, value, when(every([maybe, sql(":h < :v", h=inner.high, v=value)]), value, inner.high))
        estimate = exp.Coalesce(this=inner.estimate.copy(), expressions=[value.copy()])
        return Quad(estimate, low, high, exp.Literal.number(0), inner.tight)

    def surely_nothing(self, node: exp.Expr) -> Tree:
        """Whether a calculation is NULL in every consistent source.

        It is if one of its aggregates has no possible value.
        """
        passes_over = (
            exp.Coalesce,
            exp.Greatest,
            exp.Least,
            exp.Case,
            exp.Window,
        )  # what may have a value where an aggregate has none
        if node.find(*passes_over) is not None:
            return FALSE
        empty = []
        for found in node.find_all(exp.AggFunc):
            if isinstance(found, exp.Count):
                continue
            counted: exp.Expr = exp.Count(this=found.this.copy())
            if isinstance(found.parent, exp.Filter):
                counted = exp.Filter(this=counted, expression=found.parent.expression.copy())
            empty.append(sql("COALESCE(:h, 0) = 0", h=self.quad(counted).high))
        return some(empty)

    def _calculate(self, node: exp.Binary, *, sharp: bool) -> Quad:
        left, right = node.left, node.right
        kind = type(node)
        if self.is_constant(left) or self.is_constant(right):
            constant, other = (left, right) if self.is_constant(left) else (right, left)
            if kind in (exp.Div, exp.IntDiv) and constant is left:
                return divide(self, node, sharp=sharp)
            # Some engines divide whole numbers into whole ones.
            whole = kind in (exp.Div, exp.IntDiv) and is_whole(self.check(node))
            inner = self.quad(other, typed=True, sharp=sharp or kind is exp.IntDiv)

            def at(tree: Tree) -> Tree:
                copied = node.copy()
                copied.set("this" if other is left else "expression", parenthesize(tree))
                return copied

            ends = [at(inner.low), at(inner.high)]
            falls = kind is exp.Sub and other is right
            if kind in (exp.Mul, exp.Div, exp.IntDiv):
                falling = _is_negative(constant)
                ends = [when(falling, ends[1], ends[0]), when(falling, ends[0], ends[1])]
            elif falls:
                ends.reverse()
            estimate = (
                sql("TRUNC(:e)", e=exp.Div(this=inner.estimate.copy(), expression=parenthesize(right)))
                if whole
                else at(inner.estimate)
            )
            made = Quad(estimate, ends[0], ends[1], inner.undefined, inner.tight)
            return self.meet(made) if whole else made
        if not (has_aggregate(left) and has_aggregate(right)):
            refuse(self.scope.text, node, "aggregates are calculated with constants, and with one another")
        if kind is exp.Div:
            return divide(self, node, sharp=sharp)
        if kind is exp.Mul:
            return multiply(self, node, sharp=sharp)
        if kind not in (exp.Add, exp.Sub):
            refuse(
                self.scope.text,
                node,
                "two aggregates are added, subtracted, multiplied, and divided by /; take floor of the quotient",
            )
        a, b = (self.quad(side, typed=True, sharp=sharp) for side in (left, right))
        c, d = (b.low, b.high) if kind is exp.Add else (b.high, b.low)
        trees = [
            kind(this=parenthesize(x), expression=parenthesize(y))
            for x, y in ((a.estimate, b.estimate), (a.low, c), (a.high, d))
        ]
        return Quad(trees[0], trees[1], trees[2], sql("GREATEST(:a, :b)", a=a.undefined, b=b.undefined), tight=False)


def _is_negative(constant: exp.Expr) -> Tree:
    """Whether a constant is below 0; of a number that is written out it is known."""
    if isinstance(constant, exp.Literal) and not constant.is_string:
        return FALSE
    return sql(":c < 0", c=constant)
