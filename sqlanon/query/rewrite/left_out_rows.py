"""Widens the bounds of every aggregate by the rows that a release leaves out.

Such a row may satisfy any condition and belong to any group, with some value of the column's domain. So sums, averages
and extremes have bounds where the release declares that domain in numbers (a hierarchy's leaves, or an order), and none
elsewhere.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sqlanon.query.boxes.box import Box
from sqlanon.query.rewrite.query_plan import Aggregate
from sqlanon.query.sql.sqltree import Tree, number, sql, when


def widen(aggregate: Aggregate, ends: tuple[Tree, Tree], undefined: Tree, rows: int) -> tuple[Tree | None, Tree | None]:
    """The bounds of an aggregate over the source; None: there is none.

    Args:
        aggregate: the aggregate.
        ends: the bounds over the published rows.
        undefined: 1 where no published row qualifies for certain.
        rows: number of rows left out.
    """
    low, high = ends
    if aggregate.kind in ("rows", "count", "distinct"):
        return low, sql(":h + :n", h=high, n=number(rows))
    domain = _domain(aggregate.box)
    if aggregate.kind == "sum" and domain is not None:
        # A sum of no published row is that of the left-out rows alone.
        least = sql("CASE WHEN :u = 0 THEN :l ELSE LEAST(:l, 0) END", u=undefined, l=low)
        most = sql("CASE WHEN :u = 0 THEN :h ELSE GREATEST(:h, 0) END", u=undefined, h=high)
        less, more = (number(rows * end) for end in (min(domain[0], Decimal(0)), max(domain[1], Decimal(0))))
        return sql(":l + :d", l=_keep_null(low, least), d=less), sql(":h + :d", h=_keep_null(high, most), d=more)
    if aggregate.kind in ("min", "max") or domain is not None:
        first, last = (None, None) if domain is None else map(number, domain)
        lowest = None if first is None else _keep_null(low, sql("LEAST(:l, :d)", l=low, d=first))
        highest = None if last is None else _keep_null(high, sql("GREATEST(:h, :d)", h=high, d=last))
        # A certain row is in, whatever else is: it bounds the minimum from above, and the maximum from below.
        if aggregate.kind == "min":
            highest = when(sql(":u = 0", u=undefined), high, highest)
        if aggregate.kind == "max":
            lowest = when(sql(":u = 0", u=undefined), low, lowest)
        return lowest, highest
    return None, None


def _keep_null(end: Tree, widened_end: Tree) -> Tree:
    """LEAST and GREATEST pass over NULL, which is no bound."""
    return when(sql("NOT :e IS NULL", e=end), widened_end)


def _domain(box: Box | None) -> tuple[Decimal, Decimal] | None:
    """The least and greatest of the values that a release declares of a numeric column."""
    if box is None or not box.numeric or not box.values:
        return None
    try:
        values = [Decimal(value) for value in box.values]
    except InvalidOperation:
        return None
    return (min(values), max(values)) if all(value.is_finite() for value in values) else None
