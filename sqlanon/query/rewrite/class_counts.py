"""Counts of rows that are bounded class by class, where exact columns leave different conditions to rows of a class.

Of `a = 1 OR d = 'x'` a row with d = 'x' satisfies the condition, and of the others those with a = 1. Each kind of row
is bounded by itself: at least so many of its rows satisfy what is left for them. And all kinds together: every row that
satisfies what is left for all kinds satisfies what is left for it, and none satisfies it that satisfies nothing of what
is left for any. Of both bounds of a class the narrower one holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.rewrite.ordered_aggregates import FOUND, Apart
from sqlanon.query.sql.sqltree import Tree, column, named, select, sql, when

Row = Mapping[str, Tree]


def is_joint(row: Row) -> bool:
    """Whether several kinds of rows of a class have something left to satisfy, and their classes are known."""
    return "every_kind" in row


def class_ends(row: Row) -> tuple[Tree, Tree]:
    """How many rows of a class are counted, at least and at most: sums over the rows of one class in one group."""
    zero = exp.Literal.number(0)
    if not is_joint(row):
        return sql("SUM(:x)", x=row["fewest"]), sql("SUM(:x)", x=row["most"])
    left = row["left"]
    fixed = [sql("SUM(:x)", x=when(left, zero, row[end])) for end in ("fewest", "most")]
    open_ = [sql("SUM(:x)", x=when(left, row[end], zero)) for end in ("fewest", "most")]
    many = sql("SUM(:x)", x=when(left, row["count"], zero))
    most = sql("MIN(:x)", x=when(left, row["any_kind"]))
    least = sql("MAX(:x)", x=when(left, row["every_kind"]))
    rows = sql("MAX(:w)", w=row["class_rows"])
    low = sql("GREATEST(:o, COALESCE(:l - (:w - :m), 0))", o=open_[0], l=least, w=rows, m=many)
    high = sql("LEAST(:o, COALESCE(:h, :o))", o=open_[1], h=most)
    return sql(":a + :b", a=fixed[0], b=low), sql(":a + :b", a=fixed[1], b=high)


def count_classes(number: int, row: Row, keys: Sequence[Tree], classes: Sequence[Tree]) -> Apart:
    """The columns of a COUNT, over a table of classes.

    Args:
        number: of the aggregate.
        row: what a row gives to it.
        keys: the groups.
        classes: the columns of a class.
    """
    low, high = class_ends(row)
    ends = {"cl": low, "ch": high, "e": sql("SUM(:n * :s)", n=row["count"], s=row["share"])}
    name = f"_classes_{number}"
    listed = [*keys, *(named(tree, end) for end, tree in ends.items())]
    table = select(listed, FOUND, where=[column("p0")], group=[*keys, *classes])
    low, high = (sql("COALESCE(SUM(:x), 0)", x=column(end)) for end in ("cl", "ch"))
    return [(name, table)], {
        f"e{number}": sql("GREATEST(LEAST(COALESCE(SUM(e), 0.0), :h), :l)", h=high, l=low),
        f"l{number}": low,
        f"h{number}": high,
        f"u{number}": exp.Literal.number(0),
    }
