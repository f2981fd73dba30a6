"""Comparisons and other conditions: their values are booleans, from FALSE to TRUE."""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Definition, Form, Transfer
from sqlanon.query.functions.value import Value, joint_null
from sqlanon.query.sql.sqltree import negate, sql

_NUMBER = "whole|decimal|double"
_NUMBERS = ("whole", "decimal", "double")
_TWO = ("this", "expression")
_TEXT = (("text",),)

OPPOSITE: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}
"""The comparison of two values that are not NULL that holds where a given comparison does not."""
MIRROR: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
"""The same comparison with swapped sides."""
RISING, FALLING = frozenset([exp.LT, exp.LTE]), frozenset([exp.GT, exp.GTE])
"""Comparisons that ask whether the left side is the smaller, and the larger."""
SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def _sides(call: Call) -> tuple[Value, Value]:
    """Numbers of a wider type are compared as those of their own where the engine rounds both."""
    left, right = call.values
    if {left.kind, right.kind} & {"double"}:
        return left.narrow(), right.narrow()
    return left, right


def compare(kind: type[exp.Expr]) -> Transfer:
    """The rule of a comparison."""

    def ends(call: Call) -> Value:
        left, right = _sides(call)
        if kind in (exp.GT, exp.GTE):
            left, right = right, left
        a, b, c, d = left.low, left.high, right.low, right.high
        apart = sql(":b < :c OR :d < :a", a=a, b=b, c=c, d=d)
        same = sql(":a = :d AND :b = :c", a=a, b=b, c=c, d=d)
        if kind in (exp.LT, exp.GT):
            can, must = sql("COALESCE(:a < :d, TRUE)", a=a, d=d), sql("COALESCE(:b < :c, FALSE)", b=b, c=c)
        elif kind in (exp.LTE, exp.GTE):
            can, must = sql("COALESCE(:a <= :d, TRUE)", a=a, d=d), sql("COALESCE(:b <= :c, FALSE)", b=b, c=c)
        elif kind is exp.EQ:
            can, must = negate(sql("COALESCE(:x, FALSE)", x=apart)), sql("COALESCE(:x, FALSE)", x=same)
        else:
            can, must = negate(sql("COALESCE(:x, FALSE)", x=same)), sql("COALESCE(:x, FALSE)", x=apart)
        null, nothing = joint_null(call.values)
        fixed = all(value.fixed for value in call.values)
        return Value(must, can, null, nothing, call.type, exact=False, fixed=fixed)

    return ends


DEFINITIONS = (
    *(
        Definition(
            node,
            sign,
            operands=_TWO,
            ends=compare(node),
            signatures=(
                (_NUMBER, _NUMBER),
                ("date|timestamp", "date|timestamp|quoted"),
                ("quoted", "date|timestamp"),
                ("boolean", "boolean"),
                ("interval", "interval"),
            ),
            forms=(
                Form(f"{{x}} {sign} {{y}}", (_NUMBERS, _NUMBERS)),
                Form(f"{{x}} {sign} 1", (_NUMBERS,)),
                Form(f"0.5 {sign} {{x}}", (_NUMBERS,)),
                Form(f"{{x}} {sign} {{y}}", (("date", "timestamp"), ("date", "timestamp"))),
                Form(f"{{x}} {sign} {{y}}", (("boolean",), ("boolean",))),
            ),
            exact=False,
            null_in=True,
            null_out=True,
            collation=node not in (exp.EQ, exp.NEQ),
        )
        for node, sign in SIGNS.items()
    ),
    Definition(exp.Like, "LIKE", operands=_TWO, forms=(Form("{x} LIKE 'a%'", _TEXT),), null_in=True, null_out=True),
    Definition(exp.ILike, "ILIKE", operands=_TWO, forms=(Form("{x} ILIKE 'a%'", _TEXT),), null_in=True, collation=True),
    Definition(
        exp.SimilarTo,
        "SIMILAR TO",
        operands=_TWO,
        forms=(Form("{x} SIMILAR TO 'a.*'", _TEXT),),
        null_in=True,
        collation=True,
    ),
)


def is_equality(node: exp.Expr) -> TypeGuard[exp.Binary]:
    """Whether it asks if two values are equal."""
    return isinstance(node, exp.EQ)


def is_inequality(node: exp.Expr) -> TypeGuard[exp.Binary]:
    """Whether it asks if two values differ."""
    return isinstance(node, exp.NEQ)
