"""Comparisons in the order of a column's own type, and functions that choose the least or greatest value."""

from __future__ import annotations

from sqlglot import exp

_CHOICES = (exp.Coalesce, exp.Nullif, exp.Case, exp.If, exp.Paren)
_ORDERS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Greatest, exp.Least)


def is_ordered(column: exp.Column) -> bool:
    """Whether the order of a column's type decides about an expression that reads the column.

    Functions that return an argument pass the type on; casts and others end it, as do equalities.
    """
    part: exp.Expr = column
    while part.parent is not None and isinstance(part.parent, _CHOICES) and not _is_tested(part):
        part = part.parent
    return isinstance(part.parent, _ORDERS)


def _is_tested(part: exp.Expr) -> bool:
    """Whether it is the condition of a branch, or the operand that CASE compares: no value of the expression."""
    return part.arg_key == "this" and isinstance(part.parent, exp.Case | exp.If)
