"""Rules that many definitions share: functions that never fall, and functions with extremes at the corners of a box.

Rounding of floating point numbers and decimals never falls, so that an end computed by the engine itself is an end of
the engine's results for the values between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Transfer
from sqlanon.query.functions.value import Value, extreme, is_finite, joint_null, widen
from sqlanon.query.functions.value import where as restrict
from sqlanon.query.sql.sqltree import TRUE, Tree, every, some, sql
from sqlanon.query.sql.types import is_number


def result(call: Call, low: Tree, high: Tree, *, exact: bool = True) -> Value:
    """A value between two ends of a call that is NULL where an operand is."""
    null, nothing = joint_null(call.values)
    return Value(
        low,
        high,
        null,
        nothing,
        call.type,
        middle=half(low, high) if is_numeric(call) else None,
        bounded=all(value.bounded for value in call.values),
        exact=exact and all(value.exact for value in call.values),
        fixed=all(value.fixed for value in call.values),
    )


def is_numeric(call: Call) -> bool:
    """Whether the result is a number."""
    return is_number(call.type)


def half(low: Tree, high: Tree) -> Tree:
    """The middle of two ends."""
    return sql("(CAST(:l AS DOUBLE) + CAST(:h AS DOUBLE)) / 2", l=low, h=high)


def rises(*signs: int, size: Callable[[Sequence[int]], int] | None = None, linear: bool = False) -> Transfer:
    """The rule of a call that never falls, or never rises, with each operand.

    Args:
        signs: 1 or -1 for each operand, the last repeats.
        size: the greatest distance of whole results from 0, by that of the operands.
        linear: the middle of the result is the result of the middles.
    """

    def ends(call: Call) -> Value:
        turns = [*signs, *[signs[-1]] * len(call.values)][: len(call.values)]
        values, most = _widen_values(call, size)
        low, high = (
            call.at(*(value.low if turn * side > 0 else value.high for value, turn in zip(values, turns, strict=True)))
            for side in (1, -1)
        )
        value = replace(result(call, low, high), most=most, wide=most is not None)
        middles = [value.middle for value in call.values]
        if linear and all(middles) and is_numeric(call):
            value = replace(value, middle=call.at(*(middle for middle in middles if middle is not None)))
        return restrict(_keep_order(call, turns), value)

    return ends


def corners(size: Callable[[Sequence[int]], int] | None = None, *, linear: bool = False) -> Transfer:
    """The rule of a call that is monotone in each operand while the others stay: extremes are at corners."""

    def ends(call: Call) -> Value:
        values, most = _widen_values(call, size)
        sides = [[value.low] if value.fixed else [value.low, value.high] for value in values]
        calls = [call.at(*corner) for corner in product(*sides)]
        corner_values = [replace(result(call, tree, tree)) for tree in calls]
        low, high = extreme("LEAST", corner_values, "low"), extreme("GREATEST", corner_values, "high")
        value = replace(result(call, low, high), most=most, wide=most is not None)
        middles = [value.middle for value in call.values]
        if linear and all(middles) and is_numeric(call):
            value = replace(value, middle=call.at(*(middle for middle in middles if middle is not None)))
        # Operands of a single value each have a single result, even if they are infinite.
        bounded = finite(call)
        return restrict(bounded if bounded is TRUE else some([bounded, _ends_meet(call)]), value)

    return ends


def _ends_meet(call: Call) -> Tree:
    """Whether both ends of every operand are the same value."""
    return every(sql("COALESCE(:l = :h, FALSE)", l=value.low, h=value.high) for value in call.values if not value.fixed)


def _widen_values(call: Call, size: Callable[[Sequence[int]], int] | None) -> tuple[list[Value], int | None]:
    values = list(call.values)
    if size is None or any(value.kind != "whole" for value in values):
        return [value.narrow() for value in values], None
    mosts = [value.most for value in values]
    if None in mosts:
        return [value.narrow() for value in values], None
    widened, most = widen(values, size([length for length in mosts if length is not None]))
    if most < 0:
        values = [value.narrow() for value in values]
        widened, most = widen(values, size([value.most or 0 for value in values]))
    return (widened, most) if most >= 0 else ([value.narrow() for value in values], None)


def finite(call: Call) -> Tree:
    """Whether the operands are finite floating point numbers: infinities of two signs give no number."""
    floats = [value for value in call.values if value.kind == "double" and not is_literal(value)]
    return every(
        is_finite(end) for value in floats for end in ([value.low] if value.fixed else [value.low, value.high])
    )


def is_literal(value: Value) -> bool:
    """Whether it is a number that is written out."""
    inner = value.low.unnest()
    inner = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    return value.fixed and isinstance(inner, exp.Literal)


def _keep_order(call: Call, turns: Sequence[int]) -> Tree:
    """Whether the operands keep their order in the result: NaN, which is above all, has NaN as the negative."""
    floats = [value for value in call.values if value.kind == "double" and not is_literal(value)]
    if len([value for value in call.values if not is_literal(value)]) > 1:
        return finite(call) if floats else TRUE
    falling = [value for value, turn in zip(call.values, turns, strict=True) if turn < 0 and value in floats]
    return every(sql(":x <= CAST('Infinity' AS DOUBLE)", x=value.high) for value in falling)
