"""Arguments of aggregates that are expressions of columns with ranges.

Examples are ``sum(age * 2)`` and ``avg(CASE WHEN age > 40 THEN 1 ELSE 0 END)``.

CASE is taken apart into branches: a formula each, and a value without CASE. Of a row, the value of a branch lies where
interval arithmetic puts it, over the part of each box in which the formula is decided alike. The ends are calculated in
the source's own types: rounding never falls, so that it keeps the order of the ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.logic.formula import Formula, Part, both
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.null_constants import is_null
from sqlanon.query.sql.sqltree import FALSE, Tree, as_type, parenthesize, select, some, sql

MOST_BRANCHES = 16
"""Ways in which the CASEs of one argument may turn out together."""

_ENDS = (exp.Round, exp.Floor, exp.Ceil, exp.Cast)
_REASON = (
    "inside an aggregate, columns with ranges are added, subtracted and multiplied, divided by numbers, by exact "
    "columns and by ranges above 0, rounded, and chosen between by CASE, abs and coalesce with a number"
)


@dataclass(frozen=True)
class Branch:
    """A way in which the CASEs of an argument may turn out: when, and its value then; None: NULL."""

    formula: Formula
    value: Tree | None


@dataclass(frozen=True)
class RowExpression:
    """The argument of an aggregate.

    Attributes:
        id: a short name for columns of the rewritten SQL.
        branches: exactly one of them holds for every row.
        boxes: those that its values read.
        type: of its value in the source.
        floating: it may be infinite or no number.
        exact_ends: each end of a branch is reached by some value of the boxes, whatever the other branches do.
    """

    id: str
    branches: tuple[Branch, ...]
    boxes: tuple[Box, ...]
    type: exp.DataType
    floating: bool
    exact_ends: bool


@dataclass(frozen=True)
class Span:
    """Where a value lies, its mean, and when it is NULL."""

    low: Tree
    high: Tree
    middle: Tree
    null: Tree = FALSE


class Reads(Protocol):
    """What is needed to read an argument."""

    scope: Scope

    def decides(self, predicate: exp.Expr) -> tuple[Formula, Formula]:
        """The formula that holds where a predicate is TRUE, and the one that holds elsewhere."""

    def type_of(self, node: exp.Expr) -> exp.DataType:
        """The type of an expression in the source."""


def branches_of(reads: Reads, node: exp.Expr) -> list[Branch]:
    """The branches of an argument.

    Raises:
        Refused: there are too many.
    """
    case = next(
        (c for c in node.find_all(exp.Case, exp.If) if boxes_in(c) and not isinstance(c.parent, exp.Case)),
        None,
    )
    if case is None:
        return [Branch(True, None if isinstance(node.unnest(), exp.Null) else node)]
    kind = reads.type_of(case)
    found: list[Branch] = []
    before: Formula = True
    turns, default = _turns(case)
    for condition, value in [*turns, (None, default)]:
        holds, fails = reads.decides(condition) if condition is not None else (True, False)
        whole = exp.Paren(this=node.copy())
        place = next(c for c in whole.find_all(type(case)) if c == case)
        place.replace(exp.Paren(this=exp.cast(value.copy(), kind)) if value is not None else exp.null())
        rest = whole.this
        mine = both([before, holds])
        if mine is not False:
            if value is None and whole.this.unnest() is not None and isinstance(rest.unnest(), exp.Null):
                found.append(Branch(mine, None))
            else:
                found += [Branch(both([mine, one.formula]), one.value) for one in branches_of(reads, rest)]
        before = both([before, fails])
        if len(found) > MOST_BRANCHES:
            refuse(
                reads.scope.text,
                node,
                f"CASE expressions turn out in more than {MOST_BRANCHES} ways; ask with FILTER",
            )
    return [one for one in found if one.formula is not False]


def _turns(case: exp.Expr) -> tuple[list[tuple[exp.Expr, exp.Expr]], exp.Expr | None]:
    """Conditions with their values, and the value of ELSE."""
    if isinstance(case, exp.If):
        return [(case.this, case.args["true"])], case.args.get("false")
    turns = []
    for one in case.args["ifs"]:
        asked = one.this if case.this is None else exp.EQ(this=case.this.copy(), expression=one.this.copy())
        turns.append((asked, one.args["true"]))
    return turns, case.args.get("default")


class Arithmetic:
    """Interval arithmetic over the parts of boxes.

    Args:
        scope: the names.
        exact: gives the column of an exact expression.
    """

    def __init__(self, scope: Scope, exact: Mapping[str, str]) -> None:
        self._scope, self._exact = scope, exact

    def span(self, node: exp.Expr, parts: Mapping[str, Part]) -> Span | None:
        """Where the value of an expression lies, where each box is in one part; None: it is NULL.

        Raises:
            Refused: interval arithmetic does not have the expression.
        """
        node = node.unnest()
        if not boxes_in(node):
            return self._known(node)
        if isinstance(node, exp.Column):
            return self._column(parts[node.name], self._scope.box(node.name))
        if isinstance(node, exp.Neg):
            inner = self.span(node.this, parts)
            return None if inner is None else Span(_neg(inner.high), _neg(inner.low), _neg(inner.middle), inner.null)
        if isinstance(node, _ENDS) and not isinstance(node, exp.TryCast):  # that is NULL where the value does not fit
            return self._rising(node, parts)
        if isinstance(node, exp.Abs):
            return self._abs(node, parts)
        if isinstance(node, exp.Coalesce):
            return self._coalesce(node, parts)
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
            return self._calculate(node, parts)
        return refuse(self._scope.text, node, _REASON)

    def _known(self, node: exp.Expr) -> Span | None:
        if node.find(exp.Column) is None:
            return None if is_null(self._scope, node) else Span(node, node, as_type(node, "DOUBLE"))
        value = exp.column(exp.to_identifier(self._exact[node.sql(dialect=self._scope.engine.dialect)], quoted=True))
        return Span(value, value, as_type(value, "DOUBLE"), sql(":v IS NULL", v=value))

    def _column(self, part: Part, box: Box) -> Span | None:
        if part.low is None or part.high is None:
            return None
        kind = exp.DataType.build(box.field.source_type, dialect=self._scope.engine.dialect, udt=True)
        middle = sql("COALESCE(:m, 0)", m=part.middle) if part.middle is not None else sql("0.0")
        return Span(exp.cast(part.low.copy(), kind), exp.cast(part.high.copy(), kind), middle)

    def _rising(self, node: exp.Expr, parts: Mapping[str, Part]) -> Span | None:
        """A function that never falls."""
        rest = [v for k, v in node.args.items() if k != "this" and isinstance(v, exp.Expr) and v.find(exp.Column)]
        if rest or (isinstance(node, exp.Cast) and not node.to.is_type(*exp.DataType.NUMERIC_TYPES)):
            refuse(self._scope.text, node, _REASON)
        inner = self.span(node.this, parts)
        others = [v for k, v in node.args.items() if k not in ("this", "to") and isinstance(v, exp.Expr)]
        if inner is None or any(is_null(self._scope, one) for one in others):
            return None
        low, high = (_at(node, end) for end in (inner.low, inner.high))
        middle = inner.middle
        if not isinstance(node, exp.Cast) or node.to.is_type(*exp.DataType.INTEGER_TYPES):
            middle = sql("(CAST(:l AS DOUBLE) + CAST(:h AS DOUBLE)) / 2", l=low, h=high)
        return Span(low, high, middle, inner.null)

    def _abs(self, node: exp.Abs, parts: Mapping[str, Part]) -> Span | None:
        inner = self.span(node.this, parts)
        if inner is None:
            return None
        low = sql("CASE WHEN :l >= 0 THEN :l WHEN :h <= 0 THEN -:h ELSE :l - :l END", l=inner.low, h=inner.high)
        high = sql("GREATEST(ABS(:l), ABS(:h))", l=inner.low, h=inner.high)
        middle = sql("(CAST(:a AS DOUBLE) + CAST(:b AS DOUBLE)) / 2", a=low, b=high)
        return Span(low, high, middle, inner.null)

    def _coalesce(self, node: exp.Coalesce, parts: Mapping[str, Part]) -> Span | None:
        if any(one.find(exp.Column) for one in node.expressions):
            refuse(self._scope.text, node, _REASON)
        if any(part.null is not FALSE for part in parts.values()):
            refuse(
                self._scope.text,
                node,
                "coalesce of a column that is grouped by is not answered; group by the coalesce",
            )
        inner = self.span(node.this, parts)
        constant = next((one for one in node.expressions if not is_null(self._scope, one)), None)
        if constant is None or (inner is not None and inner.null is FALSE):
            return inner
        if inner is None:
            return self._known(constant)
        texts = (("CASE WHEN :n THEN :c ELSE :x END", end) for end in (inner.low, inner.high))
        low, high = (sql(text, n=inner.null, c=constant, x=end) for text, end in texts)
        middle = sql("CASE WHEN :n THEN CAST(:c AS DOUBLE) ELSE :x END", n=inner.null, c=constant, x=inner.middle)
        return Span(low, high, middle)

    def _calculate(self, node: exp.Add | exp.Sub | exp.Mul | exp.Div, parts: Mapping[str, Part]) -> Span | None:
        kind = type(node)
        below = self._divisor(node) if isinstance(node, exp.Div) else node.right
        a, b = (self.span(side, parts) for side in (node.left, below))
        if a is None or b is None:
            return None

        def at(left: Tree, right: Tree) -> Tree:
            made: Tree = node.copy()
            made.set("this", parenthesize(left))
            made.set("expression", parenthesize(right))
            return made

        null = some([a.null, b.null])
        middle: Tree = kind(this=parenthesize(a.middle), expression=parenthesize(as_type(b.middle, "DOUBLE")))
        either_way = kind is exp.Div and not isinstance(below, exp.Literal)
        if either_way or (kind is exp.Mul and boxes_in(node.right) and boxes_in(node.left)):
            products = [at(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
            low, high = (
                sql(f"{word}(:a, :b, :c, :d)", **dict(zip("abcd", products, strict=True)))
                for word in ("LEAST", "GREATEST")
            )
        elif kind is exp.Mul:
            ends = [at(a.low, b.low), at(a.high, b.high)]
            low, high = (sql(f"{word}(:a, :b)", a=ends[0], b=ends[1]) for word in ("LEAST", "GREATEST"))
        elif kind is exp.Sub:
            low, high = at(a.low, b.high), at(a.high, b.low)
        else:
            low, high = at(a.low, b.low), at(a.high, b.high)
        if kind is exp.Div and node.args.get("typed"):  # whole numbers may be divided into whole ones
            middle = sql("(CAST(:l AS DOUBLE) + CAST(:h AS DOUBLE)) / 2", l=low, h=high)
        return Span(low, high, middle, null)

    def _divisor(self, node: exp.Div) -> exp.Expr:
        """The divisor.

        It is a number above 0, an exact expression that is nowhere 0, or a column with all its ranges above 0.
        """
        by = node.right.unnest()
        guard = by.expression if isinstance(by, exp.Nullif) else None
        never_zero = isinstance(guard, exp.Literal) and not guard.is_string and float(guard.this) == 0
        below = by.this.unnest() if never_zero else by
        if isinstance(below, exp.Literal) and not below.is_string and float(below.this) > 0:
            return below
        if not boxes_in(below) and below.find(exp.Column) is not None:
            if not never_zero and self._known_of_rows("BOOL_OR(:x = 0)", below):
                refuse(
                    self._scope.text,
                    node,
                    "the denominator is 0 in some row; write nullif(.., 0) for NULL there",
                )
            return by
        box = self._scope.box(below.name) if isinstance(below, exp.Column) else None
        if (
            box is None
            or box.state is not None
            or box.shape != "interval"
            or not box.numeric
            or not self._known_of_rows("MIN(:x) > 0", box.parts["lo"])
        ):
            refuse(self._scope.text, node, f"{_REASON}; this denominator may be 0 or less")
        return below

    def _known_of_rows(self, text: str, tree: Tree) -> bool:
        """A fact about the rows of the view and of what is joined to it."""
        made = select([sql(text, x=tree)], self._scope.view())
        if self._scope.joins:
            made.set("joins", [join.copy() for join in self._scope.joins])
        return bool(self._scope.fact("query/divisor", made))


def exact_parts(node: exp.Expr) -> Sequence[Tree]:
    """The largest parts of an expression that read exact columns alone."""
    node = node.unnest()
    if not boxes_in(node):
        return [node] if node.find(exp.Column) is not None else []
    return [part for child in node.iter_expressions() for part in exact_parts(child)]


def _neg(tree: Tree) -> Tree:
    return exp.Neg(this=parenthesize(tree))


def _at(node: exp.Expr, tree: Tree) -> Tree:
    copied = node.copy()
    copied.set("this", tree.copy())
    return copied
