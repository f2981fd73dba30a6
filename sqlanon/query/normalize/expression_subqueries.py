"""Subqueries inside expressions: each is asked by itself before the query around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp


class Scalar(exp.Expression, exp.AggFunc):
    """The value of a subquery, by the number of the subquery: it is the same for all rows and groups.

    Once the subquery is answered it has the estimate, the ends, 1 where it may be NULL, else 0, and the type.
    """

    arg_types: ClassVar = {
        "this": True,
        "estimate": False,
        "low": False,
        "high": False,
        "undefined": False,
        "kind": False,
    }


class ListedValues(exp.Expression, exp.Condition):
    """The values of a subquery after IN, by the number of the subquery."""

    arg_types: ClassVar = {"this": True}


@dataclass(frozen=True)
class Subquery:
    """A subquery inside an expression.

    Attributes:
        select: the subquery, flat.
        node: as it was written, for messages.
        column: the column that is read.
        several: the rows are a list; else there is a single row.
        top: it takes the place of a join, so that rows that are only possible are kept apart.
    """

    select: exp.Select
    node: exp.Expr
    column: int = 0
    several: bool = False
    top: bool = False
