"""Steps: expressions constant over a run of values, such as ``floor(x / 10)``, a month, or the hour of a time."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from sqlanon.query.functions.definition import flat
from sqlanon.query.functions.registry import definition_of
from sqlanon.query.functions.times import UNITS
from sqlanon.query.sql.sqltree import Tree


def truncate(term: Tree, time: Tree) -> Tree:
    """The term with the start of the term's step in place of a time.

    For example ``extract(year FROM date_trunc('year', x))`` is ``extract(year FROM x)``.
    """
    marked = exp.Paren(this=term.copy())
    for part in list(marked.walk()):
        unit, inner = _part(part)
        if unit is not None and inner is not None and inner.unnest() == time:
            inner.replace(exp.TimestampTrunc(this=time.copy(), unit=exp.Var(this=unit)))
    expression: Tree = marked.this
    return expression


def _part(node: exp.Expr) -> tuple[str | None, exp.Expr | None]:
    """The step within which a part of a time is constant, and the time; None: there is none."""
    if isinstance(node, exp.Anonymous):  # which sqlglot makes of DuckDB's date_part
        part = node.expressions[0] if len(node.expressions) == 2 else None
        is_part = node.name.lower() == "date_part" and isinstance(part, exp.Literal)
        return (UNITS.get(part.name.upper()), node.expressions[1]) if is_part and part else (None, None)
    definition = definition_of(node)
    if definition is None or definition.unit is None:
        return None, None
    return definition.unit(node), next(iter(flat(node)), None)


def step_around(value: exp.Expr) -> exp.Expr | None:
    """The innermost step of a value: of a number the floor, of a time the truncation; None: there is none."""
    return value.find_ancestor(exp.Floor, exp.TimestampTrunc, exp.DateTrunc)


def is_floor(step: exp.Expr) -> bool:
    """Whether a step is of numbers."""
    return isinstance(step, exp.Floor)


def line_of(node: exp.Expr, value: Tree, *, whole: bool) -> tuple[Fraction, Fraction] | None:
    """Slope and shift of an expression that only adds constants and multiplies by positive ones.

    Args:
        node: the expression.
        value: the column in it.
        whole: the column has whole numbers, which some engines divide into whole ones.
    """
    node = node.unnest()
    if node == value:
        return Fraction(1), Fraction(0)
    if not isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return None
    by, line = _constant(node.right), line_of(node.left, value, whole=whole)
    if by is None and isinstance(node, exp.Add | exp.Mul):
        by, line = _constant(node.left), line_of(node.right, value, whole=whole)
    if by is None or line is None:
        return None
    if isinstance(node, exp.Add | exp.Sub):
        return line[0], line[1] + (by if isinstance(node, exp.Add) else -by)
    into_whole = node.args.get("typed") and whole and node.right.unnest().name.isdigit()
    if by <= 0 or (isinstance(node, exp.Div) and into_whole):
        return None
    factor = by if isinstance(node, exp.Mul) else 1 / by
    return line[0] * factor, line[1] * factor


def _constant(node: exp.Expr) -> Fraction | None:
    node = node.unnest()
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        return None if inner is None else -inner
    return Fraction(node.this) if isinstance(node, exp.Literal) and not node.is_string else None
