"""Functions of numbers, and casts."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Definition, Form
from sqlanon.query.functions.transfers import half, result, rises
from sqlanon.query.functions.value import NUMBERS, TIMES, Value, is_finite, kind_of, where
from sqlanon.query.sql.sqltree import Tree, every, negate, some, sql
from sqlanon.query.sql.types import is_whole

_NUMBER = "whole|decimal|double"
_NUMBERS = ("whole", "decimal", "double")
_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})
_PLACES = 2
"""Digits of a number of places, at most, to which estimates are rounded."""


def _abs(call: Call) -> Value:
    """The distance from 0."""
    (inner,) = (value.narrow() for value in call.values)
    zero = exp.cast(exp.Literal.number(0), call.type)
    low = sql(
        "CASE WHEN :l >= 0 THEN :l WHEN :h <= 0 THEN -:h WHEN :l < 0 AND :h > 0 THEN :z END",
        l=inner.low,
        h=inner.high,
        z=zero,
    )
    # Nothing follows from a single end. The least whole number of a type has no distance in that type.
    far = exp.DataType.build("DECIMAL(38, 0)") if inner.most is not None else None
    ends = [exp.cast(end, far) if far is not None else end for end in (inner.low, inner.high)]
    if far is not None:
        low = sql(
            "CASE WHEN :l >= 0 THEN :l WHEN :h <= 0 THEN -:h WHEN :l < 0 AND :h > 0 THEN 0 END", l=ends[0], h=ends[1]
        )
    high = sql("CASE WHEN :l <= :h THEN GREATEST(ABS(:l), ABS(:h)) END", l=ends[0], h=ends[1])
    return replace(result(call, low, high), most=inner.most, wide=far is not None)


def _cast(call: Call) -> Value:
    """Casts between numbers round, and never fall; of a time to a date too."""
    inner = call.values[0]
    if not any({inner.kind, kind_of(call.type)} <= set(family) for family in (NUMBERS, TIMES)):
        raise call.reject("casts between numbers, and between dates and times, have ends over a range")
    value = rises(1)(call)
    if call.dialect == "spark" and inner.kind == "double" and value.kind == "decimal":
        # NaN and infinity are NULL there.
        both_finite = every(sql("COALESCE(:f, FALSE)", f=is_finite(end)) for end in (inner.low, inner.high))
        value = replace(where(both_finite, value), null=some([value.null, negate(both_finite)]))
    if inner.middle is None or (is_whole(call.type) and inner.kind != "whole"):
        return value
    return replace(value, middle=inner.middle)


def _round(call: Call) -> Value:
    """Rounding, to a constant number of places."""
    value = rises(1)(call)
    (inner, *_) = call.values
    if call.dialect == "spark" and inner.kind == "double" and is_whole(call.type):  # of NaN, the greatest, it is 0
        value = where(sql(":h <= CAST('Infinity' AS DOUBLE)", h=inner.high), value)
    return replace(value, middle=half(value.low, value.high))


def _round_double(call: Call, _: Value) -> Tree:
    """Rounding of a double to places, which not every engine has; a double has less than hundreds of digits."""
    inner, *places = (value.middle for value in call.values)
    if not places or inner is None:
        return call.at(*(argument for argument in (inner, *places) if argument is not None))
    digits = call.node.args["decimals"]
    if digits.is_int and len(digits.name) > _PLACES:
        return inner
    scale = sql("POWER(CAST(10 AS DOUBLE), :p)", p=digits)
    return sql("ROUND(:e * :s) / :s", e=inner, s=scale)


def _day(node: exp.Expr) -> str | None:
    """For a time that is cast to a date, the day is the step."""
    assert isinstance(node, exp.Cast)
    return "DAY" if node.to.is_type("DATE") else None


DEFINITIONS = (
    Definition(
        exp.Abs,
        "abs",
        _ONE,
        ends=_abs,
        cost=5,
        fails=True,
        signatures=((_NUMBER,),),
        forms=(Form("abs({x})", (_NUMBERS,)),),
        exact=False,
        null_in=True,
        null_out=True,
    ),
    *(
        Definition(
            node,
            name,
            _ONE,
            ends=_round,
            fails=True,
            signatures=((_NUMBER,),),
            forms=(Form(f"{name}({{x}})", (_NUMBERS,)),),
            jumps=True,
            null_in=True,
            null_out=True,
        )
        for node, name in ((exp.Floor, "floor"), (exp.Ceil, "ceil"))
    ),
    Definition(
        exp.Round,
        "round",
        frozenset({"this", "decimals"}),
        operands=("this", "decimals"),
        ends=_round,
        fails=True,
        signatures=((_NUMBER, "whole"),),
        forms=(
            Form("round({x})", (_NUMBERS,)),
            Form("round({x}, 1)", (("whole", "decimal"),)),
            Form("round({x}, -1)", (("whole", "decimal"),)),
            Form("round({x}, 1)", (("double",),), ("duckdb",)),
        ),
        constant=(1,),
        jumps=True,
        estimate=_round_double,
        null_in=True,
        null_out=True,
    ),
    Definition(
        exp.Trunc,
        "trunc",
        frozenset({"this", "decimals"}),
        operands=("this", "decimals"),
        forms=(Form("trunc({x})", (_NUMBERS,), ("duckdb", "postgres")),),
        null_in=True,
        null_out=True,
    ),
    Definition(
        exp.Cast,
        "cast",
        frozenset({"this", "to"}),
        ends=_cast,
        fails=True,
        signatures=((_NUMBER,), ("date|timestamp",)),
        forms=(
            Form("CAST({x} AS INTEGER)", (_NUMBERS,)),
            Form("CAST({x} AS BIGINT)", (_NUMBERS,)),
            Form("CAST({x} AS DECIMAL(12, 1))", (_NUMBERS,)),
            Form("CAST({x} AS DOUBLE PRECISION)", (_NUMBERS,)),
            Form("CAST({x} AS REAL)", (_NUMBERS,)),
            Form("CAST({x} AS DATE)", (("date", "timestamp"),)),
            Form("CAST({x} AS TIMESTAMP)", (("date", "timestamp"),)),
        ),
        jumps=True,
        null_in=True,
        null_out=True,
        unit=_day,
    ),
    Definition(
        exp.TryCast,
        "try_cast",
        frozenset({"this", "to"}),
        forms=(Form("TRY_CAST({x} AS SMALLINT)", (_NUMBERS,), ("duckdb", "spark")),),
        null_in=True,
        unit=_day,
    ),
    Definition(exp.Sign, "sign", _ONE, forms=(Form("sign({x})", (_NUMBERS,)),), null_in=True),
    *(
        Definition(node, name, _ONE, forms=(Form(f"{name}({{x}})", (_NUMBERS,)),), null_in=True, floating=True)
        for node, name in ((exp.Sqrt, "sqrt"), (exp.Exp, "exp"), (exp.Ln, "ln"))
    ),
    *(
        Definition(node, name, _TWO, operands=("this", "expression"), null_in=True, floating=True)
        for node, name in ((exp.Pow, "power"), (exp.Log, "log"))
    ),
    Definition(
        exp.WidthBucket,
        "width_bucket",
        frozenset({"this", "min_value", "max_value", "num_buckets"}),
        operands=("this", "min_value", "max_value", "num_buckets"),
    ),
)
