"""Bounds COUNT(DISTINCT) of a column with ranges: all values in the ranges from above, certain values from below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.logic.number_line import measure
from sqlanon.query.rewrite.ordered_aggregates import FOUND, Apart
from sqlanon.query.sql.sqltree import Tree, column, named, select, sql, when

_EXACT = 2**53
"""Doubles hold all whole numbers up to this one."""


def distinct_values(
    number: int,
    box: Box,
    row: Mapping[str, Tree],
    keys: Sequence[Tree],
    members: int | None,
    *,
    attained: bool = False,
) -> Apart:
    """The columns of the aggregate. The estimate is the middle of the bounds.

    Args:
        number: number of the aggregate.
        box: the column.
        row: the contribution of a row.
        keys: the groups.
        members: number of values of the column that the release shows; None: they are not listed.
        attained: certain rows are whole classes, in which every end of a range and every member of a set occurs.
    """
    literal_zero, literal_one = exp.Literal.number(0), exp.Literal.number(1)
    countable = box.shape == "interval" and box.field.kind in ("integer", "date") and box.point is None
    low, high = (row["low"], row["high"]) if countable else (exp.null(), exp.null())
    listed = {
        "lo": low,
        "hi": high,
        "n": sql("SUM(:n)", n=row["count"]),
        "c": sql("MAX(:x)", x=when(row["certain"], literal_one, literal_zero)),
        "o": sql("MAX(:x)", x=when(row["open"], literal_one, literal_zero)),
    }
    table = f"_ends_{number}"
    ends = select(
        [*keys, *(named(tree, name) for name, tree in listed.items())],
        FOUND,
        where=[row["possible"]],
        group=[*keys, *([low, high] if countable else [])],
    )
    steps: list[tuple[str, exp.Expr]] = [(table, ends)]
    most: Tree = sql("CAST(NULL AS DOUBLE)")
    sure: Tree = literal_zero
    if countable:
        # The values that each range adds to those that begin before it.
        part = f"PARTITION BY {', '.join(key.sql(dialect='duckdb') for key in keys)}" if keys else ""
        before = sql(f"MAX(hi) OVER ({part} ORDER BY lo, hi ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)")
        expressions = [*keys, *map(column, ("lo", "hi", "n", "c", "o")), named(before, "before")]
        steps.append((f"{table}_ordered", select(expressions, table)))
        table = f"{table}_ordered"
        first, last, past = (measure(column(name), box.field.kind) or column(name) for name in ("lo", "hi", "before"))
        most = sql(  # infinite ends have no place in some engines, and doubles leave out whole numbers beyond 2^53
            "SUM(CASE WHEN lo IS NOT NULL AND NOT COALESCE(ABS(:a) < :e AND ABS(:b) < :e, FALSE) "
            "THEN CAST('Infinity' AS DOUBLE) ELSE GREATEST(:b - GREATEST(:a, COALESCE(:p + 1, :a)) + 1, 0) END)",
            e=exp.Literal.number(_EXACT),
            a=first,
            b=last,
            p=past,
        )
        sure = sql("COUNT(DISTINCT CASE WHEN c = 1 AND lo = hi THEN lo END)")
    elif members is not None:
        most = exp.cast(exp.Literal.number(members), "DOUBLE")
    if attained:
        steps.insert(0, (f"_sure_{number}", _select_attained(box, row)))
        sure = sql("GREATEST(:s, :a)", s=sure, a=select([sql("COUNT(*)")], f"_sure_{number}").subquery())
    least_ = sql("COALESCE(GREATEST(:s, MAX(c)), 0)", s=sure)
    greatest_ = sql(
        "COALESCE(CASE WHEN MAX(o) = 0 THEN CAST(LEAST(CAST(SUM(n) AS DOUBLE), :m) AS BIGINT) ELSE SUM(n) END, 0)",
        m=most,
    )
    return steps, {
        f"e{number}": sql("CAST(:l + :h AS DOUBLE) / 2", l=least_, h=greatest_),
        f"l{number}": least_,
        f"h{number}": greatest_,
        f"u{number}": literal_zero.copy(),
    }


def _select_attained(box: Box, row: Mapping[str, Tree]) -> exp.Query:
    """The values that certain rows are known to have, each once."""
    certain = [row["certain"]]
    if box.shape == "set":
        value = exp.Unnest(expressions=[column(f"{box.id}_set")])
        return select([named(value, "v")], FOUND, where=certain, distinct=True)
    low, high = (select([named(row[end], "v")], FOUND, where=certain) for end in ("low", "high"))
    return exp.Union(this=low, expression=high, distinct=True)
