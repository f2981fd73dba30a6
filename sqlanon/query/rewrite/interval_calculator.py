"""Calculations with aggregates as intervals: estimate, low, high, and whether the value may be undefined."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.aggregates import is_count
from sqlanon.query.functions.arithmetic import drops_rest, is_quotient
from sqlanon.query.functions.definition import NoEndsError
from sqlanon.query.functions.evaluate import evaluate
from sqlanon.query.functions.registry import passes_null
from sqlanon.query.normalize.expression_subqueries import Scalar
from sqlanon.query.parse.null_constants import is_null
from sqlanon.query.parse.scope import Scope
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Aggregates, Groups, adds_singly
from sqlanon.query.rewrite.case_expressions import calculate_case
from sqlanon.query.rewrite.group_leaves import GroupLeaves, meet, quad_of
from sqlanon.query.rewrite.left_out_rows import widen
from sqlanon.query.rewrite.query_plan import Quad
from sqlanon.query.rewrite.quotients import divide
from sqlanon.query.rewrite.window_functions import has_aggregate, read_window, type_window
from sqlanon.query.sql.sqltree import FALSE, Tree, as_type, column, number, some, sql
from sqlanon.query.sql.types import is_number

_OF_NULL = "a calculation with NULL is NULL"
_REASON = "with aggregates there are calculations that have bounds"


class IntervalCalculator:
    """Bound expressions with aggregates, over the columns ``e<i>``, ``l<i>``, ``h<i>``, ``u<i>`` of aggregate i.

    Args:
        scope: the names.
        notes: notes of aggregates.
        groups: reads the expressions around aggregates.
    """

    def __init__(self, scope: Scope, notes: Aggregates, groups: Groups) -> None:
        self.scope, self.notes, self.groups = scope, notes, groups

    def calculation(self, node: exp.Expr) -> Quad:
        """An aggregate, or a calculation with some."""
        bare = node.unnest()
        if isinstance(bare, exp.Filter | exp.AggFunc | exp.Window):
            return self.quad(bare)
        ends = self.quad(node, typed=True)
        self.check(node)
        return ends

    def check(self, node: exp.Expr) -> exp.DataType:
        """The type of a calculation; refuse it if the engine does not do it with aggregates of these types."""
        whole = exp.Paren(this=node.copy())
        for over in list(whole.find_all(exp.Window)):
            over.replace(exp.cast(exp.null(), type_window(self, over)))
        for call in list(whole.find_all(exp.AggFunc)):
            if isinstance(call, Scalar):
                call.replace(exp.cast(exp.null(), call.args["kind"].copy()))
                continue
            inside = call.parent if isinstance(call.parent, exp.Filter) else call
            inside.replace(exp.cast(exp.null(), self.notes.type_of(call)))
        return self.notes.type_of(whole.this)

    def quad(self, node: exp.Expr, *, typed: bool = False, sharp: bool = False) -> Quad:
        """An expression with aggregates, as intervals.

        Args:
            node: the expression.
            typed: it is calculated with, so that aggregates have the types that they have in the source.
            sharp: a function that jumps is taken of it, so that the bounds have to hold to the last digit.
        """
        node = node.unnest()
        if isinstance(node, Scalar):
            estimate, low, high, undefined = (node.args[end].copy() for end in ("estimate", "low", "high", "undefined"))
            return Quad(estimate, low, high, undefined, tight=False)
        if isinstance(node, exp.Window):
            return read_window(self, node, as_source=typed, sharp=sharp)
        if isinstance(node, exp.Filter | exp.AggFunc):
            return self._leaf(node, typed=typed, sharp=sharp)
        own_quad = self.own(node, sharp=sharp)
        if own_quad is not None:
            return own_quad
        leaves = GroupLeaves(self, empty=passes_null(node))
        try:
            value = evaluate(node, leaves, sharp=sharp)
        except NoEndsError as missing:
            return refuse(self.scope.text, missing.node, f"{_REASON}: {missing.reason}")
        return quad_of(value, tight=leaves.aggregates == 1)

    def own(self, node: exp.Expr, *, sharp: bool) -> Quad | None:
        """The bounds of aggregates, window functions, CASE, and quotients of aggregates; None: another node."""
        if isinstance(node, exp.Window | exp.Filter | exp.AggFunc):
            return self.quad(node, typed=True, sharp=sharp)
        if isinstance(node, exp.Case):
            return calculate_case(self, node)
        if is_quotient(node) and has_aggregate(node.right) and not (drops_rest(node) and has_aggregate(node.left)):
            return divide(self, node, sharp=sharp)
        if isinstance(node, exp.WithinGroup):
            refuse(
                self.scope.text,
                node,
                "WITHIN GROUP there are percentile_cont and percentile_disc at one share, ORDER BY one expression, "
                "ascending",
            )
        return None

    def _leaf(self, node: exp.Expr, *, typed: bool, sharp: bool) -> Quad:
        aggregate = self.notes.aggregate(node)
        estimate, low, high, undefined = (column(f"{end}{aggregate.id}") for end in "elhu")
        if aggregate.kind in ("distinct", "rows"):
            # A group without any value has no row where values are counted.
            estimate, low, high = (sql("COALESCE(:x, 0)", x=tree) for tree in (estimate, low, high))
        undefined = sql("COALESCE(:u, :d)", u=undefined, d=exp.Literal.number(int(aggregate.undefined)))
        # Every order of the rows gives another sum of single precision, by more than a reader compares with.
        error = self.notes.error(node) if sharp or adds_singly(self.notes, node) else None
        if error is not None:
            by = column(f"e{error.id}")
            low, high = (
                sql(text, x=as_type(end, "DOUBLE"), e=by) for text, end in ((":x - :e", low), (":x + :e", high))
            )
        left_out = self.scope.released.left_out
        if left_out:
            bounds = widen(aggregate, (low, high), undefined, left_out)
            low, high = (exp.null() if end is None else end for end in bounds)
        unlike = self.scope.released.unlike if self.scope.released.as_of_source else None
        if unlike is not None:
            if aggregate.kind not in ("rows", "count"):
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
            error is None and not left_out and aggregate.tight,
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

    def meet(self, quad: Quad) -> Quad:
        """Where the bounds meet, the estimate is theirs."""
        return replace(quad, estimate=meet(quad.estimate, quad.low, quad.high))

    def is_surely_nothing(self, node: exp.Expr) -> Tree:
        """Whether a calculation is NULL in every consistent source.

        It is if an aggregate in it has no possible value.
        """
        if passes_null(node) or node.find(exp.Case, exp.Window) is not None:
            return FALSE  # they may have a value where an aggregate has none
        empty = []
        every = list(node.find_all(exp.AggFunc))
        inside = {id(part) for call in every for part in call.find_all(exp.AggFunc) if part is not call}
        for call in every:
            if is_count(call) or isinstance(call, Scalar) or id(call) in inside:
                continue
            count: exp.Expr = exp.Count(this=call.this.copy())
            if isinstance(call.parent, exp.Filter):
                count = exp.Filter(this=count, expression=call.parent.expression.copy())
            empty.append(sql("COALESCE(:h, 0) = 0", h=self.quad(count).high))
        return some(empty)
