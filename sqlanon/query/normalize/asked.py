"""Subqueries inside expressions: each is asked by itself before the query around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp


class Scalar(exp.Expression, exp.AggFunc):
    """The value of a subquery, by the number of the subquery: it is the same for all rows and groups.

    Once the subquery is answered it has the estimate, the ends, 1 where it may be NULL, else 0, and its type.
    """

    arg_types: ClassVar = {
        "this": True,
        "estimate": False,
        "low": False,
        "high": False,
        "undefined": False,
        "kind": False,
    }


class Listed(exp.Expression, exp.Condition):
    """The values of a subquery after IN, by its number."""

    arg_types: ClassVar = {"this": True}


@dataclass(frozen=True)
class Subquery:
    """A subquery inside an expression.

    Attributes:
        select: the subquery, flat.
        node: as it was written, for messages.
        column: which of its columns is read.
        several: its rows are a list; else it has one row.
        top: it takes the place of a join, so that rows of it that only may be there are kept apart.
    """

    select: exp.Select
    node: exp.Expr
    column: int = 0
    several: bool = False
    top: bool = False
