"""Aggregates of a group as leaves of a calculation, in the registry's terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.aggregates import is_count
from sqlanon.query.functions.definition import Call, Definition
from sqlanon.query.functions.value import Value, fix_value, leaf
from sqlanon.query.rewrite.calculator import Calculator
from sqlanon.query.rewrite.query_plan import Quad
from sqlanon.query.rewrite.window_functions import has_aggregate
from sqlanon.query.sql.sqltree import FALSE, Tree, as_type, sql, when

MOST_ROWS = 10**15
"""No table has more rows: a thousand counts are added and multiplied as numbers of 64 bits."""


class GroupLeaves:
    """See `sqlanon.query.functions.evaluate.Leaves`: aggregates, other nodes with separate bounds, keys and constants.

    Args:
        calculator: reads them.
        empty: whether certain NULLs of an aggregate matter, which takes a count of rows.
    """

    def __init__(self, calculator: Calculator, *, empty: bool) -> None:
        self._calculator, self._empty = calculator, empty
        self.dialect = calculator.scope.engine.dialect
        self.aggregates = 0

    def types(self, nodes: Sequence[exp.Expr]) -> Sequence[exp.DataType]:
        """See `Leaves`."""
        return [self._calculator.check(node) for node in nodes]

    def leaf(self, node: exp.Expr, *, sharp: bool) -> Value | None:
        """See `Leaves`."""
        if not has_aggregate(node):
            (type_,) = self.types([node])
            constant = self._calculator.is_constant(node)
            plain = node if constant else self._calculator.groups.plain(node)
            return replace(fix_value(plain, type_, null=FALSE if constant else None), middle=plain)
        quad = self._calculator.own(node, sharp=sharp)
        if quad is None:
            return None
        self.aggregates += 1
        (type_,) = self.types([node])
        null = sql(":u = 1", u=quad.undefined)
        nothing = self._calculator.is_surely_nothing(node) if self._empty else FALSE
        value = leaf(quad.low, quad.high, null, nothing, type_, middle=quad.estimate, bounded=False, exact=quad.tight)
        return replace(value, most=min(value.most or MOST_ROWS, MOST_ROWS)) if is_count(node) else value

    def middle(self, definition: Definition, call: Call, result: Value) -> Tree | None:
        """See `Leaves`: the call of the estimates, which must not lie beyond a jump where the ends meet."""
        middles = [value.middle for value in call.values]
        if any(middle is None for middle in middles):
            return exp.null()
        if definition.estimate is not None:
            estimate = definition.estimate(call, result)
        else:
            estimate = call.at(*(middle for middle in middles if middle is not None))
        if estimate is not None and call.type.is_type("BOOLEAN"):
            return when(sql("COALESCE(:l = :h, FALSE)", l=result.low, h=result.high), result.low, estimate)
        if not definition.jumps and estimate is not None and not _into_whole(call):
            return estimate
        return meet(estimate, result.low, result.high)


def _into_whole(call: Call) -> bool:
    return bool(call.node.args.get("typed")) and call.type.is_type(*exp.DataType.INTEGER_TYPES)


def meet(estimate: Tree, low: Tree, high: Tree) -> Tree:
    """Where the bounds meet, the estimate is theirs: it must not lie on the other side of a jump."""
    return when(sql(":l = :h", l=low, h=high), as_type(low, "DOUBLE"), estimate)


def quad_of(value: Value, *, tight: bool) -> Quad:
    """An abstract value as columns of an answer.

    Args:
        value: the value.
        tight: the ends are as tight as the aggregates in it.
    """
    value = value.narrow()
    undefined = when(value.null, exp.Literal.number(1), exp.Literal.number(0))
    middle = value.middle if value.middle is not None else exp.null()
    return Quad(middle, value.low, value.high, undefined, tight=tight and value.exact)
