"""Finds constants of a query that the engine computes as NULL."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.registry import is_null_with_operand
from sqlanon.query.parse.scope import Scope


def is_null(scope: Scope, constant: exp.Expr) -> bool:
    """Whether an expression without columns is NULL: ``NULL``, ``nullif(7, 7)``, a cast that fails.

    Args:
        scope: scope of the query; the engine is asked about expressions other than literals.
        constant: the expression.

    Cost: a query without a table, once for each expression.
    """
    inner = constant
    while isinstance(inner, exp.Paren) or is_null_with_operand(inner):
        inner = inner.this
    if isinstance(inner, exp.Literal | exp.Boolean | exp.Null):
        return isinstance(inner, exp.Null)
    query = exp.Select().select(exp.Is(this=exp.Paren(this=constant.copy()), expression=exp.null()))
    return bool(scope.fact("query/null", query))
