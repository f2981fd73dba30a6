"""Tests of ranges of whole numbers and dates, counted once along the line of values.

It is used where unrolling every range would list more.

The line counts, for each value, the values up to it in each group. The count of a range in a group is the count up to
the high end, less the count below the low end.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.listed_boxes import Lookup
from sqlanon.query.boxes.unroll import ROWS, number_values
from sqlanon.query.sql.sqltree import Tree, column, named, select, sql


def select_line(box: Box) -> exp.Select:
    """Every value ``v`` from the first to the last that some range has."""
    ends = [named(sql(f"{word}(:x)", x=column(f"{box.id}_{end}")), end) for word, end in (("MIN", "lo"), ("MAX", "hi"))]
    first, last, value = number_values(box, column("lo", "k"), column("hi", "k"))
    query = sql("SELECT 1 FROM a CROSS JOIN LATERAL GENERATE_SERIES(:f, :l) AS s(i)", f=first, l=last)
    query.set("expressions", [named(value, "v")])
    query.args["from_"].this.replace(select(ends, ROWS).subquery("k"))
    assert isinstance(query, exp.Select)
    return query


def count_line(lookup: Lookup, members: str) -> exp.Select:
    """The line with the place ``i`` of every value, the group ``way``, and cumulated counts ``c<j>``.

    ``c<j>``: the number of values up to ``i`` in group j.

    Args:
        lookup: the box and the box's groups.
        members: the table of `select_line`.
    """
    inner = select([column("v"), named(lookup.way(column("v")), "way")], members)
    over = "OVER (ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    sums = [named(sql(f"SUM(CASE WHEN way = {j} THEN 1 ELSE 0 END) {over}"), f"c{j}") for j in range(lookup.count)]
    return select(
        [column("v"), column("way"), named(sql("ROW_NUMBER() OVER (ORDER BY v)"), "i"), *sums],
        inner.subquery("m"),
    )


def select_lookup(lookup: Lookup, table: str) -> exp.Select:
    """The lookup's rows: the ends of every distinct range, and the part that each group takes.

    Args:
        lookup: the box and its groups.
        table: the name of `count_line`.
    """
    box = lookup.box
    keys = [column(key, "k") for key in lookup.keys]
    shares: list[Tree] = [
        named(
            sql(f"CAST(b.c{j} - a.c{j} + CASE WHEN a.way = {j} THEN 1 ELSE 0 END AS DOUBLE) / (b.i - a.i + 1)"),
            f"{lookup.name}_s{j}",
        )
        for j in range(lookup.count)
    ]
    if lookup.counts_attained:  # the two ends, which are a single value where they meet
        shares += [
            named(
                sql(f"CASE WHEN a.way = {j} THEN 1 ELSE 0 END + CASE WHEN b.way = {j} AND b.i > a.i THEN 1 ELSE 0 END"),
                f"{lookup.name}_t{j}",
            )
            for j in range(lookup.count)
        ]
    distinct = select([column(key) for key in lookup.keys], ROWS, distinct=True)
    query = select([*keys, *shares], distinct.subquery("k"))
    query.set(
        "joins",
        [
            exp.Join(
                this=exp.alias_(exp.to_table(table), name, table=True),
                on=exp.EQ(this=column("v", name), expression=column(f"{box.id}_{end}", "k")),
            )
            for name, end in (("a", "lo"), ("b", "hi"))
        ],
    )
    return query
