"""Functions that choose between values: coalesce, nullif, greatest, least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Definition, Form
from sqlanon.query.functions.transfers import half
from sqlanon.query.functions.value import Value, extreme
from sqlanon.query.sql.sqltree import FALSE, Tree, as_type, every, negate, some, sql, when

_NUMBER = "whole|decimal|double"
_NUMBERS = ("whole", "decimal", "double")
_LISTED = ("this", "expressions")


def give_type(call: Call, value: Value) -> Value:
    """A value of the result's type: floating point numbers beside others get a single type."""
    value = value.narrow()
    low, high = (exp.cast(end, call.type) for end in (value.low, value.high))
    return replace(value, low=low, high=high)


def _coalesce(call: Call) -> Value:
    """The first that is not NULL."""
    coalesced = give_type(call, call.values[-1])
    for value in reversed(call.values[:-1]):
        coalesced = _or_else(call, give_type(call, value), coalesced)
    return coalesced


def _or_else(call: Call, first: Value, second: Value) -> Value:
    if first.null is FALSE:
        return first
    both = [first, second]
    low, high = (
        when(
            first.nothing,
            getattr(second, end),
            when(negate(first.null), getattr(first, end), extreme(word, both, end)),
        )
        for word, end in (("LEAST", "low"), ("GREATEST", "high"))
    )
    middle = None
    if first.middle is not None and second.middle is not None:
        middle = when(first.nothing, as_type(second.middle, "DOUBLE"), first.middle)
    return Value(
        low,
        high,
        every([first.null, second.null]),
        every([first.nothing, second.nothing]),
        call.type,
        middle=middle,
        bounded=first.bounded and second.bounded,
        exact=first.exact and second.exact,
        fixed=first.fixed and second.fixed,
    )


def _nullif(call: Call) -> Value:
    """NULL in place of a value; for whole numbers, an end that is left out moves inwards by 1."""
    value, constant = (value.narrow() for value in call.values)
    gone = sql("COALESCE(:l = :v AND :h = :v, FALSE)", l=value.low, h=value.high, v=constant.low)
    hit = sql("NOT COALESCE(:l > :v OR :h < :v, FALSE)", l=value.low, h=value.high, v=constant.low)
    low, high = value.low, value.high
    if value.kind == constant.kind == "whole" and not value.fixed:
        low = sql("CASE WHEN :l = :v AND :h > :v THEN :l + 1 ELSE :l END", l=low, h=high, v=constant.low)
        high = sql("CASE WHEN :h = :v AND :l < :v THEN :h - 1 ELSE :h END", l=value.low, h=high, v=constant.low)
    # NULLIF with NULL leaves every value.
    return replace(
        value,
        low=low,
        high=high,
        null=some([value.null, every([negate(constant.nothing), hit])]),
        nothing=some([value.nothing, every([negate(constant.nothing), gone])]),
        type=call.type,
        middle=value.middle,
        exact=False,
    )


def _if_other(call: Call, _: Value) -> Tree:
    """The estimate, where the only possible value is not left out."""
    value, constant = (value.narrow() for value in call.values)
    gone = sql("COALESCE(:l = :v AND :h = :v, FALSE)", l=value.low, h=value.high, v=constant.low)
    return when(gone, exp.null(), value.middle if value.middle is not None else exp.null())


def _extreme_of(far: str, near: str) -> Callable[[Call], Value]:
    """The greatest, or the least: NULL is passed over."""

    def ends(call: Call) -> Value:
        values = [give_type(call, value) for value in call.values]
        maybe = some(value.null for value in values)
        outer, inner = ("high", "low") if far == "GREATEST" else ("low", "high")
        ends_: dict[str, Tree] = {
            outer: extreme(far, values, outer),
            inner: when(maybe, extreme(near, values, inner), extreme(far, values, inner)),
        }
        return Value(
            ends_["low"],
            ends_["high"],
            every(value.null for value in values),
            every(value.nothing for value in values),
            call.type,
            middle=half(ends_["low"], ends_["high"]),
            bounded=all(value.bounded for value in values),
            exact=False,
            fixed=all(value.fixed for value in values),
        )

    return ends


DEFINITIONS = (
    Definition(
        exp.Coalesce,
        "coalesce",
        frozenset(_LISTED),
        operands=_LISTED,
        ends=_coalesce,
        cost=6,
        signatures=((_NUMBER, _NUMBER),),
        forms=(
            Form("coalesce({x}, 3)", (_NUMBERS,)),
            Form("coalesce({x}, 2.5)", (_NUMBERS,)),
            Form("coalesce({x}, {y}, -1)", (_NUMBERS, _NUMBERS)),
            Form("coalesce({x}, NULL)", (_NUMBERS,)),
        ),
        passes_null=True,
    ),
    Definition(
        exp.Nullif,
        "nullif",
        frozenset({"this", "expression"}),
        operands=("this", "expression"),
        ends=_nullif,
        signatures=((_NUMBER, _NUMBER),),
        forms=(Form("nullif({x}, 0)", (_NUMBERS,)), Form("nullif({x}, 2)", (("whole", "decimal"),))),
        constant=(1,),
        estimate=_if_other,
        exact=False,
    ),
    *(
        Definition(
            node,
            name,
            frozenset(_LISTED),
            operands=_LISTED,
            ends=_extreme_of(*words),
            cost=5,
            signatures=((_NUMBER, _NUMBER),),
            forms=(
                Form(f"{name}({{x}}, {{y}})", (_NUMBERS, _NUMBERS)),
                Form(f"{name}({{x}}, 2, {{y}})", (("whole", "decimal"), ("whole", "decimal"))),
            ),
            exact=False,
            passes_null=True,
            collation=True,
        )
        for node, name, words in (
            (exp.Greatest, "greatest", ("GREATEST", "LEAST")),
            (exp.Least, "least", ("LEAST", "GREATEST")),
        )
    ),
)


def is_nullif(node: exp.Expr) -> bool:
    """Whether it is NULL in place of a value."""
    return isinstance(node, exp.Nullif)


def find_guarded(node: exp.Expr) -> exp.Expr | None:
    """The first argument of ``nullif(.., 0)``; None: the second is another value."""
    expression = node.expression
    zero = isinstance(expression, exp.Literal) and not expression.is_string and float(expression.this) == 0
    return node.this.unnest() if zero else None
