"""Bounds products and quotients of aggregates, jointly where both are sums over rows.

See `sqlanon.query.rewrite.joint_ratio`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.functions.aggregates import is_count, is_sum
from sqlanon.query.functions.arithmetic import split_factor
from sqlanon.query.functions.choice import find_guarded, is_nullif
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Calculator, adds_singly
from sqlanon.query.rewrite.query_plan import Aggregate, Check, Quad
from sqlanon.query.rewrite.share_bounds import is_share
from sqlanon.query.rewrite.window_functions import share_total
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, as_type, column, some, sql, when
from sqlanon.query.sql.types import is_whole


def divide(calculator: Calculator, node: exp.Binary, *, sharp: bool) -> Quad:
    """Something divided by an aggregate: jointly where both are sums over rows, else end by end."""
    constant = calculator.is_constant(node.left)
    below = node.right.unnest()
    zero_is_null = is_nullif(below)
    if zero_is_null:
        guarded = find_guarded(below)
        if guarded is None:
            refuse(calculator.scope.text, below, "a denominator is guarded by nullif(.., 0)")
        below = guarded
    whole = is_whole(calculator.check(node))
    top = _end(node.left) if constant else calculator.quad(node.left, typed=True, sharp=sharp or whole)
    bottom = calculator.quad(below, typed=True, sharp=sharp or whole)
    count = is_count(_of_rows(below.this if isinstance(below, exp.Filter) else below))
    bottom_low = bottom.low
    if count and (zero_is_null or _always(calculator, below)):
        bottom_low = sql("GREATEST(:l, 1)", l=bottom.low)
    least_, most = as_type(bottom_low, "DOUBLE"), as_type(bottom.high, "DOUBLE")
    if count:
        # A count that is always 0 gives NULL alone: the guarded low end is 1, the high end 0.
        nonzero, below_ends = sql(":l > 0 AND COALESCE(:h, 1) > 0", l=bottom_low, h=bottom.high), [least_, most]
    elif _has_whole_values(calculator, below):
        nonzero, below_ends = TRUE, _without_zero(least_, most)
    else:  # as near to 0 as it likes, it has no greatest quotient
        nonzero, below_ends = sql(":l > 0 OR :h < 0", l=bottom_low, h=bottom.high), [least_, most]
    ends = [sql(":x / NULLIF(:y, 0)", x=as_type(x, "DOUBLE"), y=y) for x in (top.low, top.high) for y in below_ends]
    low, high = (when(nonzero, end) for end in _corners(ends, [top, bottom]))
    zero = when(sql(":l > 0", l=bottom.low), FALSE, sql("COALESCE(:h, 1) >= 0", h=bottom.high))
    aggregate = (
        None
        if constant or calculator.scope.released.left_out or calculator.scope.released.as_of_source
        else _ratio(calculator, node.left, below)
    )
    if aggregate is not None:
        own_ends = column(f"l{aggregate.id}"), column(f"h{aggregate.id}")
    if aggregate is not None and aggregate.ratio is not None and is_share(aggregate.ratio):
        low, high = (
            own_ends  # no wider than quotients of ends: the classes' parts lie between the ends of the two counts
        )
    elif aggregate is not None:
        same = sql(":a = :b AND :c = :d", a=top.low, b=top.high, c=bottom_low, d=bottom.high)
        low, high = (
            when(sql("COALESCE(:s, FALSE)", s=same), end, sql(f"{word}(:m, :e)", m=mine, e=end))
            for end, mine, word in zip((low, high), own_ends, ("GREATEST", "LEAST"), strict=True)
        )
    above, factor = (node.left, None) if constant else split_factor(node.left)
    part = None if factor is None else share_total(calculator, above, below)
    if part is not None:
        ends = [sql(":f * :x", f=as_type(factor or exp.Literal.number("1.0"), "DOUBLE"), x=end) for end in part[:2]]
        low, high = (when(part[2], end, mine) for end, mine in zip(ends, (low, high), strict=True))
    estimate: Tree = sql("CAST(:a AS DOUBLE) / NULLIF(CAST(:b AS DOUBLE), 0)", a=top.estimate, b=bottom.estimate)
    if whole:
        low, high, estimate = (sql("TRUNC(:x)", x=tree) for tree in (low, high, estimate))
    maybe = sql("GREATEST(:a, :b)", a=top.undefined, b=bottom.undefined)
    # A group that exists has a row; a group that may be missing has no value there.
    if zero_is_null or _always(calculator, below):
        maybe = sql("GREATEST(:m, CASE WHEN :z THEN 1 ELSE 0 END)", m=maybe, z=zero)
    else:
        reason = (
            "the denominator may be 0 in a consistent source; write nullif(.., 0) for NULL there, or avg(..) for a mean"
        )
        calculator.notes.checks.append(Check(zero, node, reason))
    return calculator.meet(Quad(estimate, low, high, maybe, tight=False))


def _has_whole_values(calculator: Calculator, node: exp.Expr) -> bool:
    """Whether the values are whole numbers.

    Sums of them may have another type (PostgreSQL adds bigint up as numeric).
    """
    inner = node.this if isinstance(node, exp.Filter) else node
    if is_sum(inner):
        return is_whole(calculator.notes.type_of(inner.this))
    return is_whole(calculator.check(node))


def _without_zero(low: Tree, high: Tree) -> list[Tree]:
    """The ends of the whole numbers from ``low`` to ``high`` below and above 0.

    A quotient is monotone between two ends of the same sign.
    """
    return [
        sql("NULLIF(:l, 0)", l=low),
        sql("CASE WHEN :l < 0 AND :h >= 0 THEN -1 END", l=low, h=high),
        sql("CASE WHEN :l <= 0 AND :h > 0 THEN 1 END", l=low, h=high),
        sql("NULLIF(:h, 0)", h=high),
    ]


def _end(constant: exp.Expr) -> Quad:
    return Quad(constant, constant, constant, exp.Literal.number(0))


def _always(calculator: Calculator, node: exp.Expr) -> bool:
    """Whether it counts the rows of a group, which exists only where it has some."""
    node = _of_rows(node)
    return calculator.notes.grouped and is_count(node) and (node.this is None or isinstance(node.this, exp.Star))


def _of_rows(node: exp.Expr) -> exp.Expr:
    """The argument that a window function adds up or counts over the groups; other expressions unchanged."""
    if not isinstance(node, exp.Window):
        return node
    inner: exp.Expr = node.this
    return inner.this if is_sum(inner) else inner


def _ratio(calculator: Calculator, top: exp.Expr, bottom: exp.Expr) -> Aggregate | None:
    """The joint ratio of two sums over rows, the first times a number; None: either is another calculation."""
    above, factor = split_factor(top)
    if factor is None or not isinstance(bottom, exp.Filter | exp.AggFunc):
        return None
    if any(adds_singly(calculator.notes, side) for side in (above, bottom)):
        return None
    return calculator.notes.ratio(factor, above, bottom)


def _corners(ends: Sequence[Tree], sides: list[Quad]) -> tuple[Tree, Tree]:
    """The least and the greatest of products or quotients; none where an end is missing."""
    missing = some(sql(":x IS NULL", x=end) for side in sides for end in (side.low, side.high))
    names = "abcdefgh"[: len(ends)]
    listed = ", ".join(f":{name}" for name in names)
    parts = dict(zip(names, ends, strict=True))
    low, high = (
        sql(f"CASE WHEN :m THEN NULL ELSE {word}({listed}) END", m=missing, **parts) for word in ("LEAST", "GREATEST")
    )
    return low, high
