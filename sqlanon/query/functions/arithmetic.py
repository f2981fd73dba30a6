"""Operators of numbers, dates and times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Definition, Form, Transfer
from sqlanon.query.functions.transfers import corners, finite, half, is_literal, result, rises
from sqlanon.query.functions.value import Value, extreme, joint_null, limits_of, where
from sqlanon.query.sql.sqltree import Tree, every, parenthesize, sql, when
from sqlanon.query.sql.types import is_whole

_NUMBER = "whole|decimal|double"
_NUMBERS = ("whole", "decimal", "double")
_TWO = ("this", "expression")


def _sum(mosts: Sequence[int]) -> int:
    return sum(mosts)


def _product(mosts: Sequence[int]) -> int:
    product = 1
    for most in mosts:
        product *= max(most, 1)
    return product


def _same(mosts: Sequence[int]) -> int:
    return mosts[0]


def _multiply(call: Call) -> Value:
    """A literal above 0 keeps every order, that of infinities and NaN too."""
    plain = [i for i, value in enumerate(call.values) if is_literal(value) and _is_positive(value.low)]
    if plain:
        return rises(1, 1, size=_product, linear=True)(call)
    return corners(_product, linear=True)(call)


def _is_positive(tree: Tree) -> bool:
    inner = tree.unnest()
    return isinstance(inner, exp.Literal) and not inner.is_string and float(inner.this) > 0


def _divide(call: Call) -> Value:
    """The rule of a quotient: monotone in both operands, where the divisor has a single sign."""
    above, below = (value.narrow() for value in call.values)
    sides = [[side.low] if side.fixed else [side.low, side.high] for side in (above, below)]
    plain = is_literal(below) and _is_positive(below.low)
    if plain:
        ends = [call.at(x, below.low) for x in sides[0]]
        return _set_middle(call, _widen_rounded(call, result(call, ends[0], ends[-1])))
    results = [result(call, tree, tree) for x in sides[0] for y in sides[1] for tree in [call.at(x, _not_zero(y))]]
    low, high = extreme("LEAST", results, "low"), extreme("GREATEST", results, "high")
    one_sign = sql(":l > 0 OR :h < 0", l=below.low, h=below.high)
    null, nothing = joint_null(call.values)
    quotient = replace(_set_middle(call, _widen_rounded(call, result(call, low, high))), null=null, nothing=nothing)
    return where(every([one_sign, finite(call)]), quotient)


_DAYS = 2_000_000_000
"""Spark adds days to a date without a check: beyond these the sum may pass the greatest number and begin anew."""


def _add_days(transfer: Transfer) -> Transfer:
    """The rule of a sum, where a date is moved by days too."""

    def ends(call: Call) -> Value:
        value = transfer(call)
        days = [value for value in call.values if value.kind == "whole" and not is_literal(value)]
        if call.dialect != "spark" or not days or all(value.kind != "date" for value in call.values):
            return value
        inside = (sql(f":x BETWEEN -{_DAYS} AND {_DAYS}", x=end) for day in days for end in (day.low, day.high))
        return where(every(inside), value)

    return ends


_SHORT = ("WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
"""Units that are equally long wherever they begin."""


def _add_months(transfer: Transfer) -> Transfer:
    """The rule of a sum, where a timestamp is moved by months too.

    The day is cut to the length of the month and the time of day stays, so that of two times before the end of a month
    the earlier time may be moved to the later result. Days keep their order: an end is that of the whole day.
    """

    def ends(call: Call) -> Value:
        value = transfer(call)
        moved = [value for value in call.values if value.kind == "timestamp" and not value.fixed]
        by = [value for value in call.values if value.kind == "interval"]
        # An interval that is no constant is a difference of timestamps, in days and parts of a day.
        if not moved or not by or not by[0].fixed or _is_short(by[0].low):
            return value
        (time,) = moved
        low, high = (
            call.at(
                *(
                    sql("DATE_TRUNC('day', :x)", x=getattr(value, end)) if value is time else value.low
                    for value in call.values
                )
            )
            for end in ("low", "high")
        )
        same = sql("COALESCE(:l = :h, FALSE)", l=time.low, h=time.high)
        return replace(
            value,
            low=when(same, value.low, low),
            high=when(same, value.high, sql(":h + INTERVAL '1 day'", h=high)),
            exact=False,
        )

    return ends


def _is_short(interval: Tree) -> bool:
    inner = interval.unnest()
    unit = inner.args.get("unit") if isinstance(inner, exp.Interval) else None
    return isinstance(unit, exp.Var) and unit.name.upper().removesuffix("S") in _SHORT


_DIGITS = 15
"""Two decimals of so many digits have quotients further apart than these are rounded."""


def _widen_rounded(call: Call, result: Value) -> Value:
    """Wider ends of decimal quotients: a smaller quotient keeps more digits, so that it may be above a larger one."""
    moving = [value for value in call.values if not value.fixed]
    if result.kind != "decimal" or all(_digits(operand.type) <= _DIGITS for operand in moving):
        return result
    same = every(sql("COALESCE(:l = :h, FALSE)", l=operand.low, h=operand.high) for operand in moving)
    low, high = (
        sql(f"CASE WHEN :s THEN :x ELSE :x {sign} ABS(:x) * 1e-15 END", s=same, x=end)
        for sign, end in (("-", result.low), ("+", result.high))
    )
    return replace(result, low=low, high=high, exact=False)


def _digits(type_: exp.DataType) -> float:
    """How many digits the numbers of a type have."""
    limits = limits_of(type_)
    if limits is not None:
        return len(str(limits[1]))
    size = type_.expressions[0].name if type_.expressions else ""
    return int(size) if size.isdigit() else math.inf


def _not_zero(tree: Tree) -> Tree:
    return sql("NULLIF(:y, 0)", y=tree)


def _set_middle(call: Call, result: Value) -> Value:
    """Whole numbers may be divided into whole ones."""
    above, below = (value.middle for value in call.values)
    if call.node.args.get("typed") or above is None or below is None:
        return replace(result, middle=half(result.low, result.high))
    return replace(result, middle=sql(":a / NULLIF(:b, 0)", a=above, b=below))


def _rest(call: Call) -> Value:
    """The rest of a division by a constant: it rises within a quotient, and then starts again."""
    above, by = (value.narrow() for value in call.values)
    low, high = call.at(above.low, by.low), call.at(above.high, by.low)
    one_way = sql(":l >= 0 OR :h <= 0", l=above.low, h=above.high)
    within = sql(":l - :a = :h - :b AND (:w)", l=above.low, h=above.high, a=low, b=high, w=one_way)
    ends = (
        sql("CASE WHEN :l >= 0 THEN 0 ELSE -ABS(:m) END", l=above.low, m=by.low),
        sql("CASE WHEN :h <= 0 THEN 0 ELSE ABS(:m) END", h=above.high, m=by.low),
    )
    both_known = sql("NOT :l IS NULL AND NOT :h IS NULL", l=above.low, h=above.high)
    trees = [when(within, end, when(both_known, wide, None)) for end, wide in zip((low, high), ends, strict=True)]
    return result(call, trees[0], trees[1], exact=False)


def _quotient(call: Call, _: Value) -> Tree:
    """A quotient of doubles, which engines do not divide into whole numbers."""
    above, below = (value.middle for value in call.values)
    quotient = exp.Div(this=parenthesize(above), expression=parenthesize(below)) if above and below else exp.null()
    return sql("TRUNC(:e)", e=quotient) if is_whole(call.type) else quotient


DEFINITIONS = (
    Definition(
        exp.Neg,
        "-",
        ends=rises(-1, size=_same, linear=True),
        fails=True,
        signatures=((_NUMBER,),),
        forms=(Form("-{x}", (_NUMBERS,)),),
        null_in=True,
        null_out=True,
    ),
    Definition(
        exp.Add,
        "+",
        operands=_TWO,
        ends=_add_days(_add_months(rises(1, 1, size=_sum, linear=True))),
        fails=True,
        signatures=(
            (_NUMBER, _NUMBER),
            ("date", "whole"),
            ("whole", "date"),
            ("date|timestamp", "interval"),
            ("interval", "date|timestamp"),
        ),
        forms=(
            Form("{x} + {y}", (_NUMBERS, _NUMBERS)),
            Form("{x} + 3", (_NUMBERS,)),
            Form("-0.5 + {x}", (_NUMBERS,)),
            Form("{x} + {y}", (("date",), ("whole",))),
            Form("{x} + INTERVAL '1 month'", (("date", "timestamp"),)),
            Form("{x} + INTERVAL '-36 hours'", (("timestamp",),)),
        ),
        null_in=True,
        null_out=True,
    ),
    Definition(
        exp.Sub,
        "-",
        operands=_TWO,
        ends=_add_days(_add_months(rises(1, -1, size=_sum, linear=True))),
        fails=True,
        signatures=(
            (_NUMBER, _NUMBER),
            ("date", "whole"),
            ("date", "date"),
            ("timestamp", "timestamp"),
            ("date|timestamp", "interval"),
        ),
        forms=(
            Form("{x} - {y}", (_NUMBERS, _NUMBERS)),
            Form("{x} - 3", (_NUMBERS,)),
            Form("0.5 - {x}", (_NUMBERS,)),
            Form("{x} - {y}", (("date",), ("whole",))),
            Form("{x} - {y}", (("date",), ("date",))),
            Form("{x} - {y}", (("timestamp",), ("timestamp",))),
            Form("{x} - INTERVAL '1 month'", (("date", "timestamp"),)),
        ),
        null_in=True,
        null_out=True,
    ),
    Definition(
        exp.Mul,
        "*",
        operands=_TWO,
        ends=_multiply,
        cost=7,
        fails=True,
        signatures=((_NUMBER, _NUMBER),),
        forms=(
            Form("{x} * {y}", (_NUMBERS, _NUMBERS)),
            Form("{x} * 2", (_NUMBERS,)),
            Form("-1.5 * {x}", (_NUMBERS,)),
            Form("{x} * 0", (_NUMBERS,)),
        ),
        null_in=True,
        null_out=True,
    ),
    Definition(
        exp.Div,
        "/",
        operands=_TWO,
        ends=_divide,
        cost=12,
        fails=True,
        signatures=((_NUMBER, _NUMBER),),
        forms=(
            Form("{x} / {y}", (_NUMBERS, _NUMBERS)),
            Form("{x} / 7", (_NUMBERS,)),
            Form("{x} / 7000", (("decimal",),)),
            Form("{x} / -2.5", (_NUMBERS,)),
            Form("9 / {x}", (_NUMBERS,)),
        ),
        estimate=_quotient,
        divides=1,
        floating=True,
        null_in=True,
    ),
    Definition(
        exp.IntDiv,
        "//",
        operands=_TWO,
        ends=_divide,
        fails=True,
        signatures=(("whole", "whole"),),
        forms=tuple(
            Form(f"{{x}} {sign} {by}", (("whole",),), (engine,))
            for sign, engine in (("//", "duckdb"), ("DIV", "spark"))
            for by in ("3", "-4")
        ),
        constant=(1,),
        jumps=True,
        estimate=_quotient,
        divides=1,
        null_in=True,
    ),
    Definition(
        exp.Mod,
        "%",
        operands=_TWO,
        ends=_rest,
        cost=9,
        fails=True,
        signatures=(("whole|decimal", "whole|decimal"),),
        forms=(Form("{x} % 3", (("whole", "decimal"),)), Form("{x} % -4", (("whole", "decimal"),))),
        constant=(1,),
        jumps=True,
        estimate=lambda _, value: half(value.low, value.high),
        divides=1,
        exact=False,
        null_in=True,
    ),
)


def is_quotient(node: exp.Expr) -> TypeGuard[exp.Binary]:
    """Whether it is a value divided by another, with or without a rest."""
    return isinstance(node, exp.Div | exp.IntDiv)


def drops_rest(node: exp.Expr) -> bool:
    """Whether it is a division into whole numbers, whatever is divided."""
    return isinstance(node, exp.IntDiv)


def split_factor(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """An aggregate and the number above 0 that it is multiplied by; no number: it is another calculation."""
    node = node.unnest()
    if isinstance(node, exp.Filter | exp.AggFunc):
        return node, exp.Literal.number("1.0")
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.FLOAT_TYPES):
        return split_factor(node.this)
    if isinstance(node, exp.Mul):
        for number_, remaining in (
            (node.left.unnest(), node.right.unnest()),
            (node.right.unnest(), node.left.unnest()),
        ):
            plain = isinstance(number_, exp.Literal) and not number_.is_string and float(number_.this) > 0
            if plain and isinstance(remaining, exp.Filter | exp.AggFunc):
                return remaining, number_
    return node, None
