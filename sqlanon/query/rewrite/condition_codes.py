"""Codes several conditions on a column as one number, with a base 3 digit for each: TRUE, FALSE or NULL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.query.parse.scope import boxes_in
from sqlanon.query.sql.sqltree import Tree

CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)
MOST_CONDITIONS = 5
"""Most conditions on a column."""


def conditions_of(node: exp.Expr) -> Iterator[exp.Expr]:
    """The largest conditions of a term over a column with ranges."""
    if isinstance(node, CONDITIONS) and boxes_in(node):
        yield node
        return
    for part in node.iter_expressions():
        yield from conditions_of(part)


def with_results(term: Tree, results: Mapping[exp.Expr, Tree]) -> Tree:
    """A term with results in place of conditions."""
    paren = exp.Paren(this=term.copy())
    for condition in list(conditions_of(paren)):
        condition.replace(results[condition].copy())
    whole: Tree = paren.this
    return whole


def asks_conditions_alone(term: Tree) -> bool:
    """Whether a term reads the column in conditions, and nowhere else."""
    return not boxes_in(with_results(term, {condition: exp.false() for condition in conditions_of(term)}))


def code_of(conditions: Sequence[exp.Expr]) -> Tree:
    """The number: the digit of the condition at place i weighs 3 to the power of i."""
    digits = [_digit(condition, 3**place) for place, condition in enumerate(conditions)]
    code = digits[0]
    for digit in digits[1:]:
        code = exp.Add(this=code, expression=digit)
    return code


def result_of(code: Tree, place: int, count: int) -> Tree:
    """The result of the condition at a place in a number.

    Args:
        code: the number.
        place: place of the condition.
        count: number of conditions.
    """
    every = range(3**count)
    ifs = [
        exp.If(this=_is_one_of(code, [n for n in every if n // 3**place % 3 == digit]), true=value)
        for digit, value in ((1, exp.true()), (2, exp.false()))
    ]
    return exp.Paren(this=exp.Case(ifs=ifs))


def _digit(condition: exp.Expr, weight: int) -> Tree:
    number = exp.Literal.number
    negated = exp.Not(this=exp.Paren(this=condition.copy()))
    ifs = [
        exp.If(this=condition.copy(), true=number(weight)),
        exp.If(this=negated, true=number(2 * weight)),
    ]
    return exp.Paren(this=exp.Case(ifs=ifs, default=number(0)))


def _is_one_of(code: Tree, numbers: list[int]) -> Tree:
    return exp.In(this=exp.Paren(this=code.copy()), expressions=[exp.Literal.number(number) for number in numbers])
