"""The written forms of a quantile, and the form that every engine has."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from sqlanon.query.sql.sqltree import Tree


def quantile_of(node: exp.Expr) -> tuple[Fraction, bool] | None:
    """The share of rows below a quantile, and whether the quantile lies between two values.

    None for another aggregate, or without a plain share.
    """
    if isinstance(node, exp.Median):
        return Fraction(1, 2), True
    if type(node) not in (exp.PercentileCont, exp.PercentileDisc, exp.Quantile):
        return None
    share = node.args.get("quantile" if isinstance(node, exp.Quantile) else "expression")
    if not isinstance(share, exp.Literal) or share.is_string or not 0 < Fraction(share.this) < 1:
        return None
    return Fraction(share.this), isinstance(node, exp.PercentileCont)


def unwrap_within_group(select_: exp.Expr) -> None:
    """Write both forms of quantiles alike, WITHIN GROUP (ORDER BY x) and the other.

    The argument comes first, then the share.
    """
    for node in list(select_.find_all(exp.WithinGroup)):
        inner, order = node.this, node.expression
        terms = order.expressions if isinstance(order, exp.Order) else []
        plain = len(terms) == 1 and not terms[0].args.get("desc")
        if plain and isinstance(inner, exp.PercentileCont | exp.PercentileDisc) and not inner.expression:
            node.replace(type(inner)(this=terms[0].this.copy(), expression=inner.this.copy()))


def in_common_form(node: exp.Expr) -> Tree:
    """The form of an aggregate that every engine has."""
    quantile = quantile_of(node)
    if quantile is None:
        return node.copy()
    kind = exp.PercentileCont if quantile[1] else exp.PercentileDisc
    share = exp.Literal.number(str(float(quantile[0])))
    order = exp.Order(expressions=[exp.Ordered(this=node.this.copy(), nulls_first=False)])
    return exp.WithinGroup(this=kind(this=share), expression=order)
