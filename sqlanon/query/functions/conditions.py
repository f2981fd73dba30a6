"""Logic: AND, OR, NOT, IS, IN, BETWEEN, and CASE, as definitions over abstract values.

A condition may be TRUE, may be FALSE and may be NULL; each connective combines these three possibilities of its parts,
as if the parts were independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.query.functions.choice import give_type
from sqlanon.query.functions.comparisons import compare
from sqlanon.query.functions.definition import Call, Definition, Form
from sqlanon.query.functions.transfers import half, is_numeric
from sqlanon.query.functions.value import NUMBERS, TIMES, Value, extreme, fix_value
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, every, negate, some, sql, when
from sqlanon.query.sql.types import is_float

_BOOLEAN = exp.DataType.build("BOOLEAN")
_NUMBERS = ("whole", "decimal", "double")
_ALL = (*_NUMBERS, "date", "timestamp", "boolean")
ANY = "|".join((*_NUMBERS, "date", "timestamp", "boolean", "text", "quoted", "interval", "other"))
"""Operands of every kind."""
CHOSEN = "|".join((*_NUMBERS, "date", "timestamp", "boolean"))
"""Operands of CASE: conditions, and values that have ends."""
_TWO = ("this", "expression")
_COMPARED = (
    ("whole|decimal|double", "whole|decimal|double"),
    ("date|timestamp", "date|timestamp|quoted"),
    ("boolean", "boolean"),
)
MIXED = "floating point numbers beside others are compared as one type here; write the comparisons one by one"
"""Why a list with them is refused."""


@dataclass(frozen=True)
class _Truth:
    """Whether a condition may be TRUE, FALSE and NULL."""

    true: Tree
    false: Tree
    null: Tree

    def value(self, type_: exp.DataType, *, fixed: bool) -> Value:
        """The abstract value of the condition."""
        nothing = every([negate(self.true), negate(self.false)])
        return Value(negate(self.false), self.true, self.null, nothing, type_, exact=False, fixed=fixed)


def _truth(condition: Value) -> _Truth:
    """An end that is missing leaves both truth values."""
    if condition.type.is_type("NULL"):
        return _Truth(FALSE, FALSE, TRUE)
    low, high = condition.low, condition.high
    if not isinstance(low, exp.Boolean) or not isinstance(high, exp.Boolean):
        low, high = sql("COALESCE(:x, FALSE)", x=low), sql("COALESCE(:x, TRUE)", x=high)
    something = negate(condition.nothing)
    return _Truth(every([something, high]), every([something, negate(low)]), condition.null)


def _not(part: _Truth) -> _Truth:
    return _Truth(part.false, part.true, part.null)


def _and(parts: Sequence[_Truth]) -> _Truth:
    """NULL where a part is NULL and none FALSE."""
    null = every([some(part.null for part in parts), *(some([part.true, part.null]) for part in parts)])
    return _Truth(every(part.true for part in parts), some(part.false for part in parts), null)


def _or(parts: Sequence[_Truth]) -> _Truth:
    return _not(_and([_not(part) for part in parts]))


def _make_value(call: Call, truth: _Truth) -> Value:
    return truth.value(call.type, fixed=all(value.fixed for value in call.values))


def _conjunction(call: Call) -> Value:
    return _make_value(call, _and([_truth(value) for value in call.values]))


def _disjunction(call: Call) -> Value:
    return _make_value(call, _or([_truth(value) for value in call.values]))


def _negation(call: Call) -> Value:
    return _make_value(call, _not(_truth(call.values[0])))


def _is(call: Call) -> Value:
    """IS NULL of anything, IS TRUE and IS FALSE of conditions: never NULL."""
    value, compared = call.values[0], call.node.expression.unnest()
    if isinstance(compared, exp.Null):
        return _make_value(call, _Truth(value.null, negate(value.nothing), FALSE))
    if not isinstance(compared, exp.Boolean) or value.kind not in ("boolean", "null"):
        raise call.reject("IS is followed by NULL, TRUE or FALSE")
    truth = _truth(value) if compared.this else _not(_truth(value))
    return _make_value(call, _Truth(truth.true, some([truth.false, truth.null]), FALSE))


def _compare(call: Call, kind: type[exp.Binary], left: Value, right: Value) -> _Truth:
    if "null" in (left.kind, right.kind):
        return _Truth(FALSE, FALSE, TRUE)
    node = kind(this=call.node.copy(), expression=call.node.copy())
    return _truth(compare(kind)(Call(node, (left, right), _BOOLEAN, call.dialect)))


def mixes_floats(types: Sequence[exp.DataType]) -> bool:
    """Whether an engine may compare the first of these types with the others otherwise than with each of them.

    Engines cast all of a list to a single type. Where that is a floating point type and a comparison of its own is
    exact, or of a shorter type, equal numbers are not the same.
    """
    floats = [is_float(type_) for type_ in types]
    kinds = {type_.this for type_, is_float in zip(types, floats, strict=True) if is_float}
    return len(kinds) > 1 or (bool(kinds) and not floats[0] and not all(floats[1:]))


def _check_mixed(call: Call) -> None:
    if mixes_floats([value.type for value in call.values if value.kind != "null"]):
        raise call.reject(MIXED)


def _between(call: Call) -> Value:
    _check_mixed(call)
    if call.node.args.get("symmetric"):
        raise call.reject("BETWEEN SYMMETRIC is not answered; write the smaller end first")
    value, low, high = call.values
    return _make_value(call, _and([_compare(call, exp.GTE, value, low), _compare(call, exp.LTE, value, high)]))


def _in(call: Call) -> Value:
    value, *listed = call.values
    if not listed:
        raise call.reject("IN has ends over a list of values")
    _check_mixed(call)
    return _make_value(call, _or([_compare(call, exp.EQ, value, item) for item in listed]))


def _case(call: Call) -> Value:
    """The possible values of the branches that may be reached."""
    rest = list(call.values)
    compared = rest.pop(0) if call.node.this is not None else None
    turns = [(rest.pop(0), rest.pop(0)) for _ in call.node.args["ifs"]]
    default = rest.pop(0) if rest else fix_value(exp.null(), exp.DataType.build("NULL"), null=TRUE)
    conditions = [_truth(when_) if compared is None else _compare(call, exp.EQ, compared, when_) for when_, _ in turns]
    return _choose(call, conditions, [*(value for _, value in turns), default])


def _if(call: Call) -> Value:
    condition, *values = call.values
    if len(values) == 1:
        values.append(fix_value(exp.null(), exp.DataType.build("NULL"), null=TRUE))
    return _choose(call, [_truth(condition)], values)


def _choose(call: Call, conditions: Sequence[_Truth], values: Sequence[Value]) -> Value:
    kinds = {value.kind for value in values} - {"null"}
    if not any(kinds <= set(family) for family in (NUMBERS, TIMES, ("boolean",))) or not kinds:
        raise call.reject("CASE has ends over a range where its values are numbers, dates and timestamps, or booleans")
    reached: list[Tree] = []
    possible_values: list[tuple[Tree, Value]] = []
    for condition, value in zip(conditions, values, strict=False):
        possible_values.append((every([*reached, condition.true]), value))
        reached.append(some([condition.false, condition.null]))
    possible_values.append((every(reached), values[-1]))
    # A branch that no row reaches has no value; nor has NULL.
    branches = [
        replace(give_type(call, value), nothing=some([value.nothing, negate(may)]))
        for may, value in possible_values
        if value.kind != "null"
    ]
    inside = [
        replace(branch, low=when(negate(branch.nothing), branch.low), high=when(negate(branch.nothing), branch.high))
        for branch in branches
    ]
    low, high = extreme("LEAST", inside, "low"), extreme("GREATEST", inside, "high")
    return Value(
        low,
        high,
        some(every([may, TRUE if value.kind == "null" else value.null]) for may, value in possible_values),
        every(branch.nothing for branch in branches),
        call.type,
        middle=half(low, high) if is_numeric(call) else None,
        bounded=all(value.bounded for _, value in possible_values),
        exact=False,
        fixed=all(value.fixed for value in call.values),
    )


DEFINITIONS = (
    Definition(
        exp.And,
        "AND",
        frozenset(_TWO),
        operands=_TWO,
        ends=_conjunction,
        signatures=(("boolean",),),
        forms=(Form("{x} AND {y}", (("boolean",), ("boolean",))), Form("{x} AND NULL", (("boolean",),))),
        exact=False,
        passes_null=True,
    ),
    Definition(
        exp.Or,
        "OR",
        frozenset(_TWO),
        operands=_TWO,
        ends=_disjunction,
        cost=5,
        signatures=(("boolean",),),
        forms=(
            Form("{x} OR {y}", (("boolean",), ("boolean",))),
            Form("{x} OR NULL", (("boolean",),)),
            Form("{x} > 1 OR NOT {y} < 2", (("whole", "double"), ("whole",))),
        ),
        exact=False,
        passes_null=True,
    ),
    Definition(
        exp.Not,
        "NOT",
        ends=_negation,
        signatures=(("boolean",),),
        forms=(Form("NOT {x}", (("boolean",),)), Form("NOT {x} > 1", (_NUMBERS,))),
        exact=False,
        null_in=True,
        null_out=True,
    ),
    Definition(
        exp.Is,
        "IS",
        ends=_is,
        signatures=((ANY,),),
        forms=(
            Form("{x} IS NULL", (_ALL,)),
            Form("NOT {x} IS NULL", (_ALL,)),
            Form("{x} IS TRUE", (("boolean",),)),
            Form("({x} > 1) IS FALSE", (_NUMBERS,)),
        ),
        exact=False,
        passes_null=True,
    ),
    Definition(
        exp.Between,
        "BETWEEN",
        operands=("this", "low", "high"),
        ends=_between,
        cost=8,
        signatures=tuple((*pair, pair[1]) for pair in _COMPARED),
        forms=(
            Form("{x} BETWEEN 0 AND 2", (_NUMBERS,)),
            Form("{x} BETWEEN {y} AND 2.5", (_NUMBERS, _NUMBERS)),
            Form("1 BETWEEN {x} AND {y}", (_NUMBERS, _NUMBERS)),
            Form("{x} BETWEEN 0 AND NULL", (_NUMBERS,)),
            Form("{x} BETWEEN {y} AND {y}", (("date", "timestamp"), ("date", "timestamp"))),
        ),
        exact=False,
        passes_null=True,
        collation=True,
    ),
    Definition(
        exp.In,
        "IN",
        operands=("this", "expressions"),
        ends=_in,
        cost=14,
        signatures=_COMPARED,
        forms=(
            Form("{x} IN (0, 2, 3)", (_NUMBERS,)),
            Form("{x} IN (1, {y})", (_NUMBERS, _NUMBERS)),
            Form("{x} IN (1, NULL)", (_NUMBERS,)),
            Form("NOT {x} IN ({y}, NULL)", (("whole",), ("whole",))),
        ),
        exact=False,
        passes_null=True,
    ),
    Definition(
        exp.Case,
        "CASE",
        frozenset({"this", "ifs", "default"}),
        operands=("this", "ifs", "default"),
        ends=_case,
        cost=11,
        signatures=((CHOSEN,),),
        forms=(
            Form("CASE WHEN {x} > 1 THEN {x} WHEN {y} < 2 THEN {y} ELSE -1 END", (_NUMBERS, _NUMBERS)),
            Form("CASE WHEN {x} BETWEEN 0 AND 2 THEN {y} END", (_NUMBERS, _NUMBERS)),
            Form("CASE WHEN {x} IS NULL THEN 7 ELSE {x} END", (_NUMBERS,)),
            Form("CASE {x} WHEN 1 THEN {y} WHEN NULL THEN 5 ELSE NULL END", (("whole",), _NUMBERS)),
            Form("CASE WHEN {y} THEN {x} ELSE CAST('2020-03-01' AS DATE) END", (("date",), ("boolean",))),
            Form("CASE WHEN {x} > 1 THEN {y} ELSE {x} < -1 END", (_NUMBERS, ("boolean",))),
        ),
        exact=False,
        passes_null=True,
    ),
    Definition(
        exp.If,
        "if",
        frozenset({"this", "true", "false"}),
        operands=("this", "true", "false"),
        ends=_if,
        cost=8,
        signatures=((CHOSEN,),),
        forms=(
            Form("if({x} > 1, {x}, {y})", (_NUMBERS, _NUMBERS), ("duckdb", "spark")),
            Form("if({y}, {x}, NULL)", (_NUMBERS, ("boolean",)), ("duckdb", "spark")),
        ),
        exact=False,
        passes_null=True,
    ),
    Definition(exp.Xor, "xor", frozenset(_TWO), operands=_TWO),
)
