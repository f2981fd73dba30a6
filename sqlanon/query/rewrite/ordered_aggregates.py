"""Aggregates that need separate tables: AVG, COUNT(DISTINCT), and counts over the groups of anatomy.

Each gives the tables that it reads, the last of them with a row for every step of the order or value, and the four
columns of `sqlanon.query.rewrite.sums` over that table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.rewrite.typed_quotient import mean
from sqlanon.query.sql.sqltree import ZERO, Tree, as_type, column, named, negate, select, sql, when

FOUND = "_found"
"""The table of the rows under their conditions."""

Apart = tuple[list[tuple[str, exp.Expr]], dict[str, Tree]]
"""Tables by name, and the columns ``e``, ``l``, ``h``, ``u`` of the aggregate over the last of them."""


_SUMS = ("total", "many")
"""The columns of the sum of an average, and of the divisor."""

NAN, INFINITE = "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"


def is_huge(end: str) -> str:
    """The SQL that says whether a double is finite and so large that sums may leave the type on their way.

    Such a sum depends on the order in which the engine adds up, and may be infinite or NaN.
    """
    return f"(ABS({end}) >= 1e290 AND ABS({end}) < {INFINITE})"


def nan_or(sure: Tree, maybe: Tree, bound: Tree) -> Tree:
    """A bound where the value is surely NaN, or may be: NaN, and none."""
    text = f"CASE WHEN COALESCE(:s, FALSE) THEN {NAN} WHEN COALESCE(:m, FALSE) THEN NULL ELSE CAST(:b AS DOUBLE) END"
    return sql(text, s=sure, m=maybe, b=bound)


def average(
    number: int, row: Mapping[str, Tree], keys: Sequence[Tree], kind: exp.DataType, *, floating: bool = False
) -> Apart:
    """AVG: the best average of the certain rows with each prefix of the others, the most extreme first.

    It is calculated as the source's own AVG, of the type ``kind``, so that it is divided as there. ``floating``
    values may be infinite, and then their average NaN.
    """
    zero = exp.Literal.number(0)
    steps: list[tuple[str, exp.Expr]] = []
    n = row["count"]
    weight = sql(":n * :s", n=n, s=row.get("shown", row["share"]))
    total = row["sum"] if "mean" not in row else sql(":n * :e", n=n, e=row["sum"])
    for end in ("low", "high"):
        value = exp.cast(row[end].copy(), kind)
        contribution = sql(":n * :v", n=n, v=value)
        if f"apart_{end}" in row:
            contribution = sql(":h + :a", h=contribution, a=exp.cast(row[f"apart_{end}"].copy(), kind))
        if not isinstance(row.get("mean", exp.null()), exp.Null):
            contribution = sql("COALESCE(:n * :m, :h)", n=n, m=row["mean"], h=contribution)
        table = f"_ordered_{end}_{number}"
        expressions = {
            "v": value,
            "free": sql("SUM(:x)", x=when(row["certain"], zero, n)),
            "held": sql("SUM(:x)", x=when(row["certain"], n, zero)),
            "sum": sql("SUM(:x)", x=when(row["certain"], contribution, ZERO)),
            "e": sql("SUM(:x)", x=total),
            "w": sql("SUM(:x)", x=weight),
            "o": sql("MAX(:x)", x=when(row["open"], exp.Literal.number(1), zero)),
        }
        grouped = exp.Select().select(
            *(k.copy() for k in keys), *(exp.alias_(t, c, quoted=True) for c, t in expressions.items())
        )
        grouped = grouped.from_(FOUND).where(row["possible"])
        steps.append((table, grouped.group_by(*(k.copy() for k in keys), value.copy())))
        over = "ORDER BY v" if end == "low" else "ORDER BY v DESC"
        part = f"PARTITION BY {', '.join(k.sql(dialect='duckdb') for k in keys)}" if keys else ""
        running = f"OVER ({part} {over} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
        whole = f"OVER ({part})"
        average = mean(
            kind,
            sql(f"SUM(sum) {whole} + SUM(CASE WHEN free > 0 THEN free * v ELSE 0 END) {running}"),
            sql(f"SUM(held) {whole} + SUM(free) {running}"),
            none=False,
        )
        alone = mean(kind, sql(f"SUM(sum) {whole}"), sql(f"SUM(held) {whole}"))
        prefix = (
            exp.Select()
            .select(
                *(k.copy() for k in keys),
                exp.alias_(average, "a"),
                exp.alias_(alone, "z"),
                sql("held"),
                sql("e"),
                sql("w"),
                sql("o"),
                sql("v"),
            )
            .from_(table)
        )
        steps.append((f"{table}_prefix", prefix))
    low, high = (f"_ordered_{end}_{number}_prefix" for end in ("low", "high"))
    both = exp.Union(
        this=exp.Select()
        .select(*(k.copy() for k in keys), *map(sql, ("a", "z", "held", "e", "w", "o", "v", "0 AS side")))
        .from_(low),
        expression=exp.Select()
        .select(*(k.copy() for k in keys), *map(sql, ("a", "z", "held", "e", "w", "o", "v", "1 AS side")))
        .from_(high),
        distinct=False,
    )
    steps.append((f"_average_{number}", both))
    bounded = sql("MAX(o) = 0")
    ends = [
        sql("LEAST(MIN(CASE WHEN side = 0 THEN a END), MIN(CASE WHEN side = 0 THEN z END))"),
        sql("GREATEST(MAX(CASE WHEN side = 1 THEN a END), MAX(CASE WHEN side = 1 THEN z END))"),
    ]
    if floating:
        most = "MAX(CASE WHEN side = 1 THEN v END)"
        maybe = sql(
            f"{most} = {NAN} OR (MIN(CASE WHEN side = 0 THEN v END) = -{INFINITE} AND {most} >= {INFINITE}) "
            f"OR BOOL_OR({is_huge('v')})"
        )
        sure = sql(
            f"BOOL_OR(side = 0 AND held > 0 AND v = {NAN}) OR (BOOL_OR(side = 0 AND held > 0 AND v >= {INFINITE}) "
            f"AND BOOL_OR(side = 1 AND held > 0 AND v = -{INFINITE}))"
        )
        ends = [nan_or(sure, maybe, end) for end in ends]
    return steps, {
        f"e{number}": sql("SUM(CASE WHEN side = 0 THEN e END) / NULLIF(SUM(CASE WHEN side = 0 THEN w END), 0)"),
        f"l{number}": when(bounded, ends[0]),
        f"h{number}": when(bounded, ends[1]),
        f"u{number}": sql("CASE WHEN SUM(held) > 0 THEN 0 ELSE 1 END"),
    }


def average_of_known(number: int, row: Mapping[str, Tree], kind: exp.DataType, *, floating: bool) -> dict[str, Tree]:
    """The columns over `FOUND` of AVG of exact values, where it is known of every row whether it qualifies."""
    zero = exp.Literal.number(0)
    certain_rows = sql("SUM(:x)", x=when(row["certain"], row["count"], zero))
    value = mean(kind, sql("SUM(:x)", x=when(row["certain"], row["s_certain_low"])), certain_rows)
    bound = value
    if floating:
        doubles = [as_type(row[end], "DOUBLE") for end in ("low", "high")]
        text = f"COALESCE(BOOL_OR(:p AND ({is_huge(':l')} OR {is_huge(':h')})), FALSE)"
        bound = when(negate(sql(text, p=row["possible"], l=doubles[0], h=doubles[1])), value)
    return {f"{end}{number}": bound for end in "lh"} | {
        f"e{number}": as_type(value, "DOUBLE"),
        f"u{number}": sql("CASE WHEN :n > 0 THEN 0 ELSE 1 END", n=certain_rows),
    }


def average_of_exact(
    number: int,
    row: Mapping[str, Tree],
    keys: Sequence[Tree],
    kind: exp.DataType,
    *,
    floating: bool = False,
    short: bool = False,
) -> Apart:
    """See `average`, of exact values: both sides add the same values.

    Certain rows are a single row without a value, which comes first in both orders. ``short``: the values are whole
    numbers with sums that are exact in 64 bits, so that a single order is enough: the sum from a value on is all but
    the sum below it.
    """
    zero, n = exp.Literal.number(0), row["count"]
    value = row["low"] if short else exp.cast(row["low"].copy(), kind)
    of = when(row["certain"], exp.null() if short else exp.cast(exp.null(), kind), value)
    expressions = {
        "v": of,
        "held": sql("SUM(:x)", x=when(row["certain"], n, zero)),
        "many": sql("SUM(:n)", n=n),
        "total": sql("SUM(:n * :v)", n=n, v=value),
        "e": sql("SUM(:x)", x=row["sum"]),
        "w": sql("SUM(:n * :s)", n=n, s=row["share"]),
    }
    if short:
        expressions |= {name: as_type(expressions[name], "BIGINT") for name in ("many", "total")}
    if floating:
        expressions |= {end: sql(f"{word}(:v)", v=value) for end, word in (("least", "MIN"), ("most", "MAX"))}
    table = f"_ordered_{number}"
    listed = [*keys, *(named(tree, name) for name, tree in expressions.items())]
    steps: list[tuple[str, exp.Expr]] = [(table, select(listed, FOUND, where=[row["possible"]], group=[*keys, of]))]
    part = f"PARTITION BY {', '.join(k.sql(dialect='duckdb') for k in keys)}" if keys else ""
    kept_columns = [*keys, *(named(tree, end) for end, tree in _prefixes(kind, part, short=short).items())]
    kept_columns += map(column, ("held", "e", "w", *(("least", "most") if floating else ())))
    steps.append((f"_average_{number}", select(kept_columns, table)))
    low, high = sql("MIN(al)"), sql("MAX(ah)")
    if floating:
        maybe = sql(
            f"MAX(most) = {NAN} OR (MIN(least) = -{INFINITE} AND MAX(most) >= {INFINITE}) "
            f"OR BOOL_OR({is_huge('least')} OR {is_huge('most')})"
        )
        sure = sql(
            f"BOOL_OR(held > 0 AND most = {NAN}) OR (BOOL_OR(held > 0 AND most >= {INFINITE}) "
            f"AND BOOL_OR(held > 0 AND least = -{INFINITE}))"
        )
        low, high = (nan_or(sure, maybe, end) for end in (low, high))
    return steps, {
        f"e{number}": sql("SUM(e) / NULLIF(SUM(w), 0)"),
        f"l{number}": low,
        f"h{number}": high,
        f"u{number}": sql("CASE WHEN SUM(held) > 0 THEN 0 ELSE 1 END"),
    }


def _prefixes(kind: exp.DataType, part: str, *, short: bool) -> dict[str, Tree]:
    """The averages of the certain rows and all others up to a value, ``al``, or from it on, ``ah``."""
    rows = "ROWS BETWEEN UNBOUNDED PRECEDING AND"
    up = f"OVER ({part} ORDER BY v NULLS FIRST {rows} CURRENT ROW)"
    down = {name: sql(f"SUM({name}) OVER ({part} ORDER BY v DESC NULLS FIRST {rows} CURRENT ROW)") for name in _SUMS}
    if short:
        every = f"OVER ({part} ORDER BY v NULLS FIRST {rows} UNBOUNDED FOLLOWING)"
        sure = f"SUM(CASE WHEN v IS NULL THEN {{0}} ELSE 0 END) {every}"
        text = f"CASE WHEN v IS NULL THEN {{0}} ELSE {sure} + SUM({{0}}) {every} - SUM({{0}}) {up} + {{0}} END"
        down = {name: sql(text.format(name)) for name in _SUMS}
    total, many = _SUMS
    return {
        "al": mean(kind, sql(f"SUM({total}) {up}"), sql(f"SUM({many}) {up}"), none=False),
        "ah": mean(kind, down[total], down[many], none=False),
    }


def count_matched(number: int, condition: int, box: Box, keys: Sequence[Tree]) -> Apart:
    """Rows of a group that qualify by their exact columns, and values of the group that qualify.

    They give how many rows can qualify, and how many must.

    Of N rows m qualify, of N values c: at most min(m, c) rows have both, and at least m + c - N.
    """
    group, size = column(f"{box.id}_group"), column(f"{box.id}_size")
    expressions = {
        "m": sql("SUM(n)"),
        "c": sql("ROUND(MAX(:s * :z))", s=column(f"s{condition}"), z=as_type(size, "DOUBLE")),
        "size": sql("MAX(:z)", z=size),
        "e": sql("SUM(n * :s)", s=column(f"s{condition}")),
    }
    query = exp.Select().select(
        *(k.copy() for k in keys), *(exp.alias_(t, c, quoted=True) for c, t in expressions.items())
    )
    query = query.from_(FOUND).where(column(f"p{condition}")).group_by(*(k.copy() for k in keys), group)
    name = f"_matched_{number}"
    return [(name, query)], {
        f"e{number}": sql("COALESCE(SUM(e), 0.0)"),
        f"l{number}": sql("CAST(COALESCE(SUM(GREATEST(m + c - size, 0)), 0) AS BIGINT)"),
        f"h{number}": sql("CAST(COALESCE(SUM(LEAST(m, c)), 0) AS BIGINT)"),
        f"u{number}": exp.Literal.number(0),
    }


def distinct(number: int, value: Tree, row: Mapping[str, Tree], keys: Sequence[Tree]) -> Apart:
    """COUNT(DISTINCT): a value is certain if a certain row has it.

    Otherwise its probability is that of some qualifying row with the value.
    """
    absent = sql("SUM(:n * LN(1 - LEAST(:s, 0.999999999999)))", n=row["count"], s=row["share"])
    expressions = {
        "c": sql("MAX(:x)", x=when(row["certain"], exp.Literal.number(1), exp.Literal.number(0))),
        "absent": sql("EXP(GREATEST(:x, -700))", x=absent),
    }
    query = exp.Select().select(
        *(k.copy() for k in keys), *(exp.alias_(t, c, quoted=True) for c, t in expressions.items())
    )
    query = query.from_(FOUND).where(row["possible"]).group_by(*(k.copy() for k in keys), value)
    name = f"_distinct_{number}"
    return [(name, query)], {
        f"e{number}": sql("COALESCE(SUM(CASE WHEN c = 1 THEN 1.0 ELSE 1.0 - absent END), 0.0)"),
        f"l{number}": sql("COALESCE(SUM(c), 0)"),
        f"h{number}": sql("COUNT(*)"),
        f"u{number}": exp.Literal.number(0),
    }
