"""A sum divided by a count in the type that the engine's AVG has."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.sql.sqltree import Tree, sql

_MORE_DIGITS, _MOST_DIGITS = 10, 38
"""Digits of a sum of decimals, in addition to those of the values; of any decimal, at most."""


def mean(kind: exp.DataType, total: Tree, count: Tree, *, none: bool = True) -> Tree:
    """The sum by the count; ``none``: the count may be 0, and then it is NULL.

    Of decimals with so many digits a sum needs more: ten, as the engine's own AVG gives it.
    """
    wide, whole = kind, kind
    if len(kind.expressions) == 2:
        digits, places = (int(expression.name) for expression in kind.expressions)
        wide = exp.DataType.build(f"DECIMAL({min(digits + _MORE_DIGITS, _MOST_DIGITS)}, {places})")
        whole = exp.DataType.build("DECIMAL(20, 0)")
    divided = sql(
        ":a / NULLIF(:b, 0)" if none else ":a / :b",
        a=exp.cast(total, wide.copy()),
        b=exp.cast(count, whole.copy()),
    )
    return divided if wide is kind else exp.cast(divided, kind.copy())
